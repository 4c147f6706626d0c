"""What a search looks at: which projects, which pages of them, and what sessions saw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.errors import UsageFault, echo
from ai_memory.model import PageRef, ResolvedBy, Scope
from ai_memory.operations.session_names import known_session
from ai_memory.operations.sessions import agent_id
from ai_memory.text.injection import is_order_shaped
from ai_memory.text.names import DEFAULT_WORKSPACE, GLOBAL_PROJECT, check_name
from ai_memory.text.plain import printable
from ai_memory.text.times import parse_moment

if TYPE_CHECKING:
    from ai_memory.search.request import Request, Witness
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Filter, Snapshot

RAW_SHOWN = 5
"""Observations that are shown where no page answers."""
_RAW_LENGTH = 280


@dataclass(frozen=True, slots=True)
class RawHit:
    """An observation of a session, shown where no page answers."""

    workspace: str
    project: str
    session: str
    agent: str
    kind: str
    tool: str
    text: str
    is_order_shaped: bool = False
    """It reads like instructions to a model. It is data all the same."""


def named_scope(name: str) -> Scope:
    """The project of `NAME` or `WORKSPACE/NAME`. Errors: UsageFault for what is no name."""
    workspace, slash, project = name.strip().rpartition("/")
    workspace = workspace if slash else DEFAULT_WORKSPACE
    if not project or not workspace:
        raise UsageFault(f"no project is called {echo(name)}", hint="name it: --scope NAME or --scope WORKSPACE/NAME")
    check_name(workspace, what="workspace")
    check_name(project, what="project")
    return Scope(workspace, project, ResolvedBy.FLAG)


def without_pages(snapshot: "Snapshot", scopes: Sequence[Scope]) -> tuple[str, ...]:
    """A sentence for each project that holds no page: a name that was mistyped, most likely."""
    empty = [one for one in scopes if not snapshot.pages(workspace=one.workspace, project=one.project, limit=1).total]
    return tuple(f"no page stands in {one.workspace}/{one.project}" for one in empty)


def with_global(scope: Scope | None) -> tuple[Scope, ...]:
    """The project, and what holds everywhere in its workspace and in the default one."""
    if scope is None:
        return ()
    workspaces = dict.fromkeys((scope.workspace, DEFAULT_WORKSPACE))
    everywhere = [Scope(workspace, GLOBAL_PROJECT, scope.resolved_by) for workspace in workspaces]
    return (scope, *(one for one in everywhere if (one.workspace, one.project) != (scope.workspace, scope.project)))


def page_filter(
    now_us: int,
    *,
    kind: str | None,
    tag: str | None,
    tier: str | None,
    prefix: str | None,
    since: str | None,
    until: str | None,
    agent: str | None,
    refs: Sequence[PageRef] | None,
    at_us: int,
    include_expired: bool,
    include_superseded: bool,
    is_public: bool,
) -> "Filter":
    """The conditions of a search's words; `at_us` is when pages must hold. Errors: UsageFault for what is no time."""
    from ai_memory.store.snapshot import Filter  # sqlite, which help does without

    return Filter(
        kind=kind,
        tag=tag.strip().lower() if tag else None,
        tier=tier,
        prefix=prefix,
        since_us=parse_moment(since, now_us=now_us) if since else None,
        until_us=parse_moment(until, now_us=now_us) if until else None,
        unexpired_at_us=None if include_expired else at_us,
        valid_at_us=None if include_superseded else at_us,
        agent=agent_id(agent),
        refs=None if refs is None else tuple(refs),
        is_public=is_public,
    )


def pages_of_session(memory: "Memory", session: str) -> list[PageRef]:
    """Pages that tell of a session or rest on it. Errors: NotFound, Conflict for a beginning that fits several."""
    from ai_memory.store.session_evidence import pages_resting_on  # few searches name a session

    whole = known_session(memory, session)
    with memory.state_reading() as state:
        return [] if state is None else pages_resting_on(state, whole)


def witnesses(memory: "Memory", request: "Request") -> "tuple[Witness, ...]":
    """Sessions of the projects whose observations match the question, each once, by its best observation."""
    from ai_memory.search.prepare import prepare
    from ai_memory.search.request import Witness
    from ai_memory.store.session_evidence import sessions_that_saw

    prepared = prepare(request.queries[0], stopwords=request.stopwords)
    with memory.state_reading() as state:
        if state is None or not prepared.terms:
            return ()
        seen = sessions_that_saw(state, prepared.terms, [(one.workspace, one.project) for one in request.scopes or ()])
    return tuple(Witness(ref, session, score) for session, ref, score in seen)


def raw_hits(memory: "Memory", request: "Request", session: str | None) -> tuple[RawHit, ...]:
    """Observations that hold at least half of what is asked, best first; none where only some pages are wanted."""
    from ai_memory.search.closeness import Closeness, flattened
    from ai_memory.search.numbers import PARTIAL_COVERAGE, RAW_CANDIDATES
    from ai_memory.search.prepare import prepare
    from ai_memory.store.session_evidence import Seen, observations_that_match

    wanted = request.wanted
    prepared = prepare(request.queries[0], stopwords=request.stopwords)
    if any((wanted.kind, wanted.tag, wanted.tier, wanted.prefix)) or request.offset or not prepared.terms:
        return ()
    places = [(one.workspace, one.project) for one in request.scopes or ()]
    with memory.state_reading() as state:
        if state is None:
            return ()
        whole = known_session(memory, session) if session else None
        seen = Seen(wanted.since_us, wanted.until_us, wanted.agent, whole)
        rows = observations_that_match(state, prepared.terms, places, seen, limit=RAW_CANDIDATES)
    question = Closeness(prepared.text, dict.fromkeys(prepared.terms, 1.0))
    holding = [row for row in rows if question.coverage(question.held(flattened(row[6]))) >= PARTIAL_COVERAGE]
    return tuple(_raw_hit(row) for row in holding[:RAW_SHOWN])


def _raw_hit(row: tuple[str, str, str, str, str, str, str]) -> RawHit:
    text = printable(" ".join(row[6].split()))[:_RAW_LENGTH]
    return RawHit(*row[:6], text, is_order_shaped(text))
