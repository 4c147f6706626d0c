"""Sessions and their observations in `state.db`: rows, writes of the drain, questions asked of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ai_memory.errors import Conflict, NotFound
from ai_memory.model import NO_TEXT, Sanitized
from ai_memory.store.driver import Connection
from ai_memory.text.grams import grams

MAX_FAILURES = 3
"""Page work of one session that raised this often waits for the session's next event."""


@dataclass(frozen=True, slots=True)
class Session:
    """One run of one agent. Times in µs; `ended_at_us` None while open."""

    id: str
    native_id: Sanitized
    agent: Sanitized
    workspace: Sanitized
    project: Sanitized
    scope: Sanitized
    """The whole Scope as JSON, as it was resolved at the session's first event."""
    cwd: Sanitized
    opened_at_us: int
    last_at_us: int
    ended_at_us: int | None = None
    observations: int = 0
    prompts: int = 0
    work: int = 0
    """Observations that are more than start, stop and end. 0: a lifecycle-only session."""
    covered: int = 0
    refreshed: int = 0
    refreshed_at_us: int = 0
    failures: int = 0
    end_seen_us: int = 0
    active_us: int = 0
    handoff: str = ""
    handed_work: int = 0
    handed_end_us: int = 0
    page_version: str = ""
    handoff_version: str = ""
    branch_start: Sanitized = NO_TEXT
    commit_start: Sanitized = NO_TEXT
    branch_end: Sanitized = NO_TEXT
    commit_end: Sanitized = NO_TEXT
    process: int = 0

    @property
    def is_open(self) -> bool:
        return self.ended_at_us is None


@dataclass(frozen=True, slots=True)
class Observation:
    """One event of one session, as it was stored: sanitised and capped. `input` and `extra` hold JSON or nothing."""

    event_id: str
    session: str
    at_us: int
    kind: Sanitized
    source_event: Sanitized = NO_TEXT
    agent_id: Sanitized = NO_TEXT
    tool: Sanitized = NO_TEXT
    call_id: Sanitized = NO_TEXT
    outcome: str = ""
    input: Sanitized = NO_TEXT
    output: Sanitized = NO_TEXT
    text: Sanitized = NO_TEXT
    flags: Sanitized = NO_TEXT
    extra: Sanitized = NO_TEXT


SESSION_COLUMNS = (
    "id, native_id, agent, workspace, project, scope, cwd, opened_at_us, last_at_us, ended_at_us, observations,"
    " prompts, work, covered, refreshed, refreshed_at_us, failures, end_seen_us, active_us, handoff, handed_work,"
    " handed_end_us, page_version, handoff_version, branch_start, commit_start, branch_end, commit_end, process"
)
OBSERVATION_COLUMNS = (
    "event_id, session, at_us, kind, source_event, agent_id, tool, call_id, outcome, input, output, text, flags, extra"
)

_PUT_SESSION = f"""
    INSERT INTO sessions ({SESSION_COLUMNS}) VALUES ({",".join("?" * 29)})
    ON CONFLICT (id) DO UPDATE SET
        native_id = excluded.native_id, agent = excluded.agent, cwd = excluded.cwd,
        opened_at_us = excluded.opened_at_us, last_at_us = excluded.last_at_us, ended_at_us = excluded.ended_at_us,
        observations = excluded.observations, prompts = excluded.prompts, work = excluded.work,
        failures = excluded.failures, end_seen_us = excluded.end_seen_us, active_us = excluded.active_us,
        handoff = excluded.handoff,
        branch_start = excluded.branch_start, commit_start = excluded.commit_start,
        branch_end = excluded.branch_end, commit_end = excluded.commit_end, process = excluded.process
"""
"""`covered`, `refreshed`, `handed_…` and the versions belong to page work: a batch never turns them back."""


_OF_SESSION = attrgetter(*(name.strip() for name in SESSION_COLUMNS.split(",")))
_OF_OBSERVATION = attrgetter(*(name.strip() for name in OBSERVATION_COLUMNS.split(",")))


def put_session(connection: Connection, session: Session) -> None:
    """Write a session's row. Its project stays what it was at first."""
    connection.execute(_PUT_SESSION, _session_row(session))


def _session_row(session: Session) -> tuple[object, ...]:
    row: tuple[object, ...] = _OF_SESSION(session)
    return row


_ADD_OBSERVATION = f"""
    INSERT OR IGNORE INTO observations ({OBSERVATION_COLUMNS}, grams) VALUES ({",".join("?" * 15)})
"""


def add_observations(connection: Connection, observations: Iterable[Observation]) -> None:
    """Write observations and their full text; one that is there already stays as it is."""
    rows = ((*_OF_OBSERVATION(one), grams(f"{one.input}\n{one.output}\n{one.text}")) for one in observations)
    connection.executemany(_ADD_OBSERVATION, rows)


