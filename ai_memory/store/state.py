"""`state.db`: what is true and is not a page. Connections come in, frozen rows go out.

`STATEMENTS` are the writes that a change carries in its redo log by name. Each may run twice, since a roll-forward may.
Sessions and observations have a module of their own, `state_sessions` (decision A9).
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ai_memory.model import PageRef
from ai_memory.paths import DataDir
from ai_memory.store import audit, born, driver, state_schema
from ai_memory.store.driver import Connection
from ai_memory.text.sanitize import sanitize

EVENT_MEMORY_US = 90 * 86_400 * 1_000_000
"""How long applied event ids are remembered; older spool files are refused (decision B3)."""

_PARAMETER = re.compile(r":(\w+)")

_MOVE_SESSIONS = """
    UPDATE sessions SET workspace = :new_workspace, project = :new_project, scope = CASE WHEN json_valid(scope)
        THEN json_set(scope, '$.workspace', :new_workspace, '$.project', :new_project) ELSE scope END
"""

STATEMENTS: Mapping[str, str] = {
    # The page of an ended session tells of this many observations.
    "session-covered": """
        UPDATE sessions SET covered = max(covered, :observations), refreshed = max(refreshed, :observations),
            page_version = :page_version, failures = 0
        WHERE id = :session
    """,
    # The page of an open session was written.
    "session-refreshed": """
        UPDATE sessions SET refreshed = max(refreshed, :observations), refreshed_at_us = :at_us,
            page_version = :page_version
        WHERE id = :session
    """,
    # A handoff of that session stands in the wiki and tells of this much work.
    "session-handoff": """
        UPDATE sessions SET handoff = :handoff, handed_work = max(handed_work, :work), handed_end_us = :end_us,
            handoff_version = :version
        WHERE id = :session
    """,
    # The session's handoff was taken while it ran: only further work makes another one.
    "session-handed-over": """
        UPDATE sessions SET handoff = '', handed_work = max(handed_work, :work)
        WHERE id = :session AND handoff = :handoff
    """,
    "session-purged": "INSERT OR IGNORE INTO purged (id, kind, at_us) VALUES (:session, 'session', :at_us)",
    # By the id of its bytes: the tombstone of a page names no path and holds no word of it.
    "page-purged": "INSERT OR IGNORE INTO purged (id, kind, at_us) VALUES (:blob, 'page', :at_us)",
    "project-purged": "INSERT OR REPLACE INTO purged (id, kind, at_us) VALUES (:project, 'project', :at_us)",
    "project-not-purged": "DELETE FROM purged WHERE id = :project AND kind = 'project'",
    "session-dropped": "DELETE FROM sessions WHERE id = :session",
    "session-moved": f"{_MOVE_SESSIONS} WHERE id = :session",
    "page-session": """
        INSERT OR IGNORE INTO page_sessions (workspace, project, path, session, role, at_us)
        VALUES (:workspace, :project, :path, :session, :role, :at_us)
    """,
    "page-moved": """
        UPDATE OR REPLACE page_sessions SET workspace = :new_workspace, project = :new_project, path = :new_path
        WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    "page-forgotten": """
        DELETE FROM page_sessions WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    "evidence": """
        INSERT OR IGNORE INTO evidence (workspace, project, path, class, session, quote, cite, sha256, at_us)
        VALUES (:workspace, :project, :path, :class, :session, :quote, :cite, :sha256, :at_us)
    """,
    "evidence-moved": """
        UPDATE OR REPLACE evidence SET workspace = :new_workspace, project = :new_project, path = :new_path
        WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    "evidence-copied": """
        INSERT OR IGNORE INTO evidence (workspace, project, path, class, session, quote, cite, sha256, at_us)
        SELECT :new_workspace, :new_project, :new_path, class, session, quote, cite, sha256, at_us FROM evidence
        WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    # A copy has the instant of its original; what the page rested on by itself has another.
    "evidence-uncopied": """
        DELETE FROM evidence WHERE workspace = :new_workspace AND project = :new_project AND path = :new_path
        AND EXISTS (
            SELECT 1 FROM evidence AS o
            WHERE o.workspace = :workspace AND o.project = :project AND o.path = :path AND o.class = evidence.class
            AND o.session = evidence.session AND o.cite = evidence.cite AND o.sha256 = evidence.sha256
            AND o.at_us = evidence.at_us
        )
    """,
    "evidence-forgotten": """
        DELETE FROM evidence WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    "access-moved": """
        UPDATE OR REPLACE page_access SET workspace = :new_workspace, project = :new_project, path = :new_path
        WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    "access-forgotten": """
        DELETE FROM page_access WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    "feedback-moved": """
        UPDATE OR REPLACE feedback SET workspace = :new_workspace, project = :new_project, path = :new_path
        WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    # The page says the same as before: only links changed, or until when it is kept.
    "feedback-carried": """
        UPDATE feedback SET version = :new_version
        WHERE workspace = :workspace AND project = :project AND path = :path AND version = :version
    """,
    "feedback-forgotten": """
        DELETE FROM feedback WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    # A version of a page was taken away by a pass of upkeep; it can be brought back until it is erased.
    "tombstone": """
        INSERT OR REPLACE INTO tombstones (workspace, project, path, version, reason, tier, kind, size_bytes, change_id,
            at_us)
        VALUES (:workspace, :project, :path, :version, :reason, :tier, :kind, :size_bytes, :change, :at_us)
    """,
    # The version is back, and changed at once: nothing of it is away any more.
    "tombstone-dropped": """
        DELETE FROM tombstones
        WHERE workspace = :workspace AND project = :project AND path = :path AND version = :version
    """,
    # What is left of a page goes elsewhere: its whole text belongs there.
    "tombstones-moved": """
        UPDATE OR REPLACE tombstones SET workspace = :new_workspace, project = :new_project, path = :new_path
        WHERE workspace = :workspace AND project = :project AND path = :path AND reason IN ('compacted', 'merged')
    """,
    "tombstones-forgotten": """
        DELETE FROM tombstones WHERE workspace = :workspace AND project = :project AND path = :path
    """,
    # The facts that a prompt declares stand in this change.
    "declaration-read": "DELETE FROM declared WHERE event_id = :event",
    # A project has another name, or lies in another workspace, or is part of another project from now on.
    "project-sessions-moved": f"{_MOVE_SESSIONS} WHERE workspace = :workspace AND project = :project",
    "project-pages-moved": """
        UPDATE OR REPLACE page_sessions SET workspace = :new_workspace, project = :new_project
        WHERE workspace = :workspace AND project = :project
    """,
    "project-evidence-moved": """
        UPDATE OR REPLACE evidence SET workspace = :new_workspace, project = :new_project
        WHERE workspace = :workspace AND project = :project
    """,
    "project-access-moved": """
        UPDATE OR REPLACE page_access SET workspace = :new_workspace, project = :new_project
        WHERE workspace = :workspace AND project = :project
    """,
    "project-feedback-moved": """
        UPDATE OR REPLACE feedback SET workspace = :new_workspace, project = :new_project
        WHERE workspace = :workspace AND project = :project
    """,
    "project-tombstones-moved": """
        UPDATE OR REPLACE tombstones SET workspace = :new_workspace, project = :new_project
        WHERE workspace = :workspace AND project = :project
    """,
    "project-inbox-moved": """
        UPDATE messages SET to_workspace = :new_workspace, to_project = :new_project
        WHERE to_workspace = :workspace AND to_project = :project
    """,
    "project-outbox-moved": """
        UPDATE messages SET from_workspace = :new_workspace, from_project = :new_project
        WHERE from_workspace = :workspace AND from_project = :project
    """,
    "project-audit-moved": """
        UPDATE audit SET workspace = :new_workspace, project = :new_project
        WHERE workspace = :workspace AND project = :project
    """,
    # Only links changed in what rules wrote, so that it is no edit by hand.
    "session-page-relinked": """
        UPDATE sessions SET page_version = CASE page_version WHEN :version THEN :new_version ELSE page_version END,
            handoff_version = CASE handoff_version WHEN :version THEN :new_version ELSE handoff_version END
        WHERE id = :session
    """,
    "audit": audit.PUT,
    # What was purged is not named by the rows that tell of earlier changes either.
    "audit-forgotten": """
        UPDATE audit SET subject = CASE subject WHEN :path THEN '' ELSE subject END,
            origin = CASE origin WHEN :path THEN '' ELSE origin END
        WHERE workspace = :workspace AND project = :project AND :path IN (subject, origin)
    """,
    "change-applied": "INSERT OR IGNORE INTO applied_changes (change_id, at_us) VALUES (:change_id, :at_us)",
}
"""Writes of `Change.state`, by name."""


