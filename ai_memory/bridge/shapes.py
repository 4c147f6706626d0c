"""Output schemas for `--structured`, made from the results' dataclasses: everything inlined, no `$ref`, no unions."""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

from ai_memory.model import Scope
from ai_memory.operations.table import Operation

_PLAIN: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_MANY = (tuple, list, set, frozenset)
_SCOPE = {"workspace": {"type": "string"}, "project": {"type": "string"}, "resolved_by": {"type": "string"}}


def without_nulls(value: Any) -> Any:
    """The JSON value less every member that is null: an output schema then needs no type beside another."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def output_schema(operation: Operation) -> dict[str, Any]:
    """What the tool's structured answer looks like."""
    answer = _object(operation.load().__annotations__["return"])
    members = {"v": {"type": "integer"}, "ok": {"type": "boolean"}, **answer["properties"]}
    return {"type": "object", "properties": members, "required": ["v", "ok", *answer["required"]]}


def _schema(kind: Any) -> dict[str, Any]:
    """The schema of one type; of a union the part that is not null."""
    kind, _ = _bare(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Scope:
        return {"type": "object", "properties": dict(_SCOPE), "required": list(_SCOPE)}
    if is_dataclass(kind):
        return _object(kind)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in _MANY:
        return {"type": "array", "items": _schema(inner[0])}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"type": "string", "enum": [one.value for one in kind]}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    return {"type": "object"} if origin is not None else {}


def _object(kind: Any) -> dict[str, Any]:
    members: dict[str, Any] = {}
    required = []
    for field in fields(kind):
        bare, is_nullable = _bare(field.type)
        if field.metadata.get("flat"):
            continue
        members[field.name] = _schema(bare)
        if not is_nullable:
            required.append(field.name)
    return {"type": "object", "properties": members, "required": required}


def _bare(kind: Any) -> tuple[Any, bool]:
    """The type without null, without what annotates it, and whether it may be null."""
    while (alias := getattr(kind, "__supertype__", None)) is not None:
        kind = alias
    if hasattr(kind, "__metadata__"):
        return _bare(kind.__origin__)
    if get_origin(kind) in (Union, types.UnionType):
        some = [one for one in get_args(kind) if one is not types.NoneType]
        return (_bare(some[0])[0] if len(some) == 1 else Any), len(some) < len(get_args(kind))
    return kind, False
