"""Names that programs which synchronise folders give to files: copies after a conflict, stand-ins for files elsewhere.

*Source*: help pages of Dropbox, Nextcloud, ownCloud, Seafile, pCloud, Syncthing, Google Drive, odrive; names in the
wild, read 2026-11-30. OneDrive's `note-MACHINE.md` cannot be told from a name that a person chose.
"""

import re

_WORD = "conflict|konflikt|conflit|競合|冲突|衝突"
_IN_BRACKETS = re.compile(
    rf"""(.+?)[ ]?[(\[]
    (?: (?=[^()\[\]]*(?:{_WORD})) [^()\[\]]*[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[^()\[\]]* (?:\([0-9]+\))?
    | (?:case|unicode[ ]encoding|selective[ ]sync)[ ]conflict[ 0-9]*
    | conflicted(?:[ ]copy)?[ 0-9]* )
    [)\]]""",
    re.IGNORECASE | re.VERBOSE,
)
"""Dropbox, Nextcloud, ownCloud, Seafile, pCloud. The word alone is no sign: `merge (conflicts).md` is a page."""

_AFTER_DOT = re.compile(r"(.+)\.sync-conflict-[0-9]{8}-[0-9]{6}(?:-[A-Z0-9]{7})?")
"""Syncthing."""

_AFTER_LINE = re.compile(r"(.+)_conf(?:lict-[0-9]{8}-[0-9]{6}|\([0-9]+\))")
"""ownCloud of old, and Google Drive."""

_NUMBERED = re.compile(r"(.+?) (?:\([1-9][0-9]?\)|[2-9])")
"""Google Drive, iCloud, and file managers; people number their own pages so, too."""

_STAND_INS = (".icloud", ".nextcloud", ".owncloud", ".cloud", ".cloudf")
_MARKDOWN = ".md"

NEARLY_THE_SAME = 0.8
"""Share of common words, of all words of both texts, from which a numbered file is its neighbour's copy."""


def copied_from(path: str) -> tuple[str, str] | None:
    """A copy after a conflict, by its name: the file or the outermost folder of the path, and what it is a copy of."""
    above = ""
    for segment in path.split("/"):
        original = _original(segment)
        if original is not None:
            return above + segment, above + original
        above += f"{segment}/"
    return None


def _original(segment: str) -> str | None:
    stem, ending = _parted(segment)
    for form in (_IN_BRACKETS, _AFTER_DOT, _AFTER_LINE):
        found = form.fullmatch(stem)
        if found is not None:
            return found[1].rstrip() + ending
    return None


def numbered_from(path: str) -> str | None:
    """The path that this one is a numbered copy of, should that file exist and hold nearly the same."""
    folder, slash, name = path.rpartition("/")
    stem, ending = _parted(name)
    found = _NUMBERED.fullmatch(stem)
    return None if found is None else f"{folder}{slash}{found[1]}{ending}"


def is_nearly_the_same(one: bytes, other: bytes) -> bool:
    """Whether most words of two texts are the same. Empty ones tell nothing."""
    words, others = frozenset(one.split()), frozenset(other.split())
    return bool(words & others) and len(words & others) >= NEARLY_THE_SAME * len(words | others)


def stands_for(name: str) -> str | None:
    """The file or folder that a sync program holds elsewhere, and for which a file of this name stands; None: none."""
    ending = next((one for one in _STAND_INS if name.endswith(one)), None)
    if ending is None:
        return None
    return name.removesuffix(ending).removeprefix(".") or None


def is_temporary(name: str) -> bool:
    """Whether a program writes a file of this name for a moment: a lock of an office program, half a download."""
    return name.startswith(("~$", "~syncthing~"))


def _parted(name: str) -> tuple[str, str]:
    """Stem and `.md`, if that is the ending."""
    return (name[: -len(_MARKDOWN)], _MARKDOWN) if name.endswith(_MARKDOWN) else (name, "")
