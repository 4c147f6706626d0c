"""The one place that opens SQLite files, always through the same library.

Two SQLite libraries on one file drop each other's locks, so every room gets its connections here. `pysqlite3` is taken
when it is installed (many Pythons are built without loadable extensions), else the standard library's module.
"""

import errno
import importlib
import shutil
import sqlite3 as _standard
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from ai_memory.errors import StoreFault
from ai_memory.store import filesystem

if TYPE_CHECKING:
    from sqlite3 import Connection as Connection
else:
    Connection = Any


def _library() -> Any:
    try:
        return importlib.import_module("pysqlite3.dbapi2")
    except ImportError:
        return _standard


_sqlite: Any = _library()

DRIVER_NAME: str = "pysqlite3" if _sqlite is not _standard else "sqlite3"
SQLITE_VERSION: str = _sqlite.sqlite_version
HAS_EXTENSIONS: bool = hasattr(_sqlite.Connection, "enable_load_extension")
DatabaseError: type[Exception] = _sqlite.DatabaseError
OperationalError: type[Exception] = _sqlite.OperationalError
ProgrammingError: type[Exception] = _sqlite.ProgrammingError
FAULTS: tuple[type[Exception], ...] = (DatabaseError, UnicodeDecodeError)
"""What a question to a database raises that may hold anything."""

Mode = Literal["rw", "ro", "immutable"]
BUSY_TIMEOUT_MS = 5_000

SIDES = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database."""


def connect(path: Path, *, mode: Mode = "rw", durable: bool = False) -> Connection:
    """A connection in autocommit mode. `rw` creates the file; `immutable` reads without locks or side files.

    `durable` syncs each commit to the disk (`synchronous=FULL`): for what cannot be rebuilt.
    Errors: the driver's OperationalError when the file cannot be opened.
    """
    if mode == "rw":
        return _connect_writing(path, durable=durable)
    flags = "mode=ro" if mode == "ro" else "mode=ro&immutable=1"
    connection = _open(f"file:{quote(str(path))}?{flags}")
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    return connection


def _connect_writing(path: Path, *, durable: bool) -> Connection:
    is_new = not path.exists()
    connection = _open(f"file:{quote(str(path))}?mode=rwc")
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    if is_new:
        path.chmod(0o600)
        journal = "TRUNCATE" if filesystem.is_network(path.parent) else "WAL"
        _switch_journal(connection, journal)
    connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def _switch_journal(connection: Connection, journal: str) -> None:
    """Set the kind of journal. Where several begin a file at once, SQLite refuses that without waiting: it is said
    again. Errors: the driver's OperationalError, as of any statement that waited in vain.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute(f"PRAGMA journal_mode={journal}")
            return
        except OperationalError as fault:
            if "locked" not in str(fault) or time.monotonic() >= deadline:
                raise
        time.sleep(0.005)


def _open(uri: str) -> Connection:
    # check_same_thread is off because the bridge may close a connection in another thread than the one that opened it;
    # no connection is ever used by two threads at once.
    connection: Connection = _sqlite.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    return connection


def remove(path: Path) -> None:
    """Remove a database with its side files, those that are there. *Errors*: OSError."""
    for suffix in ("", *SIDES):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def load_vector_functions(connection: Connection) -> bool:
    """Give the connection sqlite-vec's functions; False where it, or loading anything, is not to be had.

    Only the package's place is asked for: importing it imports another SQLite library.
    """
    if not HAS_EXTENSIONS:
        return False
    place = find_spec("sqlite_vec")
    for folder in (place.submodule_search_locations or ()) if place else ():
        try:
            connection.enable_load_extension(True)
            connection.load_extension(str(Path(folder) / "vec0"))
            return True
        except DatabaseError:
            return False
        finally:
            connection.enable_load_extension(False)
    return False


def in_memory() -> Connection:
    """An empty database that no file stands behind."""
    connection: Connection = _sqlite.connect(":memory:", isolation_level=None, check_same_thread=False)
    return connection


@contextmanager
def transaction(connection: Connection) -> Iterator[Connection]:
    """`BEGIN IMMEDIATE` … `COMMIT`; rolled back when the block raises. Safe to kill at any point."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


_WORDS_OF_DAMAGE = ("malformed", "constructor failed", "no such table", "invalid fts5", "decode to UTF-8", "SQL logic")
"""What SQLite, FTS5 and the driver say as an OperationalError where the content of a file makes no sense."""


def is_damage(fault: Exception) -> bool:
    """Whether the content of the file is at fault: not the disk, its room, a lock, or the one who asked.

    pysqlite3 raises UnicodeDecodeError for a text that is none: catch `FAULTS`.
    """
    if isinstance(fault, UnicodeDecodeError):
        return True
    if isinstance(fault, OperationalError):
        return any(words in str(fault) for words in _WORDS_OF_DAMAGE)
    return isinstance(fault, DatabaseError) and not isinstance(fault, ProgrammingError)


_WORDS_OF_THE_DISK = ("disk", "unable to open", "readonly", "locked", "locking")


_NO_ROOM_BYTES = 262_144
"""Less free space than this, and an "I/O error" of SQLite's is a full disk: it cannot make its side files."""


def is_full_disk(folder: Path, cause: Exception) -> bool:
    """Whether the fault comes from a disk without room."""
    if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    if "full" in str(cause):
        return True
    try:
        return shutil.disk_usage(folder).free < _NO_ROOM_BYTES
    except OSError:
        return False


def is_refused(cause: Exception) -> bool:
    """Whether the disk, its rights or another process's lock kept SQLite from the file."""
    return isinstance(cause, OperationalError) and any(words in str(cause) for words in _WORDS_OF_THE_DISK)


def refusal(folder: Path, cause: Exception) -> tuple[str, str]:
    """Why the disk refused a write in `folder`, and what a person does about it: a sentence each."""
    if is_full_disk(folder, cause):
        return "the disk is full.", "Free some space."
    largest = filesystem.largest_file_bytes()
    if largest is not None and (filesystem.is_too_large(cause) or "disk I/O" in str(cause)):
        return f"no file may grow past {largest:,} bytes here.", "Raise the limit of this shell: `ulimit -f unlimited`."
    if isinstance(cause, OperationalError) and "locked" in str(cause):
        return "another program holds a database.", "Wait for it."
    return f"{cause}.", f"Mend that in {folder}."


def unusable(path: Path, cause: Exception) -> StoreFault:
    """The fault to raise where the disk keeps SQLite from a file."""
    why, remedy = refusal(path.parent, cause)
    return StoreFault(f"{path.name} cannot be used: {why}", hint=f"{remedy} Then try again.")


@contextmanager
def refusals_told(folder: Path) -> Iterator[None]:
    """Raises StoreFault where the disk keeps SQLite from a database in `folder` within the block."""
    try:
        yield
    except OperationalError as fault:
        if not is_refused(fault):
            raise
        why, remedy = refusal(folder, fault)
        raise StoreFault(f"A database cannot be used: {why}", hint=f"{remedy} Then try again.") from fault


def unreadable(path: Path, cause: Exception) -> StoreFault:
    """The fault to raise for a database that holds what cannot be rebuilt: damaged, or refused by the disk."""
    if is_refused(cause) or is_full_disk(path.parent, cause):
        return unusable(path, cause)
    return StoreFault(
        f"{path.name} cannot be read: {cause}",
        hint="Keep the file. `ai-memory salvage` shows what can be read of it; `ai-memory restore` puts a backup back.",
    )
