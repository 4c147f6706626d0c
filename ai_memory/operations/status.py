"""How the memory is: what it holds, what waits, what is degraded."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory import __version__
from ai_memory.clock import rfc3339
from ai_memory.config_table import Config
from ai_memory.diagnosis.place import room, unwritable
from ai_memory.diagnosis.waiting import waiting
from ai_memory.errors import MemoryFault
from ai_memory.model import PageRef, Scope
from ai_memory.operations.configured import configured
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.looking import look_around
from ai_memory.operations.pause import CaptureState, capture_state, capture_words
from ai_memory.operations.rows import in_full
from ai_memory.operations.unscoped import resolve_if_told
from ai_memory.operations.upkeep_state import MaintainState, maintain_problems, maintain_state, maintain_words
from ai_memory.operations.vector_state import VectorState, vector_state, vector_words
from ai_memory.store import driver, purge
from ai_memory.store.audit import last_backup, last_verified
from ai_memory.store.head import read_head
from ai_memory.store.snapshot import Figures
from ai_memory.store.spool import Spool, SpoolCounts
from ai_memory.store.state import Drain, last_drain, places
from ai_memory.store.state_sessions import totals
from ai_memory.store.tombstones import count_tombstones
from ai_memory.text.times import DAY_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ai_memory.diagnosis.finding import Finding
    from ai_memory.providers.choose import Choice
    from ai_memory.store.memory import Memory

SOON_US = 7 * DAY_US
KINDS_SHOWN = 6
FAULTS_SHOWN = 5
"""Broken pages that are named; of more only the number is told."""


@dataclass(frozen=True, slots=True)
class Counts:
    projects: int = 0
    pages: int = 0
    chunks: int = 0
    links: int = 0
    unresolved_links: int = 0
    sessions: int = 0
    open_sessions: int = 0
    observations: int = 0
    archived: int = 0
    """Versions of pages that upkeep took away and that can come back."""


@dataclass(frozen=True, slots=True)
class SpoolState:
    pending: int
    size_bytes: int
    oldest_at: str | None
    quarantined: int
    dropped: int
    """Tool events that hooks gave up because one of these bounds was reached, ever."""
    max_files: int
    max_mib: int


@dataclass(frozen=True, slots=True)
class DrainState:
    ended_at: str
    applied: int
    quarantined: int
    pages: int
    handoffs: int
    fault: str


@dataclass(frozen=True, slots=True)
class BackupState:
    """The newest backup that was restored on trial and found whole; None where there was none within a year."""

    verified_at: str | None = None
    archive: str | None = None
    made_at: str | None = None
    """When the newest one of all was made, verified or not."""


@dataclass(frozen=True, slots=True)
class IndexState:
    indexed: str | None
    head: str | None
    is_behind: bool


@dataclass(frozen=True, slots=True)
class DriverState:
    name: str
    sqlite: str
    has_extensions: bool


@dataclass(frozen=True, slots=True)
class LockState:
    pid: int
    command: str
    host: str
    since: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What this memory can do here; what is missing costs some recall and nothing else."""

    embedder: str | None
    """Provider and model that make vectors; None: full text alone."""
    vectors: int
    parts: int
    """Parts of pages, of which so many have a vector of that embedder."""
    rerank: str | None
    sqlite_extensions: bool
    is_degraded: bool
    """`degraded` says by what."""


@dataclass(frozen=True, slots=True)
class Status:
    version: str
    data_dir: str
    exists: bool
    scope: Scope | None
    """None when this folder's project cannot be told: `degraded` says why."""
    project_pages: int
    counts: Counts
    spool: SpoolState
    drain: DrainState | None
    maintain: MaintainState | None
    """None where it never ran."""
    index: IndexState
    driver: DriverState
    lock: LockState | None
    capture: CaptureState
    vectors: VectorState
    capabilities: Capabilities
    backup: BackupState
    figures: Figures
    """Pages by kind, tier and project; `expiring`: within 7 days; links to pages that are superseded or over."""
    empty_projects: tuple[str, ...]
    """Projects without pages and sessions: `ai-memory purge-project` removes one."""
    size_bytes: int
    """Of the whole data dir; not counted for a line."""
    degraded: tuple[str, ...]
    """One sentence for each thing that is not as it must be."""
    gaps: tuple[str, ...]
    line: str | None = None
    """The whole in one line, when it was asked for."""
    omitted: int = 0


