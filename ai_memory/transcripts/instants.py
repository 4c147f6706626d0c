"""Times as harnesses write them: RFC 3339 with or without a zone, seconds, milliseconds, microseconds."""

from ai_memory.text.times import BadTime, parse_time

_EARLIEST_US = 1_577_836_800_000_000
"""2020-01-01: no agent of today ran before."""


def instant(value: object) -> int:
    """Microseconds since 1970; 0 for what is no time, or one at which no agent ran. A text without a zone is UTC."""
    at_us = 0
    if isinstance(value, str):
        at_us = _written(value)
    elif isinstance(value, (int, float)):
        at_us = counted(value)
    return at_us if at_us >= _EARLIEST_US else 0


def counted(value: float) -> int:
    """Microseconds of a number of seconds, milliseconds or microseconds, by its size; 0 for what is none."""
    if isinstance(value, bool) or not 0 < value < 1e17:
        return 0
    return int(value * 1_000_000 if value < 1e11 else value * 1000 if value < 1e14 else value)


def _written(text: str) -> int:
    for spelling in (text, f"{text}Z"):
        try:
            return parse_time(spelling)
        except BadTime:
            continue
    return 0