@dataclass(frozen=True, slots=True)
class Drain:
    """How one drain went. `fault` is empty when it went well."""

    started_at_us: int
    ended_at_us: int
    applied: int = 0
    repeated: int = 0
    """Events that were known already."""
    quarantined: int = 0
    pages: int = 0
    handoffs: int = 0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class PageSession:
    """One session that a page came from."""

    page: PageRef
    session: str
    role: str
    at_us: int


def open_state(data_dir: DataDir, *, at_us: int) -> Connection:
    """A durable writing connection to `state.db`, created or migrated if need be.

    Errors: StoreFault when a newer program wrote it, SQLite cannot read it, or it is gone.
    """
    path = data_dir.state
    if not path.exists() or not path.stat().st_size:
        lost = born.lost(data_dir, "state")
        if lost is not None:
            raise lost
    try:
        connection = driver.connect(path, durable=True)
        try:
            state_schema.migrate(connection)
        except BaseException:
            connection.close()
            raise
    except driver.DatabaseError as fault:
        if "locked" in str(fault):
            raise
        raise driver.unreadable(path, fault) from fault
    born.record(data_dir, "state", at_us=at_us)
    return connection


def parameters(statement: str) -> frozenset[str]:
    """Names of the values that a statement of `STATEMENTS` takes."""
    return frozenset(_PARAMETER.findall(STATEMENTS[statement]))


