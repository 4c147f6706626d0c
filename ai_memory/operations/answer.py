"""The JSON edge: how a result, a scope and a fault look outside (decision C4)."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from ai_memory.model import Scope

JSON_FORMAT = 1


def answer_json(result: Any) -> dict[str, Any]:
    """The result as one JSON object with stable keys: `v`, `ok`, `scope`, then its fields in their order.

    A mapping whose field says `metadata={"flat": True}` gives its keys instead of itself.
    """
    answer: dict[str, Any] = {"v": JSON_FORMAT, "ok": True, "scope": None}
    for field in fields(result):
        value = as_json(getattr(result, field.name))
        answer |= value if field.metadata.get("flat") else {field.name: value}
    return answer


def fault_json(code: str, message: str, hint: str = "") -> dict[str, Any]:
    """A fault as one JSON object; `code` is one of not_found, invalid, conflict, busy, refused_scope, internal."""
    return {"v": JSON_FORMAT, "ok": False, "error": {"code": code, "message": message, "hint": hint}}


def scope_line(scope: Scope) -> str:
    """`scope default/acme-api (remote)`: which scope was used, and what told it."""
    return f"scope {scope.workspace}/{scope.project} ({scope.resolved_by.value})"


def note_lines(result: Any) -> list[str]:
    """What an honest answer adds below its rows: what failed, and how much was left out."""
    warnings = getattr(getattr(result, "scope", None), "warnings", ())
    lines = [f"note: {note}" for note in (*warnings, *getattr(result, "gaps", ()))]
    omitted = getattr(result, "omitted", 0)
    return [*lines, f"note: {omitted} more left out"] if omitted else lines


def as_json(value: Any) -> Any:
    """A part of a result as JSON holds it."""
    match value:
        case Scope():
            return {"workspace": value.workspace, "project": value.project, "resolved_by": value.resolved_by.value}
        case Enum():
            return value.value
        case str() | int() | float() | bool() | None:
            return value
        case Mapping():
            return {str(key): as_json(entry) for key, entry in value.items()}
        case list() | tuple() | set() | frozenset():
            return [as_json(entry) for entry in value]
        case _ if is_dataclass(value):
            return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    return str(value)
