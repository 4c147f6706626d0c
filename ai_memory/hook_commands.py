"""Which files a shell command reads, as far as its words tell. Part of the hook, loaded where `ignore_paths` are set.

Not a shell: quotes, substitutions and loops are not evaluated. What cannot be told is said, and the caller keeps
metadata only. A program that is on no list here may read files all the same; its words with a `/` or `.` in them are
looked at by `ai_memory.hook_policy.candidates`.
"""

# ruff: noqa: PTH118, SIM905 (pathlib is not loaded in a hook; a list of words reads better than a list of quotes)

import os

READERS = frozenset(
    "cat bat batcat tac nl less more most head tail sed awk gawk mawk cut sort uniq wc od xxd hexdump strings file stat"
    " diff cmp comm paste fold fmt pr column jq yq xmllint grep egrep fgrep zgrep zcat gzcat bzcat xzcat base64 base32"
    " openssl gpg tee cp mv ln dd tar zip unzip gzip gunzip rsync scp curl wget source . vi vim nvim nano emacs code"
    " md5sum sha1sum sha256sum shasum type gc get-content select-string sls import-csv copy-item findstr".split()
)
"""Programs whose arguments name files that they show or copy."""

SEARCHERS = frozenset("rg ag ack ripgrep ugrep ug git-grep".split())
"""Programs that look through all files below a folder."""

_WRAPPERS = frozenset(
    "sudo doas env time nohup nice ionice stdbuf timeout xargs command builtin exec bash sh zsh dash fish pwsh"
    " powershell cmd".split()
)
"""Programs that run the command after them."""

_BREAKS = "|;&\n()`{}"
_QUOTES = "\"'"
_UNTOLD = "*?[$"
"""Signs of a word that the shell would put something else for."""


class Reads:
    """What a command reads. `is_clear` False: perhaps more than `paths`."""

    __slots__ = ("is_clear", "paths")

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.is_clear = True


def reads_of(text: str, limit: int = 512) -> Reads:
    """The files that a command names as read, with the folder of a `cd` before them joined in front."""
    found = Reads()
    for sign in _BREAKS:
        text = text.replace(sign, "\0")
    for sign in _QUOTES:
        text = text.replace(sign, " ")
    folder = ""
    for part in text.replace("<", " < ").replace(">", " > ").split("\0"):
        words = part.split()
        limit -= len(words)
        if limit < 0:
            found.is_clear = False
            return found
        folder = _read_one(words, folder, found)
    return found


def _read_one(words: "list[str]", folder: str, found: Reads) -> str:
    """One simple command; gives the folder in which the next one runs."""
    for at, word in enumerate(words[:-1]):
        if word == "<":
            _add(words[at + 1], folder, found)
    program, arguments = _program(words)
    if program in ("cd", "pushd", "set-location"):
        named = next((word for word in arguments if not word.startswith("-")), "")
        if any(sign in named for sign in _UNTOLD):
            found.is_clear = False
        return os.path.join(folder, named)
    if program in SEARCHERS or _is_recursive(program, arguments) or (program == "git" and _shows_files(arguments)):
        found.is_clear = False
    elif program in READERS:
        for word in arguments:
            if not word.startswith("-") and word not in ("<", ">"):
                _add(word, folder, found)
    return folder


def _program(words: "list[str]") -> "tuple[str, list[str]]":
    """Name of the program, without folder and ending, and its arguments; what runs another program is stepped over."""
    for at, word in enumerate(words):
        name = word.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
        is_setting = "=" in word and word.partition("=")[0].isidentifier()
        if name in _WRAPPERS or is_setting or (at and (word.startswith("-") or word.isdecimal())):
            continue
        return name, words[at + 1 :]
    return "", []


def _shows_files(arguments: "list[str]") -> bool:
    """Whether git's command shows what stands in files, whichever these are."""
    after = ["", *arguments]
    verb = next((word for at, word in enumerate(arguments) if word[0] != "-" and after[at] not in ("-C", "-c")), "")
    if verb == "log":
        return any(word in ("-p", "-u", "--patch") or word.startswith(("-S", "-G", "-L")) for word in arguments)
    return verb in ("grep", "show", "diff", "blame", "cat-file", "stash", "format-patch", "difftool", "archive")


def _is_recursive(program: str, arguments: "list[str]") -> bool:
    """`grep -r` in one of its spellings."""
    if program not in ("grep", "egrep", "fgrep", "zgrep"):
        return False
    flags = [word for word in arguments if word.startswith("-")]
    return any("recursive" in word or (word[1:2] != "-" and ("r" in word or "R" in word)) for word in flags)


def _add(word: str, folder: str, found: Reads) -> None:
    if any(sign in word for sign in _UNTOLD):
        found.is_clear = False
        return
    found.paths.append(os.path.join(folder, word))
