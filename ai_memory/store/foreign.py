"""Databases of other programs, read without changing a byte of them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ai_memory.store import driver

_FAULTS: tuple[type[Exception], ...] = (OSError, ValueError, *driver.FAULTS)

Ask = Callable[[str, tuple[object, ...]], Iterable[tuple[Any, ...]]]


@contextmanager
def asking(path: str, note: Callable[[str], None]) -> Iterator[Ask | None]:
    """Questions to a database of somebody else's; None where it cannot be read as it lies there.

    A live one (`-wal` and `-shm` beside it) is read through its own locks, so that what is only in the WAL is seen. One
    that lies still is read without any, since a lock would make those files. One whose WAL was left without its `-shm`
    is not opened at all: SQLite would recover it, which is for its owner to do. A read-only connection never writes a
    checkpoint. `note` gets a sentence where nothing, or not all, could be read.
    """
    file, wal = Path(path), Path(f"{path}-wal")
    name = file.name
    try:
        if file.is_symlink() or not file.is_file():
            note(f"{name} is no plain file")
            yield None
            return
        has_wal = wal.exists() and wal.stat().st_size > 0
        if has_wal and not Path(f"{path}-shm").exists():
            note(f"{name} was not closed by its program: start that once, then try again")
            yield None
            return
        mode: driver.Mode = "ro" if has_wal else "immutable"
        connection = driver.connect(file, mode=mode)
        connection.text_factory = _text
    except _FAULTS as fault:
        note(f"{name} cannot be read: {_one_line(fault)}")
        yield None
        return
    with closing(connection):
        yield lambda sql, values: _rows(connection, sql, values, note=lambda why: note(f"{name}: {why}"))


def _rows(
    connection: driver.Connection, sql: str, values: tuple[object, ...], *, note: Callable[[str], None]
) -> Iterator[tuple[Any, ...]]:
    """The rows, as far as they can be read."""
    try:
        yield from connection.execute(sql, values)
    except driver.FAULTS as fault:
        note(_one_line(fault))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _one_line(fault: Exception) -> str:
    return " ".join(str(fault).split())[:200] or type(fault).__name__
