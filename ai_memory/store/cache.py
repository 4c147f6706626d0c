"""`cache.db`: vectors by encoder and hash of the text, for texts and for queries. Losing it costs time, nothing else.

It holds no text. Every fault means "not there": nobody fails for a cache. A damaged file is removed.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ai_memory.model import Encoder
from ai_memory.paths import DataDir
from ai_memory.store import driver
from ai_memory.store.driver import Connection

T = TypeVar("T")

SCHEMA = 1
"""In `user_version`; another number is another file's, and it begins anew."""

LARGEST_BYTES = 1 << 30
"""Of the vectors together: 600,000 of 384 numbers. Above it the texts that nobody asked for the longest go."""
MOST_QUERIES = 10_000
_KEPT = 0.8
"""Of a bound that was reached."""
_AT_ONCE = 500

_TABLES = (
    """CREATE TABLE IF NOT EXISTS encoders (
        id INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, dim INTEGER NOT NULL,
        document_prefix TEXT NOT NULL, used_at INTEGER NOT NULL, UNIQUE (provider, model, dim, document_prefix)
    )""",
    """CREATE TABLE IF NOT EXISTS texts (
        id INTEGER PRIMARY KEY, encoder_id INTEGER NOT NULL, hash BLOB NOT NULL, used_at INTEGER NOT NULL,
        vector BLOB NOT NULL, UNIQUE (encoder_id, hash)
    )""",
    """CREATE TABLE IF NOT EXISTS queries (
        id INTEGER PRIMARY KEY, encoder_id INTEGER NOT NULL, hash BLOB NOT NULL, used_at INTEGER NOT NULL,
        vector BLOB NOT NULL, UNIQUE (encoder_id, hash)
    )""",
    f"PRAGMA user_version = {SCHEMA}",
)


