"""Making the vectors by which pages are found by their meaning."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.errors import MemoryFault
from ai_memory.model import Scope
from ai_memory.operations.configured import configured
from ai_memory.operations.field import Everywhere, Field, ProjectName, Workspace
from ai_memory.operations.setup import no_progress
from ai_memory.operations.unscoped import resolve_for
from ai_memory.operations.vector_state import EncoderRow, encoder_row, vector_state

if TYPE_CHECKING:
    from ai_memory.providers.choose import Choice
    from ai_memory.search.backfill import Backfilled, Wanted
    from ai_memory.store.memory import Memory


_WAYS = (
    "pip install 'ai-memory[embed]', or name a folder with a model: ai-memory config set embed.path FOLDER && "
    "ai-memory config set embed.provider local"
)


@dataclass(frozen=True, slots=True)
class Embedded:
    scope: Scope | None
    encoder: EncoderRow | None
    """Whose vectors these are; its `dim` is 0 as long as nothing was loaded."""
    embedded: int
    """Parts of pages that the model read."""
    cached: int
    """Parts whose vector was known."""
    failed: int
    """Parts that the model refused."""
    left: int
    """Parts of these pages without a vector of this encoder."""
    former: int
    """Vectors of other encoders, which nothing asks for."""
    pruned: int
    seconds: float
    dry_run: bool = False
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def embed(
    memory: "Memory",
    *,
    limit: Annotated[int | None, Field("parts of pages at most", ge=1, flags=("-n", "--limit"))] = None,
    everywhere: Everywhere = False,
    prune: Annotated[bool, Field("drop the vectors of former encoders")] = False,
    dry_run: Annotated[bool, Field("only count; loads no model and changes nothing")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
    progress: Callable[[int, int], None] = no_progress,
) -> Embedded:
    """Make the vectors that are missing, newest pages first, so that pages are found by meaning.
    May be stopped at any time; the next run goes on. `ai-memory status` says what is missing.
    """
    from ai_memory.providers.choose import choose  # schema and help need no encoder
    from ai_memory.search.backfill import Backfilled, Wanted
    from ai_memory.store import vectors
    from ai_memory.store.snapshot import Filter

    begun = time.monotonic()
    choice = choose(configured(memory))
    if choice is None and not (prune or dry_run):
        raise MemoryFault("nobody makes vectors here: no encoder is installed or configured", hint=_WAYS)
    with memory.reading() as snapshot:
        scope, untold = resolve_for(memory, workspace, project, everywhere=everywhere, snapshot=snapshot)
        gaps = (*snapshot.gaps, *untold)
    wanted = Filter() if everywhere or scope is None else Filter(scope.workspace, scope.project)
    done, pruned = Backfilled(), 0
    if memory.exists and not dry_run:
        if choice is not None:
            done = _made(memory, choice, Wanted(*wanted.sql(), limit), progress)
        if prune:
            kept = done.encoder
            pruned = memory.change_index(lambda connection: vectors.drop_others(connection, kept))
    with memory.reading() as snapshot:
        state = vector_state(snapshot, choice, wanted)
    encoder = encoder_row(choice, done.encoder) if done.encoder else state.encoder
    counts = (done.embedded, done.cached, done.failed, state.missing, state.former, pruned)
    return Embedded(scope, encoder, *counts, round(time.monotonic() - begun, 3), dry_run, gaps)


def _made(memory: "Memory", choice: "Choice", wanted: "Wanted", progress: Callable[[int, int], None]) -> "Backfilled":
    from ai_memory.providers.choose import How
    from ai_memory.search.backfill import backfill

    how = How(memory.data_dir.models, memory.caller.environ, may_download=True)
    return backfill(memory, choice, how, wanted, progress=progress)


def embed_text(result: Embedded) -> str:
    """What was made, by whom, and what is left."""
    lines = []
    if result.encoder is not None:
        lines.append(f"encoder {result.encoder.provider} {result.encoder.model}")
    if not result.dry_run:
        lines.append(f"{result.embedded} made, {result.cached} known before, {result.seconds:.1f} s")
    if result.failed:
        lines.append(f"{result.failed} refused by the model")
    lines.append(f"{result.left} parts of pages lack a vector")
    if result.pruned:
        lines.append(f"{result.pruned} of former encoders dropped")
    if result.former:
        lines.append(f"{result.former} of former encoders: ai-memory embed --prune drops them")
    return "\n".join(lines)
