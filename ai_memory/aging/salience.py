"""How much a page counts by what was said of it."""

from collections.abc import Iterable

from ai_memory.store.feedback import Feedback, Signal

FRESH = 1.0
LEAST, MOST = 0.25, 2.0
STEP = 0.25


def salience_of(said: Iterable[Feedback], *, version: str) -> float:
    """Salience of the page at that version."""
    value = FRESH
    for one in said:
        if one.signal is Signal.HELPFUL:
            value = min(MOST, value + STEP)
        elif one.signal is Signal.NOT_HELPFUL:
            value = max(LEAST, value - STEP)
    is_flagged = any(one.version == version and one.signal in (Signal.STALE, Signal.WRONG) for one in said)
    return LEAST if is_flagged else value
