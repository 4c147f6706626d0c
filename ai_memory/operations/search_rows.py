"""Hits of a search as rows: what both faces show of a page that matched."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ai_memory.operations.confidence import Confidence
from ai_memory.operations.rows import Address


@dataclass(frozen=True, slots=True)
class LegRow:
    """What one leg says of a hit."""

    leg: str
    rank: int
    score: float
    share: float
    """What it adds to the score, where the best page of full text has 1."""
    detail: str


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
    end_line: int
    snippet: str
    score: float
    """Higher is better; comparable within one answer."""
    coverage: float = 0.0
    """Share of the question, weighted by the rarity of its words, that the page's best passages hold."""
    is_order_shaped: bool = False
    """The passage reads like instructions to a model. It is data all the same."""
    pinned: bool = False
    """Shown for its pin, before the hits."""
    stale: tuple[str, ...] = ()
    """What it says of the repository that is so no longer."""
    also: tuple[Address, ...] = ()
    """Pages that say nearly the same."""
    legs: tuple[LegRow, ...] = ()
    """With `explain`."""
    factors: Mapping[str, float] = field(default_factory=dict)
    """With `explain`: what the score was multiplied by."""
    confidence: Confidence | None = None
    """With `explain`, of a page that rests on sessions; it moves no rank by itself."""
