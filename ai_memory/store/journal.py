"""Stored events in order of time or of storing, over all sessions: for `log` and `tail`."""

from collections.abc import Sequence
from dataclasses import dataclass

from ai_memory.store.driver import Connection
from ai_memory.store.span import Key, Span
from ai_memory.store.state_sessions import OBSERVATION_COLUMNS, Observation

_COLUMNS = ", ".join(f"o.{name.strip()}" for name in OBSERVATION_COLUMNS.split(","))
_OF_SESSION = "s.agent, s.workspace, s.project, s.cwd"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One observation with what its session says of where it comes from."""

    seq: int
    """Number in the order of storing."""
    agent: str
    workspace: str
    project: str
    cwd: str
    observation: Observation

    @property
    def key(self) -> Key:
        """Its place in order of time."""
        return self.observation.at_us, self.observation.event_id


def newest(connection: Connection, span: Span) -> list[StoredEvent]:
    """Events of that span, newest first.

    Sessions are asked in order of their last event, until none can have a newer one than those found.
    """
    found: list[StoredEvent] = []
    for identifier, last_at_us in _sessions(connection, span):
        if len(found) >= span.limit and last_at_us < found[-1].observation.at_us:
            break
        rows = connection.execute(
            f"SELECT o.seq, {_OF_SESSION}, {_COLUMNS} FROM observations o JOIN sessions s ON s.id = o.session"
            " WHERE o.session = ? AND o.at_us >= ? AND (o.at_us, o.event_id) < (?, ?)"
            " ORDER BY o.at_us DESC, o.event_id DESC LIMIT ?",
            (identifier, span.since_us, *span.before, span.limit),
        )
        found = sorted([*found, *map(_event, rows)], key=lambda one: one.key, reverse=True)[: span.limit]
    return found


def _sessions(connection: Connection, span: Span) -> Sequence[tuple[str, int]]:
    """(id, last event) of those that can have events in that span, latest last event first."""
    bounds = [span.since_us, span.before[0]]
    conditions, values = _of(
        ["last_at_us >= ?", "opened_at_us <= ?"], bounds, "", place=span.place, session=span.session
    )
    sql = f"SELECT id, last_at_us FROM sessions WHERE {' AND '.join(conditions)} ORDER BY last_at_us DESC, id"
    rows: list[tuple[str, int]] = connection.execute(sql, values).fetchall()
    return rows


def last_seq(connection: Connection) -> int:
    """Number of the event that was stored last; 0 where there is none."""
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM observations").fetchone()[0])


def stored_after(
    connection: Connection,
    seq: int,
    *,
    place: tuple[str, str] | None = None,
    session: str | None = None,
    limit: int,
) -> list[StoredEvent]:
    """Events of that project or session that were stored after that one, in the order of storing."""
    conditions, values = _of(["o.seq > ?"], [seq], "s.", place=place, session=session)
    rows = connection.execute(
        f"SELECT o.seq, {_OF_SESSION}, {_COLUMNS} FROM observations o CROSS JOIN sessions s ON s.id = o.session"
        f" WHERE {' AND '.join(conditions)} ORDER BY o.seq LIMIT ?",
        (*values, limit),
    )
    return [_event(row) for row in rows]


def _of(
    conditions: Sequence[str],
    values: Sequence[object],
    table: str,
    *,
    place: tuple[str, str] | None,
    session: str | None,
) -> tuple[list[str], list[object]]:
    conditions, given = list(conditions), list(values)
    if place is not None:
        conditions += [f"{table}workspace = ?", f"{table}project = ?"]
        given += place
    if session is not None:
        conditions.append(f"{table}id = ?")
        given.append(session)
    return conditions, given


def _event(row: tuple[object, ...]) -> StoredEvent:
    seq, agent, workspace, project, cwd, *rest = row
    return StoredEvent(seq, agent, workspace, project, cwd, Observation(*rest))  # type: ignore[arg-type]
