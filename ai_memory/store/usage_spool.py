"""`spool/usage/`: calls that no drain has added up yet, one small file each. Faces and hooks write it.

A file that is no record of ours is removed unread: it is a count, and nothing is lost with it.
"""

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ai_memory.model import PageRef
from ai_memory.paths import DataDir
from ai_memory.plainfile import read_plain
from ai_memory.store.driver import Connection
from ai_memory.text.sanitize import sanitize_line

MAX_BYTES = 65_536
MAX_PAGES = 100
MAX_CLIENT = 64
_NAME = re.compile(r"\d{19}-\d+-[0-9a-f]{8}\.json")
_CALLED = re.compile(r"[a-z][a-z0-9_:-]*( [a-z][a-z0-9_-]*)?")
_LONGEST_CALLED = 64
_ID = "usage:"
"""Before the name of a file in `applied_events`."""

_KNOWN = "SELECT event_id FROM applied_events WHERE event_id >= 'usage:' AND event_id < 'usage;'"


@dataclass(frozen=True, slots=True)
class Use:
    """One call: who asked what, how large the answer was, which pages it read out and which it only showed."""

    file: str
    at_us: int
    client: str
    """Empty for the command line outside any agent."""
    called: str
    size_bytes: int
    read: tuple[PageRef, ...]
    shown: tuple[PageRef, ...]


def waiting(data_dir: DataDir) -> list[str]:
    """Names of the files, oldest first."""
    return sorted(name for name in _list(data_dir) if _NAME.fullmatch(name))


def read(data_dir: DataDir, name: str) -> Use | None:
    """What the file tells; None where it is gone or tells nothing."""
    path = data_dir.usage / name
    try:
        if path.lstat().st_size > MAX_BYTES:
            return None
        told = json.loads(read_plain(path))
        if not isinstance(told, dict) or told.get("v") != 1:
            return None
        called, size = str(told.get("name", "")), told.get("bytes", 0)
        if len(called) > _LONGEST_CALLED or not _CALLED.fullmatch(called) or not isinstance(size, int):
            return None
        found = Use(
            name,
            int(name[:19]) // 1000,
            _client(str(told.get("client") or "")),
            called,
            min(max(size, 0), 1 << 32),
            _refs(told.get("read")),
            _refs(told.get("shown")),
        )
        "".join([found.client, *map(str, (*found.read, *found.shown))]).encode()  # no database takes half a character
        return found
    except (OSError, ValueError, RecursionError):
        return None


@lru_cache(maxsize=256)
def _client(name: str) -> str:
    return sanitize_line(name[: MAX_CLIENT * 4].lower())[:MAX_CLIENT]


def _refs(told: Any) -> tuple[PageRef, ...]:
    rows = told[:MAX_PAGES] if isinstance(told, list) else []
    return tuple(PageRef(*row) for row in rows if isinstance(row, list) and list(map(type, row)) == [str] * 3)


def unknown(connection: Connection, names: list[str]) -> list[str]:
    """Those of the files that were not added up already, by a drain that died before it could remove them."""
    known = {row[0] for row in connection.execute(_KNOWN)}
    return [name for name in names if _ID + name not in known]


def remember(connection: Connection, names: Iterable[str], *, still: Iterable[str]) -> None:
    """Note the files as added up; ids of files that are gone are forgotten. Call in the transaction that adds them.

    `still`: names of all files that lie there.
    """
    kept = {_ID + name for name in still}
    gone = [(row[0],) for row in connection.execute(_KNOWN) if row[0] not in kept]
    connection.executemany("DELETE FROM applied_events WHERE event_id = ?", gone)
    rows = [(_ID + name, int(name[:19]) // 1000) for name in names]
    connection.executemany("INSERT OR IGNORE INTO applied_events (event_id, at_us) VALUES (?, ?)", rows)


def remove(data_dir: DataDir, names: Iterable[str]) -> None:
    """Remove files that were added up. One that is gone, or cannot be removed, is no fault."""
    for name in names:
        with suppress(OSError):
            (data_dir.usage / name).unlink()


def clear(data_dir: DataDir) -> None:
    """Remove whatever waits, half-written files too: a purge takes names of pages along."""
    remove(data_dir, _list(data_dir))


def _list(data_dir: DataDir) -> list[str]:
    try:
        return os.listdir(data_dir.usage)  # noqa: PTH208 (no Path for each of thousands)
    except OSError:
        return []
