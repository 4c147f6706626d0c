"""Instants and durations as people write them, as integers of microseconds.

*Source*: RFC 3339 section 5.6; decision C7 for what a bare date means.
"""

import re
from datetime import UTC, date, datetime, timedelta, timezone

from ai_memory.clock import EARLIEST_US, LATEST_US
from ai_memory.errors import MemoryFault

SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_INSTANT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))"
)
_PART = re.compile(r"([0-9]{1,9})(ms|[smhdwy])")
_UNITS_US = {
    "ms": 1000,
    "s": SECOND_US,
    "m": 60 * SECOND_US,
    "h": 3600 * SECOND_US,
    "d": DAY_US,
    "w": 7 * DAY_US,
    "y": 365 * DAY_US,
}
_LONGEST = 64
"""Characters that any of these forms can have: longer input is nonsense."""
_LONGEST_DURATION_US = 100 * 365 * DAY_US
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BadTime(MemoryFault):
    """A text is neither an instant nor a date nor a duration."""


def parse_time(text: str) -> int:
    """Microseconds since the epoch; a bare date is the start of that UTC day. *Errors*: BadTime."""
    day = _day(text)
    return _instant(text) if day is None else day


def parse_expiry(text: str) -> int:
    """Like `parse_time`, but a bare date is the last microsecond of that UTC day."""
    day = _day(text)
    return _instant(text) if day is None else day + DAY_US - 1


def parse_duration(text: str) -> int:
    """Microseconds of `7d`, `1h`, `1h30m`, `90s`, `250ms`, `2w`, `1y` (365 days). *Errors*: BadTime."""
    rest = text.strip().lower() if len(text) <= _LONGEST else ""
    total, at, smallest = 0, 0, _LONGEST_DURATION_US
    while part := _PART.match(rest, at):
        unit_us = _UNITS_US[part[2]]
        if unit_us >= smallest:
            break
        total, at, smallest = total + int(part[1]) * unit_us, part.end(), unit_us
    if not rest or at != len(rest):
        raise BadTime(f"not a duration: {_shown(text)}", hint="write it like 30m, 12h, 7d, 2w or 1h30m")
    if total > _LONGEST_DURATION_US:
        raise BadTime(f"a duration of over 100 years: {_shown(text)}", hint="write a shorter one, such as 365d")
    return total


def parse_moment(text: str, *, now_us: int) -> int:
    """An instant, a date, or a duration before `now_us`: what `--since` and `--until` take."""
    if _PART.match(text.strip().lower()[:_LONGEST]):
        return now_us - parse_duration(text)
    return parse_time(text)


def _day(text: str) -> int | None:
    found = _DATE.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None:
        return None
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError as fault:
        raise _no_such_day(text) from fault
    return (day - _EPOCH.date()).days * DAY_US


def _instant(text: str) -> int:
    found = _INSTANT.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None:
        raise BadTime(
            f"not a time: {_shown(text)}",
            hint="write a date like 2026-11-30, or an instant with its offset like 2026-11-30T08:00:00Z",
        )
    fraction_us = int((found[7] or "0")[:6].ljust(6, "0"))
    try:
        zone = UTC if found[8] else _zone(found[9], int(found[10]), int(found[11]))
        moment = datetime(*(int(found[n]) for n in range(1, 7)), tzinfo=zone)  # type: ignore[arg-type, misc]
        whole = (moment - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError) as fault:
        raise _no_such_day(text) from fault
    if not EARLIEST_US <= whole <= LATEST_US:  # its offset leads out of the calendar
        raise _no_such_day(text)
    return whole + fraction_us


def _zone(sign: str, hours: int, minutes: int) -> timezone:
    if hours > 23 or minutes > 59:
        raise ValueError("offset out of range")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(offset if sign == "+" else -offset)


def _no_such_day(text: str) -> BadTime:
    return BadTime(f"no such time: {_shown(text)}", hint="check month, day, hour, minute, second and offset")


def _shown(text: str) -> str:
    return repr(text[:40] + "…" if len(text) > 40 else text)
