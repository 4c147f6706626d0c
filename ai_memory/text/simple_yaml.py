"""Frontmatter of the plainest kind, read without YAML: about 20 times as fast, and no import.

Strict: whatever is not beyond doubt gives None, and YAML reads it. A test proves the two equal.
"""

import re

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?: +(.*))?\Z")
_WORDS = re.compile(r"[A-Za-z](?:[A-Za-z0-9_./()+@&;=!?'*%$~^<>-]| (?=[A-Za-z0-9_./()+@;=?'$^-])|:(?=[A-Za-z0-9/]))*\Z")
"""A plain scalar that begins with a letter, so it is no number and no date. A blank stands between words only."""
_FLOW_WORD = re.compile(r"[A-Za-z](?:[A-Za-z0-9_./-]| (?=[A-Za-z0-9_./-]))*\Z")
_INTEGER = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z)?\Z")
_QUOTED = re.compile(r"\"([\x20!\x23-\x5b\x5d-\x7e]*)\"\Z|'([\x20-\x26\x28-\x7e]*)'\Z")
_LITERALS = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("null", "Null", "NULL"), None),
}


class _NotSimple(Exception):
    """The block is for YAML to read."""


def read_simple(block: str) -> dict[str, object] | None:
    """The mapping, or None when the block is not of the plainest kind.

    *Shape*: lines `key: value`, `key:`, `key: [a, b]`, items `- value` under `key:`, whole-line comments, blank lines.
    """
    if not block.isascii():
        return None
    try:
        return _read(block.replace("\r\n", "\n").split("\n"))
    except _NotSimple:
        return None


def _read(lines: list[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    items: list[object] | None = None
    item_key, indent = "", ""
    for line in lines:
        if not line or line[0] == "#":
            continue
        if item_key and (dash := line.find("- ")) >= 0 and not line[:dash].strip(" "):
            if items is None:
                items, indent = [], line[:dash]
                found[item_key] = items
            elif line[:dash] != indent:
                raise _NotSimple
            items.append(_scalar(line[dash + 2 :].strip(" "), _WORDS))
            continue
        entry = _KEY.match(line)
        if entry is None or entry[1] in found or entry[1] in _LITERALS:
            raise _NotSimple
        value = (entry[2] or "").rstrip(" ")
        item_key, items = ("" if value else entry[1]), None
        found[entry[1]] = _value(value)
    return found


def _value(text: str) -> object:
    if not text:
        return None
    if text[0] == "[":
        if text[-1] != "]":
            raise _NotSimple
        inner = text[1:-1].strip(" ")
        return [_scalar(part.strip(" "), _FLOW_WORD) for part in inner.split(",")] if inner else []
    return _scalar(text, _WORDS)


def _scalar(text: str, words: re.Pattern[str]) -> object:
    if words.match(text):
        return _LITERALS.get(text, text)
    if _INTEGER.match(text):
        return int(text)
    if _DATE.match(text):
        return text
    quoted = _QUOTED.match(text)
    if quoted is None or (words is _FLOW_WORD and "," in text):
        raise _NotSimple
    return quoted[1] if quoted[1] is not None else quoted[2]


def is_plain(text: str) -> bool:
    """The text can stand in YAML without quotes, in a list too, and is read back as this very text."""
    if _FLOW_WORD.match(text) or _DATE.match(text):
        return text.isascii() and text not in _LITERALS
    return False
