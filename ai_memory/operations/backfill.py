"""Filling memory with what happened before: sessions that agents recorded by themselves, and their memory files."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import UsageFault
from ai_memory.model import Scope
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.scoping import resolve
from ai_memory.operations.setup import no_progress
from ai_memory.text.times import parse_moment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ai_memory.capture.attribution import Attribution
    from ai_memory.capture.filling import Run
    from ai_memory.capture.survey import Candidate, Wanted
    from ai_memory.store.memory import Memory

USUAL_SESSIONS = 25
"""As many come in unless more are asked for."""
MONTH = "30d"


@dataclass(frozen=True, slots=True)
class BackfilledSession:
    """One session of an agent's own records."""

    workspace: str
    project: str
    agent: str
    id: str
    native_id: str
    """The harness's own id."""
    started_at: str
    changed_at: str
    """When its record was written last."""
    cwd: str
    events: int | None
    """Null where it was only looked at."""


@dataclass(frozen=True, slots=True)
class Backfilled:
    scope: Scope | None
    outcome: Literal["filled", "would-fill", "unchanged"]
    sessions: tuple[BackfilledSession, ...]
    """What came in, or would, the newest first."""
    memory_pages: tuple[str, ...]
    """Paths of the pages that were, or would be, made of agents' memory files."""
    known: int
    """Sessions that are here already."""
    left_out: tuple[str, ...]
    """What was left out, a number and what it is."""
    gaps: tuple[str, ...]
    omitted: int = 0
    """Sessions beyond the number that was asked for."""


def backfill(
    memory: "Memory",
    *,
    agents: Annotated[
        tuple[str, ...], Field("only this agent's; may be repeated", flags=("--agent",), aliases=("agent",))
    ] = (),
    since: Annotated[str, Field("changed at or after: a time, a date, or 30d ago")] = MONTH,
    max_sessions: Annotated[int, Field("sessions at most, the newest", ge=1, le=1000)] = USUAL_SESSIONS,
    dry_run: Annotated[bool, Field("only show what would come in")] = False,
    force: Annotated[bool, Field("add to sessions that are here already what they lack")] = False,
    all_projects: Annotated[bool, Field("sessions of every project, each into its own")] = False,
    capture_mode: Annotated[Literal["all", "allowlist"], Field("allowlist: only what lies below a marker")] = "all",
    workspace: Workspace = None,
    project: ProjectName = None,
    progress: Callable[[int, int], None] = no_progress,
) -> Backfilled:
    """Bring in sessions that agents recorded before memory was there, and their memory files, by the rules of capture.
    Run it once in a checkout; a second run adds what is new. Makes no handoffs.
    """
    from ai_memory.capture import filling, survey

    if all_projects and (workspace or project):
        raise UsageFault("all projects and one project exclude each other", hint="give one of them")
    scope = None if all_projects else resolve(memory, workspace, project, write=not dry_run)
    attribution = survey.attribution_of(memory)
    wanted = _wanted(memory, attribution, scope, agents, since, takes_known=force, is_named=bool(workspace or project))
    run = filling.look(memory, wanted, attribution, most=max_sessions, progress=progress)
    root = wanted.roots[0] if wanted.roots else ""
    is_allowlist = capture_mode == "allowlist"
    if dry_run:
        if root and scope is not None:
            filling.read_memory_files(memory, run, wanted, root, is_allowlist=is_allowlist, is_dry=True)
        return _would_fill(run, scope, memory)
    filling.bring_in(memory, run, wanted, attribution, root=root, is_allowlist=is_allowlist, progress=progress)
    return _filled(run, scope)


def _wanted(
    memory: "Memory",
    attribution: "Attribution",
    scope: Scope | None,
    agents: "Iterable[str]",
    since: str,
    *,
    takes_known: bool,
    is_named: bool,
) -> "Wanted":
    from ai_memory.capture.survey import Wanted, roots_of

    cwd = memory.caller.cwd
    is_here = scope is not None and not is_named and cwd is not None
    return Wanted(
        since_us=parse_moment(since, now_us=memory.clock()),
        agents=frozenset(_agent(name) for name in agents),
        scope=scope,
        roots=roots_of(attribution, cwd) if is_here and cwd is not None else (),
        takes_known=takes_known,
    )


def _agent(name: str) -> str:
    """The id of a harness whose records can be read. *Errors*: NotFound, UsageFault."""
    from ai_memory.harnesses.registry import get
    from ai_memory.transcripts.sources import BY_AGENT

    harness = get(name)
    if harness.id not in BY_AGENT:
        raise UsageFault(f"the records of {harness.title} cannot be read", hint=f"those of {', '.join(BY_AGENT)} can")
    return harness.id