def session(connection: Connection, identifier: str) -> Session | None:
    """One session by its whole id."""
    row = connection.execute(f"SELECT {SESSION_COLUMNS} FROM sessions WHERE id = ?", (identifier,)).fetchone()
    return Session(*row) if row else None


def find_session(connection: Connection, name: str) -> Session:
    """One session by id, unambiguous beginning of an id (6 characters or more), or the harness's own id.

    Errors: NotFound; Conflict when several begin that way.
    """
    rows = connection.execute(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE id = ?1 OR native_id = ?1"
        " OR (length(?1) >= 6 AND substr(id, 1, length(?1)) = ?1) ORDER BY id = ?1 DESC, id LIMIT 2",
        (name,),
    ).fetchall()
    if not rows:
        raise NotFound(f"no session {name}", hint="`ai-memory sessions --all` lists them.")
    if len(rows) > 1 and rows[0][0] != name:
        raise Conflict(f"several sessions begin with {name}", hint="Give more characters of the id.")
    return Session(*rows[0])


def short_id(identifier: str) -> str:
    """The beginning of an id that people see and `find_session` takes: 8 characters, of a UUIDv7 the first 18.

    A UUIDv7 begins with its time: sessions begun within a minute share its first 8. Source: RFC 9562, section 5.7.
    """
    return identifier[:18] if identifier[14:15] == "7" else identifier[:8]


def session_of_handoff(connection: Connection, handoff: str) -> Session | None:
    """The session that a handoff of this generation tells of."""
    sql = f"SELECT {SESSION_COLUMNS} FROM sessions WHERE handoff = ? AND handoff <> '' ORDER BY id LIMIT 1"
    row = connection.execute(sql, (handoff,)).fetchone()
    return Session(*row) if row else None


def claim_of(connection: Connection, handoff: str, claimer: str) -> Observation | None:
    """The event by which that session, named by its id or the harness's own, said that it printed that handoff."""
    columns = ", ".join(f"o.{name.strip()}" for name in OBSERVATION_COLUMNS.split(","))
    row = connection.execute(
        f"SELECT {columns} FROM observations o JOIN sessions s ON s.id = o.session"
        " WHERE o.kind = 'handoff-claimed' AND o.text = ?1 AND (s.id = ?2 OR s.native_id = ?2)"
        " ORDER BY o.at_us DESC, o.event_id DESC LIMIT 1",
        (handoff, claimer),
    ).fetchone()
    return Observation(*row) if row else None


def due_sessions(connection: Connection, *, limit: int = 64) -> list[Session]:
    """Ended sessions whose page does not tell of all they hold, newest end first."""
    rows = connection.execute(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE ended_at_us IS NOT NULL AND covered < observations"
        " AND failures < ? ORDER BY ended_at_us DESC, id LIMIT ?",
        (MAX_FAILURES, limit),
    )
    return [Session(*row) for row in rows]


def grown_sessions(connection: Connection, *, limit: int = 64) -> list[Session]:
    """Running sessions with work that neither a page nor a provisional handoff tells of, newest first."""
    rows = connection.execute(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE ended_at_us IS NULL AND refreshed < observations"
        " AND work > handed_work AND handoff <> '' ORDER BY last_at_us DESC, id LIMIT ?",
        (limit,),
    )
    return [Session(*row) for row in rows]


def note_purged(connection: Connection, identifier: str, *, at_us: int) -> None:
    """No event of that session is taken any more."""
    connection.execute("INSERT OR IGNORE INTO purged (id, kind, at_us) VALUES (?, 'session', ?)", (identifier, at_us))


def note_rendered(connection: Connection, identifier: str, told: int) -> None:
    """The provisional handoff of that session tells of so many observations."""
    sql = "UPDATE sessions SET refreshed = max(refreshed, ?) WHERE id = ?"
    connection.execute(sql, (told, identifier))


def idle_sessions(connection: Connection, before_us: int) -> int:
    """How many open sessions have had no event since that instant."""
    sql = "SELECT count(*) FROM sessions WHERE ended_at_us IS NULL AND last_at_us < ?"
    return int(connection.execute(sql, (before_us,)).fetchone()[0])


def end_idle(connection: Connection, before_us: int, *, limit: int = 25) -> int:
    """End open sessions without an event since that instant, at their last event; how many."""
    sql = """
        UPDATE sessions SET ended_at_us = last_at_us, end_seen_us = max(end_seen_us, last_at_us) WHERE id IN (
            SELECT id FROM sessions WHERE ended_at_us IS NULL AND last_at_us < ? ORDER BY last_at_us, id LIMIT ?
        )
    """
    return int(connection.execute(sql, (before_us, limit)).rowcount)


def hand_over_nothing(connection: Connection, identifier: str, *, work: int) -> None:
    """That much more of the session's work is of the past: no handoff is made of it.

    Of an ended session all is; one that runs on keeps what it did itself to hand over.
    """
    sql = """
        UPDATE sessions SET handoff = CASE WHEN ended_at_us IS NULL THEN handoff ELSE '' END,
            handed_work = CASE WHEN ended_at_us IS NULL THEN min(work, handed_work + :work) ELSE work END,
            handed_end_us = coalesce(ended_at_us, handed_end_us)
        WHERE id = :id
    """
    connection.execute(sql, {"work": work, "id": identifier})


