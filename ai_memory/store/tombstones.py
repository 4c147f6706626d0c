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
_EVER = 1 << 62


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
    before_us: int = _EVER,
) -> list[Tombstone]:
    """Those of that project, or of all, set before that instant, newest first."""
    if connection is None or state_schema.version(connection) < state_schema.USAGE_SINCE:
        return []
    rows = connection.execute(_ALL, (workspace, project, before_us))
    return [Tombstone(PageRef(*row[:3]), *row[3:]) for row in rows]
