"""JSON from elsewhere, read so that it can mean one thing only."""

import json
import math
from collections import Counter

from ai_memory.errors import MemoryFault, echo

MOST_DIGITS = 300
"""Of one number; a float of more is infinite."""


class BadJson(MemoryFault):
    """A text is no JSON, or JSON that means different things to different readers."""


def read_json(content: bytes) -> object:
    """The value. *Errors*: BadJson: also for NaN, a key that stands twice, numbers and depths beyond all use."""
    try:
        return json.loads(
            content.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_constant=_refused,
            parse_int=_whole,
            parse_float=_real,
        )
    except UnicodeDecodeError as fault:
        raise BadJson(f"it is not UTF-8 at byte {fault.start}") from fault
    except json.JSONDecodeError as fault:
        raise BadJson(f"line {fault.lineno}, column {fault.colno}: {fault.msg}") from fault
    except RecursionError as fault:
        raise BadJson("it is nested too deeply") from fault


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, number in Counter(name for name, _ in pairs).items() if number > 1)
        raise BadJson(f"the key {echo(twice)} stands twice in one object")
    return found


def _refused(word: str) -> object:
    raise BadJson(f"{word} is no JSON")


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise BadJson(f"a number of {len(digits):,} digits")
    return int(digits)


def _real(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadJson(f"a number that no computer holds: {echo(digits)}")
    return number
