"""When nothing that was found is an answer: how much of what is asked the best pages hold."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai_memory.search.candidate import Candidate
from ai_memory.search.closeness import flattened
from ai_memory.search.numbers import (
    FULL_BAR_CHUNKS,
    LEADERS,
    LEAST_COVERAGE,
    LEAST_STRENGTH,
    PARTIAL_COVERAGE,
    TAIL_SHARE,
)
from ai_memory.search.request import Status


@dataclass(frozen=True, slots=True)
class Judgement:
    """Which pages are shown, and what is said of them."""

    kept: list[Candidate]
    status: Status
    gaps: tuple[str, ...] = ()


class Coverage:
    """How much of what is asked a page's passages hold. `weights`: term → how rare it is."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._total = sum(weights.values())
        self._terms = [(_beginning(term), weight) for term, weight in weights.items()]

    def of(self, texts: Sequence[bytes]) -> float:
        """Share of the terms, weighted by rarity, in texts that were flattened: 0 … 1. Endings of words may differ."""
        if self._total <= 0:
            return 1.0
        held = [weight for term, weight in self._terms if any(term in text for text in texts)]
        return sum(held) / self._total


def _beginning(term: str) -> bytes:
    """What a text must hold for the term to count: all of a short word, a long one without its ending."""
    words = flattened(term).decode().strip()
    return (f" {words} " if len(words) < 5 else f" {words[: max(4, len(words) - 3)]}").encode()


def strength(page: Candidate, chunks: int) -> float:
    """How sure a page answers: what it holds of the question, times how well, whatever the size of the index."""
    leg = page.legs.get("fts")
    return page.coverage * (leg.score if leg else 0.0) / math.log(2 + chunks)


def judge(ranked: Sequence[Candidate], weights: Mapping[str, float], *, chunks: int) -> Judgement:
    """All pages, or none when not even the best of them is likely to answer. `chunks`: how many the index holds.

    What is named exactly always answers. In a small index every word is common, so the bar is lower there.
    """
    leaders = ranked[:LEADERS]
    if not leaders:
        return Judgement([], "abstained", _missing(weights, leaders))
    height = min(1.0, chunks / FULL_BAR_CHUNKS)
    is_named = any("exact" in page.legs for page in leaders)
    covered = max(page.coverage for page in leaders)
    is_strong = max(strength(page, chunks) for page in leaders) >= LEAST_STRENGTH * height
    if not is_named and not (is_strong and covered >= LEAST_COVERAGE * height):
        return Judgement([], "abstained", _missing(weights, leaders))
    kept = [page for page in ranked if page.coverage >= TAIL_SHARE * covered or page.legs.keys() - {"fts", "graph"}]
    if is_named or covered >= PARTIAL_COVERAGE:
        return Judgement(kept, "ok")
    return Judgement(kept, "partial", _missing(weights, leaders))


def _missing(weights: Mapping[str, float], leaders: Sequence[Candidate]) -> tuple[str, ...]:
    """One sentence about the rarest words that no leading page holds."""
    missing = [term for term in weights if not any(_holds(page, term) for page in leaders)]
    rarest = sorted(missing, key=lambda term: (-weights[term], term))[:5]
    return (f"no page that was found holds: {', '.join(sorted(rarest))}",) if rarest else ()


def _holds(page: Candidate, term: str) -> bool:
    return any(_beginning(term) in text for text in page.texts)
