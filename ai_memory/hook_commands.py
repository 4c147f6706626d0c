"""Which files a shell command reads, as far as its words tell. Part of the hook, loaded where `ignore_paths` are set.

Not a shell: quotes and escapes are taken off a word, but substitutions, globs and braces are not evaluated. What cannot
be told is said, and the caller keeps metadata only. A program that is on no list here may read files all the same; its
words with a `/` or `.` in them are looked at by `ai_memory.hook_policy.candidates`.
"""

# ruff: noqa: PTH118, SIM905 (pathlib is not loaded in a hook; a list of words reads better than a list of quotes)

import os

from ai_memory.hook_words import Word, commands_of

READERS = frozenset(
    "cat bat batcat tac nl less more most head tail sed awk gawk mawk cut sort uniq wc od xxd hexdump strings file stat"
    " diff cmp comm paste fold fmt pr column jq yq xmllint grep egrep fgrep zgrep zcat gzcat bzcat xzcat base64 base32"
    " openssl gpg tee cp mv ln dd tar zip unzip gzip gunzip rsync scp curl wget source . vi vim nvim nano emacs code"
    " md5sum sha1sum sha256sum shasum type gc get-content select-string sls import-csv copy-item findstr rev split"
    " csplit tr expand join look view ed ex perl".split()
)
"""Programs whose arguments name files that they show or copy."""

SEARCHERS = frozenset("rg ag ack ripgrep ugrep ug git-grep".split())
"""Programs that look through all files below a folder."""

_SHELLS = frozenset("bash sh zsh dash ksh fish pwsh powershell cmd eval su ssh watch script".split())
"""Programs that take a command as one word."""

_WRAPPERS = _SHELLS | frozenset(
    "sudo doas env time nohup nice ionice stdbuf timeout command builtin exec setsid busybox unbuffer chronic".split()
)
"""Programs that run the command after them."""

_KEYWORDS = frozenset("do then else elif if while until ! { } coproc".split())
"""Words of the shell before a command."""

_FEEDERS = frozenset("xargs parallel".split())
"""Programs that run the command after them on files that stand elsewhere."""

_EXECUTING = frozenset("-exec -execdir -ok -okdir -x -X --exec --exec-batch".split())
_MOVING = ("-C", "--chdir", "-D", "--directory")
_MAX_DEPTH = 4


class Reads:
    """What a command reads. `is_clear` False: perhaps more than `paths`."""

    __slots__ = ("is_clear", "paths")

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.is_clear = True

    def add(self, word: Word, folder: str) -> None:
        if word.is_untold:
            self.is_clear = False
            return
        self.paths.append(os.path.join(folder, _without_scheme(word.text)))
        if word.raw != word.text:  # on Windows a backslash stands between folders
            self.paths.append(os.path.join(folder, word.raw))


def _without_scheme(text: str) -> str:
    """The path of a `file:` URL, whatever program takes it; other words as they stand."""
    if text[:5].lower() != "file:":
        return text
    path = text[5:].partition("?")[0].partition("#")[0]
    if path.startswith("//"):
        path = path[2:]
        path = path[path.find("/") :] if "/" in path else ""
    first, *pieces = path.split("%")
    return first + "".join(_unescaped(piece) for piece in pieces)


def _unescaped(piece: str) -> str:
    """What stands behind a `%`; urllib is not loaded in a hook."""
    try:
        return bytes.fromhex(piece[:2]).decode("latin-1") + piece[2:]
    except ValueError:
        return f"%{piece}"


def reads_of(text: str, limit: int = 512) -> Reads:
    """The files that a command names as read, with the folder of a `cd` before them joined in front."""
    found = Reads()
    _read(text, "", found, limit=limit, depth=0)
    return found


def _read(text: str, folder: str, found: Reads, *, limit: int, depth: int) -> None:
    commands, is_whole = commands_of(text)
    found.is_clear = found.is_clear and is_whole
    for words in commands:
        limit -= len(words)
        if limit < 0 or depth > _MAX_DEPTH:
            found.is_clear = False
            return
        folder = _read_one(words, folder, found, limit=limit, depth=depth)