def is_told_of_by_process(connection: Connection, agent: str, cwd: str, *, since_us: int, until_us: int) -> bool:
    """Whether hooks that were told no session id captured that agent in that folder at that time.

    Their sessions are named after the agent's process.
    """
    sql = """
        SELECT 1 FROM sessions WHERE agent = ? AND cwd = ? AND native_id LIKE 'process-%'
            AND opened_at_us <= ? AND last_at_us >= ? LIMIT 1
    """
    return connection.execute(sql, (agent, cwd, until_us, since_us)).fetchone() is not None


def note_failure(connection: Connection, identifier: str) -> None:
    """Page work of that session raised."""
    connection.execute("UPDATE sessions SET failures = failures + 1 WHERE id = ?", (identifier,))


def seen_since(connection: Connection, seq: int) -> dict[str, bool]:
    """Sessions with observations stored after that number, and whether one of these announces a compaction."""
    rows = connection.execute(
        "SELECT session, max(kind = 'pre-compact') FROM observations WHERE seq > ? GROUP BY session ORDER BY session",
        (seq,),
    )
    return {str(row[0]): bool(row[1]) for row in rows}


def last_seq(connection: Connection) -> int:
    """Number of the observation that was stored last."""
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM observations").fetchone()[0])


def newest_at_work(connection: Connection, workspace: str, project: str, *, since_us: int) -> Session | None:
    """The project's session with the latest event, of those that did more than begin and end; None if it is older."""
    row = connection.execute(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE workspace = ? AND project = ? AND last_at_us >= ? AND work > 0"
        " ORDER BY last_at_us DESC, id LIMIT 1",
        (workspace, project, since_us),
    ).fetchone()
    return Session(*row) if row else None


def latest_to_read(
    connection: Connection, workspace: str, project: str, *, since_us: int, cwd: str = "", but: str = ""
) -> Session | None:
    """The project's session that somebody means who names none: the newest with work since that instant, one of the
    folder first; else the one that ended last. `but` is the id of the asking one."""
    place = (workspace, project, but)
    row = connection.execute(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE workspace = ? AND project = ? AND id <> ? AND work > 0"
        " AND last_at_us >= ? ORDER BY cwd = ? DESC, last_at_us DESC, id LIMIT 1",
        (*place, since_us, cwd),
    ).fetchone()
    row = (
        row
        or connection.execute(
            f"SELECT {SESSION_COLUMNS} FROM sessions WHERE workspace = ? AND project = ? AND id <> ?"
            " AND ended_at_us IS NOT NULL ORDER BY ended_at_us DESC, id LIMIT 1",
            place,
        ).fetchone()
    )
    return Session(*row) if row else None


def observations(
    connection: Connection,
    identifier: str,
    *,
    kinds: Sequence[str] = (),
    limit: int = -1,
    offset: int = 0,
    is_newest_first: bool = False,
) -> list[Observation]:
    """A session's observations in order of (time, event id); `limit` -1 gives all."""
    order = "at_us DESC, event_id DESC" if is_newest_first else "at_us, event_id"
    marks = ",".join("?" * len(kinds))
    only = f" AND kind IN ({marks})" if kinds else ""
    rows = connection.execute(
        f"SELECT {OBSERVATION_COLUMNS} FROM observations WHERE session = ?{only} ORDER BY {order} LIMIT ? OFFSET ?",
        (identifier, *kinds, limit, offset),
    )
    return [Observation(*row) for row in rows]


def latest(connection: Connection, identifier: str, *, limit: int) -> list[Observation]:
    """The last observations of a session, the latest first."""
    rows = connection.execute(
        f"SELECT {OBSERVATION_COLUMNS} FROM observations WHERE session = ? ORDER BY at_us DESC, event_id DESC LIMIT ?",
        (identifier, limit),
    )
    return [Observation(*row) for row in rows]


def observations_between(connection: Connection, identifier: str, start_us: int, end_us: int) -> list[Observation]:
    """A session's observations with `start_us` ≤ time ≤ `end_us`."""
    rows = connection.execute(
        f"SELECT {OBSERVATION_COLUMNS} FROM observations WHERE session = ? AND at_us BETWEEN ? AND ?"
        " ORDER BY at_us, event_id",
        (identifier, start_us, end_us),
    )
    return [Observation(*row) for row in rows]


def totals(connection: Connection) -> tuple[int, int, int]:
    """(sessions, open sessions, observations)."""
    row = connection.execute(
        "SELECT count(*), coalesce(sum(ended_at_us IS NULL), 0), coalesce(sum(observations), 0) FROM sessions"
    ).fetchone()
    return int(row[0]), int(row[1]), int(row[2])
