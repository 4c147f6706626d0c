"""Markdown as plain text for one-line uses, and text that is safe to print on a terminal."""

import re

_LINK = re.compile(r"!?\[([^\[\]]{0,512}+)\](?:\([^()\s]{0,1024}+(?:[ \t]\"[^\"]{0,256}+\")?\)|\[[^\[\]]{0,256}+\])")
_WIKI = re.compile(r"!?\[\[([^\[\]|]{1,512}+)(?:\|([^\[\]]{0,512}+))?+\]\]")
_HTML = re.compile(r"</?[A-Za-z][^<>]{0,256}+>|<!--[^<>]{0,512}+-->")
_STRONG = re.compile(r"\\([!-/:-@\[-`{-~])|\*{1,3}|~~|(?<![^\W_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![^\W_])")
"""An escaped mark, which stays, or a mark of emphasis, which goes."""
_MARKER = re.compile(r"[ \t]*+(?:>[ \t]?|#{1,6}(?=[ \t]|\Z)[ \t]*+|[-+*][ \t]+|[0-9]{1,9}[.)][ \t]+|(?:```|~~~).*+)")

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)} | {
    code: f"\\u{code:04x}"
    for code in (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000))
}
"""What a terminal obeys (ESC, CSI, BEL, CR, bidi overrides) → how it is shown instead."""


def printable(text: str) -> str:
    """The text with every terminal control and bidi control shown as its escape. Tab and line feed stay.

    Idempotent; printing the result can move no cursor, set no colour and reverse no text.
    """
    if text.replace("\n", "").replace("\t", "").isprintable():  # Unicode calls none of the escaped ones printable
        return text
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def plain_line(text: str) -> str:
    """Inline markdown as one line of plain text: labels for links, no emphasis, no tags. Linear."""
    if "[" in text:
        text = _WIKI.sub(lambda found: found[2] or found[1], text)
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _HTML.sub("", text)
    if "*" in text or "_" in text or "~~" in text or "\\" in text:
        text = _STRONG.sub(lambda found: found[1] or "", text)
    return " ".join(text.replace("`", "").split())


def plain(text: str) -> str:
    """Markdown lines as plain lines: markers of headings, lists, quotes and fences gone, blank lines dropped."""
    lines = []
    for line in text.split("\n"):
        at = 0
        while found := _MARKER.match(line, at):
            if found.end() == at:
                break
            at = found.end()
        bare = plain_line(line[at:])
        if bare:
            lines.append(bare)
    return "\n".join(lines)


def clip(text: str, limit_bytes: int) -> str:
    """The text in at most so many bytes of UTF-8, cut between words where that loses little; `…` where it was cut."""
    content = text.encode("utf-8", "replace")
    if len(content) <= limit_bytes:
        return text
    kept = content[: max(0, limit_bytes - len("…".encode()))].decode("utf-8", "ignore")
    space = max(kept.rfind(" "), kept.rfind("\n"))
    return (kept[:space] if space > len(kept) // 2 else kept).rstrip() + "…"
