"""Full-text search over chunks, summed up per page.

Floors and the weights' origin: chunks of about 600 characters beat whole documents, and a page counts as its best chunk
plus half the second plus a quarter of the third (measured 2026-11-30 on long conversations and agent sessions).
"""

from collections.abc import Collection
from dataclasses import dataclass

from ai_memory.model import PageRef, Scope
from ai_memory.search.prepare import STOPWORDS, match_expression, terms
from ai_memory.store.snapshot import Filter, Snapshot
from ai_memory.text.excerpts import excerpt

CHUNK_SHARES = (1.0, 0.5, 0.25)
"""What a page's first, second and third best chunk add to its score."""

COLUMN_WEIGHTS = (3.0, 1.5, 2.0, 1.0)
"""bm25 weights of title, path words and tags, heading, body. Title 3 instead of 2: nDCG@10 +.003 to +.008 on pages, the
same on conversations and sessions; 4 adds nothing (2026-11-30, `tests/bench/bench_retrieval.py`)."""

CANDIDATE_CHUNKS = 400
"""Chunks that are ranked and read; a page whose best chunk is behind them is no good answer."""

_CHUNKS = """
    SELECT c.page_id, c.id, bm25(chunks_fts, {weights}) AS score, p.workspace, p.project, p.path
    FROM chunks_fts JOIN chunks AS c ON c.id = chunks_fts.rowid JOIN pages AS p ON p.id = c.page_id
    WHERE chunks_fts MATCH ? AND {conditions}
    ORDER BY score, p.workspace, p.project, p.path, c.ord
    LIMIT ?
"""

_CHUNK = """
    SELECT p.title, p.kind, p.tier, p.version, p.updated_at_us, c.heading, c.start_line, c.end_line, c.body
    FROM chunks AS c JOIN pages AS p ON p.id = c.page_id WHERE c.id = ?
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """One page that answers, with its best passage. `score`: higher is better, comparable within one answer only."""

    ref: PageRef
    title: str
    kind: str
    tier: str
    version: str
    updated_at_us: int
    score: float
    heading: str
    line: int
    """1-based line of the file on which the passage begins."""
    end_line: int
    snippet: str


@dataclass(frozen=True, slots=True)
class Hits:
    """Pages, best first, and how many more were found among the candidates."""

    hits: tuple[Hit, ...]
    omitted: int = 0
    terms: tuple[str, ...] = ()
    legs: tuple[str, ...] = ("fts",)
    gaps: tuple[str, ...] = ()
    abstained: bool = False


def search(
    snapshot: Snapshot,
    query: str,
    scope: Scope | None,
    *,
    limit: int = 10,
    offset: int = 0,
    wanted: Filter | None = None,
    stopwords: Collection[str] = STOPWORDS,
) -> Hits:
    """Pages that hold any term of `query`, best first. `scope` None searches every project. Never fails on a query."""
    found = terms(query, stopwords=stopwords)
    expression = match_expression(found)
    if not expression:
        return Hits((), gaps=("the query holds no word to look for",))
    conditions, parameters = _conditions(scope, wanted)
    sql = _CHUNKS.format(weights=", ".join(map(str, COLUMN_WEIGHTS)), conditions=conditions)
    rows = snapshot.index.execute(sql, [expression, *parameters, CANDIDATE_CHUNKS])
    pages: dict[int, _Candidate] = {}
    for page_id, chunk_id, score, *address in rows:
        pages.setdefault(page_id, _Candidate(PageRef(*address), chunk_id)).add(-score)
    ranked = sorted(pages.values(), key=lambda page: (-page.score, page.ref))
    shown = ranked[offset : offset + limit]
    return Hits(
        tuple(_hit(snapshot, page, found) for page in shown), max(0, len(ranked) - offset - len(shown)), tuple(found)
    )


def _conditions(scope: Scope | None, wanted: Filter | None) -> tuple[str, list[object]]:
    conditions, parameters = (wanted or Filter()).sql()
    if scope is None:
        return conditions, parameters
    return f"{conditions} AND p.workspace = ? AND p.project = ?", [*parameters, scope.workspace, scope.project]


class _Candidate:
    """A page while its chunks come in, best first."""

    def __init__(self, ref: PageRef, best_chunk: int) -> None:
        self.ref = ref
        self.best_chunk = best_chunk
        self.score = 0.0
        self._chunks = 0

    def add(self, score: float) -> None:
        if self._chunks < len(CHUNK_SHARES):
            self.score += CHUNK_SHARES[self._chunks] * score
        self._chunks += 1


def _hit(snapshot: Snapshot, page: _Candidate, found: list[str]) -> Hit:
    title, kind, tier, version, updated_at_us, heading, start, _, body = snapshot.index.execute(
        _CHUNK, (page.best_chunk,)
    ).fetchone()
    passage = excerpt(body, found, first_line=start)
    assert passage is not None, "no chunk is blank"
    return Hit(
        ref=page.ref,
        title=title,
        kind=kind,
        tier=tier,
        version=version,
        updated_at_us=updated_at_us,
        score=round(page.score, 6),
        heading=heading,
        line=passage.start_line,
        end_line=passage.end_line,
        snippet=passage.text,
    )
