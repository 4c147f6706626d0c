"""Ids of changes: UUIDv7, so that a commit, which knows whole seconds, is told in order with events."""

import re
import secrets

_V7 = re.compile(r"[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}")


def new_change_id(at_us: int) -> str:
    """A new id of that instant, 32 hex."""
    return uuid7_hex(at_us, secrets.randbits(80))


def uuid7_hex(at_us: int, tail: int) -> str:
    """The UUIDv7 of that instant in 32 hex; `tail`: its other 80 bits, some of which give way to version and variant.

    *Source*: RFC 9562, section 5.7.
    """
    number = (at_us // 1000 & (1 << 48) - 1) << 80 | tail
    number = number & ~(0xF << 76) | 0x7 << 76
    return f"{number & ~(0x3 << 62) | 0x2 << 62:032x}"


def exact_us(change_id: str, at_us: int) -> int:
    """The instant in the id, to the millisecond, where it lies in the second of the commit; else that second."""
    if not _V7.fullmatch(change_id):
        return at_us
    told_us = int(change_id[:12], 16) * 1000
    return told_us if told_us // 1_000_000 == at_us // 1_000_000 else at_us
