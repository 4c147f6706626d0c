"""One look of lint or the curator: which pages, for what, and what it found."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.config_table import Config
from ai_memory.linting.finding import Finding
from ai_memory.linting.ground import Ground
from ai_memory.linting.table import run
from ai_memory.model import PageRef, Scope
from ai_memory.operations.configured import configured
from ai_memory.operations.setup import no_progress
from ai_memory.operations.unscoped import is_global, resolve_for
from ai_memory.store.lint_findings import told_findings
from ai_memory.text.sanitize import OwnPatterns

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class Looked:
    """What one look found."""

    scope: Scope | None
    findings: Sequence[Finding]
    versions: dict[PageRef, str]
    """Of the pages that may be mended, as they were read."""
    told: dict[str, int]
    pages: int
    gaps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """Which pages are looked at, and for what."""

    memory: "Memory"
    kinds: tuple[str, ...]
    workspace: str | None
    project: str | None
    is_over_all: bool = False
    progress: Callable[[int, int], None] = no_progress
    hides_private: bool = True
    is_one_project: bool = False
    """Whatever a marker says of a look over all."""

    def run(self) -> Looked:
        with opened(self) as (ground, untold):
            findings = list(run(ground, self.kinds))
            versions = {one.pages[0]: ground.heads[one.pages[0]].version for one in findings if one.mend}
            hidden = len(ground.hidden) if ground.place == (None, None) else 0
            left = (_left_out(hidden),) if hidden else ()
            gaps = (*ground.snapshot.gaps, *untold, *ground.gaps, *left)
            return Looked(ground.scope, findings, versions, told_findings(ground.state), len(ground.heads), gaps)


@contextmanager
def opened(look: Look) -> Iterator[tuple[Ground, tuple[str, ...]]]:
    """What the checks look at, and what could not be told of the caller's project."""
    memory = look.memory
    config = configured(memory) or Config()
    own = OwnPatterns(config.sanitize.extra_patterns, config.sanitize.allowlist)
    with memory.reading() as snapshot, memory.state_reading() as state:
        scope, untold = resolve_for(
            memory, look.workspace, look.project, everywhere=look.is_over_all, snapshot=snapshot
        )
        follows_marker = not look.is_one_project and is_global(scope, look.workspace, look.project)
        is_over_all = look.is_over_all or follows_marker
        place = (None, None) if is_over_all or scope is None else (scope.workspace, scope.project)
        yield (
            Ground(
                snapshot=snapshot,
                state=state,
                config=config,
                now_us=memory.clock(),
                scope=scope,
                place=place,
                own=own,
                hides_private=look.hides_private,
                progress=look.progress,
            ),
            untold,
        )


def _left_out(hidden: int) -> str:
    if hidden == 1:
        return "1 private project was left out: name it"
    return f"{hidden} private projects were left out: name them"
