"""How the memory is: what it holds, what waits, what is degraded."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory import __version__
from ai_memory.clock import rfc3339
from ai_memory.errors import MemoryFault
from ai_memory.model import Scope
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.scoping import resolve
from ai_memory.store import driver
from ai_memory.store.head import read_head
from ai_memory.store.spool import Spool
from ai_memory.store.state import Drain, last_drain
from ai_memory.store.state_sessions import totals

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

LATE_US = 600_000_000
"""An event that waits longer than ten minutes was forgotten by the drain: hooks start one every few seconds."""


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


@dataclass(frozen=True, slots=True)
class SpoolState:
    pending: int
    size_bytes: int
    oldest_at: str | None
    quarantined: int


@dataclass(frozen=True, slots=True)
class DrainState:
    ended_at: str
    applied: int
    quarantined: int
    pages: int
    handoffs: int
    fault: str


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
class Status:
    version: str
    data_dir: str
    exists: bool
    scope: Scope
    project_pages: int
    counts: Counts
    spool: SpoolState
    drain: DrainState | None
    index: IndexState
    driver: DriverState
    lock: LockState | None
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
    if not line:
        adopt_by_hand(memory, problems)
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        held = snapshot.counts()
        mine = snapshot.pages(workspace=scope.workspace, project=scope.project, limit=1).total
        indexed, gaps = snapshot.head, tuple(snapshot.gaps)
    sessions, open_sessions, observations, drain = _from_state(memory, problems)
    head = read_head(memory.data_dir.git)
    spool = _spool(memory)
    index = IndexState(indexed, head, indexed != head)
    problems += _degraded(memory, spool, drain, index, held.faulty_pages)
    told = _one_line(scope, mine, spool, problems) if line else None
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
        ),
        spool,
        drain,
        index,
        DriverState(driver.DRIVER_NAME, driver.SQLITE_VERSION, driver.HAS_EXTENSIONS),
        _lock(memory),
        tuple(problems),
        gaps,
        told,
    )


def adopt_by_hand(memory: "Memory", problems: list[str]) -> None:
    """Commit what people changed in the wiki, so that the numbers are true; what hinders it becomes a problem."""
    if not memory.exists:
        return
    try:
        adopted = memory.adopt()
    except MemoryFault as fault:
        problems.append(fault.message)
        return
    problems += adopted.skipped
    if adopted.asked:
        problems.append(
            f"{len(adopted.asked)} pages vanished from the wiki at once: restore them, or delete them by name"
        )


def _from_state(memory: "Memory", problems: list[str]) -> tuple[int, int, int, DrainState | None]:
    try:
        with memory.state_reading() as connection:
            if connection is None:
                return 0, 0, 0, None
            drain = last_drain(connection)
            counted = totals(connection)
    except MemoryFault as fault:
        problems.append(fault.message)
        return 0, 0, 0, None
    return *counted, _drain(drain) if drain else None


def _drain(drain: Drain) -> DrainState:
    return DrainState(
        rfc3339(drain.ended_at_us), drain.applied, drain.quarantined, drain.pages, drain.handoffs, drain.fault
    )


def _spool(memory: "Memory") -> SpoolState:
    counted = Spool(memory.data_dir).counts()
    oldest = None if counted.oldest_at_us is None else rfc3339(counted.oldest_at_us)
    return SpoolState(counted.files, counted.size_bytes, oldest, counted.quarantined)


def _lock(memory: "Memory") -> LockState | None:
    holder = memory.holder()
    return LockState(holder.pid, holder.command, holder.host, rfc3339(holder.since_us)) if holder else None


def _degraded(
    memory: "Memory", spool: SpoolState, drain: DrainState | None, index: IndexState, faulty: int
) -> list[str]:
    problems: list[str] = []
    if not memory.exists:
        return problems
    hindrance = memory.hindrance()
    if hindrance:
        problems.append(f"{hindrance.message} {hindrance.hint}")
    if faulty:
        problems.append(f"{faulty} pages cannot be read as pages: ai-memory pages shows them as plain text")
    if spool.oldest_at and spool.oldest_at < rfc3339(memory.clock() - LATE_US):
        problems.append(f"{spool.pending} events wait since {spool.oldest_at}: run ai-memory drain")
    if spool.quarantined:
        problems.append(f"{spool.quarantined} events could not be applied: see {memory.data_dir.quarantine}")
    if drain and drain.fault:
        problems.append(f"the last drain failed: {drain.fault}")
    if index.is_behind:
        problems.append("the index is behind the wiki: the next command catches up, or run ai-memory reindex")
    return problems


def status_text(result: Status) -> str:
    """Aligned lines, or one line for a status bar."""
    if result.line:
        return result.line
    counts, spool, drain = result.counts, result.spool, result.drain
    rows = [
        ("data dir", result.data_dir if result.exists else f"{result.data_dir} (not there yet)"),
        ("project", f"{result.scope.workspace}/{result.scope.project}, {result.project_pages} pages"),
        ("pages", f"{counts.pages} in {counts.projects} projects, {counts.chunks} parts"),
        ("links", f"{counts.links}, {counts.unresolved_links} lead nowhere"),
        ("sessions", f"{counts.sessions}, {counts.open_sessions} open, {counts.observations} observations"),
        ("spool", _spool_words(spool)),
        ("drain", f"{drain.fault or 'well'}, {drain.applied} events, {drain.ended_at}" if drain else "never ran"),
        ("index", "behind the wiki" if result.index.is_behind else "in step"),
        ("sqlite", _driver_words(result.driver)),
        ("lock", f"pid {result.lock.pid}: {result.lock.command}, since {result.lock.since}" if result.lock else "free"),
    ]
    lines = [f"ai-memory {result.version}", *(f"{name:<9} {value}" for name, value in rows)]
    return "\n".join([*lines, *(f"degraded: {problem}" for problem in result.degraded)])


def _spool_words(spool: SpoolState) -> str:
    waiting = f"{spool.pending} waiting since {spool.oldest_at}" if spool.pending else "empty"
    return f"{waiting}, {spool.quarantined} in quarantine" if spool.quarantined else waiting


def _driver_words(found: DriverState) -> str:
    return f"{found.sqlite} ({found.name}, {'with' if found.has_extensions else 'without'} extensions)"


def _one_line(scope: Scope, pages: int, spool: SpoolState, problems: list[str]) -> str:
    parts = [f"memory {scope.workspace}/{scope.project}", f"{pages} pages"]
    if spool.pending:
        parts.append(f"{spool.pending} waiting")
    if problems:
        parts.append(f"{len(problems)} degraded")
    return " · ".join(parts)
