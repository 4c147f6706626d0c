"""What happened, one line an event and a mutation, merged by time."""

import re
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import LATEST_US, rfc3339
from ai_memory.errors import UsageFault, echo
from ai_memory.model import Scope
from ai_memory.operations.event_words import subject_of
from ai_memory.operations.field import Everywhere, Field, ProjectName, Workspace
from ai_memory.operations.sessions import SessionName
from ai_memory.operations.unscoped import resolve_for
from ai_memory.store.span import Key, Span
from ai_memory.text.times import parse_moment

if TYPE_CHECKING:
    from ai_memory.store.audit import Mutation
    from ai_memory.store.driver import Connection
    from ai_memory.store.journal import StoredEvent
    from ai_memory.store.memory import Memory

_NEWEST: Key = (LATEST_US + 1, "")
_CURSOR = re.compile(r"([0-9]{1,18}):([0-9A-Za-z-]{1,200})")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One event or mutation. Empty where it is not known or does not apply."""

    at: str
    entry: Literal["event", "mutation"]
    what: str
    """Kind of the event; of a mutation the operation or the pass."""
    tool: str
    subject: str
    """What it was about, in a few words: path, command, beginning of a text."""
    outcome: str
    origin: str
    """Path from which a page was moved."""
    count: int
    """Pages of a mutation, or whatever it changed."""
    by: str
    """Who, in a word: the agent, the person, or ai-memory."""
    face: str
    agent: str
    session: str
    author: str
    workspace: str
    project: str
    id: str
    """Id of the event or of the change."""
    commit: str


@dataclass(frozen=True, slots=True)
class Log:
    scope: Scope | None
    entries: tuple[LogEntry, ...]
    older: str | None
    """What `before` takes to get the entries before these; None where there are none."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def log(
    memory: "Memory",
    *,
    since: Annotated[str | None, Field("not before: a time, a date, or 2h ago", metavar="TIME")] = None,
    session: Annotated[str | None, replace(SessionName, positional=False)] = None,
    limit: Annotated[int, Field("entries at most", ge=1, le=1000, flags=("-n", "--limit"))] = 50,
    before: Annotated[str | None, Field("entries before it: `older` of an answer", metavar="CURSOR")] = None,
    everywhere: Everywhere = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Log:
    """Show what happened: captured events, and who changed what. Newest last.
    Use it to see what an agent did, and what was done to the memory.
    """
    end = _parsed(before) if before is not None else _NEWEST
    since_us = parse_moment(since, now_us=memory.clock()) if since else 0
    with memory.reading() as snapshot:
        scope, untold = resolve_for(
            memory, workspace, project, everywhere=everywhere or session is not None, snapshot=snapshot
        )
    place = None if everywhere or session is not None or scope is None else (scope.workspace, scope.project)
    span = Span(end, limit + 1, place, since_us=max(since_us, 0))
    with memory.state_reading() as connection:
        if session is not None:
            span = replace(span, session=known_session_of(connection, session))
        events = _events(connection, span) if connection is not None else []
        mutations, gaps = _mutations(memory, connection, span)
    found = sorted([*events, *mutations], key=lambda one: one[0], reverse=True)
    older = f"{found[limit - 1][0][0]}:{found[limit - 1][0][1]}" if len(found) > limit else None
    return Log(scope, tuple(entry for _, entry in reversed(found[:limit])), older, (*untold, *gaps))


def _parsed(cursor: str) -> Key:
    found = _CURSOR.fullmatch(cursor.strip())
    if found is None:
        raise UsageFault(f"{echo(cursor)} is no cursor", hint="pass what an answer calls `older`")
    return int(found[1]), found[2]


def known_session_of(connection: "Connection | None", name: str) -> str:
    """The whole id of a captured session. Errors: NotFound, Conflict."""
    from ai_memory.operations.sessions import no_session_yet
    from ai_memory.store.state_sessions import find_session  # the store comes with the call, not with help and schema

    if connection is None:
        raise no_session_yet(name)
    return find_session(connection, name).id