class Cache:
    """The cache of one data dir. Opens the file for each call; nothing is held between them."""

    def __init__(self, data_dir: DataDir) -> None:
        self._path = data_dir.cache
        self._root = data_dir.root

    def encoders(self) -> list[Encoder]:
        """Those that it knows, the one in use first."""
        sql = "SELECT provider, model, dim, document_prefix FROM encoders ORDER BY used_at DESC, id DESC"
        rows: list[tuple[str, str, int, str]] = self._read(lambda c: c.execute(sql).fetchall(), otherwise=[])
        return [Encoder(*row) for row in rows]

    def vectors(self, encoder: Encoder, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is known of those texts."""
        return self._read(lambda connection: _texts(connection, encoder, hashes), otherwise={})

    @contextmanager
    def looking_up(self, encoder: Encoder) -> Iterator[Callable[[Sequence[bytes]], dict[bytes, bytes]]]:
        """`vectors` over one connection, for whoever asks often."""
        connection = self._opened_to_read()
        if connection is None:
            yield lambda _: {}
            return

        def look_up(hashes: Sequence[bytes]) -> dict[bytes, bytes]:
            try:
                return _texts(connection, encoder, hashes)
            except driver.FAULTS:
                return {}

        with closing(connection):
            yield look_up

    def put(self, encoder: Encoder, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep vectors of texts, by hash. Crash: safe."""
        rows = list(vectors)
        self._write(lambda connection: _put(connection, "texts", encoder, rows))

    def query(self, encoder: Encoder, digest: bytes) -> bytes | None:
        """The vector of a query asked before."""
        sql = f"SELECT vector FROM queries WHERE encoder_id = {_ENCODER} AND hash = ?"
        row = self._read(lambda c: c.execute(sql, (*encoder.key, digest)).fetchone(), otherwise=None)
        is_whole = row is not None and isinstance(row[0], bytes) and len(row[0]) == 4 * encoder.dim
        return row[0] if is_whole else None

    def put_query(self, encoder: Encoder, digest: bytes, vector: bytes) -> None:
        """Keep the vector of a query. Crash: safe."""
        self._write(lambda connection: _put(connection, "queries", encoder, [(digest, vector)]))

    def touch(self, encoder: Encoder) -> None:
        """Say that this encoder is the one in use: an index that is built anew takes its vectors."""
        self._write(lambda connection: _ensure(connection, encoder))

    def drop_unused(self, kept: Collection[Encoder], *, before_s: int) -> int:
        """Remove the vectors of encoders that nobody used since then, but not of `kept`; gives how many."""
        dropped = 0

        def drop(connection: Connection) -> None:
            nonlocal dropped
            rows = connection.execute(_UNUSED, (before_s * 1000,)).fetchall()
            for number, *key in rows:
                if Encoder(*key) not in kept:
                    for table in ("texts", "queries"):
                        dropped += connection.execute(f"DELETE FROM {table} WHERE encoder_id = ?", (number,)).rowcount
                    connection.execute("DELETE FROM encoders WHERE id = ?", (number,))

        if self._path.exists():
            self._write(drop)
        return dropped

    def _opened_to_read(self) -> Connection | None:
        if not self._path.exists():
            return None
        try:
            connection = driver.connect(self._path, mode="ro")
        except driver.FAULTS:
            return None
        try:
            if connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA:
                return connection
        except driver.FAULTS:
            pass
        connection.close()
        return None

    def _read(self, question: Callable[[Connection], T], *, otherwise: T) -> T:
        connection = self._opened_to_read()
        if connection is None:
            return otherwise
        try:
            with closing(connection):
                return question(connection)
        except driver.FAULTS:
            return otherwise

    def _write(self, work: Callable[[Connection], object]) -> None:
        """Do it, on a new file if this one is damaged. A full disk, a busy file, a read-only place: it is left out."""
        if not self._root.is_dir():
            return
        for _ in range(2):
            try:
                with closing(driver.connect(self._path)) as connection:
                    _prepare(connection)
                    with driver.transaction(connection):
                        work(connection)
                return
            except driver.FAULTS as fault:
                if not driver.is_damage(fault):
                    return
                remove(self._path)
            except OSError:
                return


def remove(path: Path) -> None:
    """Drop the file with those beside it."""
    for suffix in ("", *driver.SIDES):
        with suppress(OSError):
            Path(f"{path}{suffix}").unlink(missing_ok=True)


def _prepare(connection: Connection) -> None:
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found == SCHEMA:
        return
    with driver.transaction(connection):
        if found:
            for table in ("encoders", "texts", "queries"):
                connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _TABLES:
            connection.execute(statement)


_UNUSED = "SELECT id, provider, model, dim, document_prefix FROM encoders WHERE used_at < ? ORDER BY id"
_ENCODER = "(SELECT id FROM encoders WHERE provider = ? AND model = ? AND dim = ? AND document_prefix = ?)"


def _texts(connection: Connection, encoder: Encoder, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for start in range(0, len(hashes), _AT_ONCE):
        part = hashes[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT hash, vector FROM texts WHERE encoder_id = {_ENCODER} AND hash IN ({marks})"
        found.update(connection.execute(sql, (*encoder.key, *part)).fetchall())
    return {digest: vector for digest, vector in found.items() if len(vector) == 4 * encoder.dim}


def _ensure(connection: Connection, encoder: Encoder) -> int:
    now = time.time_ns() // 1_000_000
    sql = """
        INSERT INTO encoders (provider, model, dim, document_prefix, used_at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (provider, model, dim, document_prefix) DO UPDATE SET used_at = excluded.used_at
    """
    connection.execute(sql, (*encoder.key, now))
    return int(connection.execute(_ENCODER.strip("()"), encoder.key).fetchone()[0])


def _put(connection: Connection, table: str, encoder: Encoder, rows: Sequence[tuple[bytes, bytes]]) -> None:
    number = _ensure(connection, encoder)
    now = int(time.time())
    sql = f"INSERT OR REPLACE INTO {table} (encoder_id, hash, used_at, vector) VALUES (?, ?, ?, ?)"
    connection.executemany(sql, [(number, digest, now, vector) for digest, vector in rows])
    _bound(connection)


def _bound(connection: Connection) -> None:
    """Keep within the bounds: the oldest rows go."""
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    if (pages - free) * size > LARGEST_BYTES:
        _drop_oldest(connection, "texts", 1 - _KEPT)
    count = int(connection.execute("SELECT count(*) FROM queries").fetchone()[0])
    if count > MOST_QUERIES:
        _drop_oldest(connection, "queries", 1 - _KEPT)


def _drop_oldest(connection: Connection, table: str, share: float) -> None:
    count = int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    connection.execute(
        f"DELETE FROM {table} WHERE id IN (SELECT id FROM {table} ORDER BY used_at, id LIMIT ?)",
        (max(1, int(count * share)),),
    )
