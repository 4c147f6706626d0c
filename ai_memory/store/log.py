"""`logs/<day>.log`: one line for what the drain, the bridge and maintenance did. It never holds payload text."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from pathlib import Path

from ai_memory.clock import Clock, rfc3339
from ai_memory.plainfile import read_plain
from ai_memory.scrub import scrub
from ai_memory.store.filesystem import make_folder

KEEP_DAYS = 14
MAX_LINE = 1_000
_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})\.log")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class Level(IntEnum):
    """How much a line matters; the setting `log_level` names the least that is kept."""

    INFO = 0
    WARNING = 1
    """Something was set aside, or hooks keep less than they could."""
    ERROR = 2
    """Work failed."""


@dataclass(frozen=True, slots=True)
class Log:
    """The log as one process writes it: `who` stands in each line, lines below `least` are left out."""

    folder: Path
    who: str
    clock: Clock
    least: Level = Level.INFO

    def info(self, message: str) -> None:
        self._write(Level.INFO, message)

    def warning(self, message: str) -> None:
        self._write(Level.WARNING, message)

    def error(self, message: str) -> None:
        self._write(Level.ERROR, message)

    def _write(self, level: Level, message: str) -> None:
        if level >= self.least:
            write_line(self.folder, self.who, message, at_us=self.clock())


def write_line(logs: Path, who: str, message: str, *, at_us: int) -> None:
    """Append one line: time, process, who, message. Control characters become blanks; long lines are cut.

    Scrubbed here, since a fault may quote what it found. A disk that refuses costs the line, never the caller's work.
    """
    day = rfc3339(at_us)[:10]
    line = f"{rfc3339(at_us)} {os.getpid()} {who}: {_UNPRINTABLE.sub(' ', scrub(message))[:MAX_LINE]}\n"
    try:
        make_folder(logs)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(logs / f"{day}.log", flags, 0o600)
        try:
            os.write(descriptor, line.encode("utf-8", "replace"))  # one write: lines of two processes never mix
        finally:
            os.close(descriptor)
    except OSError:
        return


def remove_old(logs: Path, *, now_us: int) -> int:
    """Remove the files of days more than 14 days ago; returns how many went."""
    limit = datetime.fromtimestamp(now_us // 1_000_000, UTC).date() - timedelta(days=KEEP_DAYS)
    removed = 0
    for path, day in _files(logs):
        if day < limit:
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def last_lines(logs: Path, count: int) -> list[str]:
    """The last `count` lines over all days, oldest first."""
    lines: list[str] = []
    for path, _ in sorted(_files(logs), key=lambda item: item[1], reverse=True):
        with suppress(OSError):
            lines = read_plain(path).decode("utf-8", "replace").splitlines() + lines
        if len(lines) >= count:
            break
    return lines[-count:] if count > 0 else []


def _files(logs: Path) -> Iterator[tuple[Path, date]]:
    if not logs.is_dir():
        return
    for path in logs.iterdir():
        found = _NAME.fullmatch(path.name)
        if found:
            try:
                yield path, date.fromisoformat(found[1])
            except ValueError:
                continue
