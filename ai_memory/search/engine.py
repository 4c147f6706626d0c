"""Ranking: legs → sum → standing → gate → passages. Reads one snapshot, changes nothing, calls no model."""

import functools
import json
import operator
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ai_memory.hook_terms import STOPWORDS
from ai_memory.model import PageRef, Scope
from ai_memory.search import fulltext, gate, legs, numbers
from ai_memory.search.authority import authority
from ai_memory.search.candidate import Candidate
from ai_memory.search.closeness import Closeness
from ai_memory.search.intent import recalls_a_session
from ai_memory.search.language import foreign_language, has_other_script
from ai_memory.search.passages import folded, shown
from ai_memory.search.prepare import Prepared, match_expression, prepare
from ai_memory.search.request import Hit, Hits, LegScore, Request, Status
from ai_memory.search.when import named_span
from ai_memory.store.driver import Connection, OperationalError, is_damage
from ai_memory.store.index import ABSTRACT_PLACE, CHUNK_BITS
from ai_memory.store.snapshot import Filter, Snapshot

_PAGES = """
    SELECT p.id, p.workspace, p.project, p.path, p.title, p.kind, p.tier, p.version, p.pinned, p.updated_at_us,
        p.superseded, (SELECT group_concat(tag, char(10)) FROM tags WHERE page_id = p.id),
        CASE p.kind WHEN 'fact' THEN iif(
            json_extract(p.frontmatter, '$.standing') = 'supported', 'fact', 'unconfirmed') ELSE p.kind END
    FROM pages AS p NOT INDEXED WHERE p.id IN (SELECT value FROM json_each(?)) AND {conditions}
"""
"""`NOT INDEXED` leaves the look-up by id alone: SQLite would walk all pages of the project."""
_IDS = """
    SELECT p.id, p.workspace, p.project, p.path FROM json_each(?) AS named
    CROSS JOIN pages AS p
    ON p.workspace = named.value ->> 0 AND p.project = named.value ->> 1 AND p.path = named.value ->> 2
    WHERE {conditions}
"""


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
    """`answer` for callers that ask one plain question of one project, or of all with `scope` None."""
    scopes = None if scope is None else (scope,)
    return answer(
        snapshot,
        Request((query,), scopes, wanted or Filter(), limit=limit, offset=offset, stopwords=stopwords),
    )


def answer(snapshot: Snapshot, request: Request) -> Hits:
    """Pages that answer, best first. Never fails on a query."""
    return _Search(snapshot.index, request).run()


