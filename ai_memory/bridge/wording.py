"""Advice in the words of a model that has tools: `memory_status` for `ai-memory status`, an argument for a flag.

Faults, gaps and notes are written once, for people at a command line. Stored text never comes through here.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache, partial
from types import MappingProxyType

from ai_memory.bridge.takes import flags_of, tool_parameters
from ai_memory.operations.signature import Parameter
from ai_memory.operations.table import OPERATION_BY_TOOL, OPERATIONS, Operation

NEAREST: Mapping[str, str] = MappingProxyType({"pages": "memory_recent"})
"""Commands without a tool → the tool that shows the same things."""

_BY_COMMAND = {operation.name: operation for operation in OPERATIONS}
_NAMES = "|".join(re.escape(name) for name in sorted(_BY_COMMAND, key=len, reverse=True))
_TELLING = "|".join(re.escape(one.name) for one in OPERATIONS if one.tool and "-" in one.name)
"""Names that are no words of English: they are commands also where `ai-memory` does not stand before them."""
_WORDS = r"(?: (?:--?[a-z][a-z-]*|[A-Z][A-Z_]+(?![a-z])))*"

_QUOTED = re.compile(rf"`ai-memory ({_NAMES})((?: [^`]+)?)`")
_BARE = re.compile(rf"(?<![\w`/-])(?:ai-memory ({_NAMES})|({_TELLING}))(?![\w-])({_WORDS})")
_BOTH_WAYS = re.compile(r"pass [^;]* on the command line(?:, or --file FILE)?; (\w+) in a tool call")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*\b")
_ALTERNATIVE = re.compile(r",? or [^.,;]*?--[a-z][^.,;]*")


def in_tools(text: str, operation: Operation, served: Collection[str]) -> str:
    """The advice, with tools for commands where they are served, and arguments for the operation's own flags.

    What no tool can do stays a command, which an agent with a shell can run.
    """
    text = _BOTH_WAYS.sub(r"pass \1", text)
    text = _QUOTED.sub(partial(_from_quoted, served=served), text)
    text = _BARE.sub(partial(_from_bare, served=served), text)
    kept, arguments = "", _by_flag(operation)
    for part in re.split(r"(`[^`]*`)", text):
        kept += part if part.startswith("`") else _without_flags(part, arguments)
    return kept


def _without_flags(text: str, arguments: Mapping[str, Parameter]) -> str:
    """Each flag as the argument that it is; an alternative that has none is no alternative."""
    named = _FLAG.sub(lambda found: arguments[found[0]].name if found[0] in arguments else found[0], text)
    return _ALTERNATIVE.sub("", named)


def _from_quoted(found: re.Match[str], *, served: Collection[str]) -> str:
    return _call(found[1], found[2].split(), served) or found[0]


def _from_bare(found: re.Match[str], *, served: Collection[str]) -> str:
    return _call(found[1] or found[2], found[3].split(), served) or found[0]


def _call(command: str, words: list[str], served: Collection[str]) -> str | None:
    """`memory_handoff_list state=any`; None where no served tool takes these words."""
    tool = _BY_COMMAND[command].tool or NEAREST.get(command)
    if tool is None or tool not in served:
        return None
    operation = OPERATION_BY_TOOL[tool]
    by_flag, by_place = _by_flag(operation), [one for one in tool_parameters(operation) if one.field.positional]
    told, rest = [tool], list(words)
    while rest:
        word = rest.pop(0)
        parameter = by_flag.get(word) if word.startswith("-") else by_place.pop(0) if by_place else None
        if parameter is None:
            return None
        is_bare = parameter.type == "boolean"
        value = "true" if is_bare else rest.pop(0) if word.startswith("-") and rest else word
        told.append(f"{parameter.name}={value}")
    return " ".join(told)


@cache
def _by_flag(operation: Operation) -> Mapping[str, Parameter]:
    return {flag: one for one in tool_parameters(operation) for flag in flags_of(one)}
