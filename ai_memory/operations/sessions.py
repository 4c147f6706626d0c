"""Sessions: which there are, and what was observed in one. Nothing here changes anything."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import NotFound, UsageFault, echo
from ai_memory.hook_harnesses import KINDS
from ai_memory.model import PageRef, Scope
from ai_memory.operations.budget import MaxBytes, shortened_rows
from ai_memory.operations.field import Everywhere, Field, ProjectName, Workspace
from ai_memory.operations.unscoped import resolve_for, resolve_if_told
from ai_memory.text.times import DAY_US, parse_moment

if TYPE_CHECKING:
    from ai_memory.store.driver import Connection
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot
    from ai_memory.store.state_sessions import Observation, Session

STORED_KINDS = (*KINDS, "handoff-claimed")
TOOL_CHARS = 4_000
"""Of each text that a model is shown, unless it asks for more; a person is shown all of it."""
LATEST_US = 30 * DAY_US
"""A session without an event for longer is not what "the last one" means."""
AgentName = Annotated[str | None, Field("only this agent's", metavar="AGENT")]
SessionName = Field("id, its beginning, or the agent's own id", positional=True, aliases=("session_id",))


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session. `page` is the path of its page inside the project, `title` that page's; null without one."""

    workspace: str
    project: str
    id: str
    short_id: str
    native_id: str
    """The harness's own id."""
    agent: str
    state: Literal["open", "ended"]
    opened_at: str
    last_at: str
    ended_at: str | None
    prompts: int
    observations: int
    page: str | None
    title: str | None
    cwd: str


def session_rows(connection: "Connection", snapshot: "Snapshot", found: "Sequence[Session]") -> tuple[SessionRow, ...]:
    """The rows of those sessions, in their order."""
    from ai_memory.store.session_lookup import pages_about  # the store comes with the call, not with help and schema

    pages = pages_about(connection, [one.id for one in found])
    return tuple(_row(one, pages.get(one.id), snapshot) for one in found)


def _row(session: "Session", ref: PageRef | None, snapshot: "Snapshot") -> SessionRow:
    from ai_memory.store.state_sessions import short_id  # as above

    page = snapshot.page(ref) if ref is not None else None
    return SessionRow(
        workspace=session.workspace,
        project=session.project,
        id=session.id,
        short_id=short_id(session.id),
        native_id=session.native_id,
        agent=session.agent,
        state="open" if session.is_open else "ended",
        opened_at=rfc3339(session.opened_at_us),
        last_at=rfc3339(session.last_at_us),
        ended_at=None if session.ended_at_us is None else rfc3339(session.ended_at_us),
        prompts=session.prompts,
        observations=session.observations,
        page=page.ref.path if page else None,
        title=page.title if page else None,
        cwd=session.cwd,
    )


def agent_id(name: str | None) -> str | None:
    """The agent's id for an id or alias; any other name as it stands, since anybody may write a spool file."""
    from ai_memory.harnesses.registry import find  # only where an agent is named

    harness = find(name) if name is not None else None
    return harness.id if harness is not None else name


def unknown_agent(memory: "Memory", agent: str | None) -> tuple[str, ...]:
    """A sentence where no session of the agent is known at all: its name may be another one."""
    from ai_memory.store.session_lookup import SessionFilter, agents_known, count_sessions

    if agent is None:
        return ()
    with memory.state_reading() as connection:
        if connection is not None and count_sessions(connection, SessionFilter(agent=agent_id(agent))):
            return ()
        known = agents_known(connection) if connection is not None else []
    there = f"; there are sessions of {', '.join(known)}" if known else ""
    return (f"no session of an agent {echo(agent)} is known{there}",)


@dataclass(frozen=True, slots=True)
class ListedSessions:
    scope: Scope | None
    sessions: tuple[SessionRow, ...]
    total: int
    gaps: tuple[str, ...]
    omitted: int


