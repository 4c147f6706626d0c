"""Text that a terminal may see: control characters of stored pages never reach it."""

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""All controls but tab and newline, and the marks that turn the direction of text around (CVE-2021-42574)."""


def shown(text: str) -> str:
    """The text with control and direction characters written out as `\\x1b` or `\\u202e`; CRLF becomes a newline."""
    return _CONTROLS.sub(_written_out, text.replace("\r\n", "\n"))


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
