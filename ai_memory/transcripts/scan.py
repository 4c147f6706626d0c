"""Listing the places where sessions may lie: names and times only, bounded over all harnesses together."""

import os
import re
from collections.abc import Iterator

from ai_memory.transcripts.record import MAX_FILES, Found, Losses

_NOT_ALNUM = re.compile(r"[^A-Za-z0-9]")
_LONG_SLUG = 200
"""Claude Code cuts longer folder names and adds a hash."""


class Scan:
    """One look over the places of all harnesses. Links are not followed: a session is a plain file in its folder."""

    def __init__(self, losses: Losses, *, most: int = MAX_FILES) -> None:
        self._losses = losses
        self._left = most

    def folders(self, folder: str) -> list[str]:
        """Paths of the folders in it, by name; none where it cannot be read."""
        return sorted(entry.path for entry in self._entries(folder) if _is_folder(entry))

    def files(self, agent: str, folder: str, endings: tuple[str, ...], *, beginning: str = "") -> Iterator[Found]:
        """The plain files in it whose names begin and end so."""
        for entry in self._entries(folder):
            if not (entry.name.endswith(endings) and entry.name.startswith(beginning)):
                continue
            try:
                if not entry.is_file(follow_symlinks=False):
                    continue
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            yield Found(agent, entry.path, status.st_mtime_ns // 1000, status.st_size)

    def _entries(self, folder: str) -> "Iterator[os.DirEntry[str]]":
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if self._left <= 0:
                        self._losses.add(f"folders that hold more than {MAX_FILES:,} files together")
                        return
                    self._left -= 1
                    yield entry
        except (OSError, ValueError):
            return


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def folder_slug(path: str) -> str:
    """A folder's path as Claude Code writes it into one name."""
    return _NOT_ALNUM.sub("-", path)


def is_slug_below(name: str, roots: tuple[str, ...]) -> bool:
    """Whether a folder of that name may belong to one of the roots or a folder below: other folders may share it.

    Older versions replaced `/` and `.` alone, so the name is compared in the form that newer ones give it.
    """
    return not roots or folder_slug(name).startswith(tuple(folder_slug(root)[:_LONG_SLUG] for root in roots))
