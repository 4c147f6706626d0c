"""What each tool takes, and a valid call of it."""

import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from ai_memory.operations.field import Field
from ai_memory.operations.signature import Parameter, parameters
from ai_memory.operations.table import Operation

FORMAT = Parameter("format", "string", "md", Field(""), choices=("md", "json", "toon"))
"""What every tool with rows takes besides its operation's parameters. Its choices say what it is: a word more would
cost every session a hundred tokens."""

EXAMPLES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "memory_handoff_cancel": {"handoff_id": "019ad0f0e000"},
        "memory_message_cancel": {"message_id": "019ad0f0e000"},
    }
)
"""Of tools whose command is shown with what the tool does not take, or with more than one wants to end."""

_FOR_SCRIPTS = ("--json",)


@cache
def tool_parameters(operation: Operation) -> tuple[Parameter, ...]:
    """What the tool takes: the operation's parameters, and `format` where rows come back."""
    found = parameters(operation.load(), "bridge")
    return (*found, FORMAT) if operation.noun else found


def flags_of(parameter: Parameter) -> tuple[str, ...]:
    """Its names on the command line."""
    return parameter.field.flags or (f"--{parameter.name.replace('_', '-')}",)


def example(operation: Operation) -> Mapping[str, Any]:
    """Arguments of a valid call, shown with a refusal: the first of the command's examples that a tool call can say."""
    if operation.tool and operation.tool in EXAMPLES:
        return EXAMPLES[operation.tool]
    told = [found for line in operation.examples if (found := _told(operation, line)) is not None]
    return next((found for found in told if found), {})


def _told(operation: Operation, line: str) -> dict[str, Any] | None:
    """The example's arguments by name; None when it says something that the tool does not take."""
    words = iter(shlex.split(line)[len(operation.name.split()) :])
    offered = tool_parameters(operation)
    by_flag = {flag: one for one in offered for flag in flags_of(one)}
    by_place = [one for one in offered if one.field.positional]
    told: dict[str, Any] = {}
    for word in words:
        if word in _FOR_SCRIPTS:
            continue
        parameter = by_flag.get(word) if word.startswith("-") else by_place[0] if by_place else None
        if parameter is None:
            return None
        _take(told, parameter, word, words)
        if not word.startswith("-") and not parameter.field.joined:
            by_place.pop(0)
    return told


def _take(told: dict[str, Any], parameter: Parameter, word: str, words: Iterator[str]) -> None:
    if parameter.type == "boolean":
        told[parameter.name] = True
        return
    value: Any = next(words, "") if word.startswith("-") else word
    if parameter.type == "integer":
        value = int(value)
    elif parameter.type == "array":
        value = [*told.get(parameter.name, ()), value]
    elif parameter.field.joined and parameter.name in told:
        value = f"{told[parameter.name]} {value}"
    told[parameter.name] = value
