"""The tables of `state.db`, and how an older file becomes a newer one.

The version stands in `PRAGMA user_version`, so looking at it costs one statement; sqlite-utils (120 ms CPU, 2026-11-30)
is imported only when a migration is pending. A migration is never edited once released: append another.
"""

from typing import TYPE_CHECKING, Any

from ai_memory.errors import StoreFault
from ai_memory.store.driver import Connection, transaction
from ai_memory.text.grams import grams

if TYPE_CHECKING:
    from sqlite_utils import Migrations

VERSION = 9
"""Number of migrations in `_migrations`."""

AUDIT_SINCE = 2
"""Version from which on there is a table of who changed what."""

MESSAGES_SINCE = 3
"""Version from which on there is a table of messages between projects."""

PAIRS_SINCE = 4
"""Version from which on observations hold the pairs of their Han and Kana."""

UPKEEP_SINCE = 5
"""Version from which on it is remembered when each duty of upkeep was done."""

DECLARED_SINCE = 6
"""Version from which on it is remembered which prompts may declare a fact."""

SOURCES_SINCE = 7
"""Version from which on there is a table of sources that are read again."""

USAGE_SINCE = 8
"""Version from which on it is kept what was read, what was said of pages, what answers cost, what was taken away."""

LINT_SINCE = 9
"""Version from which on it is remembered which findings of lint a report told."""

