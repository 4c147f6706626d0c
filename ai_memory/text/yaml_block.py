"""Frontmatter read by PyYAML, event by event: every value keeps its place, and nothing expands.

Aliases, anchors, tags, merge keys, repeated keys, several documents, deep nesting and complex keys are refused by name.
The only module that imports PyYAML.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from ai_memory.errors import echo
from ai_memory.text.faults import BadPage

MAX_DEPTH = 32
WHOLE_NUMBERS = range(-(2**63), 2**63)
"""What JSON readers and SQLite take as a whole number. Anything beyond stays the text that it was written as."""
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_MERGE = "tag:yaml.org,2002:merge"
_VALUE = "tag:yaml.org,2002:value"
_STR = "tag:yaml.org,2002:str"
_BREAK = re.compile(r"\r\n|[\r\n\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's parser where PyYAML was built with it: five times as fast."""


class _Loader(_Base):  # type: ignore[misc]
    """PyYAML's safe loader without dates: no datetime leaves it."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_TIMESTAMP, _VALUE)]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """One scalar and where it stands in the block: character offsets, and the 0-based line."""

    value: object
    text: str
    start: int
    end: int
    line: int
    style: str
    """`''` plain, `'` or `"` quoted, `|` or `>` block."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of the topmost mapping and the node that is its value."""

    key: Scalar
    column: int
    """Blanks before the key."""
    is_flow: bool
    """The value is written `[…]` or `{…}`."""
    is_scalar: bool
    start: int
    end: int
    """Offsets of the value; an empty value begins and ends behind the colon."""
    value: object
    scalars: tuple[Scalar, ...]
    """Every scalar of the value, in order, keys of mappings left out."""
    item_column: int
    """Column of a block list's dashes, -1 for anything else."""
    style: str


def read_yaml(block: str, *, path: str) -> dict[str, object]:
    """What the block says. *Errors*: BadPage with the line of the file."""
    return {entry.key.text: entry.value for entry in entries(block, path=path)}


def entries(block: str, *, path: str) -> list[Entry]:
    """The keys of the topmost mapping with the place of each value. *Errors*: BadPage."""
    return _Reader(block, path).document()


def plain_scalars(block: str) -> list[Scalar]:
    """Every unquoted scalar of the block in order, keys too, however deep; none where it is no YAML."""
    found = []
    try:
        loader = _Loader(block)
        while loader.check_event():
            event: Any = loader.get_event()
            if isinstance(event, yaml.ScalarEvent) and not event.style:
                found.append(_placed_plain(event))
    except (yaml.YAMLError, ValueError):
        return []
    return found


def _placed_plain(event: Any) -> Scalar:
    start, end = event.start_mark, event.end_mark
    return Scalar(event.value, event.value, start.index, end.index, start.line, "")


