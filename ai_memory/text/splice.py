"""Changing named keys of a page's frontmatter and nothing else, byte for byte."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ai_memory.text.faults import BadPage
from ai_memory.text.frontmatter import Parts, read_block, split
from ai_memory.text.simple_yaml import is_plain

if TYPE_CHECKING:
    from ai_memory.text.yaml_block import Entry

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_YAML_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)}
"""Characters that JSON leaves as they are and YAML refuses or folds."""
_BLOCK_HEADER = re.compile(r"[|>][-+0-9]*[ \t]+(#[^\r\n]*)")
_MAX_FLOW = 100
"""Characters of a new list that stands on one line."""


def splice(text: str, changes: Mapping[str, object | None], *, path: str) -> str:
    """The page with those frontmatter keys set, `None` removing a key; every other byte stays.

    *Shape*: values are str, bool, int, float, lists and mappings of them. A page without a block gains one, one
    whose last key goes loses it (comments keep it). *Errors*: BadPage, also when a change could not be made safely.
    """
    parts = split(text)
    if not parts.has_block:
        return _with_new_block(text, parts, changes, path=path)
    block = text[parts.block_start : parts.block_end]
    old = read_block(block, path=path)
    wanted = {
        key: value
        for key, value in changes.items()
        if (key in old if value is None else not _same(old.get(key), value))
    }
    if not wanted:
        return text
    from ai_memory.text.yaml_block import entries  # PyYAML, 15 ms: only where a block is changed

    edited = _Editor(block, entries(block, path=path), _newline(text), path).apply(wanted)
    expected = {key: value for key, value in {**old, **changes}.items() if value is not None or key not in changes}
    new = text[: parts.block_start] + edited + text[parts.block_end :]
    if not edited.strip():
        bare = text[: 1 if text.startswith("\ufeff") else 0] + text[parts.body_start :]
        new = new if split(bare).has_block else bare
    _prove(new, expected, text[parts.body_start :], path=path)
    return new


def compose(frontmatter: Mapping[str, object], body: str) -> str:
    """A new page: the keys that are not None as a block, then the body as it is. No keys, no block."""
    lines = "".join(_entry(key, value, 0, "\n") for key, value in frontmatter.items() if value is not None)
    if not lines and not split(body).has_block:
        return body
    return f"---\n{lines}---\n{body}"


def _with_new_block(text: str, parts: Parts, changes: Mapping[str, object | None], *, path: str) -> str:
    live = {key: value for key, value in changes.items() if value is not None}
    if not live:
        return text
    newline = _newline(text)
    lines = "".join(_entry(key, value, 0, newline) for key, value in live.items())
    new = f"{text[: parts.body_start]}---{newline}{lines}---{newline}{text[parts.body_start :]}"
    _prove(new, live, text[parts.body_start :], path=path)
    return new


def _prove(new: str, expected: Mapping[str, object], body: str, *, path: str) -> None:
    """Read the result back: every key and the body must be what they should be."""
    parts = split(new)
    found = read_block(new[parts.block_start : parts.block_end], path=path) if parts.has_block else {}
    if new[parts.body_start :] != body or not _same(found, dict(expected)):
        raise BadPage(path, 1, "this frontmatter cannot be changed safely by a program", hint="edit the file by hand")


class _Editor:
    """Edits of one block, collected as (start, end, new text) and applied from the end."""

    def __init__(self, block: str, found: "list[Entry]", newline: str, path: str) -> None:
        self.block = block
        self.found = found
        self.newline = newline
        self.path = path
        self.edits: list[tuple[int, int, str]] = []
        self.column = found[0].column if found else 0

    def apply(self, changes: Mapping[str, object | None]) -> str:
        if self.column < 0:
            raise BadPage(self.path, 2, "the frontmatter is written as one {…}", hint="write one 'key: value' a line")
        places = {entry.key.text: place for place, entry in enumerate(self.found)}
        added = ""
        for key, value in changes.items():
            place = places.get(key)
            if place is None:
                added += "" if value is None else _entry(key, value, self.column, self.newline)
            elif value is None:
                self.edits.append((self._line_start(place), self._entry_end(place), ""))
            else:
                self._replace(place, value)
        block = self.block
        for start, end, new in sorted(self.edits, reverse=True):
            block = block[:start] + new + block[end:]
        if added and block and not block.endswith("\n"):
            block += self.newline
        return block + added

    def _replace(self, place: int, value: object) -> None:
        entry = self.found[place]
        colon = self._colon(place)
        if colon < 0 or isinstance(value, Mapping):
            self._replace_lines(place, value)
        elif entry.item_column >= 0 and isinstance(value, list) and value and self._starts_below(place):
            pad = " " * entry.item_column
            items = "".join(f"{pad}- {one_line_yaml(item)}{self.newline}" for item in value)
            self.edits.append((self._next_line(colon), self._entry_end(place), items))
        elif entry.is_flow or (entry.is_scalar and entry.style not in ("|", ">")):
            blank = "" if self.block[entry.start - 1 : entry.start].isspace() else " "
            self.edits.append((entry.start, entry.end, blank + one_line_yaml(value)))
        else:
            self._replace_lines(place, value)

    def _replace_lines(self, place: int, value: object) -> None:
        """The whole entry anew; a comment behind its key stays."""
        entry = self.found[place]
        new = _entry(entry.key.text, value, self.column, self.newline)
        comment = self._key_comment(place)
        if comment:
            first, newline, rest = new.partition(self.newline)
            new = f"{first} {comment}{newline}{rest}"
        self.edits.append((self._line_start(place), self._entry_end(place), new))

    def _key_comment(self, place: int) -> str:
        entry = self.found[place]
        if entry.style in ("|", ">"):
            header = _BLOCK_HEADER.match(self.block, entry.start)
            return header[1] if header else ""
        colon = self._colon(place)
        if colon < 0 or not self._starts_below(place):
            return ""
        rest = self.block[colon + 1 : self._next_line(colon)].strip()
        return rest if rest.startswith("#") else ""

    def _colon(self, place: int) -> int:
        """Offset of the colon behind the key, -1 for a key written with `?`."""
        end = self.found[place].key.end
        while self.block[end : end + 1] in (" ", "\t"):
            end += 1
        return end if self.block[end : end + 1] == ":" else -1

    def _starts_below(self, place: int) -> bool:
        entry = self.found[place]
        return entry.start < entry.end and "\n" in self.block[entry.key.end : entry.start]

    def _line_start(self, place: int) -> int:
        return self.block.rfind("\n", 0, self.found[place].key.start) + 1

    def _next_line(self, at: int) -> int:
        end = self.block.find("\n", at)
        return len(self.block) if end < 0 else end + 1

    def _entry_end(self, place: int) -> int:
        """Behind the last line of the entry; blank lines and unindented comments after it are not its own."""
        entry = self.found[place]
        end = self._line_start(place + 1) if place + 1 < len(self.found) else len(self.block)
        is_open = entry.style in ("|", ">") or not (entry.is_flow or entry.is_scalar)
        least = self._next_line(entry.key.end if is_open else max(entry.end, entry.key.end))
        while end > least:
            start = self.block.rfind("\n", 0, end - 1) + 1
            line = self.block[start:end]
            if line.strip() and not line.startswith("#"):
                break
            end = start
        return max(end, least)


def _entry(key: str, value: object, column: int, newline: str) -> str:
    """`key: value` with its line end, nested mappings indented by two."""
    head = f"{' ' * column}{key if _PLAIN_KEY.match(key) else _quoted(key)}:"
    if isinstance(value, Mapping) and value:
        inner = "".join(_entry(str(name), one, column + 2, newline) for name, one in value.items())
        return f"{head}{newline}{inner}"
    if isinstance(value, (list, tuple)) and value:
        flow = one_line_yaml(value)
        if len(flow) > _MAX_FLOW or any(isinstance(one, (Mapping, list, tuple)) for one in value):
            pad = " " * (column + 2)
            return f"{head}{newline}" + "".join(f"{pad}- {one_line_yaml(one)}{newline}" for one in value)
        return f"{head} {flow}{newline}"
    return f"{head} {one_line_yaml(value)}{newline}"


def one_line_yaml(value: object) -> str:
    """The value as YAML on one line, quoted only where it must be."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(str(key))}: {one_line_yaml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(one_line_yaml(one) for one in value) + "]"
    text = str(value)
    return text if is_plain(text) else _quoted(text)


def _number(value: float) -> str:
    """A number that YAML 1.1 reads as the same number: its floats need a point and a signed exponent."""
    text = repr(value)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text if isinstance(value, int) or text[-1].isdigit() else _quoted(text)


def _quoted(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        raise BadPage("the new frontmatter", 1, "a value holds a lone surrogate", hint="remove it") from fault
    return json.dumps(text, ensure_ascii=False).translate(_YAML_ESCAPES)


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _same(one: object, other: object) -> bool:
    """Equal in value and kind: `True` is not `1`."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = {str(key): value for key, value in other.items()}
        return one.keys() == names.keys() and all(_same(value, names[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other
