"""What the operations on messages between projects share: rows, ids, who does it."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, NotFound, UsageFault, echo
from ai_memory.operations.field import Field
from ai_memory.store import messages
from ai_memory.store.messages import Message, Place

if TYPE_CHECKING:
    from ai_memory.store.audit import Mutation
    from ai_memory.store.driver import Connection
    from ai_memory.store.memory import Memory

SHORTEST_ID = 6
ID_SHOWN = 18
"""Digits that a person sees: messages sent within a second share the first 10 of a UUIDv7."""
_ID = re.compile(rf"[0-9a-f]{{{SHORTEST_ID},32}}")

MessageId = Annotated[str | None, Field("id, or how it begins", positional=True, metavar="ID")]


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message. `body` is cut where `is_cut` says so; times null where not set."""

    id: str
    state: str
    from_workspace: str
    from_project: str
    from_agent: str | None
    from_session: str | None
    to_workspace: str
    to_project: str
    subject: str
    body: str
    is_cut: bool
    sent_at: str
    expires_at: str
    claimed_at: str | None
    claimed_by_agent: str | None
    claimed_by_session: str | None


def message_row(message: Message, *, now_us: int, body_max_chars: int | None = None) -> MessageRow:
    """Its row, the body at most so long."""
    body = message.body if body_max_chars is None else message.body[:body_max_chars]
    return MessageRow(
        id=message.id,
        state=message.standing(now_us).value,
        from_workspace=message.from_workspace,
        from_project=message.from_project,
        from_agent=message.from_agent or None,
        from_session=message.from_session or None,
        to_workspace=message.to_workspace,
        to_project=message.to_project,
        subject=message.subject,
        body=body,
        is_cut=body != message.body,
        sent_at=rfc3339(message.sent_at_us),
        expires_at=rfc3339(message.expires_at_us),
        claimed_at=None if message.claimed_at_us is None else rfc3339(message.claimed_at_us),
        claimed_by_agent=message.claimed_by_agent or None,
        claimed_by_session=message.claimed_by_session or None,
    )


def row_line(row: MessageRow) -> str:
    """`019ad0f0e0007abc12 pending · default/till to default/shop · Prices · from codex, 2026-11-30T08:00:00Z`."""
    way = f"{row.from_workspace}/{row.from_project} to {row.to_workspace}/{row.to_project}"
    sender = f"from {row.from_agent}, {row.sent_at}" if row.from_agent else row.sent_at
    taken = f" · taken by {row.claimed_by_agent or 'someone'}, {row.claimed_at}" if row.claimed_at else ""
    subject = " ".join(row.subject.split()) or "(no subject)"
    return f"{row.id[:ID_SHOWN]} {row.state} · {way} · {subject} · {sender}{taken}"


def wanted_id(name: str) -> str:
    """An id, or its beginning, as ids are written. Errors: UsageFault."""
    found = name.strip().lower().replace("-", "")
    if not _ID.fullmatch(found):
        raise UsageFault(
            f"{echo(name)} is no id of a message",
            hint=f"it is {SHORTEST_ID} to 32 hex digits, as `ai-memory message list` shows",
        )
    return found


def find_message(connection: "Connection", name: str, place: Place, *, box: str, now_us: int) -> Message:
    """The one message of that box whose id begins so. Errors: UsageFault, NotFound, Conflict."""
    beginning = wanted_id(name)
    found, total = messages.of_box(connection, box, place, now_us=now_us, beginning=beginning, limit=1)
    if not found:
        raise NotFound(
            f"no message {beginning} in the {box} of {'/'.join(place)}",
            hint=f"`ai-memory message list --box {box} --state any` shows what there is",
        )
    if total > 1:
        raise Conflict(f"several messages begin with {beginning}", hint="give more digits of the id")
    return found[0]


def told_in(
    memory: "Memory", verb: str, place: Place, *, subject: str, count: int = 1, agent: str = "", session: str = ""
) -> "Mutation":
    """What the log tells of it: which project and which message, no word of it."""
    told = memory.mutation(verb, subject=subject, count=count, session=session)
    return replace(told, workspace=place[0], project=place[1], agent=agent or told.agent)
