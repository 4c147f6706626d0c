"""Splices into JSON with comments: one member or element comes or goes, every other byte stays.

Each function takes a text that `jsonc.read` accepts and gives one that it accepts. New lines are written as the others
are: same line ends, same indentation, in one line where the neighbours stand in one line.
"""

import json
import re
from collections.abc import Iterator

from ai_memory.text.jsonc import Item, Json, Value, fault_at, gap_end, read

Step = str | int
"""A member's name or an element's place."""

_BLANKS = " \t\r\n"
_SAME_LINE_COMMENT = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_DEFAULT_UNIT = "  "


def value_at(root: Value | None, way: tuple[Step, ...]) -> Value | None:
    """What stands at that way from the root, or None."""
    here = root
    for step in way:
        if here is None:
            return None
        if isinstance(step, int):
            here = here.items[step].value if here.is_list and -len(here.items) <= step < len(here.items) else None
        else:
            here = (
                next((one.value for one in reversed(here.items) if one.key == step), None) if here.is_object else None
            )
    return here


def set_member(text: str, way: tuple[str, ...], value: Json) -> str:
    """The text with that member; objects that are missing on the way are made. *Errors*: JsonFault."""
    root = read(text)
    if root is None:
        return _begun(text, _nested(way, value))
    at = root
    for number, key in enumerate(way):
        if not at.is_object:
            raise fault_at(text, at.start, f"{_told(way[:number])} is no object")
        below = value_at(at, (key,))
        if below is None:
            rest = _nested(way[number + 1 :], value)
            return _with_item(text, root, at, f"{_dumped(key)}: ", rest)
        at = below
    if at.plain == value:
        return text
    return text[: at.start] + _written(text, root, at, value) + text[at.end :]


def append(text: str, way: tuple[str, ...], value: Json) -> str:
    """The text with one element more at the end of that list, which is made if it is missing. *Errors*: JsonFault."""
    root = read(text)
    found = value_at(root, way)
    if found is None or root is None:
        return set_member(text, way, [value])
    if not found.is_list:
        raise fault_at(text, found.start, f"{_told(way)} is no list")
    return _with_item(text, root, found, "", value)


def remove(text: str, way: tuple[Step, ...]) -> str:
    """The text without that member or element, and without the comma and the blanks that came with it."""
    root = read(text)
    container = value_at(root, way[:-1])
    if container is None:
        return text
    step = way[-1]
    places = [n for n, one in enumerate(container.items) if (one.key if container.is_object else n) == step]
    return _without(text, container, places[-1]) if places else text


def _begun(text: str, value: Json) -> str:
    """The first value of a text that holds none yet; comments stay above it."""
    newline = line_end(text)
    gap = newline if text.lstrip("\ufeff").strip() and not text.endswith(("\n", "\r")) else ""
    return f"{text}{gap}{_dumped(value, _DEFAULT_UNIT, newline)}{newline}"


def _with_item(text: str, root: Value, container: Value, name: str, value: Json) -> str:
    items, newline = container.items, line_end(text)
    if not _is_spread(text, root, container):
        new = name + _dumped(value)
        if not items:
            at = _without_blanks(text, container.start + 1, container.end - 1)
            return text[:at] + new + text[at:]
        comma = _comma_after(text, items[-1])
        if comma is None:
            return f"{text[: items[-1].end]}, {new}{text[items[-1].end :]}"
        return f"{text[: comma + 1]} {new},{text[comma + 1 :]}"
    unit, outer = _unit(text, root), _indent(text, container.start)
    inner = _indent(text, items[0].start) if items else outer + unit
    new = newline + inner + name + _dumped(value, unit, newline + inner)
    if not items:
        at = _without_blanks(text, container.start + 1, container.end - 1)
        return text[:at] + new + newline + outer + text[container.end - 1 :]
    last = items[-1]
    comma = _comma_after(text, last)
    at = last.end if comma is None else comma + 1
    anchor = at
    while found := _SAME_LINE_COMMENT.match(text, anchor):
        anchor = found.end()
    before = text[: last.end] + "," + text[last.end : anchor] if comma is None else text[:anchor]
    return before + new + ("" if comma is None else ",") + text[anchor:]


