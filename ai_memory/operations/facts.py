"""Listing facts, and what is known of one thing over time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.clock import rfc3339
from ai_memory.model import Scope
from ai_memory.operations.fact_rows import FactRow, fact_line, fact_row
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.record import KindName
from ai_memory.operations.resolving import StandingName
from ai_memory.operations.scoping import resolve
from ai_memory.store.fact_rows import FactRow as StoredFact
from ai_memory.store.fact_rows import facts_of
from ai_memory.text.times import parse_moment

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

AsOf = Annotated[str | None, Field("as it was valid then: 2026-05-01, 30d")]
KnownAt = Annotated[str | None, Field("what the memory knew then: 2026-05-01, 30d")]


@dataclass(frozen=True, slots=True)
class FactList:
    scope: Scope
    as_of: str
    """The instant that was asked about."""
    facts: tuple[FactRow, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def facts(
    memory: "Memory",
    *,
    kind: Annotated[KindName | None, Field("only this kind")] = None,
    standing: Annotated[StandingName | None, Field("only those that stand so")] = None,
    entity: Annotated[str | None, Field("only those about it")] = None,
    every: Annotated[bool, Field("also what does not hold at that time", flags=("--all",), aliases=("all",))] = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, Field("rows at most", ge=1, le=1000, flags=("-n", "--limit"))] = 100,
    offset: Annotated[int, Field("rows to skip", ge=0)] = 0,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> FactList:
    """List facts, newest first: id, kind, how it stands, since when and until when it holds.
    Shows what holds now, or at another time; `--all` shows what was replaced, too.
    """
    now_us = memory.clock()
    at_us = parse_moment(as_of, now_us=now_us) if as_of else now_us
    with memory.reading() as current:
        where = resolve(memory, workspace, project, write=False, snapshot=current)
        gaps = tuple(current.gaps)
    with memory.reading_as_known(parse_moment(known_at, now_us=now_us) if known_at else None) as snapshot:
        stored = facts_of(snapshot.index, where.workspace, where.project)
        gaps = tuple(dict.fromkeys((*gaps, *snapshot.gaps)))
    found = [
        one
        for one in stored
        if (kind is None or one.fact.kind.value == kind)
        and (standing is None or one.fact.standing.value == standing)
        and (entity is None or entity.casefold() in map(str.casefold, one.fact.entities))
        and (every or standing in ("superseded", "contradicted") or one.fact.is_valid(at_us))
    ]
    found.sort(key=_newest_first)
    shown = found[offset : offset + limit]
    rows = tuple(fact_row(one.ref, one.fact, at_us) for one in shown)
    return FactList(where, rfc3339(at_us), rows, gaps, max(0, len(found) - offset - len(shown)))


def _newest_first(one: StoredFact) -> tuple[int, str]:
    return -one.fact.recorded_at_us, one.ref.path


def facts_text(result: FactList) -> str:
    """One line a fact."""
    return "\n".join(fact_line(row) for row in result.facts) or f"no fact holds as of {result.as_of}"
