"""What a page says of its repository: files, commits, and the names in code that stand beside them."""

import re
from dataclasses import dataclass

MOST_FILES = 12
MOST_SYMBOLS = 24
MOST_COMMITS = 6
"""Of one page, in the order of the text: what it names first it is about."""
MOST_TEXT = 64 << 10
"""Characters that are read."""

_CODE = re.compile(r"`([^`\n]{2,200})`")
_PATH = r"(?:[\w.@+-]{1,80}/){0,12}[\w.@+-]{0,80}\.[A-Za-z]\w{0,7}"
_FILE = re.compile(rf"(?:\./)?({_PATH})(?:#L?\d[\dL-]*|:\d[\d:-]*)?")
_IN_TEXT = re.compile(r"(?<![\w/.:@~$\\-])(?:\./)?((?:[\w.@+-]{1,80}/)+[\w.@+-]{1,80}\.[A-Za-z]\w{0,7})(?![\w/-])")
_SYMBOL = re.compile(r"(?:[\w.]{0,80}[.:])?([A-Za-z_]\w{3,60})(?:\([^()]{0,80}\))?")
_NAME = re.compile(r"\w*(?:_\w|[a-z0-9][A-Z])\w*")
_COMMIT = re.compile(r"\bcommit:? ?`?(?=[0-9a-f]*[0-9])([0-9a-f]{7,40})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mentions:
    """Paths relative to the repository, names of functions and the like, beginnings of commit ids."""

    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.commits)


def mentions(text: str) -> Mentions:
    """What the text names. A file is a path in backticks, or anywhere one with a folder and an ending; a name in code
    stands in backticks and is called, or written as nobody writes a word: `parse_args`, `readHead`, `drain()`.

    That such a file is or was there is not said: only the repository knows.
    """
    text = text[:MOST_TEXT]
    files: dict[str, None] = {}
    symbols: dict[str, None] = {}
    for code in _CODE.finditer(text):
        inner = code[1].strip()
        if (named := _FILE.fullmatch(inner)) and not _is_call(inner):
            files.setdefault(named[1])
        elif (symbol := _SYMBOL.fullmatch(inner)) and (inner.endswith(")") or _NAME.fullmatch(symbol[1])):
            symbols.setdefault(symbol[1])
    for named in _IN_TEXT.finditer(text):
        files.setdefault(named[1])
    commits = dict.fromkeys(found[1].lower() for found in _COMMIT.finditer(text))
    return Mentions(
        tuple(path for path in files if ".." not in path.split("/"))[:MOST_FILES],
        tuple(symbols)[:MOST_SYMBOLS],
        tuple(commits)[:MOST_COMMITS],
    )


def _is_call(code: str) -> bool:
    """`os.path` and `self.run` are names, `setup.py` and `src/main` are files: an ending of a method is none."""
    return "/" not in code and code.split(".")[0] in ("self", "this", "os", "cls", "super")
