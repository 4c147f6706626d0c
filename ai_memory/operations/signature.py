"""An operation's parameters, derived once from its annotations.

The JSON schema, the checks and the command line all start here.
"""

import inspect
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from ai_memory.errors import MOST_ECHOED, UsageFault, echo
from ai_memory.operations.field import Field

REQUIRED = inspect.Parameter.empty
"""Stands as default of a parameter that must be given."""

PROGRESS = "progress"
"""A parameter of that name takes a function of (done, total) and is no word of the user's."""

Kind = Literal["string", "integer", "number", "boolean", "array"]
_KINDS: Mapping[type, Kind] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_WORDS: Mapping[Kind, str] = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of texts",
}
_EXAMPLES: Mapping[Kind, str] = {
    "string": "write it as one text",
    "integer": "write digits alone, such as 10",
    "number": "write it like 10 or 2.5",
    "boolean": "write true or false",
    "array": 'write a JSON list such as ["a", "b"], or repeat the flag on the command line',
}
_LARGEST = 2**63 - 1
"""Of whole numbers: what SQLite can count to."""
_LONGEST_NUMBER = 400
_WHOLE = re.compile(r"[+-]?[0-9]+")
_LONGEST_TEXT = 8_192
"""Characters of any text but a page's body: as many as the longest field of a page has. Scrubbing more costs time."""
_SENTENCE_WITH_FLAG = re.compile(r"[^.]*(?<![\w-])--[a-z][^.]*\.")
_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation. An array holds texts; `choices` bounds a text or the entries of an array."""

    name: str
    type: Kind
    default: Any
    field: Field
    choices: tuple[str, ...] = ()
    is_nullable: bool = False

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED


def parameters(function: Callable[..., Any], face: Literal["cli", "bridge"]) -> tuple[Parameter, ...]:
    """What one face offers of the function, in the order of its signature.

    Left out are the first, `memory`, and `progress`, through which the CLI draws a bar.
    """
    found = [_parameter(p) for p in list(inspect.signature(function).parameters.values())[1:] if p.name != PROGRESS]
    return tuple(p for p in found if p.field.face in ("both", face))


def _parameter(parameter: inspect.Parameter) -> Parameter:
    annotation, field = _unwrap(parameter.name, parameter.annotation)
    options = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    (kind,) = (option for option in options if option is not NoneType)
    found = Parameter(parameter.name, "string", parameter.default, field, is_nullable=NoneType in options)
    if get_origin(kind) is tuple:
        return replace(found, type="array", choices=_choices(get_args(kind)[0]))
    if get_origin(kind) is Literal:
        return replace(found, choices=_choices(kind))
    return replace(found, type=_KINDS[kind])


def _unwrap(name: str, hint: Any) -> tuple[Any, Field]:
    """The bare annotation and its field, the outermost one where several are nested."""
    for extra in reversed(getattr(hint, "__metadata__", ())):
        if isinstance(extra, Field):
            return hint.__origin__, extra
    raise TypeError(f"parameter {name!r} has no Field")


def _choices(annotation: Any) -> tuple[str, ...]:
    return tuple(get_args(annotation)) if get_origin(annotation) is Literal else ()


def json_schema(found: tuple[Parameter, ...]) -> dict[str, Any]:
    """A flat object schema: no `$ref`, no combinators, no nullable unions; what may be null is not in `required`.

    Parameters that are not listed are left out: they are taken all the same.
    """
    listed = [p for p in found if not p.field.is_unlisted]
    schema: dict[str, Any] = {"type": "object", "properties": {p.name: _property(p) for p in listed}}
    required = [p.name for p in found if p.is_required]
    return schema | {"required": required} if required else schema


def _property(parameter: Parameter) -> dict[str, Any]:
    field = parameter.field
    entry: dict[str, Any] = {"type": parameter.type}
    choices = {"enum": list(parameter.choices)} if parameter.choices else {}
    if parameter.type == "array":
        entry["items"] = {"type": "string"} | choices
    else:
        entry |= choices
    if field.description:
        entry["description"] = field.description
    bounds = {"minimum": field.ge, "maximum": field.le}
    entry |= {key: value for key, value in bounds.items() if value is not None}
    if parameter.default not in (REQUIRED, None, False, "", ()):
        entry["default"] = parameter.default
    return entry


def bind(found: tuple[Parameter, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of the call, checked and coerced.

    Takes JSON values and the texts of a command line alike; null means not given; aliases are folded.
    Errors: UsageFault naming the argument, what it may hold, and the nearest name for an unknown one.
    """
    names = {alias: p for p in found for alias in (*p.field.aliases, p.name)}
    arguments: dict[str, Any] = {}
    for key, value in given.items():
        parameter = names.get(key)
        if parameter is None:
            raise UsageFault(f"unknown argument {echo(key)}", hint=_nearest(key, [p.name for p in found]))
        if value is None:
            continue
        if parameter.name in arguments and key != parameter.name:
            continue
        arguments[parameter.name] = _checked(parameter, value)
    for parameter in found:
        if parameter.name not in arguments:
            if parameter.is_required:
                raise UsageFault(f"{parameter.name} is missing: {parameter.field.description}", hint=_way(parameter))
            arguments[parameter.name] = parameter.default
    return arguments


