"""How much a page's standing moves its score, within bounds: what was decided outranks what was merely logged.

*Source*: the table of ai-memory's engine, taken as the start.
"""

from functools import lru_cache

from ai_memory.search import numbers

_SOURCES = {"canonical", "source-of-truth"}


def authority(path: str, kind: str, tier: str, tags: tuple[str, ...], *, is_pinned: bool, bonus: float = 0.0) -> float:
    """A factor from 0.55 to 1.5. `bonus` is what the query's own intent adds."""
    folder = path[: path.find("/") + 1]
    return _standing(folder if folder in numbers.STANDING_OF_FOLDERS else "", kind, tier, tags, is_pinned, bonus)


@lru_cache(maxsize=1024)
def _standing(folder: str, kind: str, tier: str, tags: tuple[str, ...], is_pinned: bool, bonus: float) -> float:
    """Remembered: the 150 pages of a query are of few sorts."""
    named = {tag.strip().lower().replace("_", "-") for tag in tags}
    factor = 1.0 + numbers.STANDING_OF_KINDS.get(kind, 0.0) + numbers.STANDING_OF_TIERS.get(tier, 0.0) + bonus
    factor += (numbers.STANDING_OF_PINNED if is_pinned else 0.0) + numbers.STANDING_OF_FOLDERS.get(folder, 0.0)
    is_source, is_active = bool(named & _SOURCES), "active" in named
    factor += numbers.STANDING_OF_SOURCES * is_source + numbers.STANDING_OF_ACTIVE * is_active
    factor = min([factor, *(most for tag, most in numbers.STANDING_AT_MOST.items() if tag in named)])
    return round(min(max(factor, numbers.AUTHORITY_LEAST), numbers.AUTHORITY_MOST), 4)
