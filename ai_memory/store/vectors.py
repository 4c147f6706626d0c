"""Vectors of chunks: rows of the index, computed elsewhere, outside the lock.

A row goes with its chunk (a trigger in `index_schema`) and holds the hash of the text that it was made of, so that no
vector ever stands for another text. The `code` is one bit a number, its sign: what a search over many looks at first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ai_memory.model import Encoder
from ai_memory.store.addresses import NO_REPORT
from ai_memory.store.driver import Connection
from ai_memory.text.embedded import embedded_text, text_hash

_AT_ONCE = 500
"""Chunks that are read, or ids that one statement asks for."""


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk that lacks a vector."""

    id: int
    page_id: int
    text: str

    @property
    def hash(self) -> bytes:
        return text_hash(self.text)


@dataclass(frozen=True, slots=True)
class EncoderCount:
    """An encoder of the index, and how many vectors it has there."""

    id: int
    encoder: Encoder
    vectors: int


def code_of(vector: bytes) -> bytes:
    """The signs of a vector's numbers, a bit each; whole bytes."""
    signs = vector[3::4].translate(_SIGNS)  # of a little-endian float32 the sign is the last byte's first bit
    return int(signs, 2).to_bytes((len(signs) + 7) // 8, "little")


_SIGNS = b"0" * 128 + b"1" * 128


# --- encoders ---


def encoders(connection: Connection) -> list[EncoderCount]:
    """Those that made vectors of this index, the most vectors first."""
    rows = connection.execute(
        "SELECT e.id, e.provider, e.model, e.dim, e.document_prefix, count(v.chunk_id) FROM encoders AS e"
        " LEFT JOIN vectors AS v ON v.encoder_id = e.id GROUP BY e.id ORDER BY 6 DESC, e.id"
    )
    return [EncoderCount(row[0], Encoder(*row[1:5]), row[5]) for row in rows]


def encoders_named(connection: Connection) -> list[tuple[int, Encoder]]:
    """The same without counting: what a search asks first."""
    rows = connection.execute("SELECT id, provider, model, dim, document_prefix FROM encoders ORDER BY id").fetchall()
    return [(row[0], Encoder(*row[1:5])) for row in rows]


def encoder_id(connection: Connection, encoder: Encoder) -> int | None:
    """Its number in this index, or None."""
    sql = "SELECT id FROM encoders WHERE provider = ? AND model = ? AND dim = ? AND document_prefix = ?"
    row = connection.execute(sql, encoder.key).fetchone()
    return None if row is None else int(row[0])


def ensure_encoder(connection: Connection, encoder: Encoder) -> int:
    """Its number, given now if it has none. Inside the caller's transaction."""
    sql = "INSERT OR IGNORE INTO encoders (provider, model, dim, document_prefix) VALUES (?, ?, ?, ?)"
    connection.execute(sql, encoder.key)
    found = encoder_id(connection, encoder)
    assert found is not None
    return found


def drop_others(connection: Connection, kept: Encoder | None) -> int:
    """Remove the vectors of every other encoder; gives how many. Inside the caller's transaction."""
    number = None if kept is None else encoder_id(connection, kept)
    dropped = connection.execute("DELETE FROM vectors WHERE encoder_id IS NOT ?", (number,)).rowcount
    connection.execute("DELETE FROM encoders WHERE id IS NOT ?", (number,))
    return int(dropped)


# --- chunks without a vector ---

_MISSING = f"""
    FROM pages AS p CROSS JOIN chunks AS c ON c.page_id = p.id
    LEFT JOIN vectors AS v ON v.chunk_id = c.id AND v.encoder_id IS ?
    WHERE v.chunk_id IS NULL AND {NO_REPORT} AND {{conditions}}
"""
"""Reports on other pages are found by no search."""


def missing(
    connection: Connection, encoder: int | None, *, conditions: str = "1", parameters: Sequence[object] = ()
) -> int:
    """How many chunks of those pages (conditions over `pages AS p`) have no vector of that encoder."""
    sql = f"SELECT count(*) {_MISSING.format(conditions=conditions)}"
    return int(connection.execute(sql, (encoder, *parameters)).fetchone()[0])


def next_missing(
    connection: Connection,
    encoder: int | None,
    limit: int,
    *,
    conditions: str = "1",
    parameters: Sequence[object] = (),
    offset: int = 0,
) -> list[ChunkText]:
    """The first of them, chunks of the newest pages first; `offset` passes over those that were given up."""
    sql = (
        f"SELECT c.id, c.page_id, c.title, c.heading, c.body {_MISSING.format(conditions=conditions)}"
        " ORDER BY p.updated_at_us DESC, p.workspace, p.project, p.path, c.ord LIMIT ? OFFSET ?"
    )
    rows = connection.execute(sql, (encoder, *parameters, limit, offset))
    return [ChunkText(row[0], row[1], embedded_text(*row[2:5])) for row in rows]


# --- putting ---

_TEXT = "SELECT page_id, title, heading, body FROM chunks WHERE id = ?"
_PUT = """
    INSERT OR REPLACE INTO vectors (chunk_id, encoder_id, page_id, text_hash, code, vector) VALUES (?, ?, ?, ?, ?, ?)
"""


def put(connection: Connection, encoder: Encoder, made: Iterable[tuple[ChunkText, bytes]]) -> int:
    """Store vectors of chunks whose text is still the one that was read; gives how many. Inside a transaction."""
    number = ensure_encoder(connection, encoder)
    stored = 0
    for chunk, vector in made:
        row = connection.execute(_TEXT, (chunk.id,)).fetchone()
        if row is None or text_hash(embedded_text(*row[1:4])) != chunk.hash:
            continue
        connection.execute(_PUT, (chunk.id, number, row[0], chunk.hash, code_of(vector), vector))
        stored += 1
    return stored


def restore(connection: Connection, encoder: Encoder, look_up: Callable[[Sequence[bytes]], dict[bytes, bytes]]) -> int:
    """Give every chunk the vector that `look_up` knows of its text; gives how many. Inside the caller's transaction."""
    number = ensure_encoder(connection, encoder)
    stored = 0
    for chunks in _all_chunks(connection):
        found = look_up([chunk.hash for chunk in chunks])
        rows = [
            (chunk.id, number, chunk.page_id, chunk.hash, code_of(vector), vector)
            for chunk in chunks
            if (vector := found.get(chunk.hash)) is not None and len(vector) == 4 * encoder.dim
        ]
        connection.executemany(_PUT, rows)
        stored += len(rows)
    return stored


def has_any(connection: Connection) -> bool:
    """Whether the index holds any vector."""
    return connection.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is not None


def texts(connection: Connection) -> Iterator[str]:
    """What an encoder reads of all chunks, each text once."""
    yield from dict.fromkeys(chunk.text for chunks in _all_chunks(connection) for chunk in chunks)


def _all_chunks(connection: Connection) -> Iterator[list[ChunkText]]:
    last = 0
    sql = "SELECT id, page_id, title, heading, body FROM chunks WHERE id > ? ORDER BY id LIMIT ?"
    while rows := connection.execute(sql, (last, _AT_ONCE)).fetchall():
        yield [ChunkText(row[0], row[1], embedded_text(*row[2:5])) for row in rows]
        last = rows[-1][0]


# --- carrying over a change of pages ---


class Carried:
    """Vectors of pages that are written anew: what did not change keeps its own, also on a page that was moved.

    Inside one transaction: `take` each page before it goes, `put` once the new rows stand.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._is_needed = has_any(connection)
        self._held: dict[bytes, list[tuple[int, bytes, bytes]]] = {}

    def take(self, page_id: int) -> None:
        """Remember the vectors of a page that is about to be removed."""
        if not self._is_needed:
            return
        sql = "SELECT text_hash, encoder_id, code, vector FROM vectors WHERE page_id = ?"
        for digest, *row in self._connection.execute(sql, (page_id,)):
            self._held.setdefault(digest, []).append((row[0], row[1], row[2]))

    def put(self, page_ids: Iterable[int]) -> None:
        """Give them to the chunks of the new pages that say the same."""
        if not self._held:
            return
        sql = "SELECT id, title, heading, body FROM chunks WHERE page_id = ?"
        for page_id in page_ids:
            for chunk_id, *parts in self._connection.execute(sql, (page_id,)).fetchall():
                digest = text_hash(embedded_text(*parts))
                rows = [(chunk_id, number, page_id, digest, *rest) for number, *rest in self._held.get(digest, ())]
                self._connection.executemany(_PUT, rows)
