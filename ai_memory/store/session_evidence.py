"""What sessions saw, as evidence for a search: which of them match a question, and which pages rest on one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ai_memory.model import PageRef
from ai_memory.store.driver import Connection, OperationalError, is_damage
from ai_memory.text.grams import expressions

_MOST_OBSERVATIONS = 200
_MOST_WORDS = 12
_MOST_COUNTED = 64
_LATEST = 1 << 62
_COMMON = 2_000
"""A word that so many observations hold tells nothing and costs time, where another word is rarer."""
_HERE = "(s.workspace, s.project) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))"
_SAW = f"""
    SELECT o.session, bm25(observations_fts) AS score
    FROM observations_fts AS f
    CROSS JOIN observations AS o ON o.seq = f.rowid
    CROSS JOIN sessions AS s ON s.id = o.session
    WHERE observations_fts MATCH ? AND {_HERE}
    ORDER BY score, o.seq DESC LIMIT {_MOST_OBSERVATIONS}
"""
_MATCHING = f"""
    SELECT s.workspace, s.project, o.session, s.agent, o.kind, o.tool,
        coalesce(nullif(o.text, ''), nullif(o.output, ''), o.input)
    FROM observations_fts AS f
    CROSS JOIN observations AS o ON o.seq = f.rowid
    CROSS JOIN sessions AS s ON s.id = o.session
    WHERE observations_fts MATCH ? AND {_HERE}
        AND o.at_us >= ? AND o.at_us < ? AND ? IN ('', s.agent) AND ? IN ('', s.id)
    ORDER BY bm25(observations_fts), o.seq DESC LIMIT ?
"""
_FREQUENCY = f"SELECT count(*) FROM (SELECT 1 FROM observations_fts WHERE observations_fts MATCH ? LIMIT {_COMMON})"
_ABOUT = """
    SELECT session, workspace, project, path FROM page_sessions
    WHERE role = 'about' AND session IN (SELECT value FROM json_each(?))
    ORDER BY session, at_us, workspace, project, path
"""
_RESTING = """
    SELECT workspace, project, path FROM page_sessions WHERE session = ?1
    UNION SELECT workspace, project, path FROM evidence WHERE session = ?1 ORDER BY workspace, project, path
"""
_NAMED = "n.value ->> 0 = s.workspace AND n.value ->> 1 = s.project AND n.value ->> 2 = s.path"
_BEHIND = f"""
    SELECT workspace, project, path, count(DISTINCT session), max(at_us) FROM (
        SELECT s.workspace, s.project, s.path, s.session, s.at_us
        FROM json_each(?1) AS n CROSS JOIN page_sessions AS s ON {_NAMED}
        UNION ALL SELECT s.workspace, s.project, s.path, s.session, s.at_us
        FROM json_each(?1) AS n CROSS JOIN evidence AS s ON {_NAMED} WHERE s.session <> ''
    ) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""

Places = Sequence[tuple[str, str]]
"""(workspace, project) of each project."""


def sessions_that_saw(state: Connection, words: Sequence[str], places: Places) -> list[tuple[str, PageRef, float]]:
    """(session, its page, score): sessions of those projects that saw any of the words, each by its best observation.

    Higher scores are better. Sessions without a page are left out.
    """
    best: dict[str, float] = {}
    for session, score in _ask(state, _SAW, (_any_of(state, words), json.dumps(list(places)))):
        best.setdefault(str(session), -float(str(score)))
    rows = state.execute(_ABOUT, (json.dumps(list(best)),)) if best else ()
    pages = {row[0]: PageRef(row[1], row[2], row[3]) for row in rows}
    return [(session, pages[session], score) for session, score in best.items() if session in pages]


@dataclass(frozen=True, slots=True)
class Seen:
    """Which observations are asked for. Empty: any."""

    since_us: int | None = None
    until_us: int | None = None
    agent: str | None = None
    session: str | None = None


def observations_that_match(
    state: Connection, words: Sequence[str], places: Places, wanted: Seen, *, limit: int
) -> list[tuple[str, str, str, str, str, str, str]]:
    """(workspace, project, session, agent, kind, tool, text), best first."""
    span = (wanted.since_us or 0, _LATEST if wanted.until_us is None else wanted.until_us)
    rows = _ask(
        state,
        _MATCHING,
        (_any_of(state, words), json.dumps(list(places)), *span, wanted.agent or "", wanted.session or "", limit),
    )
    return [(str(a), str(b), str(c), str(d), str(e), str(f), str(g)) for a, b, c, d, e, f, g in rows]


def pages_resting_on(state: Connection, session: str) -> list[PageRef]:
    """Pages that tell of the session or name it as evidence."""
    return [PageRef(*row) for row in state.execute(_RESTING, (session,))]


def sessions_behind(state: Connection, refs: Sequence[PageRef]) -> dict[PageRef, tuple[int, int]]:
    """How many sessions those pages tell of or rest on, and when the last of them was noted (µs)."""
    named = json.dumps([(ref.workspace, ref.project, ref.path) for ref in refs])
    rows = state.execute(_BEHIND, (named,)) if refs else ()
    return {PageRef(*row[:3]): (row[3], row[4]) for row in rows}


def _any_of(state: Connection, words: Sequence[str]) -> str:
    """The expression that any of the words fulfils: the rarest of them."""
    asked = list(dict.fromkeys(one for word in words for one in expressions(word)))[:_MOST_COUNTED]
    counts = {one: _ask(state, _FREQUENCY, (one,)) for one in asked}
    known = sorted((one for one in asked if counts[one] and counts[one][0][0]), key=lambda one: counts[one][0][0])
    rare = [one for one in known if counts[one][0][0] < _COMMON] or known[:1]
    return " OR ".join(rare[:_MOST_WORDS]) or '""'


def _ask(state: Connection, sql: str, parameters: tuple[object, ...]) -> list[tuple[Any, ...]]:
    try:
        return list(state.execute(sql, parameters))
    except OperationalError as fault:  # nothing but signs leaves FTS5 an empty phrase
        if is_damage(fault):
            raise
        return []