class _Reader:
    """Builds values from PyYAML's events. No deeper than `MAX_DEPTH`."""

    def __init__(self, block: str, path: str) -> None:
        self.block = block
        self.path = path
        self.scalars: list[Scalar] = []
        self.line = 0

    def document(self) -> list[Entry]:
        try:
            self.loader = _Loader(self.block)
            self.events = self._events()
            return self._document()
        except yaml.MarkedYAMLError as fault:
            mark = fault.problem_mark or fault.context_mark
            what = " ".join(part for part in (fault.context, fault.problem) if part)
            raise self._bad(mark.line if mark else 0, f"broken YAML: {_one_line(what)}") from fault
        except yaml.YAMLError as fault:
            reason = _one_line(str(getattr(fault, "reason", fault)))
            raise self._bad(self._line_of_fault(fault), f"broken YAML: {reason}") from fault
        except UnicodeEncodeError as fault:
            line = self.block.count("\n", 0, fault.start)
            raise self._bad(line, "broken YAML: it holds a lone surrogate") from fault
        except (ValueError, OverflowError) as fault:
            # PyYAML without libyaml lets `"\U00110000"` through to chr().
            raise self._bad(self.line, f"broken YAML: {_one_line(str(fault))}") from fault

    def _events(self) -> Iterator[Any]:
        while self.loader.check_event():
            event = self.loader.get_event()
            self.line = event.start_mark.line
            if isinstance(event, yaml.AliasEvent):
                self._refuse("aliases (*name) are not supported", "write the value out")
            if getattr(event, "anchor", None):
                self._refuse("anchors (&name) are not supported", "leave the anchor out")
            if getattr(event, "tag", None):
                self._refuse(f"tags are not supported: {_one_line(str(event.tag))}", "leave the tag out")
            yield event

    def _document(self) -> list[Entry]:
        found: list[Entry] = []
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse("the frontmatter holds more than one YAML document", "keep one list of keys")
            elif isinstance(event, yaml.MappingStartEvent):
                if event.flow_style:
                    found = self._entries(-1)
                else:
                    found = self._entries(_column(event))
            elif isinstance(event, (yaml.ScalarEvent, yaml.SequenceStartEvent)) and not self._is_nothing(event):
                self._refuse("the frontmatter is no list of keys", "write lines like 'title: My page'")
        return found

    def _is_nothing(self, event: Any) -> bool:
        return isinstance(event, yaml.ScalarEvent) and not event.value and event.style in (None, "")

    def _entries(self, column: int) -> list[Entry]:
        found: list[Entry] = []
        seen: set[str] = set()
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event, seen)
            first = next(self.events)
            self.scalars = []
            is_list = isinstance(first, yaml.SequenceStartEvent) and not first.flow_style
            value, end = self._value(first, 1)
            found.append(
                Entry(
                    key=key,
                    column=column,
                    is_flow=bool(getattr(first, "flow_style", False)),
                    is_scalar=isinstance(first, yaml.ScalarEvent),
                    start=first.start_mark.index,
                    end=end,
                    value=value,
                    scalars=tuple(self.scalars),
                    item_column=first.start_mark.column if is_list else -1,
                    style=(getattr(first, "style", None) or ""),
                )
            )
        return found

    def _key(self, event: Any, seen: set[str]) -> Scalar:
        if not isinstance(event, yaml.ScalarEvent):
            self._refuse(
                "a key is itself a list or mapping", "use plain words as keys; put a value with braces in quotes"
            )
        if event.implicit[0] and self._tag(event) == _MERGE:
            self._refuse("merge keys (<<) are not supported", "write the keys out")
        if event.value in seen:
            self._refuse(f"the key {echo(event.value)} stands twice", "keep one of them")
        seen.add(event.value)
        return self._placed(event, event.value)

    def _value(self, event: Any, depth: int) -> tuple[object, int]:
        """The value that begins with the event, and the offset where it ends."""
        if isinstance(event, yaml.ScalarEvent):
            scalar = self._placed(event, self._scalar(event))
            self.scalars.append(scalar)
            return scalar.value, scalar.end
        if depth > MAX_DEPTH:
            self._refuse(f"the YAML is nested deeper than {MAX_DEPTH}", "flatten it")
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[object] = []
            for inner in self.events:
                if isinstance(inner, yaml.SequenceEndEvent):
                    return items, _end(inner)
                items.append(self._value(inner, depth + 1)[0])
        mapping: dict[str, object] = {}
        seen: set[str] = set()
        for inner in self.events:
            if isinstance(inner, yaml.MappingEndEvent):
                return mapping, _end(inner)
            key = self._key(inner, seen)
            mapping[key.text] = self._value(next(self.events), depth + 1)[0]
        raise self._bad(self.line, "broken YAML: it ends in the middle")

    def _scalar(self, event: Any) -> object:
        tag = self._tag(event) if event.implicit[0] else _STR
        if tag in (_STR, _MERGE):
            return event.value
        try:
            value = self.loader.construct_object(yaml.ScalarNode(tag, event.value), deep=True)
        except (ValueError, OverflowError):
            return event.value
        if isinstance(value, float) and not math.isfinite(value):
            return event.value
        if isinstance(value, int) and value not in WHOLE_NUMBERS:
            return event.value
        return value

    def _tag(self, event: Any) -> str:
        return str(self.loader.resolve(yaml.ScalarNode, event.value, event.implicit))

    def _placed(self, event: Any, value: object) -> Scalar:
        start, end = event.start_mark, event.end_mark
        if _SURROGATE.search(event.value):
            raise self._bad(start.line, "a value holds a lone surrogate, which no UTF-8 text can")
        return Scalar(value, event.value, start.index, end.index, start.line, event.style or "")

    def _refuse(self, problem: str, hint: str) -> NoReturn:
        raise BadPage(self.path, self.line + 2, problem, hint=hint)

    def _bad(self, line: int, problem: str) -> BadPage:
        return BadPage(self.path, line + 2, problem, hint="mend the block between the '---' lines; quote odd values")

    def _line_of_fault(self, fault: yaml.YAMLError) -> int:
        position = getattr(fault, "position", None)
        return len(_BREAK.findall(self.block[:position])) if isinstance(position, int) and position > 0 else 0


def _column(event: Any) -> int:
    return int(event.start_mark.column)


def _end(event: Any) -> int:
    return int(event.end_mark.index)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
