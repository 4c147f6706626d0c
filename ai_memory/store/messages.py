"""Messages between projects: rows of `messages` in `state.db`. Each is given once.

Connections come in, frozen rows go out. A claim is one conditional update inside `BEGIN IMMEDIATE`: of any number of
racers one gets the row. A message that is over is not marked: its time says so.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ai_memory.model import NO_TEXT, Sanitized
from ai_memory.store import state_schema
from ai_memory.store.driver import Connection

MAX_PENDING = 256
"""Messages that may wait for one project."""

KEPT_US = 90 * 86_400 * 1_000_000
"""How long a message stays that nobody can take any more."""

Place = tuple[str, str]
"""Workspace and name of a project."""


class MessageState(StrEnum):
    """Where a message stands."""

    PENDING = "pending"
    CLAIMED = "claimed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Times in µs, None where not set; empty where it is not known."""

    id: str
    """A UUIDv7 in 32 hex: in order of being sent."""
    from_workspace: Sanitized
    from_project: Sanitized
    to_workspace: Sanitized
    to_project: Sanitized
    body: Sanitized
    sent_at_us: int
    expires_at_us: int
    subject: Sanitized = NO_TEXT
    from_agent: Sanitized = NO_TEXT
    from_session: Sanitized = NO_TEXT
    state: str = MessageState.PENDING
    """As it is stored; `standing` looks at the time, too."""
    claimed_at_us: int | None = None
    claimed_by_agent: Sanitized = NO_TEXT
    claimed_by_session: Sanitized = NO_TEXT

    def standing(self, now_us: int) -> MessageState:
        """Where it stands at that instant."""
        is_over = self.state == MessageState.PENDING and self.expires_at_us <= now_us
        return MessageState.EXPIRED if is_over else MessageState(self.state)


@dataclass(frozen=True, slots=True)
class Taker:
    """Who takes a message; empty where nobody said it."""

    agent: Sanitized
    session: Sanitized
    at_us: int


_COLUMNS = (
    "id, from_workspace, from_project, to_workspace, to_project, body, sent_at_us, expires_at_us, subject, from_agent,"
    " from_session, state, claimed_at_us, claimed_by_agent, claimed_by_session"
)
_WAITS = "to_workspace = ? AND to_project = ? AND state = 'pending' AND expires_at_us > ?"
_OF_BOX = {
    "inbox": "to_workspace = ? AND to_project = ?",
    "outbox": "from_workspace = ? AND from_project = ?",
}
_IN_STATE = {
    "pending": ("state = 'pending' AND expires_at_us > ?", "now"),
    "expired": ("state = 'pending' AND expires_at_us <= ?", "now"),
    "claimed": ("state = ?", "claimed"),
    "cancelled": ("state = ?", "cancelled"),
}
"""Condition of a state, and what it is asked with."""


def is_kept(connection: Connection) -> bool:
    """Whether the file has the table: an older program's gets it with the next write."""
    return state_schema.version(connection) >= state_schema.MESSAGES_SINCE


def put(connection: Connection, message: Message) -> None:
    """Write a new message. Call it in the transaction that looked at how many wait."""
    connection.execute(
        f"INSERT INTO messages ({_COLUMNS}) VALUES ({','.join('?' * 15)})",
        tuple(getattr(message, name.strip()) for name in _COLUMNS.split(",")),
    )


def same_waiting(connection: Connection, message: Message, *, now_us: int) -> Message | None:
    """The waiting message that says the same, between the same projects."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE {_WAITS} AND from_workspace = ? AND from_project = ? AND subject = ?"
        " AND body = ? ORDER BY sent_at_us, id LIMIT 1",
        (
            *(message.to_workspace, message.to_project, now_us),
            *(message.from_workspace, message.from_project, message.subject, message.body),
        ),
    ).fetchone()
    return Message(*row) if row else None


def count_waiting(connection: Connection, place: Place, *, now_us: int) -> int:
    """How many messages wait for a project."""
    if not is_kept(connection):
        return 0
    return int(connection.execute(f"SELECT count(*) FROM messages WHERE {_WAITS}", (*place, now_us)).fetchone()[0])


def waiting_until(connection: Connection, place: Place, *, now_us: int) -> list[int]:
    """Of each message that waits for a project, when it is over, soonest first."""
    if not is_kept(connection):
        return []
    sql = f"SELECT expires_at_us FROM messages WHERE {_WAITS} ORDER BY expires_at_us, id"
    return [int(row[0]) for row in connection.execute(sql, (*place, now_us))]


def claim(connection: Connection, place: Place, taker: Taker, *, identifier: str | None = None) -> Message | None:
    """The message of that id, else the oldest that waits for the project, now the taker's; None when none waits."""
    one = " AND id = ?" if identifier is not None else ""
    row = connection.execute(
        f"UPDATE messages SET state = 'claimed', claimed_at_us = ?, claimed_by_agent = ?, claimed_by_session = ?"
        f" WHERE id = (SELECT id FROM messages WHERE {_WAITS}{one} ORDER BY sent_at_us, id LIMIT 1)"
        f" RETURNING {_COLUMNS}",
        (
            *(taker.at_us, taker.agent, taker.session),
            *(*place, taker.at_us, *(() if identifier is None else (identifier,))),
        ),
    ).fetchone()
    return Message(*row) if row else None


def cancel(connection: Connection, identifiers: Sequence[str], *, now_us: int) -> list[str]:
    """Withdraw those that still wait; gives their ids."""
    found = []
    for identifier in identifiers:
        sql = "UPDATE messages SET state = 'cancelled' WHERE id = ? AND state = 'pending' AND expires_at_us > ?"
        if connection.execute(sql, (identifier, now_us)).rowcount:
            found.append(identifier)
    return found


def of_box(
    connection: Connection,
    box: str,
    place: Place,
    *,
    state: str = "any",
    now_us: int,
    beginning: str = "",
    limit: int = -1,
) -> tuple[list[Message], int]:
    """(Messages to or from a project, oldest first; how many there are of them). `limit` -1 gives all.

    `state` is one of `MessageState` or `any`, `beginning` that of an id.
    """
    if not is_kept(connection):
        return [], 0
    conditions = [_OF_BOX[box]]
    parameters: list[object] = [*place]
    if state != "any":
        condition, its = _IN_STATE[state]
        conditions.append(condition)
        parameters += [now_us if its == "now" else its]
    if beginning:
        conditions.append("substr(id, 1, ?) = ?")
        parameters += [len(beginning), beginning]
    where = " AND ".join(conditions)
    total = connection.execute(f"SELECT count(*) FROM messages WHERE {where}", parameters).fetchone()[0]
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE {where} ORDER BY sent_at_us, id LIMIT ?", [*parameters, limit]
    )
    return [Message(*row) for row in rows], int(total)


def by_ids(connection: Connection, identifiers: Sequence[str]) -> list[Message]:
    """Those messages, oldest first; any number of ids."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE id IN (SELECT value FROM json_each(?)) ORDER BY sent_at_us, id",
        (json.dumps(list(identifiers)),),
    )
    return [Message(*row) for row in rows]


def forget_old(connection: Connection, now_us: int) -> int:
    """Drop messages that were over, taken or withdrawn 90 days ago; how many went."""
    sql = "DELETE FROM messages WHERE max(sent_at_us, coalesce(claimed_at_us, 0), min(expires_at_us, ?1)) < ?1 - ?2"
    return int(connection.execute(sql, (now_us, KEPT_US)).rowcount)