def _events(connection: "Connection", span: Span) -> list[tuple[Key, LogEntry]]:
    from ai_memory.store import journal

    return [(one.key, _event_entry(one)) for one in journal.newest(connection, span)]


def _mutations(
    memory: "Memory", connection: "Connection | None", span: Span
) -> tuple[list[tuple[Key, LogEntry]], tuple[str, ...]]:
    """Rows of the audit table, and what commits tell beyond them."""
    from ai_memory.store import audit

    told, is_whole = _commits(memory, span)
    rows: list[Mutation] = []
    known: set[str] = set()
    if connection is not None:
        rows = audit.newest(connection, span)
        known = audit.known(connection, [one.id for one in told], place=span.place)
    commits = {one.id: one.commit for one in told}
    rows = [replace(one, commit=commits.get(one.id, "")) for one in rows]
    found = [*rows, *(one for one in told if one.id not in known)]
    gaps = () if is_whole else ("older commits were not looked at: ask with --since, or page with --before",)
    return [((one.at_us, one.id), _mutation_entry(one)) for one in found], gaps


def _commits(memory: "Memory", span: Span) -> "tuple[list[Mutation], bool]":
    from ai_memory.store import commits  # the git library
    from ai_memory.store.wiki import Wiki

    if not memory.exists:
        return [], True
    with closing(Wiki(memory.data_dir.git)) as wiki:
        told = commits.newest(wiki, span)
    return told.mutations, told.is_whole


def _event_entry(one: "StoredEvent") -> LogEntry:
    row = one.observation
    return LogEntry(
        at=rfc3339(row.at_us),
        entry="event",
        what=row.kind,
        tool=row.tool,
        subject=subject_of(one),
        outcome=row.outcome,
        origin="",
        count=1,
        by=one.agent,
        face="hook",
        agent=one.agent,
        session=row.session,
        author="",
        workspace=one.workspace,
        project=one.project,
        id=row.event_id,
        commit="",
    )


def _mutation_entry(one: "Mutation") -> LogEntry:
    return LogEntry(
        at=rfc3339(one.at_us),
        entry="mutation",
        what=one.verb,
        tool="",
        subject=one.subject,
        outcome="",
        origin=one.origin,
        count=one.count,
        by=by_whom(one),
        face=one.face,
        agent=one.agent,
        session=one.session,
        author=one.author,
        workspace=one.workspace,
        project=one.project,
        id=one.id,
        commit=one.commit,
    )


def by_whom(one: "Mutation") -> str:
    """The agent that did it, the person who signed, else which of our faces."""
    faces = {"cli": "the command line", "bridge": "a tool call"}
    return one.agent or one.author or faces.get(one.face, "ai-memory")


def log_text(result: Log) -> str:
    """One line an entry, newest last."""
    if not result.entries:
        return "nothing happened"
    older = [f"(older: ai-memory log --before {result.older})"] if result.older else []
    return "\n".join([*older, *(entry_line(one, result.scope) for one in result.entries)])


def entry_line(one: LogEntry, scope: Scope | None) -> str:
    """`2026-11-30T08:00:00Z post-tool-use Bash · make test · error · codex 7d3f0a5e`."""
    from ai_memory.store.state_sessions import short_id

    is_here = scope is not None and (one.workspace, one.project) == (scope.workspace, scope.project)
    place = "" if is_here or not one.workspace else f"{one.workspace}/{one.project}"
    head = " ".join(filter(None, (one.at[:19] + "Z", one.what, one.tool)))
    subject = f"{one.origin} to {one.subject}" if one.origin else one.subject
    more = f"{one.count} in all" if one.count > 1 else ""
    who = " ".join(filter(None, (one.by, short_id(one.session) if one.session else "")))
    told = who if one.entry == "event" else f"by {who}"
    line = " · ".join(filter(None, (head, subject, more, one.outcome, told, place)))
    return " ".join(line.splitlines())
