"""What a producer other than a harness says of its event: whose it is, a key that makes repeats harmless, its time.

Part of the hook, loaded only where one of these is given. `docs/capture.md` is the contract.
"""

import re

from ai_memory import hook_payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LATEST_US = 300_000_000
"""A clock may be ahead of ours by five minutes."""

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Refused(Exception):
    """The event cannot be taken as it is told; the text says why."""


class Producer:
    """What was said, checked. `occurred_us` 0: nothing was said of the time."""

    __slots__ = ("extension", "ingest_key", "occurred_us", "source_event")

    def __init__(self, told: "Mapping[str, str]", *, now_us: int) -> None:
        """`told`: value by name, without dashes before it. *Errors*: Refused."""
        self.extension = _matching(told, "extension", _WORD, "a letter or digit, then letters, digits, . _ -")
        self.ingest_key = _matching(told, "ingest-key", _KEY, "letters, digits, _ and -")
        self.source_event = told.get("source-event", "")[: hook_payload.NAME_LENGTH]
        self.occurred_us = _instant(told["occurred-at"], now_us) if told.get("occurred-at") else 0


def _matching(told: "Mapping[str, str]", name: str, form: "re.Pattern[str]", allowed: str) -> str:
    value = told.get(name, "")
    if value and not form.fullmatch(value):
        raise Refused(f"--{name} takes at most 64 signs: {allowed}")
    return value


def _instant(text: str, now_us: int) -> int:
    """RFC 3339 with an offset, or a number of seconds, milliseconds or microseconds since 1970."""
    at_us = _number(text) if text.lstrip("+-").replace(".", "", 1).isdigit() else _written(text)
    if not 0 < at_us <= now_us + LATEST_US:
        raise Refused("--occurred-at must lie after 1970 and at most 5 minutes ahead")
    return at_us


def _number(text: str) -> int:
    value = float(text)
    return int(value * 1_000_000 if value < 1e11 else value * 1000 if value < 1e14 else value)


def _written(text: str) -> int:
    import datetime  # 2 ms, only for a producer that tells the time

    try:
        at = datetime.datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise Refused("--occurred-at takes RFC 3339 with an offset, as 2026-05-01T12:00:00Z, or a number since 1970")
    return int(at.timestamp() * 1_000_000)
