"""The only place that makes `Sanitized` text: private parts out, secrets out, then cut to length, in this order.

Cutting first would split a secret and leave half of it (#980, #1114), so `cap` takes only what was sanitised.
"""

from collections.abc import Iterable

from ai_memory.model import Sanitized
from ai_memory.scrub import scrub, strip_private


def sanitize(text: str, *, extra: Iterable[str] = (), allow: Iterable[str] = ()) -> Sanitized:
    """The text as it may be stored: without `<private>` parts, secrets, control characters. Idempotent.

    `extra` and `allow` are the regular expressions of `[sanitize]` in the configuration.
    """
    return Sanitized(scrub(strip_private(text), extra=extra, allow=allow))


def cap(text: Sanitized, limit_bytes: int) -> Sanitized:
    """The text in at most `limit_bytes` of UTF-8: head and tail kept, what was cut counted between them.

    Two thirds are head. A limit too small for the note (about 40 bytes) gives the head alone.
    """
    size = len(text) if text.isascii() else len(text.encode())
    if size <= limit_bytes:
        return text
    encoded = text.encode()
    room = limit_bytes - len(cut_note(size).encode())
    if room < 2:
        return Sanitized(_head(encoded, max(0, limit_bytes)))
    head = _head(encoded, room * 2 // 3)
    tail = _tail(encoded, room - room * 2 // 3)
    return Sanitized(head + cut_note(size - len(head.encode()) - len(tail.encode())) + tail)


def cut_note(cut_bytes: int) -> str:
    """What stands where text was cut."""
    return f"\n[… {cut_bytes} bytes cut …]\n"


def _head(encoded: bytes, size: int) -> str:
    return encoded[:size].decode("utf-8", "ignore")


def _tail(encoded: bytes, size: int) -> str:
    return encoded[len(encoded) - size :].decode("utf-8", "ignore") if size else ""
