"""The markdown files of a folder that a person names, read without following a link."""

import codecs
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ai_memory.plainfile import read_plain
from ai_memory.store.addresses import is_utf8
from ai_memory.text.limits import LARGEST_PAGE_BYTES
from ai_memory.text.vault import ENDINGS

_PASSED_OVER = frozenset({"node_modules", "__pycache__"})
_WIDE = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file, by its path below the folder, with `/` between names."""

    path: str
    content: bytes
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """Files by path; those that were not taken, a line each; and what else lies there, in a sentence."""

    files: tuple[SourceFile, ...]
    left: tuple[str, ...]
    gaps: tuple[str, ...]


def files_in(folder: Path, *, known: frozenset[str] = frozenset()) -> Found:
    """All markdown below the folder. Hidden folders are passed over, as editors keep their settings there.

    `known`: names of other files that nobody need be told of.
    """
    files: list[SourceFile] = []
    left: list[str] = []
    others: Counter[str] = Counter()
    faults: list[OSError] = []
    for here, folders, names in os.walk(folder, onerror=faults.append):
        left += [f"{_path(folder, here, name)}: a link" for name in folders if (Path(here) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _PASSED_OVER)
        for name in sorted(names):
            if name.startswith(".") or name in known:
                continue
            if not name.lower().endswith(ENDINGS):
                others[Path(name).suffix.lower() or "without an ending"] += 1
                continue
            taken = _read(_path(folder, here, name), Path(here) / name)
            if isinstance(taken, SourceFile):
                files.append(taken)
            else:
                left.append(taken)
    left += [_unread(folder, fault) for fault in faults]
    gaps: tuple[str, ...] = ()
    if others:
        kinds = ", ".join(f"{number} {ending}" for ending, number in others.most_common(8))
        gaps = (f"files that are no markdown were not taken: {kinds}",)
    return Found(tuple(sorted(files, key=lambda file: file.path)), tuple(sorted(left)), gaps)


def _read(path: str, file: Path) -> SourceFile | str:
    """The file, or why it is not taken."""
    if not is_utf8(path):
        return f"{path.encode('utf-8', 'replace').decode()}: its name is not UTF-8"
    if file.is_symlink():
        return f"{path}: a link"
    try:
        if file.stat().st_size > LARGEST_PAGE_BYTES:
            return f"{path}: {file.stat().st_size:,} bytes are more than a page may hold"
        content = read_plain(file)
    except OSError as fault:
        return f"{path}: {fault.strerror or fault}"
    for mark, encoding in _WIDE:
        if content.startswith(mark):
            try:
                return SourceFile(path, content.decode(encoding).encode(), ("it was UTF-16 and is UTF-8 now",))
            except UnicodeDecodeError:
                return f"{path}: it is no whole UTF-16"
    if b"\0" in content:
        return f"{path}: it holds NUL, so it is no text"
    return SourceFile(path, content)


def _path(folder: Path, here: str, name: str) -> str:
    return (Path(here) / name).relative_to(folder).as_posix()


def _unread(folder: Path, fault: OSError) -> str:
    return f"{Path(str(fault.filename)).relative_to(folder).as_posix()}: {fault.strerror}"
