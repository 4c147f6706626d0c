"""Searching pages by their content."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.model import Scope
from ai_memory.operations.configured import stopwords
from ai_memory.operations.field import Field, Limit, ProjectName, Workspace
from ai_memory.operations.read import Everywhere
from ai_memory.operations.rows import Address, label_from
from ai_memory.operations.unscoped import resolve_for

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class HitRow:
    """One page that matched, best part first."""

    workspace: str
    project: str
    path: str
    title: str
    kind: str
    version: str
    heading: str
    line: int
    """Where the part begins in the file, from 1."""
    snippet: str
    score: float
    """Higher is better; comparable within one answer."""


@dataclass(frozen=True, slots=True)
class Found:
    scope: Scope | None
    query: str
    hits: tuple[HitRow, ...]
    legs: tuple[str, ...]
    """Names of the ranked lists that were asked."""
    abstained: bool
    """Whether what matched was too weak to be shown."""
    gaps: tuple[str, ...]
    omitted: int


def search(
    memory: "Memory",
    *,
    query: Annotated[str, Field("words or a question", aliases=("q", "search"), positional=True, joined=True)],
    limit: Limit = 10,
    everywhere: Everywhere = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Found:
    """Search the memory for what was learnt: decisions, gotchas, how things work, past sessions.
    Use it before you start on a task or ask the person.
    """
    from ai_memory.search.engine import search as ranked  # the ranking, which schema and help do not need

    left_out = stopwords(memory)
    with memory.reading() as snapshot:
        scope, untold = resolve_for(memory, workspace, project, everywhere=everywhere, snapshot=snapshot)
        found = ranked(snapshot, query, None if everywhere else scope, limit=limit, stopwords=left_out)
        gaps = tuple(dict.fromkeys((*snapshot.gaps, *untold, *found.gaps)))
    rows = tuple(
        HitRow(
            hit.ref.workspace,
            hit.ref.project,
            hit.ref.path,
            hit.title,
            hit.kind,
            hit.version,
            hit.heading,
            hit.line,
            hit.snippet,
            hit.score,
        )
        for hit in found.hits
    )
    return Found(scope, query, rows, found.legs, found.abstained, gaps, found.omitted)


def search_text(result: Found) -> str:
    """Two lines a hit: where it is, and the part that matched."""
    if not result.hits:
        return "nothing relevant found" if result.abstained else "no results"
    lines = []
    for hit in result.hits:
        name = label_from(Address(hit.workspace, hit.project, hit.path), result.scope)
        part = f" › {hit.heading}" if hit.heading and hit.heading != hit.title else ""
        lines.append(f"- {name} · {hit.title}{part} · line {hit.line}")
        lines.append(f"  {' '.join(hit.snippet.split())}")
    return "\n".join(lines)
