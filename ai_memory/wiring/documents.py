"""Settings of other programs as documents that are edited in place: JSON with comments, and TOML."""

from dataclasses import dataclass
from typing import Protocol

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.text import jsonc, jsonc_edit, marked_block, toml_edit
from ai_memory.text.jsonc_edit import Step


class Refused(Exception):
    """Why a file is left as it is; line and column count from 1, 0 where none is known."""

    def __init__(self, reason: str, *, line: int = 0, column: int = 0, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column
        self.hint = hint


class Document(Protocol):
    """One file's text. Nothing is changed in it: each edit gives another document. *Errors*: Refused."""

    @property
    def text(self) -> str: ...

    def value(self, way: tuple[Step, ...] = ()) -> Json:
        """What stands there, or None."""

    def set(self, way: tuple[str, ...], value: Json) -> "Document": ...

    def append(self, way: tuple[str, ...], value: Json) -> "Document": ...

    def remove(self, way: tuple[Step, ...]) -> "Document": ...

    def line_of(self, way: tuple[Step, ...]) -> int:
        """Line where it stands, or 0."""


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """Its root is an object, or nothing yet."""

    text: str

    def value(self, way: tuple[Step, ...] = ()) -> Json:
        found = jsonc_edit.value_at(self._root(), way)
        return None if found is None else found.plain

    def set(self, way: tuple[str, ...], value: Json) -> "JsonDocument":
        try:
            return JsonDocument(jsonc_edit.set_member(self.text, way, value))
        except jsonc.JsonFault as fault:
            raise _refused(fault) from fault

    def append(self, way: tuple[str, ...], value: Json) -> "JsonDocument":
        try:
            return JsonDocument(jsonc_edit.append(self.text, way, value))
        except jsonc.JsonFault as fault:
            raise _refused(fault) from fault

    def remove(self, way: tuple[Step, ...]) -> "JsonDocument":
        return JsonDocument(jsonc_edit.remove(self.text, way))

    def line_of(self, way: tuple[Step, ...]) -> int:
        found = jsonc_edit.value_at(self._root(), way)
        return 0 if found is None else self.text.count("\n", 0, found.start) + 1

    def _root(self) -> jsonc.Value | None:
        try:
            root = jsonc.read(self.text)
        except jsonc.JsonFault as fault:
            raise Refused(f"it is no valid JSON: {fault.reason}", line=fault.line, column=fault.column) from fault
        if root is not None and not root.is_object:
            place = jsonc.fault_at(self.text, root.start, "")
            raise Refused("its root is no object", line=place.line, column=place.column)
        return root


@dataclass(frozen=True, slots=True)
class TomlDocument:
    text: str

    def value(self, way: tuple[Step, ...] = ()) -> Json:
        try:
            here: Json = toml_edit.read(self.text)
        except toml_edit.TomlFault as fault:
            raise Refused(f"it is no valid TOML: {fault.reason}", line=fault.line, column=fault.column) from fault
        for step in way:
            if isinstance(step, int):
                here = here[step] if isinstance(here, list) and step < len(here) else None
            else:
                here = here.get(step) if isinstance(here, dict) else None
        return here

    def set(self, way: tuple[str, ...], value: Json) -> "TomlDocument":
        try:
            return TomlDocument(toml_edit.set_value(self.text, way, value))
        except toml_edit.TomlFault as fault:
            raise _refused(fault) from fault

    def append(self, way: tuple[str, ...], value: Json) -> "TomlDocument":
        assert isinstance(value, dict)
        try:
            return TomlDocument(toml_edit.append(self.text, way, value))
        except toml_edit.TomlFault as fault:
            raise _refused(fault) from fault

    def remove(self, way: tuple[Step, ...]) -> "TomlDocument":
        try:
            return TomlDocument(toml_edit.remove(self.text, way))
        except toml_edit.TomlFault as fault:
            raise _refused(fault) from fault

    def line_of(self, way: tuple[Step, ...]) -> int:
        return toml_edit.line_of(self.text, tuple(step for step in way if isinstance(step, str)))


def _refused(fault: jsonc.JsonFault | toml_edit.TomlFault) -> Refused:
    return Refused(fault.reason, line=fault.line, column=fault.column)


def opened(text: str, syntax: Syntax) -> Document:
    """The document of a text. *Errors*: Refused where it cannot be read."""
    found: Document = TomlDocument(text) if syntax is Syntax.TOML else JsonDocument(text)
    found.value()
    return found


def with_block(text: str, block: str) -> str:
    """Markdown with our block. *Errors*: Refused."""
    try:
        return marked_block.with_block(text, block)
    except marked_block.BlockFault as fault:
        raise Refused(fault.reason, line=fault.line, column=1) from fault


def without_block(text: str) -> str:
    """Markdown without our block. *Errors*: Refused."""
    try:
        return marked_block.without_block(text)
    except marked_block.BlockFault as fault:
        raise Refused(fault.reason, line=fault.line, column=1) from fault