def sessions(
    memory: "Memory",
    *,
    agent: AgentName = None,
    only_open: Annotated[bool, Field("only those not ended", flags=("--open",), aliases=("open",))] = False,
    since: Annotated[str | None, Field("active at or after: a time, a date, or 7d ago")] = None,
    until: Annotated[str | None, Field("last active before it")] = None,
    limit: Annotated[int, Field("rows at most", ge=1, le=1000, flags=("-n", "--limit"))] = 20,
    offset: Annotated[int, Field("rows to skip", ge=0, is_unlisted=True)] = 0,
    max_bytes: MaxBytes = None,
    everywhere: Everywhere = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> ListedSessions:
    """List captured sessions of agents, newest first.
    Use it to find the session in which something was done, or one that never ended.
    """
    from ai_memory.store.session_lookup import SessionFilter, count_sessions
    from ai_memory.store.session_lookup import sessions as listed

    now = memory.clock()
    with memory.reading() as snapshot, memory.state_reading() as connection:
        scope, untold = resolve_for(memory, workspace, project, everywhere=everywhere, snapshot=snapshot)
        wanted = SessionFilter(
            workspace=None if everywhere or scope is None else scope.workspace,
            project=None if everywhere or scope is None else scope.project,
            agent=agent_id(agent),
            only_open=only_open,
            since_us=parse_moment(since, now_us=now) if since else None,
            until_us=parse_moment(until, now_us=now) if until else None,
            hidden=snapshot.private_projects() if everywhere else frozenset(),
        )
        total = count_sessions(connection, wanted) if connection is not None else 0
        found = listed(connection, wanted, limit=limit, offset=offset) if connection is not None else []
        rows = session_rows(connection, snapshot, found) if connection is not None else ()
        rows = shortened_rows(rows, max_bytes, text="title")
        gaps = (*snapshot.gaps, *untold)
    gaps = (*gaps, *(() if total else unknown_agent(memory, agent)))
    return ListedSessions(scope, rows, total, gaps, max(0, total - offset - len(rows)))


def sessions_text(result: ListedSessions) -> str:
    """One line a session."""
    return "\n".join(session_line(row, result.scope) for row in result.sessions) or "no sessions"


def session_line(row: SessionRow, scope: Scope | None) -> str:
    """Short id, agent, state, last event, how much it holds, and what its page calls it."""
    is_here = scope is not None and (row.workspace, row.project) == (scope.workspace, scope.project)
    place = [] if is_here else [f"{row.workspace}/{row.project}"]
    held = f"{row.prompts} prompts, {row.observations} observations"
    title = [row.title] if row.title else []
    return "- " + " · ".join([row.short_id, row.agent, row.state, row.last_at, held, *place, *title])


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """One event as it is stored: without secrets, and capped. `input` and `extra` hold JSON, or nothing."""

    at: str
    kind: str
    source_event: str
    """What its harness calls it."""
    agent_id: str
    """Set for a subagent."""
    tool: str
    call_id: str
    outcome: str
    input: str
    output: str
    text: str
    flags: str
    extra: str
    event_id: str


@dataclass(frozen=True, slots=True)
class ReadSession:
    scope: Scope | None
    session: SessionRow
    observations: tuple[ObservationRow, ...]
    total: int
    """Observations that fit, on all pages."""
    order: str
    body_max_chars: int | None
    gaps: tuple[str, ...]
    omitted: int


def session(
    memory: "Memory",
    *,
    session: Annotated[
        str | None, replace(SessionName, description=f"{SessionName.description}; else the latest")
    ] = None,
    kinds: Annotated[tuple[str, ...], Field("only these kinds, comma between two", metavar="KIND,…")] = (),
    query: Annotated[str | None, Field("only what holds one of these words, best first", aliases=("q",))] = None,
    order: Annotated[Literal["asc", "desc"], Field("by time")] = "asc",
    limit: Annotated[int, Field("observations at most", ge=1, le=1000, flags=("-n", "--limit"))] = 50,
    offset: Annotated[int, Field("observations to skip", ge=0)] = 0,
    body_max_chars: Annotated[int | None, Field("characters of each text; of a tool 4000", ge=200, le=16_384)] = None,
    max_bytes: MaxBytes = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> ReadSession:
    """Read one session as it was captured: prompts, tool calls, failures, each with its id.
    Use it when the session's page or a search hit does not tell enough.
    """
    from ai_memory.search.prepare import terms
    from ai_memory.store import session_lookup, state_sessions

    wanted = [kind.strip() for entry in kinds for kind in entry.split(",") if kind.strip()]
    unknown = [kind for kind in wanted if kind not in STORED_KINDS]
    if unknown:
        raise UsageFault(f"{echo(unknown[0])} is no kind of event", hint=f"known are {', '.join(STORED_KINDS)}")
    if query is not None and not query.strip():
        raise UsageFault("query is empty", hint="name a word, or leave it out")
    words = terms(query) if query is not None else None
    with memory.reading() as snapshot, memory.state_reading() as connection:
        scope, untold = resolve_if_told(memory, workspace, project, snapshot=snapshot)
        if connection is None:
            raise no_session_yet(session or "")
        found = state_sessions.find_session(connection, session) if session else _latest(memory, connection, scope)
        total = session_lookup.count_observations(connection, found.id, words=words, kinds=wanted)
        if words is None:
            rows = state_sessions.observations(
                connection, found.id, kinds=wanted, limit=limit, offset=offset, is_newest_first=order == "desc"
            )
        else:
            rows = session_lookup.search_observations(
                connection, words, session=found.id, kinds=wanted, limit=limit, offset=offset
            )
        [row] = session_rows(connection, snapshot, [found])
        gaps = (*snapshot.gaps, *untold, *_dropped(connection, found))
    if body_max_chars is None and memory.caller.face == "bridge":
        body_max_chars = TOOL_CHARS
    told = tuple(_cut(observation_row(one), body_max_chars) for one in rows)
    told = shortened_rows(told, max_bytes, text="output")
    return ReadSession(scope, row, told, total, order, body_max_chars, gaps, max(0, total - offset - len(told)))


def _dropped(connection: "Connection", found: "Session") -> tuple[str, ...]:
    """A sentence where a sweep dropped what the session saw."""
    from ai_memory.store import session_lookup

    if not found.observations or session_lookup.count_observations(connection, found.id, words=None, kinds=[]):
        return ()
    return (f"what it saw, {found.observations} observations, was dropped by forget-sweep: its page tells of it",)


def _latest(memory: "Memory", connection: "Connection", scope: Scope | None) -> "Session":
    """The session that is meant where none is named. Errors: NotFound."""
    from ai_memory.store.state_sessions import latest_to_read

    found = None
    if scope is not None:
        since_us, asking = memory.clock() - LATEST_US, memory.caller.session_id or ""
        place = (scope.workspace, scope.project)
        found = latest_to_read(connection, *place, since_us=since_us, cwd=memory.caller.cwd or "", but=asking)
    if found is None:
        raise NotFound("no session of this project", hint="`ai-memory sessions --all` lists those of every project")
    return found


def _cut(row: ObservationRow, most: int | None) -> ObservationRow:
    """The row with each text in at most so many characters, `…` where it was cut; None cuts nothing."""
    if most is None:
        return row
    texts = {name: getattr(row, name) for name in ("input", "output", "text")}
    long = {name: text[: most - 1] + "…" for name, text in texts.items() if len(text) > most}
    return replace(row, **long) if long else row


def no_session_yet(name: str) -> NotFound:
    """No session of that name, since none was captured."""
    return NotFound(
        f"no session {name}".rstrip(), hint="no session was captured yet: hooks or `ai-memory hook` do that"
    )


def observation_row(row: "Observation") -> ObservationRow:
    """The row of one event."""
    return ObservationRow(
        at=rfc3339(row.at_us),
        kind=row.kind,
        source_event=row.source_event,
        agent_id=row.agent_id,
        tool=row.tool,
        call_id=row.call_id,
        outcome=row.outcome,
        input=row.input,
        output=row.output,
        text=row.text,
        flags=row.flags,
        extra=row.extra,
        event_id=row.event_id,
    )


def session_text(result: ReadSession) -> str:
    """What the session is, then each observation with its whole text."""
    row = result.session
    where = " ".join(row.cwd.splitlines())
    lines = [f"session {row.id} · {row.agent} · {row.state}", f"{row.workspace}/{row.project} · {where}"]
    times = [f"opened {row.opened_at}", f"last {row.last_at}", *([f"ended {row.ended_at}"] if row.ended_at else [])]
    lines += [" · ".join(times), f"{row.prompts} prompts · {row.observations} observations"]
    if row.page:
        lines.append(f"page {row.page} · {row.title}")
    for one in result.observations:
        lines += ["", *_told(one)]
    return "\n".join(lines if result.observations else [*lines, "", "no observations"])


def _told(one: ObservationRow) -> list[str]:
    agent = f"subagent {one.agent_id}" if one.agent_id else ""
    head = " · ".join(filter(None, ("## " + one.at, one.kind, one.tool, one.outcome, agent, one.flags, one.event_id)))
    parts = [("", one.text), ("input: ", one.input), ("output: ", one.output)]
    return [" ".join(head.splitlines()), *(f"{name}{text}" for name, text in parts if text)]
