"""What people ask of sessions: which there are, what was observed in one, which pages tell of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from ai_memory.model import PageRef
from ai_memory.store.driver import Connection, OperationalError
from ai_memory.store.state_sessions import OBSERVATION_COLUMNS, SESSION_COLUMNS, Observation, Session
from ai_memory.text.grams import expressions

_AT_ONCE = 500
"""Ids that one statement asks for."""


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions; None asks nothing. Times in µs of the last event."""

    workspace: str | None = None
    project: str | None = None
    agent: str | None = None
    only_open: bool = False
    since_us: int | None = None
    """Last event at it or after it."""
    until_us: int | None = None
    """Last event before it."""
    hidden: frozenset[tuple[str, str]] = frozenset()
    """(workspace, project) of those that are left out."""

    def sql(self) -> tuple[str, tuple[object, ...]]:
        """Condition and parameters."""
        asked: list[tuple[str, object]] = [
            ("workspace = ?", self.workspace),
            ("project = ?", self.project),
            ("agent = ?", self.agent),
            ("last_at_us >= ?", self.since_us),
            ("last_at_us < ?", self.until_us),
        ]
        told = [(condition, value) for condition, value in asked if value is not None]
        conditions = [condition for condition, _ in told] + ["ended_at_us IS NULL"] * self.only_open
        conditions += ["NOT (workspace = ? AND project = ?)"] * len(self.hidden)
        names = [name for place in sorted(self.hidden) for name in place]
        return " AND ".join(conditions) or "1", (*(value for _, value in told), *names)


_EVERY = SessionFilter()


def agents_known(connection: Connection) -> list[str]:
    """Agents of which there are sessions, by name."""
    return [str(row[0]) for row in connection.execute("SELECT DISTINCT agent FROM sessions ORDER BY agent")]


def sessions(
    connection: Connection, wanted: SessionFilter = _EVERY, *, limit: int = -1, offset: int = 0
) -> list[Session]:
    """Sessions, newest activity first; `limit` -1 gives all."""
    condition, parameters = wanted.sql()
    rows = connection.execute(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE {condition} ORDER BY last_at_us DESC, id LIMIT ? OFFSET ?",
        (*parameters, limit, offset),
    )
    return [Session(*row) for row in rows]


def count_sessions(connection: Connection, wanted: SessionFilter = _EVERY) -> int:
    """How many there are."""
    condition, parameters = wanted.sql()
    return int(connection.execute(f"SELECT count(*) FROM sessions WHERE {condition}", parameters).fetchone()[0])


@dataclass(frozen=True, slots=True)
class AgentSessions:
    """What was captured of one agent."""

    sessions: int
    """With an event since the time that was asked."""
    last_at_us: int
    """Its last event, ever."""


_BY_AGENT = """
    SELECT agent, sum(last_at_us >= ?), max(last_at_us) FROM sessions GROUP BY agent ORDER BY agent
"""


def by_agent(connection: Connection, *, since_us: int) -> dict[str, AgentSessions]:
    """Sessions of each agent of which any was captured."""
    return {row[0]: AgentSessions(row[1], row[2]) for row in connection.execute(_BY_AGENT, (since_us,))}


def pages_about(connection: Connection, identifiers: Sequence[str]) -> dict[str, PageRef]:
    """The page that tells of each of those sessions, wherever it was moved; those without one are left out."""
    found: dict[str, PageRef] = {}
    for start in range(0, len(identifiers), _AT_ONCE):
        part = identifiers[start : start + _AT_ONCE]
        rows = connection.execute(
            "SELECT session, workspace, project, path FROM page_sessions WHERE role = 'about'"
            f" AND session IN ({','.join('?' * len(part))}) ORDER BY at_us, workspace, project, path",
            part,
        )
        found.update((row[0], PageRef(row[1], row[2], row[3])) for row in rows)
    return found


def search_observations(
    connection: Connection,
    words: Sequence[str],
    *,
    session: str | None = None,
    kinds: Sequence[str] = (),
    limit: int = 20,
    offset: int = 0,
) -> list[Observation]:
    """Observations that hold any of the words, best first. Words are taken literally; `limit` -1 gives all."""
    match = " OR ".join(one for word in words if word.strip() for one in expressions(word))
    if not match:
        return []
    columns = ", ".join(f"o.{name.strip()}" for name in OBSERVATION_COLUMNS.split(","))
    condition, parameters = _among(session, kinds)
    try:
        rows = connection.execute(
            f"SELECT {columns} FROM observations_fts f JOIN observations o ON o.seq = f.rowid"
            f" WHERE observations_fts MATCH ?{condition} ORDER BY bm25(observations_fts), o.seq DESC LIMIT ? OFFSET ?",
            (match, *parameters, limit, offset),
        ).fetchall()
    except OperationalError:  # nothing but punctuation leaves FTS5 an empty phrase
        return []
    return [Observation(*row) for row in rows]


def count_observations(
    connection: Connection, session: str, *, words: Sequence[str] | None = None, kinds: Sequence[str] = ()
) -> int:
    """How many observations of the session there are, or how many of them hold any of the words."""
    if words is not None:
        return len(search_observations(connection, words, session=session, kinds=kinds, limit=-1))
    condition, parameters = _among(session, kinds)
    sql = f"SELECT count(*) FROM observations o WHERE 1{condition}"
    return int(connection.execute(sql, parameters).fetchone()[0])


def _among(session: str | None, kinds: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    one = " AND o.session = ?" if session is not None else ""
    some = f" AND o.kind IN ({','.join('?' * len(kinds))})" if kinds else ""
    return one + some, (*([session] if session is not None else ()), *kinds)
