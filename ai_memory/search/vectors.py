"""The vector leg: chunks whose vectors lie nearest to a query's.

Two looks. The first compares signs, a bit a number, and takes a pool; the second compares the numbers of the pool. Both
count the same with sqlite-vec and without it: bits are counted in whole numbers, and what is returned was computed in
Python from the stored bytes. sqlite-vec only makes the looks faster.
"""

import json
import math
import sys
from collections.abc import Collection, Iterable, Sequence
from heapq import nsmallest
from operator import mul
from typing import NamedTuple

from ai_memory.providers.embedder import unpacked
from ai_memory.store import driver
from ai_memory.store.driver import Connection
from ai_memory.store.vectors import code_of

POOL = 1_000
"""Chunks that the second look compares. They hold .986 of the truly 100 nearest among 100,000 (docs/benchmarks.md)."""
POOL_A_HIT = 10
_SLACK = 1e-5
"""More than two ways of adding up 4,096 products of float32 ever differ."""


class Near(NamedTuple):
    """One chunk near a query. `cosine` is comparable over all queries of one encoder."""

    page_id: int
    chunk_id: int
    cosine: float


def nearest(
    connection: Connection,
    encoder_id: int,
    vector: bytes,
    *,
    conditions: str = "1",
    parameters: Sequence[object] = (),
    limit: int = 100,
) -> list[Near]:
    """The chunks nearest to `vector` (float32, little-endian, L2-normalised), best first, ties by chunk id.

    `conditions` over `pages AS p` and their `parameters` say which pages count. The same with and without sqlite-vec.
    """
    where, given = "encoder_id = ?", [encoder_id]
    if conditions.strip() not in ("", "1"):
        where += f" AND page_id IN (SELECT p.id FROM pages AS p WHERE {conditions})"
    pool = max(POOL, POOL_A_HIT * limit)
    if driver.load_vector_functions(connection):
        ids = _pool_by_functions(connection, where, [*given, *parameters], vector, pool)
        ids = _best_by_functions(connection, encoder_id, ids, vector, limit)
    else:
        ids = _pool_by_hand(connection, where, [*given, *parameters], vector, pool)
    found = _compared(connection, encoder_id, ids, vector)
    return sorted(found, key=lambda near: (-near.cosine, near.chunk_id))[:limit]


def cosines(connection: Connection, encoder_id: int, vector: bytes, chunk_ids: Collection[int]) -> dict[int, float]:
    """The cosine of each of those chunks that has a vector: for what another leg found."""
    return {near.chunk_id: near.cosine for near in _compared(connection, encoder_id, chunk_ids, vector)}


_BY_SIGNS = """
    SELECT chunk_id FROM vectors WHERE {where}
    ORDER BY vec_distance_hamming(vec_bit(code), vec_bit(?)), chunk_id LIMIT ?
"""


def _pool_by_functions(
    connection: Connection, where: str, parameters: list[object], vector: bytes, pool: int
) -> list[int]:
    rows = connection.execute(_BY_SIGNS.format(where=where), [*parameters, code_of(vector), pool])
    return [row[0] for row in rows]


def _pool_by_hand(connection: Connection, where: str, parameters: list[object], vector: bytes, pool: int) -> list[int]:
    number = int.from_bytes(code_of(vector), "little")
    read = int.from_bytes
    rows = connection.execute(f"SELECT chunk_id, code FROM vectors WHERE {where}", parameters)
    distances = [((read(code, "little") ^ number).bit_count(), chunk_id) for chunk_id, code in rows]
    return [chunk_id for _, chunk_id in nsmallest(pool, distances)]


_DISTANCES = """
    SELECT vec_distance_cosine(vector, ?), chunk_id FROM vectors
    WHERE encoder_id = ? AND chunk_id IN (SELECT value FROM json_each(?)) ORDER BY 1
"""


def _best_by_functions(connection: Connection, encoder_id: int, ids: list[int], vector: bytes, limit: int) -> list[int]:
    """Those that may be among the best `limit`: the functions add up in single precision, so some more."""
    rows = connection.execute(_DISTANCES, (vector, encoder_id, json.dumps(ids))).fetchall()
    if len(rows) <= limit:
        return ids
    last = rows[limit - 1][0]
    if last is None:
        return ids
    return [chunk_id for distance, chunk_id in rows if distance is None or distance <= last + _SLACK]


def _compared(connection: Connection, encoder_id: int, ids: Iterable[int], vector: bytes) -> list[Near]:
    sql = (
        "SELECT page_id, chunk_id, vector FROM vectors"
        " WHERE encoder_id = ? AND chunk_id IN (SELECT value FROM json_each(?))"
    )
    asked = unpacked(vector)
    rows = connection.execute(sql, (encoder_id, json.dumps(list(ids))))
    whole = [row for row in rows if len(row[2]) == len(vector)]
    return [Near(page, chunk, _dot(asked, unpacked(stored))) for page, chunk, stored in whole]


if sys.version_info >= (3, 12):
    _dot = math.sumprod
else:

    def _dot(one: Iterable[float], other: Iterable[float]) -> float:
        return float(sum(map(mul, one, other)))
