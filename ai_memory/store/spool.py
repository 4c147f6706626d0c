"""`spool/`: one file an event that no drain has applied yet. Hooks write it, the drain reads, removes, quarantines.

A name is `<time_ns 19 digits>-<pid>-<8 hex>.json`; its stem is the event's id for ever. Age and order come from the
name, so counting parses nothing. Names that begin with a dot are being written, or were left by a killed hook.
"""

import contextlib
import json
import os
import re
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ai_memory.paths import DataDir
from ai_memory.plainfile import read_plain
from ai_memory.scrub import scrub
from ai_memory.store.filesystem import make_folder, write_whole

_NAME = re.compile(r"\d{19}-\d+-[0-9a-f]{8}\.json")
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""A FIFO of that name is not waited for, a link not followed."""
_REASON_ENDING = ".reason.json"

ABANDONED_S = 600.0
"""A dot-file older than this was left by a killed hook: a hook lives for seconds."""

MAX_EVENT_BYTES = 8 * 1024 * 1024
"""Hooks cap fields at 16 KiB; what is larger than this was not written by one."""


@dataclass(frozen=True, slots=True)
class SpoolCounts:
    """What waits in the spool. `oldest_at_us` is None when nothing waits."""

    files: int
    size_bytes: int
    oldest_at_us: int | None
    quarantined: int
    dropped: int = 0
    """Tool events that hooks gave up because the spool was full, ever."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One event that could not be applied, and why."""

    event_id: str
    reason: str
    at_us: int


class Spool:
    """The spool of one data dir. Every call is safe to kill at any point."""

    def __init__(self, data_dir: DataDir) -> None:
        self._root = data_dir.spool
        self._folder = str(data_dir.spool)  # 10,000 Path objects a pass cost 0.3 s
        self._quarantine = data_dir.quarantine

    def names(self) -> list[str]:
        """Names of the waiting events, oldest first."""
        return sorted(name for name in _list(self._root) if _NAME.fullmatch(name))

    def read(self, name: str) -> bytes | None:
        """The event's bytes, or None when it is gone.

        Errors: ValueError when it is nothing that a hook writes: no regular file, or a larger one.
        """
        try:
            content = _regular_bytes(f"{self._folder}/{name}")
        except FileNotFoundError:
            return None
        if len(content) > MAX_EVENT_BYTES:
            raise ValueError(f"the file is larger than {MAX_EVENT_BYTES} bytes")
        return content

    def head(self, name: str, size_bytes: int) -> bytes | None:
        """The beginning of the event's bytes, or None when it is gone."""
        try:
            handle = os.open(f"{self._folder}/{name}", _READ)
        except FileNotFoundError:
            return None
        except OSError:
            return b""  # whoever reads the whole of it says what is wrong
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return b""
            return os.read(handle, size_bytes)  # without a file object, which costs as much again
        except OSError:
            return b""
        finally:
            os.close(handle)

    def remove(self, names: Iterable[str]) -> None:
        """Remove applied events; one that is gone already is no fault."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self._folder}/{name}")  # noqa: PTH108 (as above)

    def quarantine(self, name: str, reason: str, *, at_us: int) -> None:
        """Move an event that cannot be applied aside, with the reason beside it."""
        make_folder(self._quarantine)
        note = {"v": 1, "event": event_id(name), "reason": scrub(reason)[:500], "at_us": at_us}
        text = json.dumps(note, ensure_ascii=False, sort_keys=True) + "\n"
        write_whole(self._quarantine / f"{event_id(name)}{_REASON_ENDING}", text.encode("utf-8", "replace"), sync=False)
        with contextlib.suppress(FileNotFoundError):
            (self._root / name).replace(self._quarantine / name)

    def quarantined(self) -> list[Quarantined]:
        """The events set aside, oldest first."""
        found = []
        for name in sorted(_list(self._quarantine)):
            if _NAME.fullmatch(name):
                found.append(self._reason(event_id(name)))
        return found

    def quarantined_bytes(self, identifier: str) -> bytes | None:
        """What a quarantined event holds, at most `MAX_EVENT_BYTES`; None when it is gone or no regular file."""
        try:
            return _regular_bytes(str(self._quarantine / f"{identifier}.json"))[:MAX_EVENT_BYTES]
        except (OSError, ValueError):
            return None

    def quarantined_size(self, identifier: str) -> int:
        """Bytes of a quarantined event; 0 when it is gone or no regular file. Opens nothing."""
        try:
            status = (self._quarantine / f"{identifier}.json").lstat()
        except OSError:
            return 0
        return status.st_size if stat.S_ISREG(status.st_mode) else 0

    def retry(self, identifier: str) -> bool:
        """Let a quarantined event wait again; False when it is gone. Crash: it is in one of the two places."""
        try:
            (self._quarantine / f"{identifier}.json").rename(self._root / f"{identifier}.json")
        except FileNotFoundError:
            return False
        (self._quarantine / f"{identifier}{_REASON_ENDING}").unlink(missing_ok=True)
        return True

    def drop(self, identifier: str) -> bool:
        """Remove a quarantined event for good, then its reason; False when it is gone."""
        path = self._quarantine / f"{identifier}.json"
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        except OSError:
            path.rmdir()  # a folder of that name, which may be empty
        (self._quarantine / f"{identifier}{_REASON_ENDING}").unlink(missing_ok=True)
        return True

    def _reason(self, identifier: str) -> Quarantined:
        try:
            note = json.loads(read_plain(self._quarantine / f"{identifier}{_REASON_ENDING}"))
            return Quarantined(identifier, str(note["reason"]), int(note["at_us"]))
        except (OSError, ValueError, KeyError, TypeError):
            return Quarantined(identifier, "no reason was kept", named_at_us(f"{identifier}.json"))

    def counts(self) -> SpoolCounts:
        """What waits, without opening a file."""
        files, size, oldest = 0, 0, None
        for name in _list(self._root):
            if not _NAME.fullmatch(name):
                continue
            try:
                size += (self._root / name).stat().st_size
            except OSError:
                continue
            files += 1
            oldest = name if oldest is None or name < oldest else oldest
        aside = sum(1 for name in _list(self._quarantine) if _NAME.fullmatch(name))
        return SpoolCounts(files, size, named_at_us(oldest) if oldest else None, aside, self._dropped())

    def _dropped(self) -> int:
        try:
            return (self._root / ".dropped").stat().st_size  # hooks append a byte for each
        except OSError:
            return 0

    def note_room(self) -> None:
        """Take back the mark by which hooks said that the spool was full: a drain has made room."""
        (self._root / ".full").unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove half-written files that killed hooks left."""
        limit = time.time() - ABANDONED_S
        for name in _list(self._root):
            if name.startswith(".") and name.endswith((".tmp", ".json")):
                path = self._root / name
                with contextlib.suppress(OSError):
                    if path.stat().st_mtime < limit:
                        path.unlink()


def _regular_bytes(path: str) -> bytes:
    """At most one byte more than an event may hold. Raises OSError, and ValueError for what is no regular file."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise ValueError("it is no regular file")
    with open(os.open(path, _READ), "rb", buffering=0) as file:
        return file.read(MAX_EVENT_BYTES + 1)


def event_id(name: str) -> str:
    """The id of the event in a spool file of that name."""
    return name.removesuffix(".json")


def named_at_us(name: str) -> int:
    """When the hook wrote the file, in µs, as its name says."""
    return int(name[:19]) // 1000


def _list(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 (no Path for each of 10,000 names)
    except (FileNotFoundError, NotADirectoryError):
        return []