def _without(text: str, container: Value, place: int) -> str:
    items = container.items
    item = items[place]
    comma = _comma_after(text, item)
    is_last = place == len(items) - 1
    end = item.end
    cuts: list[tuple[int, int]] = []
    if comma is not None:
        cuts.append((comma, comma + 1))
        end = comma + 1 if not text[item.end : comma].strip(_BLANKS) else item.end
    elif place:
        before = _comma_after(text, items[place - 1])
        assert before is not None
        cuts.append((before, before + 1))
    gap = container.start + 1 if place == 0 else items[place - 1].end
    start = _without_blanks(text, gap, item.start)
    last = _last_comment(text, gap, start)
    is_in_comment = last is not None and last.end() == start and last[0].startswith("//")
    is_safe = not is_in_comment or _LINE_END.match(text, end)
    stands_first_in_line = text[start : item.start] == "" and place == 0
    if not is_safe or stands_first_in_line:
        start = item.start
        while not is_last and end < len(text) and text[end] in _BLANKS:
            end += 1
    cuts.append((start, end))
    if len(items) == 1:
        inside = _cut(text[: container.end - 1], cuts)[container.start + 1 :]
        if not inside.strip(_BLANKS):
            return text[: container.start + 1] + text[container.end - 1 :]
    return _cut(text, cuts)


def _last_comment(text: str, start: int, end: int) -> re.Match[str] | None:
    """The last comment of a stretch that holds comments, blanks and commas. Two slashes within another one are none."""
    return next(reversed(list(_COMMENT.finditer(text, start, end))), None)


def _without_blanks(text: str, start: int, end: int) -> int:
    """Where that stretch ends without the blanks at its end; those of a comment are the comment's."""
    last = _last_comment(text, start, end)
    least = start if last is None else last.end()
    while end > least and text[end - 1] in _BLANKS:
        end -= 1
    return end


def _cut(text: str, cuts: list[tuple[int, int]]) -> str:
    at, kept = 0, []
    for start, end in sorted(cuts):
        kept.append(text[at : max(at, start)])
        at = max(at, end)
    return "".join([*kept, text[at:]])


def _comma_after(text: str, item: Item) -> int | None:
    at = gap_end(text, item.end)
    return at if text[at : at + 1] == "," else None


def _written(text: str, root: Value, old: Value, value: Json) -> str:
    """A value that takes the place of another one."""
    if not _has_line_end(text[root.start : root.end]):
        return _dumped(value)
    return _dumped(value, _unit(text, root), line_end(text) + _indent(text, old.start))


def _is_spread(text: str, root: Value, container: Value) -> bool:
    """Whether its items stand on lines of their own, or would."""
    if container.items:
        return _has_line_end(text[container.start : container.items[0].start])
    return container is root or _has_line_end(text[root.start : root.end])


def _has_line_end(text: str) -> bool:
    return "\n" in text or "\r" in text


def _unit(text: str, root: Value) -> str:
    """What one step of indentation is."""
    for container in _containers(root):
        if container.items and _has_line_end(text[container.start : container.items[0].start]):
            outer, inner = _indent(text, container.start), _indent(text, container.items[0].start)
            if inner.startswith(outer) and inner != outer:
                return inner[len(outer) :]
    return _DEFAULT_UNIT


def _containers(value: Value) -> Iterator[Value]:
    if value.items:
        yield value
    for item in value.items:
        yield from _containers(item.value)


def _indent(text: str, at: int) -> str:
    """The blanks at the beginning of the line in which `at` stands."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    line = text[start:at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def line_end(text: str) -> str:
    """How the lines of a file end; a lone carriage return ends a comment, too."""
    if "\r\n" in text:
        return "\r\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def _nested(way: tuple[str, ...], value: Json) -> Json:
    for key in reversed(way):
        value = {key: value}
    return value


def _dumped(value: Json, unit: str | None = None, newline: str = "\n") -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit)
    return text.replace("\n", newline) if unit is not None else text


def _told(way: tuple[Step, ...]) -> str:
    return ".".join(map(str, way)) or "the file"
