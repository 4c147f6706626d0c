"""Removing a data dir: what lies in it by its names, and nothing that is not ours."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ai_memory.errors import StoreFault
from ai_memory.paths import DataDir

_NAMES = frozenset(
    {"config.toml", "wiki", "pending", "born.json", "spool", "outbox", "hook-policy.json", "paused.json", "locks"}
    | {"logs", "wiring", "backups", "models", "raw", "restoring"}
)
_DATABASES = ("state.db", "cache.db", "index-")
_LAST = ("locks",)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or folder at the top of a data dir."""

    path: Path
    size_bytes: int
    is_ours: bool


def contents(data_dir: DataDir) -> list[Entry]:
    """Everything at the top of the data dir, by name."""
    try:
        found = sorted(data_dir.root.iterdir())
    except FileNotFoundError:
        return []
    return [Entry(one, size_of(one), _is_ours(one.name)) for one in found]


def purge(data_dir: DataDir) -> None:
    """Remove what is ours, and the folder if nothing else lies in it. For good. *Errors*: StoreFault, OSError."""
    if not (data_dir.git.is_dir() or data_dir.born.exists()):
        raise StoreFault(f"{data_dir.root} does not look like a data dir of ours", hint="name it with --data-dir")
    ours = [one.path for one in contents(data_dir) if one.is_ours]
    for path in sorted(ours, key=lambda one: one.name in _LAST):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if not any(data_dir.root.iterdir()) and not data_dir.root.is_symlink():
        data_dir.root.rmdir()


def _is_ours(name: str) -> bool:
    plain = name.removeprefix(".")
    return name in _NAMES or plain.startswith(_DATABASES) or (name != plain and plain.startswith((*_NAMES, "restore-")))


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; 0 where there is none."""
    if not os.path.lexists(path):
        return 0
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    total = 0
    for entry in entries_below(path):
        with suppress(FileNotFoundError):  # such as an event that was applied meanwhile
            total += 0 if entry.is_dir(follow_symlinks=False) else entry.stat(follow_symlinks=False).st_size
    return total


def entries_below(folder: Path) -> Iterator[os.DirEntry[str]]:
    """All files and folders below, each as the folder's own list tells it: `Path.rglob` asks the disk twice more."""
    waiting = [str(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as found:
            for entry in found:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
