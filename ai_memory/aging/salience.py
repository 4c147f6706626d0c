"""How much a page matters by what was said of it."""

from collections.abc import Iterable, Sequence

from ai_memory.store.feedback import Feedback, Signal

START = 1.0
STEP = 0.25
LEAST = 0.25
MOST = 2.0
"""Source: the facts on salience, 4.2. The least one stays above the cold threshold of 0.20, so that a page which is
said to be wrong today is still there tomorrow."""

FLAGS = frozenset({Signal.STALE, Signal.WRONG})
"""Words that hold of one version alone: whoever rewrites the page has answered them."""


def salience(said: Iterable[Feedback], version: str) -> float:
    """The salience of a page at that version, 0.25 to 2.0, by all that was ever said of it, in the order of time.

    Steps up and down are of the page and stay when it is rewritten; what was stale or wrong counts for that version.
    """
    value = START
    for one in sorted(said, key=lambda one: one.at_us):
        match one.signal:
            case Signal.HELPFUL:
                value = min(MOST, value + STEP)
            case Signal.NOT_HELPFUL:
                value = max(LEAST, value - STEP)
            case Signal.STALE | Signal.WRONG:
                value = LEAST if one.version == version else value
    return value


def flags(said: Sequence[Feedback], version: str) -> list[Feedback]:
    """What was said against that version and not answered, oldest first."""
    return [one for one in said if one.signal in FLAGS and one.version == version]
