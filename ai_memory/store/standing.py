"""What of a project is told at the start of a session: its standing pages, and the titles that changed last."""

from ai_memory.model import PageRef
from ai_memory.store.snapshot import Snapshot

_STANDING = """
    SELECT p.path FROM pages AS p
    WHERE p.workspace = ?1 AND p.project = ?2 AND (p.pinned OR p.kind IN ('slot', 'rule', 'gotcha', 'decision'))
        AND p.kind NOT IN ('session', 'handoff') AND (p.expires_at_us IS NULL OR p.expires_at_us >= ?3)
    ORDER BY
        CASE WHEN p.pinned OR p.kind = 'slot' THEN 0 WHEN p.kind = 'rule' THEN 1
            WHEN p.kind = 'gotcha' THEN 2 ELSE 3 END,
        p.updated_at_us DESC, p.path
"""
_RECENT = """
    SELECT p.path, p.title FROM pages AS p
    WHERE p.workspace = ?1 AND p.project = ?2 AND p.kind NOT IN ('session', 'handoff')
        AND substr(p.path, 1, 1) <> '_' AND (p.expires_at_us IS NULL OR p.expires_at_us >= ?3)
    ORDER BY p.updated_at_us DESC, p.path LIMIT ?4
"""


_AT_PROMPTS = """
    SELECT p.path, p.version FROM pages AS p
    WHERE p.workspace = ?1 AND p.project = ?2 AND p.kind <> 'handoff' AND NOT p.superseded
        AND (p.expires_at_us IS NULL OR p.expires_at_us >= ?3) AND (p.valid_to_us IS NULL OR p.valid_to_us > ?3)
    ORDER BY p.kind = 'session', NOT p.pinned, p.updated_at_us DESC, p.path
"""


def standing_pages(snapshot: Snapshot, workspace: str, project: str, *, now_us: int) -> list[PageRef]:
    """Addresses of the pages, most important first: pinned and slots, rules, gotchas, decisions, each newest first.

    Reads every row of the project once: 10,000 pages take about 30 ms.
    """
    rows = snapshot.index.execute(_STANDING, (workspace, project, now_us))
    return [PageRef(workspace, project, str(row[0])) for row in rows]


def recent_titles(
    snapshot: Snapshot, workspace: str, project: str, *, now_us: int, limit: int
) -> list[tuple[PageRef, str]]:
    """Pages that people and agents wrote last, with their titles, newest first; no sessions and handoffs."""
    rows = snapshot.index.execute(_RECENT, (workspace, project, now_us, limit))
    return [(PageRef(workspace, project, str(row[0])), str(row[1])) for row in rows]


def told_at_prompts(snapshot: Snapshot, workspace: str, project: str, *, now_us: int) -> list[tuple[PageRef, str]]:
    """Pages that a prompt may be told of, with their versions: pinned and newest first, sessions after all others."""
    rows = snapshot.index.execute(_AT_PROMPTS, (workspace, project, now_us))
    return [(PageRef(workspace, project, str(row[0])), str(row[1])) for row in rows]
