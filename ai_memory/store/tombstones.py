"""Versions of pages that upkeep took away: they can be brought back until they are erased."""

from dataclasses import dataclass

from ai_memory.model import PageRef
from ai_memory.store import state_schema
from ai_memory.store.driver import Connection

_ALL = """
    SELECT workspace, project, path, version, reason, tier, kind, size_bytes, change_id, at_us FROM tombstones
    WHERE (?1 IS NULL OR workspace = ?1) AND (?2 IS NULL OR project = ?2) AND at_us < ?3
    ORDER BY at_us DESC, workspace, project, path, version
"""
EVER_US = 1 << 62


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One version that was taken away."""

    ref: PageRef
    version: str
    reason: str
    """evicted, expired, working, compacted or merged."""
    tier: str
    kind: str
    size_bytes: int
    change_id: str
    at_us: int


def tombstones(
    connection: Connection | None,
    workspace: str | None = None,
    project: str | None = None,
    *,
    before_us: int = EVER_US,
) -> list[Tombstone]:
    """Those of that project, or of all, set before that instant, newest first."""
    if connection is None or state_schema.version(connection) < state_schema.USAGE_SINCE:
        return []
    rows = connection.execute(_ALL, (workspace, project, before_us))
    return [Tombstone(PageRef(*row[:3]), *row[3:]) for row in rows]


def count_tombstones(connection: Connection) -> int:
    """How many versions were taken away and are not erased; some may stand again."""
    if state_schema.version(connection) < state_schema.USAGE_SINCE:
        return 0
    return int(connection.execute("SELECT count(*) FROM tombstones").fetchone()[0])


_DROP = "DELETE FROM tombstones WHERE (workspace, project, path, version) = (?, ?, ?, ?)"
_KEPT_OF_PAGES = ("page_sessions", "evidence", "page_access", "feedback")


def erased(connection: Connection, ref: PageRef, version: str, *, is_live: bool) -> None:
    """The version is gone for good; what was kept of the page goes too, unless it is there. Call in a transaction."""
    place = (ref.workspace, ref.project, ref.path)
    connection.execute(_DROP, (*place, version))
    if not is_live:
        for table in _KEPT_OF_PAGES:
            connection.execute(f"DELETE FROM {table} WHERE (workspace, project, path) = (?, ?, ?)", place)
