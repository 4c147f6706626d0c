"""Running one operation for a person or a script: arguments in, answer on stdout, scope and notes on stderr."""

import json
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from ai_memory.cli.call import Call, say
from ai_memory.cli.display import one_line, shown
from ai_memory.model import Scope
from ai_memory.operations.answer import answer_json, note_lines, scope_line
from ai_memory.operations.counting import client_of, count_call, used
from ai_memory.operations.rows import Address, label_from
from ai_memory.operations.signature import PROGRESS, Parameter, bind, takes_progress
from ai_memory.operations.table import Operation
from ai_memory.streams import Unwritten

_T = TypeVar("_T")
RARE = "fault"
"""A column that is left out where no row has anything in it."""

_ESCAPED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may hold as it stands but a terminal, or UTF-8, may not."""


def run_operation(
    row: Operation, function: Callable[..., Any], found: tuple[Parameter, ...], call: Call, given: Mapping[str, Any]
) -> int:
    """Call the operation and show its answer; gives the exit code.

    It is 0, since every fault is raised, but for an answer about many things of which some are amiss: that says so.
    """
    arguments = bind(found, given)
    memory = call.open_memory()
    if takes_progress(function):
        result = with_progress(row.title, call, partial(function, memory, **arguments))
    else:
        result = function(memory, **arguments)
    size_bytes = show(row, result, call)
    client = client_of(memory.caller)
    count_call(memory, row.name, size_bytes, used(row, result, is_agent=bool(client)), client=client)
    return int(getattr(result, "exit_code", 0))


def with_progress(title: str, call: Call, work: Callable[..., _T]) -> _T:
    """What the work gives; a bar tells a person at a terminal how far it is."""
    if call.is_json or not sys.stderr.isatty():
        return work()
    from ai_memory.cli.render import progress_bar  # rich costs 72 ms CPU (2026-11-30)

    with progress_bar(title) as progress:
        return work(**{PROGRESS: progress})


def show(row: Operation, result: Any, call: Call) -> int:
    """Print the answer in the form that was asked for, or that fits where stdout goes; gives its size in bytes.

    Errors: Unwritten, which says what was done where the operation did something.
    """
    try:
        size_bytes = _print(row, result, call)
        sys.stdout.flush()
    except Unwritten as fault:
        if not row.read_only:
            fault.done = shown(row.load_text()(result)).partition("\n")[0]
        raise
    return size_bytes


def _print(row: Operation, result: Any, call: Call) -> int:
    if call.is_json:
        return _out(json_text(answer_json(result)))
    if call.format == "toon" and row.noun:
        from ai_memory.operations.toon import toon_text  # a package that few have

        return _out(shown(toon_text(answer_json(result), row.noun)))
    scope = getattr(result, "scope", None)
    if scope is not None and not row.tells_scope:
        say(shown(scope_line(scope)))
    branches = row.load_tree()
    if branches is not None and call.format is None and sys.stdout.isatty():
        from ai_memory.cli.render import tree_text  # rich costs 72 ms CPU (2026-11-30)

        rows = [(at, one_line(name), size, more, share) for at, name, size, more, share in branches(result)]
        size_bytes = _out(tree_text(rows)) + _out(shown(row.load_beneath()(result)))
        _notes(result)
        return size_bytes
    wanted = call.format or ("table" if row.columns and not row.is_prose else "md")
    if wanted == "table" and row.noun and getattr(result, row.noun):
        size_bytes = _out(_table(row, result))
        if beneath := row.load_beneath()(result):
            size_bytes += _out(shown(beneath))
    else:
        size_bytes = _out(shown(row.load_text()(result)))
    _notes(result)
    return size_bytes


def _notes(result: Any) -> None:
    for line in note_lines(result):
        say(shown(line))


def _out(text: str) -> int:
    print(text)
    return len(text.encode("utf-8", "replace")) + 1


def json_text(document: Mapping[str, Any]) -> str:
    """One JSON object: indented for a terminal, one line for a program."""
    indent = 2 if sys.stdout.isatty() else None
    return escaped(json.dumps(document, ensure_ascii=False, indent=indent))


def escaped(text: str) -> str:
    """JSON that a terminal and UTF-8 can take."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _table(row: Operation, result: Any) -> str:
    from ai_memory.cli.render import table_text  # only where rows are shown

    rows = answer_json(result)[row.noun]
    columns = [name for name in row.columns or rows[0] if name != RARE or any(entry[name] for entry in rows)]
    return table_text(
        columns,
        [[_cell(_named(entry, getattr(result, "scope", None)).get(column)) for column in columns] for entry in rows],
    )


def _named(entry: dict[str, Any], scope: Scope | None) -> dict[str, Any]:
    """The row, its path with the project where that is not the one we stand in."""
    if not {"workspace", "project", "path"} <= entry.keys():
        return entry
    place = Address(entry["workspace"], entry["project"], entry["path"])
    return entry | {"path": label_from(place, scope)}


def _cell(value: object) -> str:
    match value:
        case None | False:
            return ""
        case True:
            return "yes"
        case list():
            return one_line(", ".join(map(str, value)))
    text = one_line(str(value))
    return text[:12] if _HEX.fullmatch(text) else text


_HEX = re.compile(r"[0-9a-f]{40}")
"""Versions and commits are shown as 12 of their 40 digits (decision A13)."""
