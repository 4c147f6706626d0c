"""When nothing that was found is an answer: how much of what is asked the best pages hold."""

import functools
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai_memory.search.candidate import Candidate
from ai_memory.search.closeness import Closeness
from ai_memory.search.language import foreign_language
from ai_memory.search.numbers import (
    FEW_CHUNKS,
    FULL_BAR_CHUNKS,
    LEADERS,
    LEAST_COVERAGE,
    LEAST_STRENGTH,
    LOWEST_BAR,
    PARTIAL_COVERAGE,
    TAIL_SHARE,
)
from ai_memory.search.request import Hit, Status


@dataclass(frozen=True, slots=True)
class Judgement:
    """Which pages are shown, and what is said of them."""

    kept: list[Candidate]
    status: Status
    gaps: tuple[str, ...] = ()


def strength(page: Candidate | Hit, chunks: int) -> float:
    """How sure a page answers: what it holds of the question, times how well, whatever the size of the index."""
    leg = page.legs.get("fts")
    return page.coverage * (leg.score if leg else 0.0) / math.log(2 + chunks)


def judge(
    ranked: Sequence[Candidate], question: Closeness, weights: Mapping[str, float], *, asked: str, chunks: int
) -> Judgement:
    """All pages, or none when not even the best of them is likely to answer. `asked`: the question as it was put;
    `chunks`: how many the index holds.

    What is named exactly always answers. In a small index every word is common, so the bar is lower there; in one of a
    few pages bm25 says nothing at all (0 for a word that half of them hold), so there only coverage counts. A question
    in another language shares nothing but names with the pages: it is answered by what there is, and says so.
    """
    leaders = ranked[:LEADERS]
    if not leaders:
        return Judgement([], "abstained", _missing(question, weights, leaders))
    height = min(1.0, chunks / FULL_BAR_CHUNKS)
    is_named = any("exact" in page.legs for page in leaders)
    covered = max(page.coverage for page in leaders)
    is_strong = chunks < FEW_CHUNKS or max(strength(page, chunks) for page in leaders) >= LEAST_STRENGTH * height
    if not is_named and covered < PARTIAL_COVERAGE:
        if covered == 0 and any("vector" in page.legs for page in leaders):
            return Judgement(list(ranked), "partial", _missing(question, weights, leaders))  # nearness is all there is
        language = foreign_language(asked, (page.flat for page in ranked if page.flat))
        if language:
            told = f"the question reads as {language}, what was found does not: only names and numbers could match"
            return Judgement(list(ranked), "partial", (told, *_missing(question, weights, leaders)))
    if not is_named and not (is_strong and covered >= LEAST_COVERAGE * max(height, LOWEST_BAR)):
        return Judgement([], "abstained", _missing(question, weights, leaders))
    least = TAIL_SHARE * covered if chunks >= FULL_BAR_CHUNKS else 0.0
    kept = [page for page in ranked if page.coverage >= least or page.legs.keys() - {"fts", "graph"}]
    if is_named or covered >= PARTIAL_COVERAGE:
        return Judgement(kept, "ok")
    return Judgement(kept, "partial", _missing(question, weights, leaders))


def _missing(question: Closeness, weights: Mapping[str, float], leaders: Sequence[Candidate]) -> tuple[str, ...]:
    """One sentence about the rarest words that no leading page holds."""
    held = functools.reduce(operator.or_, (page.held.get(0, 0) for page in leaders), 0)
    rarest = sorted(question.missing(held), key=lambda term: (-weights.get(term, 0.0), term))[:5]
    told = "no page that was found holds" if leaders else "no page holds"
    return (f"{told}: {', '.join(sorted(rarest))}",) if rarest else ()
