"""Pages around a page, by their links."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.errors import NotFound
from ai_memory.model import PageRef, Scope
from ai_memory.operations.field import Field, Limit, ProjectName, Workspace
from ai_memory.operations.rows import Address, label_from
from ai_memory.operations.scoping import locate
from ai_memory.text.links import inverse_name

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class RelatedPage:
    """One page near another."""

    workspace: str
    project: str
    path: str
    title: str
    kind: str
    distance: int
    """Links between both."""
    via: str
    """The link that leads here, as it reads from the page before: `supersedes`, `referenced_by`."""
    from_path: str
    """The page before it on the way."""


@dataclass(frozen=True, slots=True)
class Related:
    scope: Scope
    pages: tuple[RelatedPage, ...]
    gaps: tuple[str, ...]
    omitted: int


def related(
    memory: "Memory",
    *,
    path: Annotated[str, Field("page path", flags=("-p", "--path"), positional=True)],
    depth: Annotated[int, Field("links to follow", ge=1, le=3)] = 2,
    limit: Limit = 20,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Related:
    """Show the pages around a page: what it links to, what links to it, and theirs.
    Use it to see what a decision rests on or touches.
    """
    now_us = memory.clock()
    with memory.reading() as snapshot:
        scope, ref = locate(memory, path, workspace, project, write=False, snapshot=snapshot)
        if snapshot.page(ref) is None:
            raise NotFound(f"no page {ref}", hint="ai-memory pages lists what there is")
        found = around(snapshot, ref, depth, now_us)
        gaps = tuple(snapshot.gaps)
    return Related(scope, tuple(found[:limit]), gaps, max(0, len(found) - limit))


def around(snapshot: "Snapshot", start: PageRef, depth: int, now_us: int) -> list[RelatedPage]:
    """Breadth first, each page once, by its shortest way; pages that expired are passed over."""
    seen = {start}
    ring = [start]
    found: list[RelatedPage] = []
    for distance in range(1, depth + 1):
        following: list[PageRef] = []
        for here in ring:
            for ref, via in _steps(snapshot, here):
                page = None if ref in seen else snapshot.page(ref)
                seen.add(ref)
                if page is None or (page.expires_at_us is not None and page.expires_at_us <= now_us):
                    continue
                following.append(ref)
                found.append(
                    RelatedPage(
                        *(ref.workspace, ref.project, ref.path, page.title, page.kind),
                        distance=distance,
                        via=via,
                        from_path=here.path,
                    )
                )
        ring = following
    return found


def _steps(snapshot: "Snapshot", here: PageRef) -> list[tuple[PageRef, str]]:
    out = [(row.target, row.kind) for row in snapshot.outlinks(here) if row.resolved]
    return out + [(row.source, inverse_name(row.kind)) for row in snapshot.backlinks(here)]


def related_text(result: Related) -> str:
    """One line a page, nearest first."""
    if not result.pages:
        return "no links lead from or to it"
    return "\n".join(related_lines(result.pages, result.scope))


def related_lines(rows: Sequence[RelatedPage], scope: Scope) -> list[str]:
    """One line a page, indented by its distance."""
    return [
        f"{'  ' * (row.distance - 1)}- {label_from(Address(row.workspace, row.project, row.path), scope)}"
        f" · {row.title} · {row.via} ({row.from_path})"
        for row in rows
    ]
