"""Why the hits of a search stand as they do: a table of what each leg gave, for a person to read."""

from collections.abc import Mapping, Sequence

from ai_memory.model import Scope
from ai_memory.operations.confidence import confidence_words
from ai_memory.operations.rows import Address, label_from
from ai_memory.operations.search_rows import HitRow

_ORDER = ("fts", "exact", "entity", "observation", "vector", "graph")
_MOST_NAME = 44


def explained(
    rows: Sequence[HitRow],
    scope: Scope | None,
    *,
    legs: Sequence[str],
    timings_ms: Mapping[str, float],
    dropped: Mapping[str, int],
) -> list[str]:
    """The table, what legs say beside their numbers, the times, and what was left out."""
    spent = ", ".join(f"{name} {ms:.1f} ms" for name, ms in timings_ms.items())
    left_out = "; ".join(f"{count} {why}" for why, count in dropped.items()) or "nothing"
    hits = [hit for hit in rows if hit.legs]
    return [
        "",
        *(_table(hits, scope) if hits else ()),
        *(line for number, hit in enumerate(hits, 1) for line in _details(number, hit)),
        f"legs: {', '.join(legs) or 'none'} · {spent}",
        f"left out: {left_out}",
    ]


def _table(hits: Sequence[HitRow], scope: Scope | None) -> list[str]:
    """A line a hit: each leg's share and rank, each factor, the score they make, and how much of the question it holds.

    The page stands last, so that no name of any width moves a column.
    """
    told = {leg.leg for hit in hits for leg in hit.legs}
    legs = [name for name in _ORDER if name in told]
    factors = list(dict.fromkeys(name for hit in hits for name in hit.factors))
    rows = [["", "score", *legs, *(f"× {name}" for name in factors), "holds", "page"]]
    for number, hit in enumerate(hits, 1):
        given = {leg.leg: f"{leg.share:.3f} #{leg.rank}" for leg in hit.legs}
        rows.append(
            [
                *(str(number), f"{hit.score:.3f}"),
                *(given.get(name, "–") for name in legs),
                *(f"{hit.factors[name]:.2f}" if name in hit.factors else "–" for name in factors),
                *(f"{hit.coverage:.0%}", label_from(Address(hit.workspace, hit.project, hit.path), scope)[:_MOST_NAME]),
            ]
        )
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    return ["  ".join([*(cell.rjust(wide) for cell, wide in zip(row, widths, strict=False)), row[-1]]) for row in rows]


def _details(number: int, hit: HitRow) -> list[str]:
    told = [f"{leg.leg}: {leg.detail}" for leg in hit.legs if leg.detail]
    told += [f"confidence {confidence_words(hit.confidence)}"] if hit.confidence else []
    return [f"{number}  {'; '.join(told)}"] if told else []
