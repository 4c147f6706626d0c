"""A page while the legs speak of it."""

from dataclasses import dataclass, field

from ai_memory.model import PageRef
from ai_memory.search.request import LegScore


@dataclass(slots=True)
class Candidate:
    """What the ranking knows of a page."""

    page_id: int
    ref: PageRef
    title: str
    kind: str
    rated_as: str
    """What the table of authorities takes it for: a fact that nothing supports for `unconfirmed`."""
    tier: str
    version: str
    is_pinned: bool
    updated_at_us: int
    tags: tuple[str, ...]
    legs: dict[str, LegScore] = field(default_factory=dict)
    factors: dict[str, float] = field(default_factory=dict)
    chunks: tuple[int, ...] = ()
    """Its best chunks, best first."""
    flat: bytes = b""
    """The best of them, flattened."""
    held: dict[int, int] = field(default_factory=dict)
    """Number of a query → which of its needles those chunks hold."""
    coverage: float = 0.0
    score: float = 0.0

    def total(self) -> float:
        """What the legs and the standing make together."""
        total = 0.0
        for leg in self.legs.values():
            total += leg.share
        for factor in self.factors.values():
            total *= factor
        return total