def is_change_applied(connection: Connection, change_id: str) -> bool:
    """Whether the state rows of that change are in."""
    sql = "SELECT 1 FROM applied_changes WHERE change_id = ?"
    return connection.execute(sql, (change_id,)).fetchone() is not None


def is_purged(connection: Connection, identifier: str) -> bool:
    """Whether that session was purged: its events never come back."""
    return connection.execute("SELECT 1 FROM purged WHERE id = ?", (identifier,)).fetchone() is not None


def purged_project(workspace: str, project: str) -> str:
    """Id of a purged project's tombstone: a digest, since a purge takes names, too."""
    return hashlib.sha256(f"purged:{workspace}/{project}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_before_purge(connection: Connection, workspace: str, project: str, at_us: int) -> bool:
    """Whether the project was purged at that instant or later: what happened in it before never comes back."""
    sql = "SELECT 1 FROM purged WHERE id = ? AND kind = 'project' AND at_us >= ?"
    return connection.execute(sql, (purged_project(workspace, project), at_us)).fetchone() is not None


def purged_pages(connection: Connection, blobs: Iterable[str]) -> set[str]:
    """Those of the blobs that a purged page held."""
    sql = "SELECT id FROM purged WHERE kind = 'page' AND id IN (SELECT value FROM json_each(?))"
    return {str(row[0]) for row in connection.execute(sql, (json.dumps(list(blobs)),))}


def purged_since(connection: Connection, at_us: int) -> set[str]:
    """Tombstones that were set at that instant or later."""
    return {str(row[0]) for row in connection.execute("SELECT id FROM purged WHERE at_us >= ?", (at_us,))}


def known_events(connection: Connection, event_ids: list[str]) -> set[str]:
    """Those of the ids that were applied already. Any number of ids."""
    known: set[str] = set()
    for start in range(0, len(event_ids), 500):
        part = event_ids[start : start + 500]
        marks = ",".join("?" * len(part))
        rows = connection.execute(f"SELECT event_id FROM applied_events WHERE event_id IN ({marks})", part)
        known.update(row[0] for row in rows)
    return known


def remember_events(connection: Connection, events: list[tuple[str, int]]) -> None:
    """Note (event id, time in µs) as applied. Call it in the transaction that applies them."""
    connection.executemany("INSERT OR IGNORE INTO applied_events (event_id, at_us) VALUES (?, ?)", events)


def forget_old_events(connection: Connection, now_us: int) -> int:
    """Drop ids older than 90 days; returns how many went."""
    sql = "DELETE FROM applied_events WHERE at_us < ?"
    return int(connection.execute(sql, (now_us - EVENT_MEMORY_US,)).rowcount)


def record_drain(connection: Connection, drain: Drain, *, keep: int = 200) -> None:
    """Keep how a drain went, for `status`; only the last `keep` stay."""
    connection.execute(
        "INSERT INTO drains (started_at_us, ended_at_us, applied, repeated, quarantined, pages, handoffs, fault)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            drain.started_at_us,
            drain.ended_at_us,
            drain.applied,
            drain.repeated,
            drain.quarantined,
            drain.pages,
            drain.handoffs,
            sanitize(drain.fault),  # may quote a path or a name
        ),
    )
    connection.execute("DELETE FROM drains WHERE id <= (SELECT max(id) FROM drains) - ?", (keep,))