_FIRST = (
    """
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        native_id TEXT NOT NULL DEFAULT '',
        agent TEXT NOT NULL,
        workspace TEXT NOT NULL,
        project TEXT NOT NULL,
        scope TEXT NOT NULL,                        -- the whole Scope as JSON
        cwd TEXT NOT NULL DEFAULT '',
        opened_at_us INTEGER NOT NULL,
        last_at_us INTEGER NOT NULL,
        ended_at_us INTEGER,                        -- NULL while open
        observations INTEGER NOT NULL DEFAULT 0,
        prompts INTEGER NOT NULL DEFAULT 0,
        work INTEGER NOT NULL DEFAULT 0,            -- observations that are more than start, stop and end
        covered INTEGER NOT NULL DEFAULT 0,         -- observations that the page of an ended session tells of
        refreshed INTEGER NOT NULL DEFAULT 0,       -- observations that any page or provisional handoff tells of
        refreshed_at_us INTEGER NOT NULL DEFAULT 0, -- last commit of a refresh
        failures INTEGER NOT NULL DEFAULT 0,        -- page work that raised, since the last observation
        end_seen_us INTEGER NOT NULL DEFAULT 0,     -- latest session-end, also of a session that was resumed
        active_us INTEGER NOT NULL DEFAULT 0,       -- latest event that opens an ended session again
        handoff TEXT NOT NULL DEFAULT '',           -- id of the handoff of this generation
        handed_work INTEGER NOT NULL DEFAULT 0,     -- `work` that a handoff passed on already
        handed_end_us INTEGER NOT NULL DEFAULT 0,   -- the end that a handoff was made for
        page_version TEXT NOT NULL DEFAULT '',      -- blob of the session page as rules wrote it
        handoff_version TEXT NOT NULL DEFAULT '',   -- blob of the handoff page, likewise
        branch_start TEXT NOT NULL DEFAULT '',
        commit_start TEXT NOT NULL DEFAULT '',
        branch_end TEXT NOT NULL DEFAULT '',
        commit_end TEXT NOT NULL DEFAULT '',
        process INTEGER NOT NULL DEFAULT 0          -- process id of the agent, 0 when not known
    )
    """,
    "CREATE INDEX sessions_by_project ON sessions(workspace, project, last_at_us, id)",
    "CREATE INDEX sessions_by_time ON sessions(last_at_us, id)",
    "CREATE INDEX sessions_due ON sessions(ended_at_us) WHERE ended_at_us IS NOT NULL AND covered < observations",
    """
    CREATE TABLE observations (
        seq INTEGER PRIMARY KEY,
        event_id TEXT NOT NULL,
        session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
        at_us INTEGER NOT NULL,
        kind TEXT NOT NULL,
        source_event TEXT NOT NULL DEFAULT '',
        agent_id TEXT NOT NULL DEFAULT '',          -- set for a subagent
        tool TEXT NOT NULL DEFAULT '',
        call_id TEXT NOT NULL DEFAULT '',
        outcome TEXT NOT NULL DEFAULT '',           -- success, error, unknown or nothing
        input TEXT NOT NULL DEFAULT '',             -- JSON of the tool's input
        output TEXT NOT NULL DEFAULT '',
        text TEXT NOT NULL DEFAULT '',              -- prompt, compaction summary, notification
        flags TEXT NOT NULL DEFAULT '',             -- comma between two: oversize, truncated, metadata-only, …
        extra TEXT NOT NULL DEFAULT ''              -- JSON object of what else the event said
    )
    """,
    "CREATE UNIQUE INDEX observations_in_order ON observations(session, at_us, event_id)",
    "CREATE INDEX observations_claims ON observations(text) WHERE kind = 'handoff-claimed'",
    "CREATE INDEX sessions_grown ON sessions(last_at_us) WHERE ended_at_us IS NULL AND refreshed < observations",
    "CREATE INDEX sessions_by_handoff ON sessions(handoff) WHERE handoff <> ''",
    """
    CREATE VIRTUAL TABLE observations_fts USING fts5(
        tool, input, output, text,
        content='observations', content_rowid='seq', tokenize="unicode61 remove_diacritics 2"
    )
    """,
    """
    CREATE TRIGGER observations_added AFTER INSERT ON observations BEGIN
        INSERT INTO observations_fts(rowid, tool, input, output, text)
        VALUES (new.seq, new.tool, new.input, new.output, new.text);
    END
    """,
    """
    CREATE TRIGGER observations_removed AFTER DELETE ON observations BEGIN
        INSERT INTO observations_fts(observations_fts, rowid, tool, input, output, text)
        VALUES ('delete', old.seq, old.tool, old.input, old.output, old.text);
    END
    """,
    """
    CREATE TRIGGER observations_changed AFTER UPDATE OF tool, input, output, text ON observations BEGIN
        INSERT INTO observations_fts(observations_fts, rowid, tool, input, output, text)
        VALUES ('delete', old.seq, old.tool, old.input, old.output, old.text);
        INSERT INTO observations_fts(rowid, tool, input, output, text)
        VALUES (new.seq, new.tool, new.input, new.output, new.text);
    END
    """,
    "CREATE TABLE applied_events (event_id TEXT PRIMARY KEY, at_us INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX applied_events_by_time ON applied_events(at_us)",
    "CREATE TABLE applied_changes (change_id TEXT PRIMARY KEY, at_us INTEGER NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE evidence (
        id INTEGER PRIMARY KEY,
        workspace TEXT NOT NULL, project TEXT NOT NULL, path TEXT NOT NULL,
        class TEXT NOT NULL, session TEXT NOT NULL DEFAULT '', quote TEXT NOT NULL DEFAULT '',
        cite TEXT NOT NULL DEFAULT '', sha256 TEXT NOT NULL DEFAULT '', at_us INTEGER NOT NULL,
        UNIQUE (workspace, project, path, class, session, cite, sha256)
    )
    """,
    """
    CREATE TABLE page_sessions (
        workspace TEXT NOT NULL, project TEXT NOT NULL, path TEXT NOT NULL,
        session TEXT NOT NULL, role TEXT NOT NULL, at_us INTEGER NOT NULL,
        PRIMARY KEY (workspace, project, path, session, role)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX page_sessions_by_session ON page_sessions(session)",
    "CREATE TABLE purged (id TEXT PRIMARY KEY, kind TEXT NOT NULL, at_us INTEGER NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE drains (
        id INTEGER PRIMARY KEY,
        started_at_us INTEGER NOT NULL, ended_at_us INTEGER NOT NULL,
        applied INTEGER NOT NULL, repeated INTEGER NOT NULL, quarantined INTEGER NOT NULL,
        pages INTEGER NOT NULL, handoffs INTEGER NOT NULL, fault TEXT NOT NULL DEFAULT ''
    )
    """,
)

_SECOND = (
    """
    CREATE TABLE audit (
        seq INTEGER PRIMARY KEY,
        change_id TEXT NOT NULL UNIQUE,             -- of a change of pages that of its commit
        at_us INTEGER NOT NULL,
        verb TEXT NOT NULL,                         -- operation or automatic pass
        face TEXT NOT NULL DEFAULT '',              -- cli, bridge or drain
        agent TEXT NOT NULL DEFAULT '',
        session TEXT NOT NULL DEFAULT '',
        author TEXT NOT NULL DEFAULT '',            -- the person who signed, nothing for the machine
        workspace TEXT NOT NULL DEFAULT '',         -- nothing: it concerns all projects
        project TEXT NOT NULL DEFAULT '',
        subject TEXT NOT NULL DEFAULT '',           -- path of the (first) page, else what it was about
        origin TEXT NOT NULL DEFAULT '',            -- path from which a page was moved
        count INTEGER NOT NULL DEFAULT 1
    )
    """,
    "CREATE INDEX audit_by_time ON audit(at_us, change_id)",
)

_THIRD = (
    """
    CREATE TABLE messages (
        id TEXT PRIMARY KEY,                        -- UUIDv7, 32 hex
        from_workspace TEXT NOT NULL, from_project TEXT NOT NULL,
        to_workspace TEXT NOT NULL, to_project TEXT NOT NULL,
        body TEXT NOT NULL,
        sent_at_us INTEGER NOT NULL,
        expires_at_us INTEGER NOT NULL,
        subject TEXT NOT NULL DEFAULT '',
        from_agent TEXT NOT NULL DEFAULT '',
        from_session TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT 'pending',      -- pending, claimed or cancelled; expired is told by the time
        claimed_at_us INTEGER,                      -- NULL while nobody took it
        claimed_by_agent TEXT NOT NULL DEFAULT '',
        claimed_by_session TEXT NOT NULL DEFAULT ''
    )
    """,
    "CREATE INDEX messages_to ON messages(to_workspace, to_project, sent_at_us, id)",
    "CREATE INDEX messages_from ON messages(from_workspace, from_project, sent_at_us, id)",
)

_PAIRS = (
    # As in the index: runs of Han and Kana are words to no tokenizer, pairs of their characters are found.
    "ALTER TABLE observations ADD COLUMN grams TEXT NOT NULL DEFAULT ''",
    "DROP TRIGGER observations_added",
    "DROP TRIGGER observations_removed",
    "DROP TRIGGER observations_changed",
    "DROP TABLE observations_fts",
    """
    CREATE VIRTUAL TABLE observations_fts USING fts5(
        tool, input, output, text, grams,
        content='observations', content_rowid='seq', tokenize="unicode61 remove_diacritics 2"
    )
    """,
)

_PAIRS_FILLED = (
    "INSERT INTO observations_fts(observations_fts) VALUES ('rebuild')",
    """
    CREATE TRIGGER observations_added AFTER INSERT ON observations BEGIN
        INSERT INTO observations_fts(rowid, tool, input, output, text, grams)
        VALUES (new.seq, new.tool, new.input, new.output, new.text, new.grams);
    END
    """,
    """
    CREATE TRIGGER observations_removed AFTER DELETE ON observations BEGIN
        INSERT INTO observations_fts(observations_fts, rowid, tool, input, output, text, grams)
        VALUES ('delete', old.seq, old.tool, old.input, old.output, old.text, old.grams);
    END
    """,
    """
    CREATE TRIGGER observations_changed AFTER UPDATE OF tool, input, output, text, grams ON observations BEGIN
        INSERT INTO observations_fts(observations_fts, rowid, tool, input, output, text, grams)
        VALUES ('delete', old.seq, old.tool, old.input, old.output, old.text, old.grams);
        INSERT INTO observations_fts(rowid, tool, input, output, text, grams)
        VALUES (new.seq, new.tool, new.input, new.output, new.text, new.grams);
    END
    """,
)


_UPKEEP = """
    CREATE TABLE upkeep (
        duty TEXT PRIMARY KEY,
        at_us INTEGER NOT NULL,                     -- last try
        done_at_us INTEGER,                         -- last one that went well, NULL: never
        fault TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID
"""

_DECLARED = """
    CREATE TABLE declared (
        event_id TEXT PRIMARY KEY,                  -- a prompt that may declare facts and was not looked at yet
        session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
        at_us INTEGER NOT NULL
    ) WITHOUT ROWID
"""

_SOURCES = """
    CREATE TABLE sources (
        name TEXT PRIMARY KEY,
        project_id TEXT NOT NULL,                   -- as `_meta.md` has it: names change
        namespace TEXT NOT NULL,
        mapping TEXT NOT NULL,                      -- TOML, a copy
        root TEXT NOT NULL,
        authoritative INTEGER NOT NULL,
        every_us INTEGER NOT NULL,
        tried_at_us INTEGER,                        -- last look, NULL: never
        complete_at_us INTEGER,                     -- last one that read every record
        fault TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID
"""

_USAGE = (
    """
    CREATE TABLE feedback (
        id INTEGER PRIMARY KEY,
        workspace TEXT NOT NULL, project TEXT NOT NULL, path TEXT NOT NULL,
        version TEXT NOT NULL,                      -- blob of the page that it was said of
        signal TEXT NOT NULL,                       -- helpful, not_helpful, stale or wrong
        reason TEXT NOT NULL DEFAULT '',
        agent TEXT NOT NULL DEFAULT '', session TEXT NOT NULL DEFAULT '',
        at_us INTEGER NOT NULL
    )
    """,
    "CREATE INDEX feedback_by_page ON feedback(workspace, project, path, at_us)",
    """
    CREATE TABLE page_access (
        workspace TEXT NOT NULL, project TEXT NOT NULL, path TEXT NOT NULL,
        harness TEXT NOT NULL,                      -- who read it; nothing for a person at the command line
        reads INTEGER NOT NULL DEFAULT 0,           -- at most one a minute counts
        shown INTEGER NOT NULL DEFAULT 0,           -- times among the results of a search
        first_at_us INTEGER NOT NULL,
        last_at_us INTEGER NOT NULL,
        PRIMARY KEY (workspace, project, path, harness)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE calls (
        day TEXT NOT NULL,                          -- UTC, 2026-11-30
        client TEXT NOT NULL,                       -- harness or MCP client; 'other' above 128 names
        name TEXT NOT NULL,                         -- tool, command, or what a start was told
        calls INTEGER NOT NULL DEFAULT 0,
        bytes INTEGER NOT NULL DEFAULT 0,           -- UTF-8 bytes of what was answered
        PRIMARY KEY (day, client, name)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE tombstones (
        workspace TEXT NOT NULL, project TEXT NOT NULL, path TEXT NOT NULL,
        version TEXT NOT NULL,                      -- blob that was taken away
        reason TEXT NOT NULL,                       -- evicted, expired, working, compacted, merged
        tier TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT '',
        size_bytes INTEGER NOT NULL DEFAULT 0,
        change_id TEXT NOT NULL DEFAULT '',
        at_us INTEGER NOT NULL,
        PRIMARY KEY (workspace, project, path, version)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX tombstones_by_time ON tombstones(at_us)",
)

_LINT = """
    CREATE TABLE lint_findings (
        fingerprint TEXT PRIMARY KEY,               -- of what was found where; a report told it
        first_at_us INTEGER NOT NULL,
        last_at_us INTEGER NOT NULL                 -- when it was last found
    ) WITHOUT ROWID
"""


def version(connection: Connection) -> int:
    """The file's version: 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def refuse_newer(connection: Connection) -> int:
    """The file's version, if this program can read it.

    Errors: StoreFault when a newer program wrote the file.
    """
    found = version(connection)
    if found > VERSION:
        raise StoreFault(
            f"state.db has version {found}, this program knows {VERSION}",
            hint="A newer ai-memory wrote it. Use that one, or upgrade this one: nothing was changed.",
        )
    return found


def migrate(connection: Connection) -> None:
    """Bring the file to `VERSION`, in one transaction.

    Crash: safe at any point. Two processes may call it at once: the second finds nothing to do.
    Errors: StoreFault when a newer program wrote the file.
    """
    if refuse_newer(connection) == VERSION:
        return
    from sqlite_utils import Database  # 120 ms CPU: only for a new or an older file

    with transaction(connection):
        if refuse_newer(connection) == VERSION:
            return
        _migrations().apply(Database(connection, recursive_triggers=False, execute_plugins=False))
        connection.execute(f"PRAGMA user_version={VERSION}")


def _migrations() -> "Migrations":
    from sqlite_utils import Migrations  # as above

    migrations = Migrations("ai-memory state")

    @migrations(name="0001 sessions, observations, applied, evidence, drains")
    def first(database: Any) -> None:
        for statement in _FIRST:
            database.execute(statement)

    @migrations(name="0002 audit")
    def second(database: Any) -> None:
        for statement in _SECOND:
            database.execute(statement)

    @migrations(name="0003 messages")
    def third(database: Any) -> None:
        for statement in _THIRD:
            database.execute(statement)

    @migrations(name="0004 pairs of Han and Kana in observations")
    def pairs(database: Any) -> None:
        for statement in _PAIRS:
            database.execute(statement)
        fill_pairs(database)
        for statement in _PAIRS_FILLED:
            database.execute(statement)

    @migrations(name="0005 upkeep")
    def upkeep(database: Any) -> None:
        database.execute(_UPKEEP)

    @migrations(name="0006 declared")
    def declared(database: Any) -> None:
        database.execute(_DECLARED)

    @migrations(name="0007 sources")
    def sources(database: Any) -> None:
        database.execute(_SOURCES)

    @migrations(name="0008 feedback, access, calls, tombstones")
    def usage(database: Any) -> None:
        for statement in _USAGE:
            database.execute(statement)

    @migrations(name="0009 findings of lint")
    def lint(database: Any) -> None:
        database.execute(_LINT)

    return migrations


_MARKED = """
    SELECT seq, input, output, text FROM observations
    WHERE seq > ? AND length(CAST(input || output || text AS BLOB)) > length(input || output || text)
    ORDER BY seq LIMIT 500
"""
"""Only rows with a letter beyond ASCII can hold such a run."""


def fill_pairs(database: Any) -> None:
    """Give each observation the pairs of its Han and Kana. Call in a transaction."""
    last = -1
    while rows := database.execute(_MARKED, (last,)).fetchall():
        for seq, *texts in rows:
            found = grams("\n".join(texts))
            if found:
                database.execute("UPDATE observations SET grams = ? WHERE seq = ?", (found, seq))
        last = rows[-1][0]