def _nearest(key: str, names: list[str]) -> str:
    near = get_close_matches(key, names, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"


def _checked(parameter: Parameter, value: Any) -> Any:
    coerced = _coerced(parameter, value)
    entries = coerced if parameter.type == "array" else (coerced,)
    for entry in entries:
        if parameter.choices and entry not in parameter.choices:
            near = get_close_matches(str(entry), parameter.choices, 1, 0.5)
            raise UsageFault(
                f"{parameter.name} is one of {', '.join(parameter.choices)}, not {echo(entry)}",
                hint=f"did you mean {near[0]!r}?" if near else "write one of them as it stands",
            )
    field = parameter.field
    if parameter.type in ("integer", "number"):
        _check_bounds(parameter, coerced)
    elif field.max_length is not None and len(coerced) > field.max_length:
        raise UsageFault(f"{parameter.name} is longer than {field.max_length}: {len(coerced)}", hint="make it shorter")
    return coerced


def _check_bounds(parameter: Parameter, number: float) -> None:
    least, most = parameter.field.ge, parameter.field.le
    if most is None and parameter.type == "integer":
        most = _LARGEST
    between = "" if least is None or most in (None, _LARGEST) else f"write a number from {least} to {most}"
    if least is not None and number < least:
        raise UsageFault(
            f"{parameter.name} is at least {least}, not {_short(number)}", hint=between or f"write {least} or more"
        )
    if most is not None and number > most:
        raise UsageFault(
            f"{parameter.name} is at most {most}, not {_short(number)}", hint=between or "write a smaller number"
        )


def _way(parameter: Parameter) -> str:
    """How the parameter is passed: its flags and its name in a tool call."""
    flags = parameter.field.flags or (f"--{parameter.name.replace('_', '-')}",)
    by_place = "by place, or " if parameter.field.positional and not parameter.field.flags else ""
    file = ", or --file FILE" if parameter.field.piped else ""
    return f"pass {by_place}{' or '.join(flags)} on the command line{file}; {parameter.name} in a tool call"


def _coerced(parameter: Parameter, value: Any) -> Any:
    """The value in its type. Models write numbers, flags and lists as text now and then: a clear meaning is taken."""
    match parameter.type:
        case "string" if isinstance(value, str):
            return _text(parameter, value)
        case "boolean" if isinstance(value, bool):
            return value
        case "boolean" if str(value).strip().lower() in _TRUE | _FALSE:
            return str(value).strip().lower() in _TRUE
        case "integer" | "number" if isinstance(value, str | int | float) and not isinstance(value, bool):
            number = _number(value)
            if number is not None and (parameter.type == "number" or number == int(number)):
                return number if parameter.type == "number" else int(number)
        case "array":
            entries = _entries(value)
            if entries is not None:
                return tuple(_text(parameter, entry) for entry in entries)
    raise UsageFault(
        f"{parameter.name} is {_WORDS[parameter.type]}, not {_short(value)}", hint=_EXAMPLES[parameter.type]
    )


def _text(parameter: Parameter, value: str) -> str:
    """The text, which UTF-8 can hold: bytes of a command line that no encoding explains arrive as lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageFault(f"{parameter.name} is not valid UTF-8", hint="write it in UTF-8") from error
    if not parameter.field.piped and len(value) > _LONGEST_TEXT:
        raise UsageFault(
            f"{parameter.name} has {len(value):,} characters, at most {_LONGEST_TEXT:,} are taken: {echo(value)}",
            hint="make it shorter",
        )
    return value


def _number(value: str | int | float) -> float | int | None:
    """The number; None when it is none, or not finite. A whole number of any size stays exact."""
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value[:_LONGEST_NUMBER])  # of a longer one, what counts is that it is too large
    try:
        number = float(value) if not isinstance(value, int) else value
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _entries(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        if not value.lstrip().startswith("["):
            return (value,)
        try:
            value = json.loads(value)
        except ValueError:
            return (value,)
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return tuple(value)
    return None


def _short(value: Any) -> str:
    if isinstance(value, str):
        return echo(value)
    if isinstance(value, int) and abs(value) > 10**MOST_ECHOED:
        return f"one of over {MOST_ECHOED} digits"
    shown = repr(value)
    return shown if len(shown) <= MOST_ECHOED else f"{shown[: MOST_ECHOED - 1]}…"


def takes_progress(function: Callable[..., Any]) -> bool:
    """Whether the operation reports how far it is."""
    return PROGRESS in inspect.signature(function).parameters


def tool_text(function: Callable[..., Any]) -> str:
    """The docstring as a tool's description: less the sentences that name flags, which are for the command line."""
    return _SENTENCE_WITH_FLAG.sub("", inspect.cleandoc(function.__doc__ or "")).strip()
