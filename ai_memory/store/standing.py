"""What of a project is told at the start of a session: its standing pages, and the titles that changed last."""

from ai_memory.model import PageRef
from ai_memory.store.addresses import NO_REPORT
from ai_memory.store.snapshot import VALID, Snapshot

_STANDING = f"""
    SELECT p.path FROM pages AS p
    WHERE p.workspace = ?2 AND p.project = ?3 AND (p.pinned OR p.kind IN ('slot', 'rule', 'gotcha', 'decision'))
        AND p.kind NOT IN ('session', 'handoff', 'fact') AND (p.expires_at_us IS NULL OR p.expires_at_us >= ?1)
        AND {VALID}
    ORDER BY
        CASE WHEN p.pinned OR p.kind = 'slot' THEN 0 WHEN p.kind = 'rule' THEN 1
            WHEN p.kind = 'gotcha' THEN 2 ELSE 3 END,
        p.updated_at_us DESC, p.path
"""
_RECENT = f"""
    SELECT p.path, p.title FROM pages AS p
    WHERE p.workspace = ?2 AND p.project = ?3 AND p.kind NOT IN ('session', 'handoff') AND (?5 OR p.kind <> 'fact')
        AND substr(p.path, 1, 1) <> '_' AND (p.expires_at_us IS NULL OR p.expires_at_us >= ?1) AND {VALID}
    ORDER BY p.updated_at_us DESC, p.path LIMIT ?4
"""
_TURN = """
    SELECT min(turn) FROM (
        SELECT min(valid_from_us) AS turn FROM pages WHERE workspace = ?2 AND project = ?3 AND valid_from_us > ?1
        UNION ALL
        SELECT min(valid_to_us) FROM pages WHERE workspace = ?2 AND project = ?3 AND valid_to_us > ?1
    )
"""
_AT_PROMPTS = f"""
    SELECT p.path, p.version FROM pages AS p
    WHERE p.workspace = ?2 AND p.project = ?3 AND p.kind <> 'handoff' AND {NO_REPORT}
        AND (p.expires_at_us IS NULL OR p.expires_at_us >= ?1) AND {VALID}
    ORDER BY p.kind = 'session', NOT p.pinned, p.updated_at_us DESC, p.path
"""


def standing_pages(snapshot: Snapshot, workspace: str, project: str, *, now_us: int) -> list[PageRef]:
    """Addresses of the pages that hold, most important first: pinned and slots, rules, gotchas, decisions, each newest
    first. Facts are told by themselves.

    Reads every row of the project once: 10,000 pages take about 30 ms.
    """
    rows = snapshot.index.execute(_STANDING, (now_us, workspace, project))
    return [PageRef(workspace, project, str(row[0])) for row in rows]


def recent_titles(
    snapshot: Snapshot, workspace: str, project: str, *, now_us: int, limit: int, has_facts: bool = True
) -> list[tuple[PageRef, str]]:
    """Pages that people and agents wrote last, with their titles, newest first; no sessions and handoffs."""
    rows = snapshot.index.execute(_RECENT, (now_us, workspace, project, limit, has_facts))
    return [(PageRef(workspace, project, str(row[0])), str(row[1])) for row in rows]


def next_turn_us(snapshot: Snapshot, workspace: str, project: str, *, now_us: int) -> int | None:
    """When a page of the project next begins or ceases to hold; None if no time is set for that."""
    found = snapshot.index.execute(_TURN, (now_us, workspace, project)).fetchone()[0]
    return None if found is None else int(found)


def told_at_prompts(snapshot: Snapshot, workspace: str, project: str, *, now_us: int) -> list[tuple[PageRef, str]]:
    """Pages that a prompt may be told of, with their versions: pinned and newest first, sessions after all others."""
    rows = snapshot.index.execute(_AT_PROMPTS, (now_us, workspace, project))
    return [(PageRef(workspace, project, str(row[0])), str(row[1])) for row in rows]
