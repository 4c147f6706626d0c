"""What is done to a text beside taking secrets out of it: controls, private parts, the cut.

Standard library only. Part of `ai_memory.scrub`, which loads it for the texts that need it.
"""

import re

_CONTROLS = "".join(map(chr, (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0))))
_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_PRIVATE_TAG = r"(?i)<(/?)\s{0,8}+private(?:\s[^<>]{0,256}+)?>"


def without_controls(text: str) -> str:
    """The text without terminal escapes, control characters other than tab and line end, and bidi overrides."""
    if "\x1b" in text or "\x9b" in text:
        strings = r"\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*+(?:\x1b\\)?"
        text = re.sub(strings + r"|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?|\x1b[ -/]*+[0-~]?", "", text)
    for control in _CONTROLS:
        if control in text:
            text = text.replace(control, "")
    if not text.isascii():
        for control in _BIDI:
            if control in text:
                text = text.replace(control, "")
        if not _is_encodable(text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def without_private(text: str) -> str:
    """The text without what stands in `<private>…</private>`; see `ai_memory.scrub.strip_private`."""
    while "private" in text.lower():
        stripped = _without_private_once(text)
        if stripped == text:
            break
        text = stripped
    return text


def _without_private_once(text: str) -> str:
    kept: list[str] = []
    at = depth = 0
    for tag in re.finditer(_PRIVATE_TAG, text):
        if not depth:
            kept.append(text[at : tag.start()])
        depth = depth + 1 if not tag[1] else max(0, depth - 1)
        at = tag.end()
    if not depth:
        kept.append(text[at:])
    return "".join(kept)


def cut(text: str, limit_bytes: int, *, tail: str | None = None, missing_bytes: int = 0) -> str:
    """Head and tail of the text in at most `limit_bytes`; see `ai_memory.scrub.cut_middle`."""
    head_bytes = text.encode()
    tail_bytes = head_bytes if tail is None else tail.encode()
    size = len(head_bytes) if tail is None else len(head_bytes) + missing_bytes + len(tail_bytes)
    if size <= limit_bytes and tail is None:
        return text
    room = limit_bytes - len(_cut_note(size).encode())
    if room < 2:
        return head_bytes[: max(0, limit_bytes)].decode("utf-8", "ignore")
    head_room = room * 2 // 3
    head = head_bytes[:head_room].decode("utf-8", "ignore")
    end = tail_bytes[max(0, len(tail_bytes) - (room - head_room)) :].decode("utf-8", "ignore")
    return head + _cut_note(size - len(head.encode()) - len(end.encode())) + end


def _cut_note(cut_bytes: int) -> str:
    return f"\n[… {cut_bytes} bytes cut …]\n"


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
