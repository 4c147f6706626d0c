"""Catching up with a project: the more time passed since work was seen there, the more is told. No model is asked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.model import Scope
from ai_memory.operations.briefing import LISTS, Briefing, briefing, fitted, list_lines, number_lines
from ai_memory.operations.budget import MaxBytes, shortened_rows, size_bytes
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.search import hit_lines, search
from ai_memory.operations.search_rows import HitRow

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

HOUR_US = 3_600_000_000
FOCUS_HITS = 5
Bucket = Literal["none", "fresh", "today", "recent", "dormant", "stale"]
_BOUNDS: tuple[tuple[float, Bucket, str], ...] = (
    (1, "fresh", "work was seen here within the hour"),
    (24, "today", "work was seen here within the day"),
    (7 * 24, "recent", "work was seen here within the week"),
    (30 * 24, "dormant", "the last work here was seen weeks ago"),
    (float("inf"), "stale", "the last work here was seen more than a month ago"),
)
"""Hours below which a gap counts as such."""
_TOLD: dict[Bucket, tuple[str, ...]] = {
    "fresh": (),
    "today": ("recent_pages", "recent_sessions"),
    "recent": ("rules", "slots", "recent_pages", "recent_sessions"),
}
"""Lists of the briefing that the text tells; of every other gap all of them."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How long ago work was seen."""

    hours_since_last: float | None
    bucket: Bucket
    description: str


@dataclass(frozen=True, slots=True)
class Exploration:
    scope: Scope
    prose: None
    """What a model would say; none is asked."""
    reason: str
    gap: Gap
    hits: tuple[HitRow, ...]
    """Pages about the focus."""
    briefing: Briefing
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def explore(
    memory: "Memory",
    *,
    focus: Annotated[str | None, Field("what you are about to do", positional=True, joined=True)] = None,
    recent_pages_limit: Annotated[
        int, Field("recent pages at most", ge=0, le=100, flags=("-n", "--recent"), is_unlisted=True)
    ] = 10,
    max_bytes: MaxBytes = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Exploration:
    """Catch up with a project: little after an hour, all that stands there after weeks.
    Use it once when you begin to work here, with what you are about to do.
    """
    told = briefing(memory, recent_pages_limit=recent_pages_limit, workspace=workspace, project=project)
    place = (told.scope.workspace, told.scope.project)
    is_asked = focus is not None and bool(focus.strip())
    found = (
        search(memory, query=focus, limit=FOCUS_HITS, workspace=place[0], project=place[1])
        if is_asked and focus is not None
        else None
    )
    hits = found.hits if found is not None else ()
    more = found.omitted if found is not None else 0
    if max_bytes is not None:
        kept = shortened_rows(hits, max_bytes // 2, text="snippet")
        more += len(hits) - len(kept)
        hits = kept
        told = fitted(told, max_bytes - sum(map(size_bytes, hits)))
    gaps = tuple(dict.fromkeys((*told.gaps, *(found.gaps if found is not None else ()))))
    reason = "no model writes this: it is put together from what is stored"
    return Exploration(told.scope, None, reason, _gap(memory, place), hits, told, gaps, told.omitted + more)


def _gap(memory: "Memory", place: tuple[str, str]) -> Gap:
    from ai_memory.store.activity import last_work_us

    with memory.state_reading() as connection:
        asking = memory.caller.session_id or ""
        last_us = None if connection is None else last_work_us(connection, place, but=asking)
    if last_us is None:
        return Gap(None, "none", "no work was seen here yet")
    hours = max(0.0, (memory.clock() - last_us) / HOUR_US)
    bucket, description = next((bucket, words) for most, bucket, words in _BOUNDS if hours < most)
    return Gap(round(hours, 1), bucket, description)


def explore_text(result: Exploration) -> str:
    """How long ago, the numbers, pages about the focus, and lists of the briefing as the gap asks for them."""
    hours = result.gap.hours_since_last
    ago = "" if hours is None else f", {hours:g} hours ago"
    lines = [f"{result.gap.description}{ago}", *number_lines(result.briefing)]
    if result.hits:
        lines += ["", "about your focus:", *(line for hit in result.hits for line in hit_lines(hit, result.scope))]
    return "\n".join([*lines, *list_lines(result.briefing, _TOLD.get(result.gap.bucket, LISTS))])
