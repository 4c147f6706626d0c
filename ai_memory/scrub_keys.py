"""Private keys in PEM, whole blocks. Standard library only; part of `ai_memory.scrub`, loaded where one begins."""

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_KEY = 32_768
"""Characters between the lines that begin and end a private key: one of 16,384 bits in JSON has about half as many."""


def without_private_keys(text: str, redact: "Callable[[str, str], str]") -> str:
    """Whole blocks; one without its end goes as far as its lines look like one. A heading alone is no key."""
    begin = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
    lines = re.compile(r"(?:(?:\\{1,8}[rnt]|[\s\"'+>|,#*\\-]|\d{1,6}[\t:|→])*+[A-Za-z0-9+/=]{8,}+)*+")
    kept: list[str] = []
    at = 0
    while found := begin.search(text, at):
        end = text.find("-----END", found.end(), found.end() + _LONGEST_KEY)
        if end >= 0 and text.find("-----BEGIN", found.end(), end) < 0:
            close = text.find("-----", end + 8)
            stop = close + 5 if 0 <= close - end <= 80 else end + 8
        else:
            tail = lines.match(text, found.end())
            stop = tail.end() if tail else found.end()
        key = text[found.start() : stop]
        kept += [
            text[at : found.start()],
            redact("private-key", key) if _holds_base64(text[found.end() : stop]) else key,
        ]
        at = stop
    kept.append(text[at:])
    return "".join(kept)


def _holds_base64(body: str) -> bool:
    """Whether a third of it at least is base64: what stands between two constants of a program is code."""
    return 3 * sum(map(len, re.findall(r"[A-Za-z0-9+/]{16,}+", body))) >= max(len(body), 16)
