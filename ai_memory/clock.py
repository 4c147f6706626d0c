"""Time, taken once an operation and passed down."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

_EPOCH = datetime(1970, 1, 1)
"""In UTC, as every time here."""

Clock = Callable[[], int]
"""Gives the present instant in microseconds since 1970-01-01 UTC."""


EARLIEST_US = -62_135_596_800_000_000
"""0001-01-01T00:00:00Z: RFC 3339 writes a year in four digits."""
LATEST_US = 253_402_300_799_999_999
"""9999-12-31T23:59:59.999999Z."""


def now_us() -> int:
    """Microseconds since the epoch, from the system clock."""
    return time.time_ns() // 1000


def within_calendar(at_us: int) -> int:
    """The instant, or the nearest one that RFC 3339 can write: a commit of git's may be dated millions of years off."""
    return min(max(at_us, EARLIEST_US), LATEST_US)


def rfc3339(at_us: int) -> str:
    """The instant as RFC 3339 in UTC, whole seconds when there is no fraction: `2026-11-30T08:00:00Z`. Never raises."""
    seconds, fraction = divmod(within_calendar(at_us), 1_000_000)
    # Not fromtimestamp and strftime: some platforms refuse years before 1970, or write year 1 as `1`.
    stem = (_EPOCH + timedelta(seconds=seconds)).isoformat()
    return f"{stem}.{fraction:06d}Z" if fraction else f"{stem}Z"
