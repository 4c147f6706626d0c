"""How much was done in a project lately, and which other projects it hangs together with."""

from dataclasses import dataclass

from ai_memory.store.driver import Connection
from ai_memory.store.snapshot import Filter, Snapshot

Place = tuple[str, str]
"""Workspace and name of a project."""

_SESSIONS = "SELECT count(*) FROM sessions WHERE workspace = ? AND project = ? AND last_at_us >= ?"
_OBSERVATIONS = """
    SELECT count(*) FROM sessions AS s CROSS JOIN observations AS o ON o.session = s.id
    WHERE s.workspace = ? AND s.project = ? AND s.last_at_us >= ? AND o.at_us >= ?
"""
_LAST = "SELECT max(last_at_us) FROM sessions WHERE workspace = ? AND project = ? AND work > 0 AND id <> ?"
_EVIDENCE = """
    SELECT path, count(DISTINCT session) FROM evidence WHERE workspace = ? AND project = ? GROUP BY path ORDER BY path
"""
_DEPENDENTS = """
    SELECT p.workspace, p.project, count(*) FROM links AS l JOIN pages AS p ON p.id = l.source_id
    WHERE l.workspace = ?1 AND l.project = ?2 AND (p.workspace <> ?1 OR p.project <> ?2)
    GROUP BY p.workspace, p.project ORDER BY count(*) DESC, p.workspace, p.project
"""
_DEPENDENCIES = """
    SELECT l.workspace, l.project, count(*) FROM pages AS p JOIN links AS l ON l.source_id = p.id
    WHERE p.workspace = ?1 AND p.project = ?2 AND (l.workspace <> ?1 OR l.project <> ?2)
    GROUP BY l.workspace, l.project ORDER BY count(*) DESC, l.workspace, l.project
"""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another project, and how many links there are between it and the one that was asked about."""

    workspace: str
    project: str
    links: int


def sessions_since(connection: Connection, place: Place, since_us: int) -> tuple[int, int]:
    """(sessions active at or after it, observations at or after it)."""
    sessions = connection.execute(_SESSIONS, (*place, since_us)).fetchone()[0]
    observations = connection.execute(_OBSERVATIONS, (*place, since_us, since_us)).fetchone()[0]
    return int(sessions), int(observations)


def last_work_us(connection: Connection, place: Place, *, but: str = "") -> int | None:
    """When a session of the project last did more than begin and end; `but` is an id that does not count."""
    found = connection.execute(_LAST, (*place, but)).fetchone()[0]
    return None if found is None else int(found)


def evidence_by_path(connection: Connection, place: Place) -> dict[str, int]:
    """In how many sessions each page of the project was learnt."""
    return {str(row[0]): int(row[1]) for row in connection.execute(_EVIDENCE, place)}


def pages_since(snapshot: Snapshot, place: Place, since_us: int) -> int:
    """How many pages of the project were changed at or after it."""
    return snapshot.select(Filter(*place, since_us=since_us), limit=0).total


def dependents(snapshot: Snapshot, place: Place) -> tuple[Neighbour, ...]:
    """Projects whose pages link to this one, most links first."""
    return tuple(Neighbour(*row) for row in snapshot.index.execute(_DEPENDENTS, place))


def dependencies(snapshot: Snapshot, place: Place) -> tuple[Neighbour, ...]:
    """Projects that pages of this one link to, most links first."""
    return tuple(Neighbour(*row) for row in snapshot.index.execute(_DEPENDENCIES, place))
