"""What sessions saw, as evidence for a search: which of them match a question, and which pages rest on one."""

import json
from collections.abc import Sequence

from ai_memory.model import PageRef
from ai_memory.store.driver import Connection, OperationalError

_MOST_OBSERVATIONS = 200
_HERE = "EXISTS (SELECT 1 FROM json_each(?) AS j WHERE j.value ->> 0 = s.workspace AND j.value ->> 1 = s.project)"
_SAW = f"""
    SELECT o.session, bm25(observations_fts) AS score
    FROM observations_fts AS f JOIN observations AS o ON o.seq = f.rowid JOIN sessions AS s ON s.id = o.session
    WHERE observations_fts MATCH ? AND {_HERE}
    ORDER BY score, o.seq DESC LIMIT {_MOST_OBSERVATIONS}
"""
_MATCHING = f"""
    SELECT s.workspace, s.project, o.session, s.agent, o.kind, o.tool,
        coalesce(nullif(o.text, ''), nullif(o.output, ''), o.input)
    FROM observations_fts AS f JOIN observations AS o ON o.seq = f.rowid JOIN sessions AS s ON s.id = o.session
    WHERE observations_fts MATCH ? AND {_HERE}
    ORDER BY bm25(observations_fts), o.seq DESC LIMIT ?
"""
_ABOUT = """
    SELECT session, workspace, project, path FROM page_sessions
    WHERE role = 'about' AND session IN (SELECT value FROM json_each(?))
    ORDER BY session, at_us, workspace, project, path
"""
_RESTING = """
    SELECT DISTINCT workspace, project, path FROM page_sessions WHERE session = ? ORDER BY workspace, project, path
"""

Places = Sequence[tuple[str, str]]
"""(workspace, project) of each project."""


def sessions_that_saw(state: Connection, words: Sequence[str], places: Places) -> list[tuple[str, PageRef, float]]:
    """(session, its page, score): sessions of those projects that saw any of the words, each by its best observation.

    Higher scores are better. Sessions without a page are left out.
    """
    best: dict[str, float] = {}
    for session, score in _ask(state, _SAW, (_any_of(words), json.dumps(list(places)))):
        best.setdefault(str(session), -float(str(score)))
    rows = state.execute(_ABOUT, (json.dumps(list(best)),)) if best else ()
    pages = {row[0]: PageRef(row[1], row[2], row[3]) for row in rows}
    return [(session, pages[session], score) for session, score in best.items() if session in pages]


def observations_that_match(
    state: Connection, words: Sequence[str], places: Places, *, limit: int
) -> list[tuple[str, str, str, str, str, str, str]]:
    """(workspace, project, session, agent, kind, tool, text), best first."""
    rows = _ask(state, _MATCHING, (_any_of(words), json.dumps(list(places)), limit))
    return [(str(a), str(b), str(c), str(d), str(e), str(f), str(g)) for a, b, c, d, e, f, g in rows]


def pages_resting_on(state: Connection, session: str) -> list[PageRef]:
    """Pages that tell of the session or name it as evidence."""
    return [PageRef(*row) for row in state.execute(_RESTING, (session,))]


def _any_of(words: Sequence[str]) -> str:
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


def _ask(state: Connection, sql: str, parameters: tuple[object, ...]) -> list[tuple[object, ...]]:
    try:
        return list(state.execute(sql, parameters))
    except OperationalError:  # nothing but signs leaves FTS5 an empty phrase
        return []
