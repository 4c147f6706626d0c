"""Bytes that are no UTF-8 as text, and back: so that what looks for secrets in texts looks into them, too."""

_FIRST = 0xE000
"""Of the private use area: no pattern of ours names a character there, and nobody's text means one."""


def as_text(content: bytes) -> tuple[str, bool]:
    """The text, and whether it is UTF-8. Of other bytes each above 127 is one private character."""
    try:
        return content.decode("utf-8"), True
    except UnicodeDecodeError:
        return "".join(chr(byte if byte < 128 else _FIRST + byte) for byte in content), False


def as_bytes(text: str, *, is_utf8: bool) -> bytes:
    """The bytes of a text that `as_text` gave, changed or not."""
    if is_utf8:
        return text.encode("utf-8")
    return b"".join(
        bytes([ord(character) - _FIRST]) if _FIRST + 128 <= ord(character) < _FIRST + 256 else character.encode("utf-8")
        for character in text
    )
