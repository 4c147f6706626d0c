"""How much a page's standing moves its score, within bounds: what was decided outranks what was merely logged.

*Source*: the table of ai-memory's engine, taken as the start.
"""

from functools import lru_cache

from ai_memory.search.numbers import AUTHORITY_LEAST, AUTHORITY_MOST

_KINDS = {
    "rule": 0.15,
    "decision": 0.15,
    "procedure": 0.12,
    "gotcha": 0.12,
    "preference": 0.12,
    "concept": 0.07,
    "slot": 0.07,
    "session": -0.15,
    "handoff": -0.15,
}
_TIERS = {"semantic": 0.10, "procedural": 0.10, "episodic": -0.08, "working": -0.03}
_SOURCES = {"canonical", "source-of-truth"}
_SOURCE = 0.20
_ACTIVE = 0.05
_CAPS = {"do-not-answer-from": 0.55, "test-fixture": 0.55, "superseded": 0.65, "historical": 0.80}
_FOLDERS = {"_lint/": -0.20, "investigations/": -0.05}
_PINNED = 0.08


def authority(path: str, kind: str, tier: str, tags: tuple[str, ...], *, is_pinned: bool, bonus: float = 0.0) -> float:
    """A factor from 0.55 to 1.5. `bonus` is what the query's own intent adds."""
    folder = next((folder for folder in _FOLDERS if path.startswith(folder)), "")
    return _standing(folder, kind, tier, tags, is_pinned, bonus)


@lru_cache(maxsize=1024)
def _standing(folder: str, kind: str, tier: str, tags: tuple[str, ...], is_pinned: bool, bonus: float) -> float:
    """Remembered: the 150 pages of a query are of few sorts."""
    named = {tag.strip().lower().replace("_", "-") for tag in tags}
    factor = 1.0 + _KINDS.get(kind, 0.0) + _TIERS.get(tier, 0.0) + bonus
    factor += (_PINNED if is_pinned else 0.0) + _FOLDERS.get(folder, 0.0)
    factor += (_SOURCE if named & _SOURCES else 0.0) + (_ACTIVE if "active" in named else 0.0)
    factor = min([factor, *(_CAPS[tag] for tag in named & _CAPS.keys())])
    return round(min(max(factor, AUTHORITY_LEAST), AUTHORITY_MOST), 4)
