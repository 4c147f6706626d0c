"""Where each value stands in the text of a TOML file, so that a fault can name its line and an edit can keep the rest.

`tomllib` says what a file means; this says where. It expects text that `tomllib` accepts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

KeyPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """One `key = value`, by offsets into the text."""

    path: KeyPath
    """The whole path: the table's and the key's own."""
    table: KeyPath
    line: int
    """1-based."""
    start: int
    """Of the key."""
    value_start: int
    value_end: int
    end: int
    """After the line's end."""


@dataclass(frozen=True, slots=True)
class Header:
    """One `[table]` line, by offsets into the text."""

    path: KeyPath
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Every header and assignment, in file order. Elements of `[[arrays]]` of tables share one path."""

    headers: tuple[Header, ...]
    assignments: tuple[Assignment, ...]

    def line_of(self, path: KeyPath) -> int | None:
        """Line of that value, or of the nearest table or value that holds it."""
        while path:
            places = [a.line for a in self.assignments if a.path == path] + [
                h.line for h in self.headers if h.path == path
            ]
            if places:
                return min(places)
            path = path[:-1]
        return None


# Compiled on first use: a run without a file, or without a fault, needs none of them.
_KEY_PART = r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'"""
_STRING = r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\''


class BrokenToml(Exception):
    """The text is not TOML: the line where reading stopped, if known, and the reason."""

    def __init__(self, reason: str, line: int | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def read(text: str) -> dict[str, object]:
    """What the text means. *Errors*: BrokenToml."""
    if not text.strip():
        return {}
    import tomllib  # 6 ms CPU, only where there is a file (2026-11-30)

    try:
        return tomllib.loads(text)
    except RecursionError as fault:
        raise BrokenToml("nested too deeply", None) from fault
    except tomllib.TOMLDecodeError as fault:
        reason, _, place = str(fault).partition(" (at ")
        numbered = re.match(r"line (\d+)", place)
        at_end = text.rstrip().count("\n") + 1 if place.startswith("end") else None
        raise BrokenToml(reason, int(numbered[1]) if numbered else at_end) from fault


def layout(text: str) -> Layout:
    """Headers and assignments of a valid TOML text. On invalid text the answer may be incomplete, never an error."""
    headers: list[Header] = []
    assignments: list[Assignment] = []
    table: KeyPath = ()
    for start, line in _statements(text):
        brackets = 2 if text.startswith("[[", start) else 1 if text[start] == "[" else 0
        keys, after = _key(text, start + brackets)
        if brackets:
            table = keys
            headers.append(Header(table, line, start, _line_end(text, after)))
            continue
        if not keys or not text.startswith("=", after):
            continue
        value_start = _blank(text, after + 1)
        value_end = _value_end(text, value_start)
        end = _line_end(text, value_end)
        assignments.append(Assignment(table + keys, table, line, start, value_start, value_end, end))
    return Layout(tuple(headers), tuple(assignments))


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Offset and line of each header and assignment."""
    at, line = 0, 1
    while at < len(text):
        start = _blank(text, at)
        if start < len(text) and text[start] not in "#\r\n":
            yield start, line
            end = _line_end(text, _value_end(text, start))
        else:
            end = _line_end(text, start)
        line += text.count("\n", at, end)
        at = end


def _key(text: str, at: int) -> tuple[KeyPath, int]:
    """A dotted key and the offset after it and its blanks."""
    parts: list[str] = []
    while True:
        at = _blank(text, at)
        part = re.compile(_KEY_PART).match(text, at)
        if not part:
            return (), at
        parts.append(_unquoted(part[0]))
        at = _blank(text, part.end())
        if not text.startswith(".", at):
            return tuple(parts), at
        at += 1


def _unquoted(part: str) -> str:
    if part[0] == "'":
        return part[1:-1]
    try:
        return str(read(f"k = {part}")["k"]) if part[0] == '"' else part
    except BrokenToml:
        return part


def _value_end(text: str, at: int) -> int:
    """Offset after a value, blanks and comment not counted; brackets may span lines."""
    depth, end = 0, at
    while at < len(text):
        character = text[at]
        if character in "\"'" and (string := re.compile(_STRING, re.DOTALL).match(text, at)):
            at = end = string.end()
            continue
        if character == "#":
            if depth == 0:
                break
            at = _line_end(text, at) - 1
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "\n" and depth <= 0:
            break
        at += 1
        if not character.isspace():
            end = at
    return end


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t":
        at += 1
    return at


def _line_end(text: str, at: int) -> int:
    newline = text.find("\n", at)
    return len(text) if newline < 0 else newline + 1


def assign(text: str, path: KeyPath, literal: str) -> str:
    """The text with `path` set to the TOML literal; every other byte stays.

    A value that stands there is replaced. A new one goes below its last sibling, else below its table's header, else
    into a new table at the end. The caller compares what the result means: a table written inline cannot be split.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    found = layout(text)
    present = [one for one in found.assignments if one.path == path]
    if present:
        return text[: present[-1].value_start] + literal + text[present[-1].value_end :]
    siblings = [one for one in found.assignments if one.path[:-1] == path[:-1]]
    if siblings:
        last = siblings[-1]
        indent = text[_line_start(text, last.start) : last.start]
        line = f"{indent}{_written((*last.path[len(last.table) : -1], path[-1]))} = {literal}{newline}"
        return _inserted(text, last.end, line, newline)
    line = f"{_written(path[-1:])} = {literal}{newline}"
    headers = [one for one in found.headers if one.path == path[:-1]]
    if headers:
        return _inserted(text, headers[-1].end, line, newline)
    if len(path) == 1 and found.headers:
        return _inserted(text, _above_comments(text, found.headers[0].start), line + newline, newline)
    table = "" if len(path) == 1 else f"[{_written(path[:-1])}]{newline}"
    gap = newline if text.strip() and table else ""
    return _inserted(text, len(text), gap + table + line, newline)


def remove(text: str, path: KeyPath) -> str:
    """The text without the lines of that value; unchanged when it is not set."""
    for one in reversed(layout(text).assignments):
        if one.path == path:
            text = text[: _line_start(text, one.start)] + text[one.end :]
    return text


def _inserted(text: str, at: int, line: str, newline: str) -> str:
    gap = newline if at and not text[:at].endswith("\n") else ""
    return text[:at] + gap + line + text[at:]


def _above_comments(text: str, at: int) -> int:
    """Start of the comment lines that stand directly above."""
    at = _line_start(text, at)
    while at > 0 and text[_line_start(text, at - 1) : at].lstrip().startswith("#"):
        at = _line_start(text, at - 1)
    return at


def _written(path: KeyPath) -> str:
    return ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'"{part}"' for part in path)


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1