def _would_fill(run: "Run", scope: Scope | None, memory: "Memory") -> Backfilled:
    from ai_memory.capture.memory_pages import due

    pages = tuple(one.path for one in due(memory, scope, run.drafts)) if scope is not None else ()
    outcome: Literal["would-fill", "unchanged"] = "would-fill" if run.chosen or pages else "unchanged"
    sessions = tuple(_row(one, None) for one in run.chosen)
    return Backfilled(scope, outcome, sessions, pages, run.survey.known, _left_out(run), tuple(run.notes), run.omitted)


def _filled(run: "Run", scope: Scope | None) -> Backfilled:
    filled = sorted(run.filled.sessions, key=lambda one: one[0].found.changed_us, reverse=True)
    sessions = tuple(_row(candidate, events) for candidate, events in filled)
    outcome: Literal["filled", "unchanged"] = "filled" if sessions or run.pages else "unchanged"
    pages = tuple(run.pages)
    return Backfilled(scope, outcome, sessions, pages, run.survey.known, _left_out(run), tuple(run.notes), run.omitted)


def _left_out(run: "Run") -> tuple[str, ...]:
    counts = run.survey.losses.counts + run.filled.losses.counts
    return tuple(f"{number:,} {what}" for what, number in counts.items())


def _row(candidate: "Candidate", events: int | None) -> BackfilledSession:
    from ai_memory.text.sanitize import sanitize_line

    header = candidate.header
    return BackfilledSession(
        workspace=candidate.scope.workspace,
        project=candidate.scope.project,
        agent=candidate.source.agent,
        id=candidate.session,
        native_id=sanitize_line(header.native_id[:200]),
        started_at=rfc3339(header.started_us or candidate.found.changed_us),
        changed_at=rfc3339(candidate.found.changed_us),
        cwd=sanitize_line(header.cwd[:4096]),
        events=events,
    )


def backfill_text(result: Backfilled) -> str:
    """How much came in, each session on a line, what was left out."""
    would = result.outcome == "would-fill"
    number, pages = len(result.sessions), len(result.memory_pages)
    head = f"{_count(number, 'session')} and {_count(pages, 'memory page')} {'would come in' if would else 'came in'}"
    lines = [head if result.outcome != "unchanged" else "nothing new to bring in"]
    lines += [_line(row, result.scope) for row in result.sessions]
    lines += [f"- page {path}" for path in result.memory_pages]
    lines += [f"known already: {_count(result.known, 'session')}"] if result.known else []
    lines += ["left out:", *(f"- {what}" for what in result.left_out)] if result.left_out else []
    return "\n".join(lines)


def _count(number: int, word: str) -> str:
    return f"{number} {word if number == 1 else word + 's'}"


def _line(row: BackfilledSession, scope: Scope | None) -> str:
    is_here = scope is not None and (row.workspace, row.project) == (scope.workspace, scope.project)
    place = [] if is_here else [f"{row.workspace}/{row.project}"]
    held = [] if row.events is None else [_count(row.events, "event")]
    return "- " + " · ".join([row.id[:8], row.agent, row.started_at, *held, *place, row.cwd])


@dataclass(frozen=True, slots=True)
class Fillable:
    """What a backfill of this folder could bring in."""

    sessions: int
    by_agent: tuple[tuple[str, int], ...]
    memory_files: int

    @property
    def words(self) -> str:
        """`12 sessions found`; empty where there is nothing."""
        rest = f", of which the newest {USUAL_SESSIONS} come in" if self.sessions > USUAL_SESSIONS else ""
        return f"{_count(self.sessions, 'session')} found{rest}" if self.sessions else ""


def fillable(memory: "Memory", *, agents: "Iterable[str]" = (), since: str = MONTH) -> Fillable:
    """For `setup`: how much there is for the folder of the call, of these agents or of all.

    Reads names and beginnings, changes nothing.

    *Errors*: MemoryFault, StoreFault.
    """
    from ai_memory.capture import survey
    from ai_memory.capture.survey import around_of
    from ai_memory.transcripts import memory_files
    from ai_memory.transcripts.record import Losses
    from ai_memory.transcripts.scan import Scan

    scope = resolve(memory, write=False)
    if scope.is_guess or memory.caller.cwd is None:
        return Fillable(0, (), 0)
    attribution = survey.attribution_of(memory)
    wanted = _wanted(memory, attribution, scope, agents, since, takes_known=False, is_named=False)
    seen = survey.survey(memory, wanted, attribution, no_progress)
    counts: dict[str, int] = {}
    for one in seen.candidates:
        counts[one.source.agent] = counts.get(one.source.agent, 0) + 1
    files = memory_files.find(wanted.roots[0], around_of(memory, []), Scan(Losses()))
    return Fillable(len(seen.candidates), tuple(sorted(counts.items())), len(files))
