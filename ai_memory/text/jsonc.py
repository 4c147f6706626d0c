"""JSON as people write it in settings: comments, trailing commas, a byte order mark. Read with the place of everything.

What is written stays as it stands: `ai_memory.text.jsonc_edit` splices by these places. Of two members with one name
the last one counts, as every reader has it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

MAX_DEPTH = 128
"""No settings are nested like that: what is, was made to harm."""
BYTE_ORDER_MARK = "\ufeff"

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"[A-Za-z]+")


class JsonFault(Exception):
    """Why a text is not what it should be, and where: line and column count from 1."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(f"{reason}, line {line}, column {column}")
        self.reason = reason
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Value:
    """One value, by offsets into the text."""

    start: int
    end: int
    plain: Json
    """What it means."""
    items: "tuple[Item, ...]" = ()
    """Of an object or a list."""

    @property
    def is_object(self) -> bool:
        return isinstance(self.plain, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.plain, list)


@dataclass(frozen=True, slots=True)
class Item:
    """One member of an object or one element of a list; `start` is that of the key where there is one."""

    key: str
    start: int
    value: Value

    @property
    def end(self) -> int:
        return self.value.end


@lru_cache(maxsize=2)
def read(text: str) -> Value | None:
    """The root of the text, or None where nothing but blanks and comments stands. *Errors*: JsonFault.

    One text is asked many times, by each question and by the splice that follows: 0.2 s CPU a MB each (2026-11-30), and
    some agents' files have several. What is given is shared, therefore not to be changed.
    """
    start = gap_end(text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)
    if start == len(text):
        return None
    root = _value(text, start, 0)
    rest = gap_end(text, root.end)
    if rest < len(text):
        raise fault_at(text, rest, f"unexpected {text[rest]!r} after the end")
    return root


def gap_end(text: str, at: int) -> int:
    """The offset after blanks and comments."""
    found = _GAP.match(text, at)
    assert found is not None  # it matches nothing, too
    return found.end()


def fault_at(text: str, at: int, reason: str) -> JsonFault:
    """The fault with line and column of that offset."""
    line_start = text.rfind("\n", 0, at) + 1
    mark = 1 if line_start == 0 and text.startswith(BYTE_ORDER_MARK) else 0
    return JsonFault(reason, text.count("\n", 0, at) + 1, at - line_start + 1 - mark)


def _value(text: str, at: int, depth: int) -> Value:
    first = text[at : at + 1]
    if first in ("{", "["):
        if depth >= MAX_DEPTH:
            raise fault_at(text, at, f"nested deeper than {MAX_DEPTH}")
        return _container(text, at, depth, is_object=first == "{")
    if first == '"':
        end = _string_end(text, at)
        return Value(at, end, json.loads(text[at:end]))
    if found := _NUMBER.match(text, at):
        return Value(at, found.end(), _number(text, at, found[0]))
    found = _WORD.match(text, at)
    if found and found[0] in _WORDS:
        return Value(at, found.end(), _WORDS[found[0]])
    if not first:
        raise fault_at(text, at, "it ends too early")
    raise fault_at(text, at, f"expected a value, found {(found or first)[0]!r}")


def _number(text: str, at: int, digits: str) -> int | float:
    try:
        return int(digits) if digits.lstrip("-").isdigit() else float(digits)
    except ValueError as fault:  # more digits than Python turns into a number
        raise fault_at(text, at, "the number is too long") from fault


def _string_end(text: str, at: int) -> int:
    found = _STRING.match(text, at)
    if found:
        return found.end()
    if text[at : at + 1] == '"':
        raise fault_at(text, at, "the text in quotes is not closed, or holds what JSON does not allow")
    raise fault_at(text, at, "expected a name in double quotes" if text[at : at + 1] else "it ends too early")


def _container(text: str, at: int, depth: int, *, is_object: bool) -> Value:
    items, end = [], at + 1
    for item in _items(text, at, depth, is_object=is_object):
        if isinstance(item, int):
            end = item
        else:
            items.append(item)
    plain: Json = {one.key: one.value.plain for one in items} if is_object else [one.value.plain for one in items]
    return Value(at, end, plain, tuple(items))


def _items(text: str, opened: int, depth: int, *, is_object: bool) -> "Iterator[Item | int]":
    """Each item, and last of all the offset after the closing bracket."""
    closing = "}" if is_object else "]"
    at = gap_end(text, opened + 1)
    while text[at : at + 1] != closing:
        start, key = at, ""
        if is_object:
            end = _string_end(text, at)
            key = json.loads(text[at:end])
            at = gap_end(text, end)
            if text[at : at + 1] != ":":
                raise fault_at(text, at, "expected ':' after the name" if at < len(text) else "it ends too early")
            at = gap_end(text, at + 1)
        value = _value(text, at, depth + 1)
        yield Item(key, start, value)
        at = gap_end(text, value.end)
        if text[at : at + 1] == ",":
            at = gap_end(text, at + 1)
        elif text[at : at + 1] != closing:
            wanted = f"expected ',' or '{closing}'"
            raise fault_at(text, at, wanted if at < len(text) else f"it ends too early: {wanted}")
    yield at + 1
