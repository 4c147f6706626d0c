"""Which pages say nearly the same: groups of near vectors, by density.

*Source*: the facts on deduplication, 5.3 (DBSCAN, eps at the elbow of the sorted neighbour distances).
"""

import math
from collections.abc import Collection, Iterable, Sequence
from operator import mul

Vector = Sequence[float]
Distances = Sequence[Sequence[float]]
"""Of each point to each, symmetric, 0 to itself."""


def distances(vectors: Sequence[Vector]) -> Distances:
    """Cosine distances, 0 to 2; 1 where a vector is zero or of another length."""
    lengths = [math.sqrt(_dot(one, one)) for one in vectors]
    table = [[0.0] * len(vectors) for _ in vectors]
    for first, one in enumerate(vectors):
        for second in range(first + 1, len(vectors)):
            other, norm = vectors[second], lengths[first] * lengths[second]
            is_comparable = norm > 0 and len(one) == len(other)
            far = min(2.0, max(0.0, 1.0 - _dot(one, other) / norm)) if is_comparable else 1.0
            table[first][second] = table[second][first] = far
    return table


def _dot(one: Iterable[float], other: Iterable[float]) -> float:
    return float(sum(map(mul, one, other)))


def elbow_eps(far: Distances, *, k: int, highest: float) -> float | None:
    """How near is near here: the elbow of the sorted distances to the k-th neighbour, at most `highest`.

    None where there are no more points than k.
    """
    if len(far) <= k:
        return None
    rising = sorted(sorted(row[:at] + row[at + 1 :])[k - 1] for at, row in enumerate(map(list, far)))
    return max(0.0, min(highest, rising[_elbow(rising)]))


def _elbow(rising: Sequence[float]) -> int:
    """Number of the value that lies farthest from the line between the first one and the last one."""
    last = len(rising) - 1
    rise = rising[last] - rising[0]
    # The distance to the line, but for a constant factor.
    away = [abs(rise * at - last * (value - rising[0])) for at, value in enumerate(rising)]
    return max(range(len(rising)), key=lambda at: (away[at], -at))


def near_ones(far: Distances, *, within: float) -> list[list[int]]:
    """For each point the others that lie within that distance."""
    return [[other for other, one in enumerate(row) if other != at and one <= within] for at, row in enumerate(far)]


def clusters(near: Sequence[Collection[int]], *, least: int) -> list[list[int]]:
    """Groups of points, each at least `least` of them with itself counted; what is alone is in none.

    A point with enough neighbours takes them in and goes on from them; one with fewer joins and ends there.
    """
    taken: set[int] = set()
    groups: list[list[int]] = []
    for start in range(len(near)):
        if start in taken or len(near[start]) + 1 < least:
            continue
        group, waiting = [], [start]
        while waiting:
            point = waiting.pop(0)
            if point in taken:
                continue
            taken.add(point)
            group.append(point)
            if len(near[point]) + 1 >= least:
                waiting += [one for one in sorted(near[point]) if one not in taken]
        groups.append(sorted(group))
    return groups
