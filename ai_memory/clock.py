"""Time, taken once an operation and passed down."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], int]
"""Gives the present instant in microseconds since 1970-01-01 UTC."""


def now_us() -> int:
    """Microseconds since the epoch, from the system clock."""
    return time.time_ns() // 1000


def rfc3339(at_us: int) -> str:
    """The instant as RFC 3339 in UTC, whole seconds when there is no fraction: `2026-11-30T08:00:00Z`."""
    moment = datetime.fromtimestamp(at_us // 1_000_000, UTC)
    fraction = at_us % 1_000_000
    stem = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stem}.{fraction:06d}Z" if fraction else f"{stem}Z"