class _Search:
    """One question on its way."""

    def __init__(self, index: Connection, request: Request) -> None:
        self._index = index
        self._request = request
        self._conditions, self._parameters = conditions(request.wanted, request.scopes)
        self._pages_sql = _PAGES.format(conditions=self._conditions)
        self._pages: dict[int, Candidate] = {}
        self._questions: list[Closeness] = []
        self._weights: Mapping[str, float] = {}
        """Of the first question: term → how rare it is."""
        self._chunks = 0
        self._is_fulfilled = False
        """Whether pages were found that fulfil an expression in full-text syntax: they answer it."""
        self._legs: dict[str, None] = {}
        self._gaps: list[str] = []
        self._dropped: dict[str, int] = {}
        self._timings: dict[str, float] = {}

    def run(self) -> Hits:
        asked = [prepare(query, stopwords=self._request.stopwords) for query in self._request.queries]
        with self._timed("fts"):
            for number, one in enumerate(asked):
                self._ask_full_text(number, one)
        with self._timed("exact"):
            self._ask_exact(asked[0])
        with self._timed("entity"):
            self._ask_entities(asked[0])
        self._hear_witnesses()
        self._take_near()
        with self._timed("graph"):
            self._ask_neighbours()
        if not self._pages and not any(one.terms or one.explicit for one in asked):
            return Hits((), gaps=("the query holds no word to look for",))
        with self._timed("rank"):
            found = self._ranked(asked[0])
        return replace(found, timings_ms={name: round(spent, 2) for name, spent in self._timings.items()})

    # --- legs ---

    def _ask_full_text(self, number: int, prepared: Prepared) -> None:
        terms = fulltext.weigh(self._index, prepared)
        self._weights = self._weights or terms.weights
        self._chunks = terms.chunks
        closeness = Closeness(prepared.text, terms.weights)
        self._questions.append(closeness)
        found = self._matching(prepared, terms, closeness)
        if not found:
            return
        scores = {page_id: fulltext.page_score(own) for page_id, own in found.items()}
        best = max(scores.values())
        self._legs["fts"] = None
        ranked = sorted(scores, key=lambda page_id: (-scores[page_id], self._pages[page_id].ref))
        for rank, page_id in enumerate(ranked, 1):
            page, own = self._pages[page_id], found[page_id]
            share = scores[page_id] / best
            page.held[number] = functools.reduce(operator.or_, (passage.held for passage in own[:3]))
            if "fts" in page.legs and page.legs["fts"].share >= share:
                continue  # another wording of the question says more
            page.legs["fts"] = LegScore(rank, scores[page_id], share)
            page.chunks = tuple(passage.chunk_id for passage in own[:3])
            page.flat = own[0].flat

    def _matching(
        self, prepared: Prepared, terms: fulltext.Terms, closeness: Closeness
    ) -> dict[int, list[fulltext.Passage]]:
        """The passages of the explicit expression; where it finds or means nothing, those with any of the words."""
        if prepared.explicit:
            found, why = self._fulfilling(prepared.explicit, closeness)
            if found:
                self._is_fulfilled = True
                return found
            self._gaps.append(f"{why}; any of its words were looked for")
        return self._passages(plain, closeness) if (plain := match_expression(terms.weights)) else {}

    def _fulfilling(self, expression: str, closeness: Closeness) -> tuple[dict[int, list[fulltext.Passage]], str]:
        """The passages that fulfil an expression of somebody's; or none, and why."""
        try:
            if fulltext.is_broad(self._index, expression):
                return {}, "too many passages fulfil the expression"
            return self._passages(expression, closeness), "nothing fulfils the whole expression"
        except OperationalError as fault:
            if is_damage(fault):
                raise
            return {}, "the expression cannot be read"

    def _passages(self, expression: str, closeness: Closeness) -> dict[int, list[fulltext.Passage]]:
        return fulltext.passages(
            self._index, expression, closeness, self._meet, conditions=self._conditions, parameters=self._parameters
        )

    def _ask_exact(self, prepared: Prepared) -> None:
        found = legs.exact(self._index, prepared, conditions=self._conditions, parameters=self._parameters)
        self._add("exact", found, lambda _: numbers.EXACT_SCORE)

    def _ask_entities(self, prepared: Prepared) -> None:
        found = legs.entities(self._index, prepared, conditions=self._conditions, parameters=self._parameters)
        best = max((one.score for one in found), default=1.0)
        self._add("entity", found, lambda one: numbers.ENTITY_SHARE * one.score / best)

    def _hear_witnesses(self) -> None:
        """Sessions whose observations match vote once each for their page."""
        witnesses = [one for one in self._request.witnesses if one.score > 0]
        best = max((one.score for one in witnesses), default=1.0)
        places = self._ids([one.ref for one in witnesses])
        found = [
            legs.Found(places[one.ref], one.score, f"session {one.session[:8]}")
            for one in witnesses
            if one.ref in places
        ]
        self._add("observation", found, lambda one: numbers.OBSERVATION_SHARE * one.score / best)

    def _take_near(self) -> None:
        """Vectors: the best chunk of a page counts, from the pool's middle (0) to its best (1)."""
        near = self._request.near
        if not self._request.switches.abstract_vectors:
            near = [one for one in near if one.chunk_id & ABSTRACT_PLACE != ABSTRACT_PLACE]
        if not near:
            return
        cosines = sorted(one.cosine for one in near)
        middle, best = cosines[len(cosines) // 2], cosines[-1]
        per_page: dict[int, tuple[float, int]] = {}
        for one in near:
            per_page.setdefault(one.page_id, (one.cosine, one.chunk_id))
        found = [legs.Found(page_id, cosine, f"cosine {cosine:.3f}") for page_id, (cosine, _) in per_page.items()]
        spread = (best - middle) or 1.0
        weight = self._vector_weight()
        if not weight:
            return
        self._add("vector", found, lambda one: weight * min(1.0, max(0.0, (one.score - middle) / spread)))
        for page_id, (_, chunk_id) in per_page.items():
            page = self._pages.get(page_id)
            if page is not None and not page.chunks:
                page.chunks = (chunk_id,)

    def _vector_weight(self) -> float:
        """What the nearest page gains: the less the words of the question are held, the more.

        Nothing from an encoder that cannot read the question, unless names in it are all that it shares with the pages.
        """
        request = self._request
        if request.near_is_english and has_other_script(request.queries[0]) and not self._foreign():
            return 0.0
        held = max(map(self._coverage, self._leaders(numbers.LEADERS)), default=0.0)
        share = numbers.VECTOR_SHARE + (numbers.VECTOR_SHARE_ALONE - numbers.VECTOR_SHARE) * (1 - held) ** 2
        if request.near_is_multilingual and held < numbers.PARTIAL_COVERAGE and self._foreign():
            share = numbers.VECTOR_SHARE_FOREIGN
        return share / (1 - share)

    def _foreign(self) -> bool:
        """Whether the question is in another language than the pages that its words found, or found none."""
        read = [page.flat for page in self._leaders(len(self._pages)) if page.flat]
        return not read or bool(foreign_language(self._request.queries[0], read))

    def _leaders(self, count: int) -> list[Candidate]:
        """The best pages so far."""
        return sorted(self._pages.values(), key=lambda page: (-page.total(), page.ref))[:count]

    def _ask_neighbours(self) -> None:
        seeds = self._leaders(numbers.GRAPH_SEEDS)
        found = legs.neighbours(
            self._index,
            [(page.page_id, page.ref.path) for page in seeds],
            conditions=self._conditions,
            parameters=self._parameters,
        )
        self._add("graph", found, lambda one: numbers.GRAPH_SHARE * one.score)

    def _add(self, leg: str, found: Sequence[legs.Found], share: Callable[[legs.Found], float]) -> None:
        self._meet([one.page_id for one in found])
        there = [one for one in found if one.page_id in self._pages]
        there.sort(key=lambda one: (-one.score, self._pages[one.page_id].ref))
        for rank, one in enumerate(there, 1):
            self._pages[one.page_id].legs[leg] = LegScore(rank, one.score, share(one), one.detail)
            self._legs[leg] = None

    def _meet(self, page_ids: Collection[int]) -> Collection[int]:
        """Read what the ranking must know of pages that are new; gives those that are wanted, old ones, too."""
        new = [page_id for page_id in page_ids if page_id not in self._pages]
        named = "[" + ",".join(map(str, new)) + "]"
        for row in self._index.execute(self._pages_sql, (named, *self._parameters)) if new else ():
            page_id, workspace, project, path, title, kind, tier, version, is_pinned, updated_at_us, *more = row
            is_superseded, tags, rated_as = more
            is_superseded = is_superseded and self._request.wanted.valid_at_us is None  # else it holds still
            self._pages[page_id] = Candidate(
                page_id=page_id,
                ref=PageRef(workspace, project, path),
                title=title,
                kind=kind,
                rated_as=str(rated_as),
                tier=tier,
                version=version,
                is_pinned=bool(is_pinned),
                updated_at_us=updated_at_us,
                tags=(*(tags.split("\n") if tags else ()), *(["superseded"] if is_superseded else ())),
            )
        return self._pages.keys()

    def _ids(self, refs: Sequence[PageRef]) -> dict[PageRef, int]:
        named = json.dumps([(ref.workspace, ref.project, ref.path) for ref in refs])
        rows = self._index.execute(_IDS.format(conditions=self._conditions), (named, *self._parameters)) if refs else ()
        return {PageRef(*address): page_id for page_id, *address in rows}

    # --- ranking ---

    def _ranked(self, prepared: Prepared) -> Hits:
        request = self._request
        self._weigh_standing(prepared)
        ranked = sorted(self._pages.values(), key=lambda page: (-page.score, page.ref))
        for page in ranked:
            page.coverage = 1.0 if "exact" in page.legs else self._coverage(page)
        kept: Sequence[Candidate] = ranked
        status: Status = "ok"
        if request.may_abstain and not self._is_fulfilled:
            judged = gate.judge(ranked, self._questions[0], self._weights, asked=prepared.text, chunks=self._chunks)
            kept, status = judged.kept, judged.status
            self._gaps += judged.gaps
            if len(ranked) > len(kept):
                self._dropped["too far from the query"] = len(ranked) - len(kept)
        upto, also = folded(kept, limit=request.offset + request.limit)
        twins = sum(map(len, also.values()))
        if twins:
            self._dropped["folded into a hit that says nearly the same"] = twins
        return Hits(
            tuple(self._hit(page, prepared, also.get(page.page_id, ())) for page in upto[request.offset :]),
            len(kept) - len(upto) - twins,
            prepared.terms,
            tuple(self._legs),
            tuple(self._gaps),
            status,
            dict(self._dropped),
        )

    def _weigh_standing(self, prepared: Prepared) -> None:
        switches, request = self._request.switches, self._request
        is_recall = switches.query_intent and recalls_a_session(prepared.text)
        span = named_span(prepared.text, request.now_us) if request.now_us else None
        weight = switches.belief_authority_weight
        beliefs = request.believe([page.ref for page in self._pages.values()]) if weight else {}
        for page in self._pages.values():
            bonus = 0.0
            if is_recall and page.kind == "session":
                bonus = numbers.SESSION_PENALTY + numbers.EPISODIC_PENALTY + switches.session_recall_bonus
            if "superseded" not in page.tags:
                bonus += weight * beliefs.get(page.ref, 0.0)
            standing = authority(
                page.ref.path, page.rated_as, page.tier, page.tags, is_pinned=page.is_pinned, bonus=bonus
            )
            page.factors["authority"] = standing
            if span is not None and span[0] <= page.updated_at_us < span[1]:
                page.factors["time"] = numbers.TEMPORAL_FACTOR
            page.score = page.total()

    def _coverage(self, page: Candidate) -> float:
        """How much it holds of the wording that fits it best."""
        return max((self._questions[number].coverage(held) for number, held in page.held.items()), default=0.0)

    def _hit(self, page: Candidate, prepared: Prepared, also: Sequence[Candidate]) -> Hit:
        passage = shown(
            self._index,
            page.page_id,
            page.chunks[0] if page.chunks else page.page_id << CHUNK_BITS,
            prepared.terms,
            following=self._request.following,
        )
        return Hit(
            ref=page.ref,
            title=page.title,
            kind=page.kind,
            tier=page.tier,
            version=page.version,
            updated_at_us=page.updated_at_us,
            score=round(page.score, 6),
            heading=passage.heading,
            line=passage.line,
            end_line=passage.end_line,
            snippet=passage.text,
            coverage=round(page.coverage, 4),
            legs=dict(page.legs),
            factors=dict(page.factors),
            also=tuple(twin.ref for twin in also),
        )

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self._timings[name] = self._timings.get(name, 0.0) + (time.perf_counter() - begun) * 1000


def conditions(wanted: Filter, scopes: Sequence[Scope] | None) -> tuple[str, list[object]]:
    """Conditions over `pages AS p` that hold inside every leg, and their parameters."""
    told, parameters = replace(wanted, no_reports=True).sql()
    if scopes is None:
        return told, parameters
    either = " OR ".join(["(p.workspace = ? AND p.project = ?)"] * len(scopes)) or "0"
    return f"{told} AND ({either})", [*parameters, *(name for one in scopes for name in (one.workspace, one.project))]
