"""The leg that leads: full text over chunks, summed up per page."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ai_memory.search.closeness import Closeness, flattened
from ai_memory.search.numbers import (
    CANDIDATE_CHUNKS,
    CHUNK_SHARES,
    COLUMN_WEIGHTS,
    COMMON_SHARE,
    FEWEST_TERMS,
    FULFILLING_CHUNKS,
    LARGE_INDEX_CHUNKS,
    RARE_TERMS,
)
from ai_memory.search.prepare import Prepared, match_expression
from ai_memory.store.driver import Connection, OperationalError, is_damage
from ai_memory.store.index import CHUNK_BITS, count_chunks

_SCORE = f"bm25(chunks_fts, {', '.join(map(str, COLUMN_WEIGHTS))}) AS score"
_BEST = f"SELECT rowid, {_SCORE} FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY score, rowid LIMIT ?"
_BEST_CHUNKS = 4 * CANDIDATE_CHUNKS
_WANTED = f"""
    SELECT f.rowid, {_SCORE}
    FROM chunks_fts AS f
    WHERE chunks_fts MATCH ?
        AND EXISTS (SELECT 1 FROM pages AS p WHERE p.id = f.rowid >> {CHUNK_BITS} AND {{conditions}})
    ORDER BY score, f.rowid
    LIMIT ?
"""
"""For what is not among the `_BEST`: looking at the page of each chunk that matches takes longer than ranking them."""
_TEXTS = "SELECT id, title, words, heading, body FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
_FREQUENCY = "SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)"


Meet = Callable[[Collection[int]], Collection[int]]
"""Page ids → those of pages that fulfil the conditions, from now on among the candidates."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk that matched."""

    chunk_id: int
    score: float
    flat: bytes
    """Its words with its title and headings, as `closeness.flattened` makes them."""
    held: int
    """Which needles of the query it holds."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms that are asked, and how rare each is (idf, the larger the rarer)."""

    weights: Mapping[str, float]
    chunks: int
    """How many the index holds."""


def weigh(index: Connection, prepared: Prepared) -> Terms:
    """How rare the terms are among the chunks, and which of them are asked. Never fails."""
    total = count_chunks(index)
    ceiling = max(64, math.ceil(total * COMMON_SHARE)) if total > LARGE_INDEX_CHUNKS else total
    counts = {term: _frequency(index, term, ceiling + 1) for term in prepared.terms}
    weights = {term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
    present = sorted((term for term in weights if counts[term]), key=lambda term: (-weights[term], term))
    asked = [term for place, term in enumerate(present) if counts[term] <= ceiling or place < FEWEST_TERMS]
    kept = {*asked[:RARE_TERMS], *(term for term in weights if not counts[term])}
    return Terms({term: weights[term] for term in prepared.terms if term in kept}, total)


def _frequency(index: Connection, term: str, most: int) -> int:
    try:
        return int(index.execute(_FREQUENCY, (match_expression([term]), most)).fetchone()[0])
    except OperationalError as fault:  # nothing but signs leaves FTS5 an empty phrase
        if is_damage(fault):
            raise
        return 0


def passages(
    index: Connection,
    expression: str,
    closeness: Closeness,
    meet: Meet,
    *,
    conditions: str,
    parameters: Sequence[object],
) -> dict[int, list[Passage]]:
    """Page id → its chunks that matched, best first. Errors: OperationalError for an expression that FTS5 refuses."""
    best = index.execute(_BEST, (expression, _BEST_CHUNKS)).fetchall()
    rows: list[tuple[int, float]] = []
    looked_at = 0
    while looked_at < len(best) and len(rows) < CANDIDATE_CHUNKS:
        some = best[looked_at : looked_at + CANDIDATE_CHUNKS - len(rows)]  # no more than are taken: `meet` remembers
        looked_at += len(some)
        there = meet({chunk_id >> CHUNK_BITS for chunk_id, _ in some})
        rows += [row for row in some if row[0] >> CHUNK_BITS in there]
    if len(rows) < CANDIDATE_CHUNKS and len(best) == _BEST_CHUNKS:
        sql = _WANTED.format(conditions=conditions)
        rows = index.execute(sql, [expression, *parameters, CANDIDATE_CHUNKS]).fetchall()
        meet({chunk_id >> CHUNK_BITS for chunk_id, _ in rows})
    texts = chunk_texts(index, [row[0] for row in rows])
    found: dict[int, list[Passage]] = {}
    for chunk_id, score in rows:
        flat = texts.get(chunk_id, b"  ")
        passage = Passage(chunk_id, -score * closeness.factor(flat), flat, closeness.held(flat))
        found.setdefault(chunk_id >> CHUNK_BITS, []).append(passage)
    for own in found.values():
        own.sort(key=lambda passage: (-passage.score, passage.chunk_id))
    return found


def is_broad(index: Connection, expression: str) -> bool:
    """Whether more chunks fulfil it than can be told apart. Errors: OperationalError as `passages`."""
    found = index.execute(_FREQUENCY, (expression, FULFILLING_CHUNKS + 1)).fetchone()
    return int(found[0]) > FULFILLING_CHUNKS


def chunk_texts(index: Connection, chunk_ids: Iterable[int]) -> dict[int, bytes]:
    """Chunk id → its words with title, address and headings, flattened."""
    rows = index.execute(_TEXTS, ("[" + ",".join(map(str, chunk_ids)) + "]",))
    return {row[0]: flattened(" ".join(row[1:])) for row in rows}


def page_score(own: Sequence[Passage]) -> float:
    """A page's score from its chunks, best first."""
    return sum(share * passage.score for share, passage in zip(CHUNK_SHARES, own, strict=False))
