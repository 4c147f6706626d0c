"""Dropping what sessions saw, once a page tells of it. Their rows in `sessions` stay. For good: no copy is kept."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ai_memory.model import PageRef
from ai_memory.store.driver import Connection

_OVER = """
    s.ended_at_us IS NOT NULL AND s.last_at_us < :before AND s.covered >= s.observations
    AND NOT EXISTS (SELECT 1 FROM declared AS d WHERE d.session = s.id)
"""
_PRUNABLE = f"""
    SELECT s.id, p.workspace, p.project, p.path, (SELECT count(*) FROM observations AS o WHERE o.session = s.id) AS held
    FROM sessions AS s CROSS JOIN page_sessions AS p ON p.session = s.id AND p.role = 'about'
    WHERE {_OVER} AND held > 0 AND (:workspace IS NULL OR s.workspace = :workspace)
    AND (:project IS NULL OR s.project = :project)
    ORDER BY s.last_at_us, s.id, p.workspace, p.project, p.path
"""
_DROP = f"""
    DELETE FROM observations WHERE seq IN (
        SELECT o.seq FROM sessions AS s CROSS JOIN observations AS o ON o.session = s.id
        WHERE s.id IN (SELECT value FROM json_each(:sessions)) AND {_OVER} LIMIT :most
    )
"""
# The page is as good as one that a person wrote: should the session go on, nothing writes it anew from a part of it.
_PAGE_STAYS = f"""
    UPDATE sessions AS s SET page_version = ''
    WHERE s.id IN (SELECT value FROM json_each(:sessions)) AND {_OVER}
"""


@dataclass(frozen=True, slots=True)
class Prunable:
    """A session whose page tells all that it saw."""

    session: str
    observations: int


def prunable(
    connection: Connection,
    *,
    before_us: int,
    kept: Collection[PageRef],
    workspace: str | None = None,
    project: str | None = None,
) -> list[Prunable]:
    """Sessions silent since then, whole in a page that is one of `kept`; the oldest first."""
    rows = connection.execute(_PRUNABLE, {"before": before_us, "workspace": workspace, "project": project})
    found = {row[0]: Prunable(row[0], row[4]) for row in rows if PageRef(*row[1:4]) in kept}
    return list(found.values())


def prune(connection: Connection, sessions: Iterable[str], *, before_us: int, most: int) -> int:
    """Drop up to `most` of their observations; gives how many. Call in a transaction: what went on meanwhile stays."""
    named = {"sessions": json.dumps(list(sessions)), "before": before_us}
    connection.execute(_PAGE_STAYS, named)
    return int(connection.execute(_DROP, {**named, "most": most}).rowcount)
