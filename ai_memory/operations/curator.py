"""The curator: what fades, is out of date, doubled or leads nowhere in one project, as a report. It changes nothing.

*Source*: the report of 1.31, by its keys and kinds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from ai_memory.clock import rfc3339
from ai_memory.linting.age import FOCUS_DAYS, SLOT_DAYS
from ai_memory.linting.finding import Finding
from ai_memory.linting.table import run
from ai_memory.model import Scope
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.lint_look import Look, opened
from ai_memory.operations.rows import Address, address
from ai_memory.operations.setup import no_progress

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

KINDS = ("cold_episodic", "stale_slot", "duplicate_title", "dangling_cross_project_link")
MOST = 25
"""Of each kind."""


@dataclass(frozen=True, slots=True)
class CuratedRow:
    """One finding."""

    kind: str
    severity: str
    workspace: str
    project: str
    path: str
    message: str
    pages: tuple[Address, ...]
    """All that take part, the one that it is about first."""
    detail: Mapping[str, float | int | None]
    """What was measured: of a cold page `score`, `threshold`, `age_days`, `access_count`."""
    fix: str


@dataclass(frozen=True, slots=True)
class Curated:
    scope: Scope
    workspace: str
    project: str
    generated_at: str
    dry_run: bool
    """Always: a report decides nothing."""
    summary: Mapping[str, int]
    """Kind → how many there are, also of those that are not shown."""
    params: Mapping[str, float | int]
    """What was gone by."""
    findings: tuple[CuratedRow, ...]
    gaps: tuple[str, ...] = field(default=())
    omitted: int = 0


def curator(
    memory: "Memory",
    *,
    limit: Annotated[int, Field("findings of each kind at most", ge=1, le=MOST, flags=("-n", "--limit"))] = MOST,
    workspace: Workspace = None,
    project: ProjectName = None,
    progress: Callable[[int, int], None] = no_progress,
) -> Curated:
    """Report what a project's pages want: cold pages, slots that nobody renewed, titles that are there twice, links
    into other projects that lead nowhere. Weights are those of `forget-sweep`. Changes nothing.
    """
    with opened(Look(memory, KINDS, workspace, project, progress=progress, is_one_project=True)) as (ground, untold):
        found = list(run(ground, KINDS))
        scope = ground.scope
        assert scope is not None, "one project is looked at"
        params = {
            "cold_threshold": ground.scales.rates.cold_threshold,
            "current_focus_days": FOCUS_DAYS,
            "slot_days": SLOT_DAYS,
            "max_findings_per_kind": limit,
        }
        gaps = (*ground.snapshot.gaps, *untold, *ground.gaps)
    by_kind = {kind: [one for one in found if one.kind == kind] for kind in KINDS}
    shown = [one for own in by_kind.values() for one in own[:limit]]
    return Curated(
        scope=scope,
        workspace=scope.workspace,
        project=scope.project,
        generated_at=rfc3339(ground.now_us),
        dry_run=True,
        summary={kind: len(own) for kind, own in by_kind.items()},
        params=params,
        findings=tuple(map(_row, shown)),
        gaps=gaps,
        omitted=len(found) - len(shown),
    )


def _row(one: Finding) -> CuratedRow:
    first = one.pages[0]
    place = (first.workspace, first.project, first.path)
    pages = tuple(map(address, one.pages))
    return CuratedRow(one.kind, one.severity.value, *place, one.message, pages, one.figures, one.fix)


def curated_text(result: Curated) -> str:
    """How many of each kind, then each with its fix."""
    lines = [", ".join(f"{number} {kind}" for kind, number in result.summary.items())]
    for row in result.findings:
        score = f" ({row.detail['score']}, {row.detail['access_count']} reads)" if "score" in row.detail else ""
        lines.append(f"{row.kind}: {row.path} {row.message}{score}")
        lines.append(f"  fix: {row.fix}")
    return "\n".join(lines)
