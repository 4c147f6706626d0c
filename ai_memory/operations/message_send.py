"""Sending a message to another project of this memory."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.capture.mail import told_or_gap
from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, NotFound, UsageFault, echo
from ai_memory.model import Scope
from ai_memory.operations.cleaning import clean, refuse_secrets, told_changes
from ai_memory.operations.field import Field
from ai_memory.operations.handoff_desk import AgentFlag, SessionFlag, asking
from ai_memory.operations.message_rows import ID_SHOWN, MessageRow, message_row, told_in
from ai_memory.operations.scoping import resolve
from ai_memory.scrub import strip_private
from ai_memory.store import audit, messages
from ai_memory.store.change_ids import new_change_id
from ai_memory.store.messages import MAX_PENDING, Message, Place
from ai_memory.text.sanitize import sanitize_line
from ai_memory.text.times import DAY_US, parse_expiry

if TYPE_CHECKING:
    from ai_memory.model import Project
    from ai_memory.store.memory import Memory

MAX_BODY = 8_000
MAX_SUBJECT = 200
"""Characters: a message is a note, a page holds what is longer."""
LIFETIME_US = 30 * DAY_US
NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SentMessage:
    scope: Scope
    """The project that sends."""
    messages: tuple[MessageRow, ...]
    message_id: str
    outcome: Literal["sent", "unchanged"]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def message_send(
    memory: "Memory",
    *,
    to_project: Annotated[str, Field("who gets it: NAME or WORKSPACE/NAME", flags=("--to",), positional=True)],
    body: Annotated[str, Field("the message", max_length=MAX_BODY, flags=("-b", "--body"), piped=True)],
    subject: Annotated[str, Field("what it is about, one line", max_length=MAX_SUBJECT)] = "",
    to_workspace: Annotated[str | None, Field("its workspace, when not the sender's")] = None,
    expires_at: Annotated[str | None, Field("default: in 30 days")] = None,
    agent: AgentFlag = None,
    session_id: SessionFlag = None,
    workspace: Annotated[
        str | None,
        Field("sender's workspace", aliases=("from_workspace",), flags=("--workspace", "--from-workspace")),
    ] = None,
    project: Annotated[
        str | None,
        Field("sender, when not this project", aliases=("from_project",), flags=("--project", "--from-project")),
    ] = None,
) -> SentMessage:
    """Leave a message for another project: one of its sessions reads it, once.
    Use it when work here needs something done or known there.
    """
    now_us = memory.clock()
    refuse_secrets(memory, agent=agent, expiry=expires_at, recipient=(to_project, to_workspace or ""))
    scope = resolve(memory, workspace, project, write=True)
    sender = asking(memory, agent, session_id, cwd="")
    to = _recipient(memory, to_workspace, to_project, scope)
    kept = clean(memory, strip_private(body).strip())
    about = sanitize_line(clean(memory, strip_private(subject).replace("\n", " ")))
    if not kept:
        raise UsageFault("the message is empty", hint="say what the other project has to know")
    message = Message(
        id=new_change_id(now_us),
        from_workspace=sanitize_line(scope.workspace),
        from_project=sanitize_line(scope.project),
        to_workspace=sanitize_line(to[0]),
        to_project=sanitize_line(to[1]),
        body=kept,
        sent_at_us=now_us,
        expires_at_us=_expiry(expires_at, now_us),
        subject=about,
        from_agent=sanitize_line(sender.agent),
        from_session=sanitize_line(sender.session),
    )
    known = _put(memory, message, to, now_us=now_us)
    gaps = (*told_changes([(body.strip(), kept)], written="message"), *told_or_gap(memory, to))
    row = message_row(known or message, now_us=now_us)
    return SentMessage(scope, (row,), row.id, "unchanged" if known else "sent", gaps)


def _put(memory: "Memory", message: Message, to: Place, *, now_us: int) -> Message | None:
    """Write the message in one transaction; gives the waiting one that says the same instead, if there is one.

    Crash: it is there or not. Errors: Conflict when the inbox is full.
    """
    with memory.state_transaction() as connection:
        known = messages.same_waiting(connection, message, now_us=now_us)
        if known is not None:
            return known
        if messages.count_waiting(connection, to, now_us=now_us) >= MAX_PENDING:
            raise Conflict(
                f"{MAX_PENDING} messages wait for {'/'.join(to)}: no more are taken",
                hint="a session there has to read them first: `ai-memory message pop`",
            )
        messages.put(connection, message)
        sender = (message.from_workspace, message.from_project)
        agent, session = message.from_agent, message.from_session
        told = told_in(memory, "message-send", sender, subject=message.id, agent=agent, session=session)
        audit.put(connection, told)
    return None


def _expiry(text: str | None, now_us: int) -> int:
    if not text:
        return now_us + LIFETIME_US
    at_us = parse_expiry(text)
    if at_us <= now_us:
        raise UsageFault(f"{echo(text)} is over already", hint=f"give a time after {rfc3339(now_us)}")
    return at_us


def _recipient(memory: "Memory", workspace: str | None, project: str, scope: Scope) -> Place:
    """The project that gets it, by its name or a former one: it must exist. Errors: NotFound, Conflict, UsageFault."""
    named, slash, name = project.rpartition("/")
    if slash and workspace and workspace != named:
        raise UsageFault(f"{echo(project)} names a workspace, and so does the call", hint="give one of them")
    if not name.strip():
        raise UsageFault("no project is named that shall get the message", hint="name one: NAME or WORKSPACE/NAME")
    there = named or workspace or scope.workspace
    with memory.reading() as snapshot:
        everywhere = snapshot.projects()
    known = [one for one in everywhere if one.workspace == there]
    exact = [one for one in known if one.name == name]
    found = exact or [one for one in everywhere if one.was_called(there, name)]
    if len(found) > 1:
        names = ", ".join(_named(one, there) for one in found[:NAMES_SHOWN])
        raise Conflict(f"{echo(project)} may be {names}", hint="give the name that it has now")
    if not found:
        raise NotFound(f"no project {there}/{name}", hint=_near(name, known))
    return found[0].workspace, found[0].name


def _named(project: "Project", workspace: str) -> str:
    return project.name if project.workspace == workspace else f"{project.workspace}/{project.name}"


def _near(name: str, known: "list[Project]") -> str:
    names = [one.name for one in known]
    near = get_close_matches(name, names, NAMES_SHOWN, 0.5)
    return f"did you mean {' or '.join(near)}?" if near else "`ai-memory list-projects` shows what there is"


def message_send_text(result: SentMessage) -> str:
    """Its id, for whom, and until when it waits."""
    row = result.messages[0]
    made = "sent" if result.outcome == "sent" else "unchanged, it waits already"
    return f"{made} · message {row.id[:ID_SHOWN]} · to {row.to_workspace}/{row.to_project} · until {row.expires_at}"
