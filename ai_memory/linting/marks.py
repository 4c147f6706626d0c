"""What the text of one page shows by itself. Pure: the same text gives the same marks."""

import re
from collections import Counter
from dataclasses import dataclass

from ai_memory.scrub import MARK, TooSlow, scrub
from ai_memory.text.fences import MARK as FENCE_MARK
from ai_memory.text.fences import NOTICE, UNFENCED_NOTICE
from ai_memory.text.injection import order_at
from ai_memory.text.sanitize import OwnPatterns
from ai_memory.text.shingles import Shingles, shingles

MOST_ORDERS = 1 << 20
"""Characters that are searched for orders: 0.2 s of CPU (2026-12-01)."""
_LABEL = re.compile(r"\[REDACTED:([a-z0-9-]{1,40})\]")
_OURS = tuple(words.casefold() for words in (f"{FENCE_MARK}:start", f"{FENCE_MARK}:end", NOTICE, UNFENCED_NOTICE))
"""What only text has that came out of a memory: markers, and the notice below them."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Lines are 1-based lines of the file; 0 where there is none."""

    body_bytes: int
    is_empty: bool
    secrets: tuple[str, ...]
    """Kinds of what looks like a secret, each once."""
    secret_line: int
    order_line: int
    """Where it reads like an order to an agent."""
    echo_line: int
    """Where text stands that came out of a memory."""
    shingles: Shingles
    """None of a page that is compared with no other."""
    was_slow: bool = False
    """A person's own patterns took too long."""


def marks_of(text: str, body_start: int, own: OwnPatterns, *, is_compared: bool = True) -> Marks:
    """What that page shows."""
    body = text[body_start:]
    clean, was_slow = _scrubbed(text, own)
    secrets = tuple(Counter(_LABEL.findall(clean)) - Counter(_LABEL.findall(text))) if clean != text else ()
    order = order_at(text[:MOST_ORDERS])
    echo = _echo_at(text)
    return Marks(
        body_bytes=len(body.encode("utf-8", "replace")),
        is_empty=not body.strip(),
        secrets=secrets,
        secret_line=_first_difference(text, clean) if secrets else 0,
        order_line=0 if order is None else line_of(text, order),
        echo_line=0 if echo is None else line_of(text, echo),
        shingles=shingles(body) if is_compared else (),
        was_slow=was_slow,
    )


def _echo_at(text: str) -> int | None:
    """Where text of ours begins; of a text whose folding changes its length about there."""
    low = text.casefold()
    found = [at for words in _OURS if (at := low.find(words)) >= 0]
    return min(found, default=None)


def line_of(text: str, offset: int) -> int:
    """1-based line of a place in a text."""
    return text.count("\n", 0, offset) + 1


def _scrubbed(text: str, own: OwnPatterns) -> tuple[str, bool]:
    try:
        return scrub(text, extra=own.extra, allow=own.allow), False
    except TooSlow:
        return _without_own(text), True


def _without_own(text: str) -> str:
    """What our patterns leave of it; nobody's list of what may pass is asked."""
    return scrub(text)


def _first_difference(text: str, clean: str) -> int:
    """The first line that the sanitiser would change for a secret in it."""
    pairs = zip(text.split("\n"), clean.split("\n"), strict=False)
    return next(number for number, (one, other) in enumerate(pairs, 1) if one != other and MARK in other)