def last_drain(connection: Connection) -> Drain | None:
    """How the last drain went, or None when there was none."""
    row = connection.execute(
        "SELECT started_at_us, ended_at_us, applied, repeated, quarantined, pages, handoffs, fault"
        " FROM drains ORDER BY id DESC LIMIT 1"
    ).fetchone()
    return Drain(*row) if row else None


@dataclass(frozen=True, slots=True)
class Held:
    """How much `state.db` holds of a project, or of some sessions of it."""

    sessions: int = 0
    observations: int = 0
    messages: int = 0


def held(connection: Connection | None, place: tuple[str, str], sessions: Sequence[str] | None = None) -> Held:
    """What there is of the project; of those sessions alone, and no messages, where they are given."""
    if connection is None:
        return Held()
    chosen = "SELECT id FROM sessions WHERE workspace = ?1 AND project = ?2 AND (?3 IS NULL OR id IN (SELECT value"
    chosen += " FROM json_each(?3)))"
    values = (*place, None if sessions is None else json.dumps(list(sessions)))
    count, observations = connection.execute(
        f"SELECT (SELECT count(*) FROM ({chosen})), (SELECT count(*) FROM observations WHERE session IN ({chosen}))",
        values,
    ).fetchone()
    waiting = 0
    if sessions is None and state_schema.version(connection) >= state_schema.MESSAGES_SINCE:
        sql = "SELECT count(*) FROM messages WHERE (to_workspace, to_project) = (?1, ?2)"
        sql += " OR (from_workspace, from_project) = (?1, ?2)"
        waiting = connection.execute(sql, place).fetchone()[0]
    return Held(int(count), int(observations), int(waiting))


def places(connection: Connection) -> set[tuple[str, str]]:
    """Every project that a session or a message names."""
    found = set(connection.execute("SELECT DISTINCT workspace, project FROM sessions"))
    if state_schema.version(connection) >= state_schema.MESSAGES_SINCE:
        found |= set(connection.execute("SELECT DISTINCT to_workspace, to_project FROM messages"))
        found |= set(connection.execute("SELECT DISTINCT from_workspace, from_project FROM messages"))
    return {(str(row[0]), str(row[1])) for row in found}


def pages_of_session(connection: Connection, session: str) -> list[PageSession]:
    """The pages that came from a session, by address."""
    rows = connection.execute(
        "SELECT workspace, project, path, role, at_us FROM page_sessions WHERE session = ?"
        " ORDER BY workspace, project, path, role",
        (session,),
    )
    return [PageSession(PageRef(row[0], row[1], row[2]), session, row[3], row[4]) for row in rows]