def _read_one(words: "list[Word]", folder: str, found: Reads, *, limit: int, depth: int) -> str:
    """One simple command; gives the folder in which the next one runs."""
    run = _Run(words)
    here = folder
    if run.moved_to is not None:
        found.is_clear = found.is_clear and not run.moved_to.is_untold
        here = os.path.join(folder, run.moved_to.text)
    for at, word in enumerate(words[:-1]):
        if word.text == "<":
            found.add(words[at + 1], here)
    if run.through & _FEEDERS:
        found.is_clear = False
    if run.through:
        for word in (word for word in words if " " in word.text or "\t" in word.text or "\n" in word.text):
            _read(word.text, here, found, limit=limit, depth=depth + 1)
    if run.program in ("cd", "pushd", "set-location"):
        named = next((word for word in run.arguments if not word.text.startswith("-")), None)
        if named is None:
            return folder
        if named.is_untold:
            found.is_clear = False
        return os.path.join(here, named.text)
    _read_arguments(run.program, run.arguments, here, found)
    return folder


def _read_arguments(program: str, arguments: "list[Word]", here: str, found: Reads) -> None:
    plain = [word.text for word in arguments]
    if program in ("find", "fd", "fdfind"):
        if _EXECUTING & set(plain):
            found.is_clear = False
            for word in arguments:
                if word.text[:1] in ("-", "(", "!"):
                    break
                found.add(word, here)
        return
    if program in SEARCHERS or _is_recursive(program, plain) or (program == "git" and _shows_files(plain)):
        found.is_clear = False
    elif program in READERS:
        found.is_clear = found.is_clear and not (program == "tar" and "-C" in plain)
        for word in arguments:
            if not word.text.startswith("-") and word.text not in ("<", ">"):
                found.add(word, here)
    else:
        for word in arguments:
            if (here or word.is_pieced) and ("/" in word.text or "." in word.text or "\\" in word.raw):
                found.add(word, here)


class _Run:
    """A simple command: its program, without folder and ending, and what is stepped over since it runs another."""

    __slots__ = ("arguments", "moved_to", "program", "through")

    def __init__(self, words: "list[Word]") -> None:
        self.program = ""
        self.arguments: list[Word] = []
        self.through: set[str] = set()
        """Shells and feeders before the program."""
        self.moved_to: Word | None = None
        """The folder of `env -C`."""
        is_flag = False
        for at, word in enumerate(words):
            name = word.raw.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
            if is_flag:
                self.moved_to, is_flag = word, False
            elif at and word.text in _MOVING:
                is_flag = True
            elif at and word.text.startswith("--chdir="):
                self.moved_to = Word(word.text[8:], is_untold=word.is_untold)
            elif name in _WRAPPERS or name in _FEEDERS:
                self.through |= {name} & (_SHELLS | _FEEDERS)
            elif name in _KEYWORDS or ("=" in word.text and word.text.partition("=")[0].isidentifier()):
                continue
            elif not at or not (word.text.startswith("-") or word.text.isdecimal()):
                self.program, self.arguments = name, words[at + 1 :]
                return


def _shows_files(arguments: "list[str]") -> bool:
    """Whether git's command shows what stands in files, whichever these are."""
    after = ["", *arguments]
    verb = next((word for at, word in enumerate(arguments) if word[:1] != "-" and after[at] not in ("-C", "-c")), "")
    if verb == "log":
        return any(word in ("-p", "-u", "--patch") or word.startswith(("-S", "-G", "-L")) for word in arguments)
    return verb in ("grep", "show", "diff", "blame", "cat-file", "stash", "format-patch", "difftool", "archive")


def _is_recursive(program: str, arguments: "list[str]") -> bool:
    """`grep -r` in one of its spellings."""
    if program not in ("grep", "egrep", "fgrep", "zgrep"):
        return False
    flags = [word for word in arguments if word.startswith("-")]
    return any("recursive" in word or (word[1:2] != "-" and ("r" in word or "R" in word)) for word in flags)