def status(
    memory: "Memory",
    *,
    line: Annotated[bool, Field("one line, for a status bar", face="cli")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Status:
    """Show what the memory holds, what waits, and what is degraded.
    Use it when recall or capture seems to fail.
    """
    problems: list[str] = []
    settings = _settings(memory, problems)
    left = () if line else adopt_by_hand(memory, problems)
    with memory.reading() as snapshot:
        scope, untold = resolve_if_told(memory, workspace, project, snapshot=snapshot)
        held = snapshot.counts()
        mine = snapshot.pages(workspace=scope.workspace, project=scope.project, limit=1).total if scope else 0
        faults = snapshot.faults() if held.faulty_pages else []
        indexed, gaps = snapshot.head, (*snapshot.gaps, *left)
        now_us = memory.clock()
        figures = Figures() if line else snapshot.figures(expiring_between_us=(now_us, now_us + SOON_US))
        vectors = VectorState() if line else vector_state(snapshot, _choice(settings, problems))
    problems += untold
    sessions, open_sessions, observations, archived, drain, backup, maintained = _from_state(memory, problems)
    head = read_head(memory.data_dir.git)
    counted = Spool(memory.data_dir).counts()
    spool = _spool(counted, settings)
    index = IndexState(indexed, head, indexed != head)
    late = tuple(waiting(counted, settings, now_us=now_us))
    problems += [*_degraded(memory, late, spool, drain, index, faults), *maintain_problems(maintained)]
    capture = capture_state(memory)
    told = _one_line(scope, mine if scope else held.pages, spool, capture, problems) if line else None
    return Status(
        __version__,
        str(memory.data_dir.root),
        memory.exists,
        scope,
        mine,
        Counts(
            held.projects,
            held.pages,
            held.chunks,
            held.links,
            held.unresolved_links,
            sessions,
            open_sessions,
            observations,
            archived,
        ),
        spool,
        drain,
        maintained,
        index,
        DriverState(driver.DRIVER_NAME, driver.SQLITE_VERSION, driver.HAS_EXTENSIONS),
        _lock(memory),
        capture,
        vectors,
        _capabilities(vectors, settings, is_degraded=bool(problems)),
        backup,
        figures,
        _empty(memory, figures),
        0 if line else sum(one.size_bytes for one in purge.contents(memory.data_dir)),
        tuple(problems),
        gaps,
        told,
    )


def _capabilities(state: VectorState, settings: Config, *, is_degraded: bool) -> Capabilities:
    row, reranker = state.encoder, settings.rerank.provider
    return Capabilities(
        embedder=f"{row.provider} {row.model}" if row else None,
        vectors=state.vectors,
        parts=state.vectors + state.missing,
        rerank=None if reranker == "none" else reranker,
        sqlite_extensions=driver.HAS_EXTENSIONS,
        is_degraded=is_degraded,
    )


def adopt_by_hand(memory: "Memory", problems: list[str]) -> tuple[str, ...]:
    """Commit what people changed in the wiki, so that the numbers are true; what hinders it becomes a problem.

    Gives what a person must decide or what was left, one sentence each.
    """
    try:
        _, left = look_around(memory)
    except MemoryFault as fault:
        problems.append(fault.message)
        return ()
    problems += left
    return left


def _settings(memory: "Memory", problems: list[str]) -> Config:
    """The settings; the defaults where config.toml or its variables are wrong, which becomes a problem."""
    try:
        return configured(memory) or Config()
    except MemoryFault as fault:
        problems.append(f"the settings cannot be read: {fault.message}{f' ({fault.hint})' if fault.hint else ''}")
        return Config()


def _choice(settings: Config, problems: list[str]) -> "Choice | None":
    """The encoder that holds; None where it cannot be had, which becomes a problem."""
    from ai_memory.providers.choose import choose  # a line for a status bar has no room for it

    try:
        return choose(settings)
    except MemoryFault as fault:
        problems.append(f"no vectors can be made: {fault.message} ({fault.hint})")
        return None


def _from_state(
    memory: "Memory", problems: list[str]
) -> tuple[int, int, int, int, DrainState | None, BackupState, MaintainState | None]:
    try:
        with memory.state_reading() as connection:
            if connection is None:
                return 0, 0, 0, 0, None, BackupState(), None
            drain = last_drain(connection)
            counted = (*totals(connection), count_tombstones(connection))
            verified, made = last_verified(connection), last_backup(connection)
            maintained = maintain_state(connection)
    except MemoryFault as fault:
        problems.append(fault.message)
        return 0, 0, 0, 0, None, BackupState(), None
    backup = BackupState(
        rfc3339(verified.at_us) if verified else None,
        verified.subject if verified else None,
        rfc3339(made.at_us) if made else None,
    )
    return *counted, _drain(drain) if drain else None, backup, maintained


def _archived_words(counts: Counts) -> str:
    return f"; {counts.archived} taken away, see ai-memory archive list --all" if counts.archived else ""


def _empty(memory: "Memory", figures: Figures) -> tuple[str, ...]:
    """Projects that hold nothing; none where the sessions cannot be read."""
    without = {name for name, pages in figures.by_project.items() if not pages}
    if not without:
        return ()
    try:
        with memory.state_reading() as connection:
            used = places(connection) if connection is not None else set()
    except MemoryFault:
        return ()
    return tuple(sorted(without - {"/".join(place) for place in used}))


def _drain(drain: Drain) -> DrainState:
    return DrainState(
        rfc3339(drain.ended_at_us), drain.applied, drain.quarantined, drain.pages, drain.handoffs, drain.fault
    )


def _spool(counted: SpoolCounts, settings: Config) -> SpoolState:
    oldest = None if counted.oldest_at_us is None else rfc3339(counted.oldest_at_us)
    bounds = settings.hook_spool
    return SpoolState(
        counted.files,
        counted.size_bytes,
        oldest,
        counted.quarantined,
        counted.dropped,
        bounds.max_files,
        bounds.max_mib,
    )


def _lock(memory: "Memory") -> LockState | None:
    holder = memory.holder()
    return LockState(holder.pid, holder.command, holder.host, rfc3339(holder.since_us)) if holder else None


def _degraded(
    memory: "Memory",
    late: "Sequence[Finding]",
    spool: SpoolState,
    drain: DrainState | None,
    index: IndexState,
    faults: "Sequence[tuple[PageRef, str]]",
) -> list[str]:
    problems: list[str] = []
    if not memory.exists:
        return problems
    hindrance = memory.hindrance()
    if hindrance:
        problems.append(f"{hindrance.message} {hindrance.hint}")
    problems += [one.line for one in (*unwritable(memory.data_dir), *room(memory.data_dir))]
    problems += [f"{ref.workspace}/{ref.project}:{ref.path} {in_full(fault)}" for ref, fault in faults[:FAULTS_SHOWN]]
    if len(faults) > FAULTS_SHOWN:
        more = len(faults) - FAULTS_SHOWN
        problems.append(f"{more} more pages cannot be read in full: ai-memory pages --all marks them")
    problems += [one.line for one in late]
    if spool.quarantined:
        problems.append(f"{spool.quarantined} events could not be applied: see `ai-memory quarantine list`")
    if drain and drain.fault:
        problems.append(f"the last drain failed: {drain.fault}")
    if index.is_behind:
        problems.append("the index is behind the wiki: the next command catches up, or run ai-memory reindex")
    return problems


def status_text(result: Status) -> str:
    """Aligned lines, or one line for a status bar."""
    if result.line:
        return result.line
    counts, spool, drain, backup = result.counts, result.spool, result.drain, result.backup
    rows = [
        ("data dir", result.data_dir if result.exists else f"{result.data_dir} (not there yet)"),
        ("project", _project_words(result.scope, result.project_pages)),
        ("pages", f"{counts.pages} in {counts.projects} projects, {counts.chunks} parts{_archived_words(counts)}"),
        ("kinds", _kind_words(result.figures)),
        ("vectors", vector_words(result.vectors)),
        ("recall", _recall_words(result.capabilities)),
        ("links", _link_words(counts, result.figures)),
        ("sessions", f"{counts.sessions}, {counts.open_sessions} open, {counts.observations} observations"),
        ("capture", capture_words(result.capture)),
        ("spool", _spool_words(spool)),
        ("drain", f"{drain.fault or 'well'}, {drain.applied} events, {drain.ended_at}" if drain else "never ran"),
        ("maintain", maintain_words(result.maintain)),
        ("index", "behind the wiki" if result.index.is_behind else "in step"),
        ("disk", f"{result.size_bytes / 2**20:.1f} MiB"),
        ("backup", _backup_words(backup)),
        ("sqlite", _driver_words(result.driver)),
        ("lock", f"pid {result.lock.pid}: {result.lock.command}, since {result.lock.since}" if result.lock else "free"),
    ]
    lines = [f"ai-memory {result.version}", *(f"{name:<9} {value}" for name, value in rows)]
    lines += [f"empty     {name}: ai-memory purge-project {name}" for name in result.empty_projects]
    lines += [f"degraded: {problem}" for problem in result.degraded]
    return "\n".join([*lines, *(["ai-memory doctor says what mends it"] if result.degraded else [])])


def _kind_words(figures: Figures) -> str:
    common = sorted(figures.by_kind.items(), key=lambda row: (-row[1], row[0]))
    words = [f"{number} {kind}" for kind, number in common[:KINDS_SHOWN]]
    words += [f"{len(common) - KINDS_SHOWN} other kinds"] if len(common) > KINDS_SHOWN else []
    return ", ".join([*words, f"{figures.expiring} expire within 7 days"])


def _link_words(counts: Counts, figures: Figures) -> str:
    stale = f", {figures.stale_links} to pages that are superseded or over" if figures.stale_links else ""
    return f"{counts.links}, {counts.unresolved_links} lead nowhere{stale}"


def _backup_words(backup: BackupState) -> str:
    verified = f"{backup.verified_at}, {backup.archive}" if backup.archive else "none that was verified"
    is_newer = backup.made_at is not None and (backup.verified_at is None or backup.made_at > backup.verified_at)
    return f"{verified}; made later, not verified: {backup.made_at}" if is_newer else verified


def _project_words(scope: Scope | None, pages: int) -> str:
    return f"{scope.workspace}/{scope.project}, {pages} pages" if scope else "cannot be told here"


def _recall_words(can: Capabilities) -> str:
    parts = f"vectors of {can.vectors} of {can.parts} parts" if can.embedder else "no vectors"
    return f"full text, {parts}, {f'reranked by {can.rerank}' if can.rerank else 'no reranker'}"


def _spool_words(spool: SpoolState) -> str:
    words = [f"{spool.pending} waiting since {spool.oldest_at}" if spool.pending else "empty"]
    if spool.quarantined:
        words.append(f"{spool.quarantined} in quarantine")
    if spool.dropped:
        words.append(f"{spool.dropped} tool events dropped when it was full")
    return ", ".join([*words, f"holds {spool.max_files} events or {spool.max_mib} MiB"])


def _driver_words(found: DriverState) -> str:
    return f"{found.sqlite} ({found.name}, {'with' if found.has_extensions else 'without'} extensions)"


def _one_line(scope: Scope | None, pages: int, spool: SpoolState, capture: CaptureState, problems: list[str]) -> str:
    parts = [f"memory {scope.workspace}/{scope.project}" if scope else "memory, all projects", f"{pages} pages"]
    if capture.paused:
        parts.append(capture_words(capture).partition("; `")[0])
    if spool.pending:
        parts.append(f"{spool.pending} waiting")
    if problems:
        parts.append(f"{len(problems)} degraded")
    return " · ".join(parts)
