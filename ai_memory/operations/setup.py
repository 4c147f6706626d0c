"""Creating the data dir, rebuilding the index, and saying where things lie."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.errors import MemoryFault, NotFound
from ai_memory.model import Scope
from ai_memory.operations.configured import tell_hooks
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.looking import look_around
from ai_memory.operations.scoping import locate

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


def no_progress(done: int, total: int) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True)
class Initialised:
    data_dir: str
    created: bool
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def init(
    memory: "Memory",
    *,
    allow_synced: Annotated[bool, Field("even in a folder that a cloud service syncs")] = False,
) -> Initialised:
    """Create the data dir and its wiki; a second run changes nothing.
    Not needed: the first write does the same.
    """
    created = memory.create(allow_synced=allow_synced)
    try:
        tell_hooks(memory)
    except MemoryFault as fault:
        return Initialised(str(memory.data_dir.root), created, (f"hooks keep metadata only: {fault.message}",))
    return Initialised(str(memory.data_dir.root), created)


def init_text(result: Initialised) -> str:
    """Whether the data dir is new, and where it is."""
    return f"{'created' if result.created else 'there already:'} {result.data_dir}"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    pages: int
    chunks: int
    seconds: float
    adopted: int
    """Files that people had changed by hand and that were committed first."""
    commit: str | None
    skipped: tuple[str, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def reindex(memory: "Memory", *, progress: Callable[[int, int], None] = no_progress) -> Rebuilt:
    """Commit pages changed by hand, then rebuild the search index from the wiki.
    Loses nothing; use it when search misses pages that are there.
    """
    if not memory.exists:
        return Rebuilt(0, 0, 0.0, 0, None, ())
    adopted, left = look_around(memory)
    done = memory.reindex(progress)
    changed = len(adopted.created) + len(adopted.changed) + len(adopted.deleted)
    return Rebuilt(done.pages, done.chunks, round(done.seconds, 3), changed, adopted.commit, adopted.skipped, left)


def reindex_text(result: Rebuilt) -> str:
    """How much was indexed, and what was committed before."""
    lines = [f"indexed {result.pages} pages in {result.chunks} parts, {result.seconds:.1f} s"]
    if result.commit:
        lines.append(f"committed {result.adopted} changes made by hand · commit {result.commit[:12]}")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Located:
    path: str
    scope: Scope | None = None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def path(
    memory: "Memory",
    *,
    page: Annotated[str | None, Field("page path", flags=("-p", "--path"), positional=True)] = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Located:
    """Print the file of a page, or the data dir when no page is named.
    Use it to hand a page to another program.
    """
    if page is None:
        return Located(str(memory.data_dir.root))
    with memory.reading() as snapshot:
        scope, ref = locate(memory, page, workspace, project, write=False, snapshot=snapshot)
        found = snapshot.page(ref)
        gaps = tuple(snapshot.gaps)
    if found is None:
        raise NotFound(f"no page {ref}", hint="ai-memory pages lists what there is")
    return Located(str(memory.data_dir.wiki.joinpath(*ref.git_path.split("/"))), scope, gaps)


def path_text(result: Located) -> str:
    """The path alone, for `$(…)`."""
    return result.path
