"""Splices into TOML of other programs: one table, value or element comes or goes, every other byte stays.

A table that is new goes to the end of the file, one that goes takes its own lines along: both by the offsets of
`ai_memory.toml_text`. Only what stands inside an inline table or an inline list is edited through tomlkit, which moves
tables of others now and then. Whatever was done, the text must afterwards mean what was asked for, else it is refused.
"""

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

from ai_memory.text.jsonc import BYTE_ORDER_MARK, Json
from ai_memory.text.jsonc_edit import Step, line_end
from ai_memory.toml_text import Header, layout
from ai_memory.toml_text import assign as assign_line
from ai_memory.toml_text import remove as remove_lines

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class TomlFault(Exception):
    """Why a text is not what it should be, and where: line and column count from 1, 0 where they are not known."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(f"{reason}, line {line}, column {column}" if line else reason)
        self.reason = reason
        self.line = line
        self.column = column


def read(text: str) -> dict[str, Any]:
    """What the text means. *Errors*: TomlFault."""
    import tomllib  # 6 ms CPU, only where there is such a file

    plain = text.removeprefix(BYTE_ORDER_MARK)
    try:
        return tomllib.loads(plain)
    except RecursionError as fault:
        raise TomlFault("nested too deeply") from fault
    except tomllib.TOMLDecodeError as fault:
        found = _PLACE.search(str(fault))
        reason = _PLACE.sub("", str(fault))
        if found and found[1]:
            raise TomlFault(reason, int(found[1]), int(found[2])) from fault
        lines = plain.split("\n")
        raise TomlFault(f"{reason}: it ends too early", len(lines), len(lines[-1]) + 1) from fault


def set_value(text: str, way: tuple[str, ...], value: Json) -> str:
    """The text with that table or value; tables that are missing on the way are made. *Errors*: TomlFault."""
    wanted = read(text)
    _put(wanted, way, value)
    return _checked(text, wanted, lambda plain: _set(plain, way, value))


def append(text: str, way: tuple[str, ...], value: Mapping[str, Json]) -> str:
    """The text with one table more at the end of that list of tables (`[[way]]`). *Errors*: TomlFault."""
    wanted = read(text)
    here = _found(wanted, way)
    if here is not None and not isinstance(here, list):
        raise TomlFault(f"{'.'.join(way)} is no list", layout(text).line_of(way) or 0, 1)
    _put(wanted, way, [*(here or []), value])
    return _checked(text, wanted, lambda plain: _append(plain, way, value))


def remove(text: str, way: tuple[Step, ...]) -> str:
    """The text without that table, value or element. *Errors*: TomlFault."""
    wanted = read(text)
    holder = _found(wanted, way[:-1])
    if holder is None or (isinstance(holder, dict) and way[-1] not in holder):
        return text
    del holder[way[-1]]
    if isinstance(holder, list) and not holder and _headers(text, _names(way)):
        _drop(wanted, _names(way))
    return _checked(text, wanted, lambda plain: _remove(plain, way), is_removal=True)


def _set(text: str, way: tuple[str, ...], value: Json) -> str:
    if _is_inline(text, way):
        return _by_library(text, way, value)
    if not isinstance(value, Mapping):
        return assign_line(text, way, _literal(value))
    if _found(read(text), way) is not None:
        blocks = _blocks(text, way, below=True)
        if len(blocks) == 1:
            start, end = blocks[0]
            return text[:start] + _table(way, value, line_end(text)) + text[end:]
        text = _remove(text, way)
    return _at_end(text, _table(way, value, line_end(text)))


def _append(text: str, way: tuple[str, ...], value: Mapping[str, Json]) -> str:
    here = _found(read(text), way)
    if here is None or _headers(text, way):
        return _at_end(text, _table(way, value, line_end(text), brackets=2))
    return _by_library(text, way, [*here, value])


def _remove(text: str, way: tuple[Step, ...]) -> str:
    names, step = _names(way), way[-1]
    if isinstance(step, int):
        blocks = _blocks(text, names)
        if not blocks:
            return _by_library(text, way, None)
        start, end = blocks[step]
        return _cut(text, start, end)
    if not _blocks(text, names):
        lines = remove_lines(text, names)
        return lines if lines != text else _by_library(text, way, None)
    for start, end in reversed(_blocks(text, names, below=True)):
        text = _cut(text, start, end)
    return text


def _by_library(text: str, way: tuple[Step, ...], value: Json) -> str:
    """What stands inline, set or (None) removed by tomlkit."""
    import tomlkit  # 60 ms CPU, and only where tables stand inline
    from tomlkit.exceptions import TOMLKitError

    try:
        document: Any = tomlkit.parse(text)
        holder = document
        for step in way[:-1]:
            holder = holder[step]
        if value is None:
            del holder[way[-1]]
        elif isinstance(value, list) and isinstance(holder.get(way[-1]), list):
            holder[way[-1]].append(_item(value[-1]))
        else:
            holder[way[-1]] = _item(value)
        return str(document.as_string())
    except (TOMLKitError, KeyError, TypeError, ValueError) as fault:
        raise TomlFault(f"{'.'.join(map(str, way))} cannot be edited in place: {fault}") from fault


def _checked(text: str, wanted: dict[str, Any], edit: Callable[[str], str], *, is_removal: bool = False) -> str:
    """The edited text, if it means what was wanted."""
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    made = edit(text.removeprefix(BYTE_ORDER_MARK))
    try:
        is_right = _same(read(made), wanted, is_removal=is_removal)
    except TomlFault:
        is_right = False
    if not is_right:
        raise TomlFault("it is written in a way that cannot be edited without touching what others wrote")
    return mark + made


def _same(made: dict[str, Any], wanted: dict[str, Any], *, is_removal: bool) -> bool:
    """Whether both mean one thing; a removal may take tables along that hold nothing any more."""
    return made == wanted or (is_removal and _without_empty(made) == _without_empty(wanted))


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {key: _without_empty(one) for key, one in value.items()}
    return {key: one for key, one in kept.items() if one not in ({}, [])}


def _blocks(text: str, way: tuple[str, ...], *, below: bool = False) -> list[tuple[int, int]]:
    """From a header line of that path to the last line of its own, in file order; with `below` its subtables, too."""
    found = layout(text)
    starts = [one.start for one in found.headers] + [len(text) + 1]
    blocks = []
    for number, header in enumerate(found.headers):
        if header.path != way and not (below and header.path[: len(way)] == way):
            continue
        ends = [one.end for one in found.assignments if header.end <= one.start < starts[number + 1]]
        blocks.append((header.start, max([header.end, *ends])))
    return blocks


def _headers(text: str, way: tuple[str, ...]) -> list[Header]:
    return [one for one in layout(text.removeprefix(BYTE_ORDER_MARK)).headers if one.path == way]


def _is_inline(text: str, way: tuple[str, ...]) -> bool:
    """Whether something above it is written as one value."""
    held = {one.path for one in layout(text).assignments}
    return any(way[:length] in held for length in range(1, len(way)))


def _cut(text: str, start: int, end: int) -> str:
    """Without these lines and without one empty line above them."""
    for newline in ("\r\n", "\n"):
        if text[:start].endswith(newline * 2):
            start -= len(newline)
            break
    return text[:start] + text[end:]


def _at_end(text: str, block: str) -> str:
    newline = line_end(text)
    if not text:
        return block
    return text + ("" if text.endswith("\n") else newline) + newline + block


def _table(way: tuple[str, ...], value: Mapping[str, Json], newline: str, *, brackets: int = 1) -> str:
    header = "[" * brackets + ".".join(map(_key, way)) + "]" * brackets
    lines = [f"{_key(name)} = {_literal(one)}" for name, one in value.items()]
    return "".join(f"{line}{newline}" for line in (header, *lines))


def _literal(value: Json) -> str:
    return str(_item(value).as_string())


def _item(value: Json) -> Any:
    """The value as tomlkit has it: tables and lists in one line."""
    import tomlkit  # as in `_by_library`

    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for name, one in value.items():
            table.append(name, _item(one))
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        for one in value:
            array.append(_item(one))
        return array
    return tomlkit.item(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _literal(name)


def _names(way: tuple[Step, ...]) -> tuple[str, ...]:
    return tuple(step for step in way if isinstance(step, str))


def _found(value: Any, way: tuple[Step, ...]) -> Any:
    for step in way:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
        if value is None:
            return None
    return value


def _put(value: dict[str, Any], way: tuple[str, ...], new: Json) -> None:
    for number, step in enumerate(way[:-1]):
        value = value.setdefault(step, {})
        if not isinstance(value, dict):
            raise TomlFault(f"{'.'.join(way[: number + 1])} is no table")
    value[way[-1]] = copy.deepcopy(_plain(new))


def _drop(value: dict[str, Any], way: tuple[str, ...]) -> None:
    for step in way[:-1]:
        value = value[step]
    value.pop(way[-1], None)


def _plain(value: Json) -> Any:
    """Lists and tables as `tomllib` gives them."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def line_of(text: str, way: tuple[str, ...]) -> int:
    """Line where that table or value stands, or 0."""
    return layout(text.removeprefix(BYTE_ORDER_MARK)).line_of(way) or 0
