"""Forgetting: what is over or cold goes, what sessions saw and a page tells of, what nobody can bring back any more."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.aging.weights import Scales
from ai_memory.clock import rfc3339
from ai_memory.config_table import Config
from ai_memory.errors import LockBusy, NotFound
from ai_memory.model import PageRef, Scope
from ai_memory.operations.aftersweep import Erasing, rest
from ai_memory.operations.configured import configured
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.rows import VERSION_SHOWN
from ai_memory.operations.scoping import resolve
from ai_memory.operations.setup import no_progress
from ai_memory.operations.sweep_plan import Fate, Merger, Reason, plan
from ai_memory.operations.sweep_work import Done, apply
from ai_memory.store import usage_spool

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

Progress = Callable[[int, int], None]
SHOWN = 20


@dataclass(frozen=True, slots=True)
class EvictedRow:
    """A page that is taken away, or cut down, for its weight."""

    workspace: str
    project: str
    path: str
    version: str
    reason: Reason
    retention: float
    age_days: float
    access_count: int
    deleted: bool
    """False in a dry run, and where the page changed meanwhile."""


@dataclass(frozen=True, slots=True)
class ExpiredRow:
    """A page whose time was over."""

    workspace: str
    project: str
    path: str
    version: str
    expired_at: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """Pages that say nearly the same, and the one that stands for them."""

    survivor: str
    merged: tuple[str, ...]
    eps: float
    applied: bool


@dataclass(frozen=True, slots=True)
class Swept:
    scope: Scope | None
    dry_run: bool
    candidates_evaluated: int
    expired: tuple[ExpiredRow, ...] = ()
    evicted: tuple[EvictedRow, ...] = ()
    compacted: tuple[EvictedRow, ...] = ()
    merged: tuple[ClusterRow, ...] = ()
    hard_deleted: int = 0
    """Versions that were taken away long ago, and are erased now."""
    observations_prunable: int = 0
    observations_pruned: int = 0
    vectors_dropped: int = 0
    """Of former encoders."""
    projects_dropped: tuple[str, ...] = ()
    """Empty for a week."""
    commits: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def forget_sweep(
    memory: "Memory",
    *,
    dry_run: Annotated[bool, Field("only show what would go")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
    progress: Progress = no_progress,
) -> Swept:
    """Let go of what is over or cold, in all projects or the one that is named. `undo` or `archive restore` brings
    a page back; `retention` says what goes when. Pins, rules, facts and knowledge never fade.
    """
    scope = resolve(memory, workspace, project, write=not dry_run, leaves=True) if project or workspace else None
    if scope is not None and memory.exists:
        _refuse_unknown(memory, scope)
    return swept(memory, scope, configured(memory) or Config(), dry_run=dry_run, progress=progress)


def _refuse_unknown(memory: "Memory", scope: Scope) -> None:
    """Errors: NotFound, since a name that was mistyped would be told to hold nothing."""
    with memory.reading() as snapshot:
        if any((one.workspace, one.name) == (scope.workspace, scope.project) for one in snapshot.projects()):
            return
    raise NotFound(f"no project {scope.workspace}/{scope.project}", hint="`ai-memory list-projects` lists them")


def swept(
    memory: "Memory",
    scope: Scope | None,
    config: Config,
    *,
    dry_run: bool = False,
    erasing: Erasing = "due",
    progress: Progress = no_progress,
) -> Swept:
    """One sweep. `erasing`: whether git's history is written anew for what is due, or for a month's worth, or not.

    Crash: safe at any point, each commit is whole; the next run does the more.
    """
    if not memory.exists:
        return Swept(scope, dry_run, 0, gaps=("there is no memory yet: nothing to forget",))
    place = (scope.workspace, scope.project) if scope is not None else (None, None)
    now_us = memory.clock()
    waiting = reads_that_wait(memory) if dry_run else _count_reads(memory)
    with memory.reading() as snapshot, memory.state_reading() as connection:
        scales = Scales.of(connection, config, now_us=now_us)
        planned = plan(snapshot, connection, scales, config, workspace=place[0], project=place[1], just_read=waiting)
    done = Done(gaps=list(planned.gaps))
    if not dry_run:
        apply(memory, planned, done, progress)
    more = rest(memory, config, place, now_us=now_us, dry_run=dry_run, erasing=erasing)
    done.gaps += more.gaps
    done.commits += more.commits

    def went(ref: PageRef) -> bool:
        return not dry_run and ref not in done.kept

    rows = [_evicted(fate, deleted=went(fate.ref)) for fate in planned.fates if fate.reason != "expired"]
    return Swept(
        scope=scope,
        dry_run=dry_run,
        candidates_evaluated=planned.evaluated,
        expired=tuple(_expired(one, deleted=went(one.ref)) for one in planned.fates if one.reason == "expired"),
        evicted=tuple(row for row in rows if row.reason != "compacted"),
        compacted=tuple(row for row in rows if row.reason == "compacted"),
        merged=tuple(_merged(one, applied=went(one.survivor.page.ref)) for one in planned.mergers),
        hard_deleted=more.hard_deleted,
        observations_prunable=more.observations_prunable,
        observations_pruned=more.observations_pruned,
        vectors_dropped=more.vectors_dropped,
        projects_dropped=more.projects_dropped,
        commits=tuple(done.commits),
        gaps=tuple(dict.fromkeys(done.gaps)),
    )


def _count_reads(memory: "Memory") -> frozenset[PageRef]:
    """Let what was read lately count before anything is judged; gives what still waits, since a drain is at work."""
    from ai_memory.capture.counting import add_up
    from ai_memory.store.drain_lock import no_drain

    try:
        with no_drain(memory.data_dir.locks, timeout_s=0):
            add_up(memory)
    except LockBusy:
        return reads_that_wait(memory)
    return frozenset()


def reads_that_wait(memory: "Memory") -> frozenset[PageRef]:
    """Pages that were read and whose reads no drain has counted yet."""
    names = usage_spool.waiting(memory.data_dir)
    uses = (usage_spool.read(memory.data_dir, name) for name in names)
    return frozenset(ref for use in uses if use is not None for ref in use.read)


# --- telling it ---


def _evicted(fate: Fate, *, deleted: bool) -> EvictedRow:
    page, use = fate.one.page, fate.one.use
    return EvictedRow(
        *(page.ref.workspace, page.ref.project, page.ref.path, page.version, fate.reason),
        retention=round(fate.one.total, 4),
        age_days=round(use.age_days, 1),
        access_count=use.reads,
        deleted=deleted,
    )


def _expired(fate: Fate, *, deleted: bool) -> ExpiredRow:
    page = fate.one.page
    over_us = page.expires_at_us or 0
    return ExpiredRow(page.ref.workspace, page.ref.project, page.ref.path, page.version, rfc3339(over_us), deleted)


def _merged(merger: Merger, *, applied: bool) -> ClusterRow:
    others = tuple(str(one.page.ref) for one in merger.others)
    return ClusterRow(str(merger.survivor.page.ref), others, round(merger.eps, 4), applied)


def swept_words(result: Swept) -> str:
    """What was done, in a few words: for `maintain`."""
    counts = (
        (len([one for one in result.expired if one.deleted]), "expired"),
        (len([one for one in result.evicted if one.deleted]), "evicted"),
        (len([one for one in result.compacted if one.deleted]), "cut down"),
        (sum(len(one.merged) for one in result.merged if one.applied), "merged"),
        (result.hard_deleted, "erased"),
        (result.observations_pruned, "observations dropped"),
        (result.vectors_dropped, "vectors dropped"),
        (len(result.projects_dropped), "empty projects dropped"),
    )
    return ", ".join(f"{count} {verb}" for count, verb in counts if count) or "nothing to forget"


def swept_text(result: Swept) -> str:
    """Each page that goes, with its reason, then the rest in one line."""
    lines = list(_lines(result))
    shown = lines[:SHOWN] + ([f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])
    head = "would forget:" if result.dry_run else "forgot:"
    told = _planned_words(result) if result.dry_run else swept_words(result)
    commits = [
        f"commit {one[:VERSION_SHOWN]}; `ai-memory undo {one[:VERSION_SHOWN]}` takes it back" for one in result.commits
    ]
    if not lines and told == "nothing to forget":
        return f"nothing to forget among {result.candidates_evaluated} pages"
    return "\n".join([head, *shown, f"{result.candidates_evaluated} pages looked at: {told}", *commits])


def _planned_words(result: Swept) -> str:
    counts = (
        (len(result.expired), "expire"),
        (len(result.evicted), "go"),
        (len(result.compacted), "are cut down"),
        (sum(len(one.merged) for one in result.merged), "are merged"),
        (result.hard_deleted, "are erased"),
        (result.observations_prunable, "observations are dropped"),
    )
    return ", ".join(f"{count} {verb}" for count, verb in counts if count) or "nothing to forget"


def _lines(result: Swept) -> Iterator[str]:
    def name(row: EvictedRow | ExpiredRow) -> str:
        return f"{row.workspace}/{row.project}:{row.path}"

    for over in result.expired:
        yield f"  {name(over)} · its time was over {over.expired_at[:10]}{_stays(result, over.deleted)}"
    for row in (*result.evicted, *result.compacted):
        read = f"{row.access_count} reads" if row.access_count else "never read"
        yield (
            f"  {name(row)} · {WHY[row.reason]} · weight {row.retention:.2f}, {row.age_days:.0f} days old,"
            f" {read}{_stays(result, row.deleted)}"
        )
    for one in result.merged:
        yield f"  {one.survivor} · stands for {', '.join(one.merged)}{_stays(result, one.applied)}"


WHY: dict[Reason, str] = {
    "evicted": "cold",
    "compacted": "cold, cut down",
    "working": "its session is over",
    "resolved": "a fact that never held",
    "size": "above the bound on size",
    "expired": "its time was over",
    "merged": "merged",
}


def _stays(result: Swept, deleted: bool) -> str:
    return "" if deleted or result.dry_run else " · changed meanwhile, stays"
