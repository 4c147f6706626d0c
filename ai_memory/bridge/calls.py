"""One tool call: look up the operation, check the arguments, run it, tell the answer. Knows nothing of the SDK."""

import json
import re
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ai_memory.errors import MemoryFault
from ai_memory.model import Caller, Scope
from ai_memory.operations.answer import answer_json, fault_json
from ai_memory.operations.field import Field
from ai_memory.operations.signature import Parameter, bind, parameters
from ai_memory.operations.table import OPERATION_BY_TOOL, Operation
from ai_memory.paths import DataDir
from ai_memory.text.fences import NOTICE, fence, neutralise

LOCK_TIMEOUT_S = 5.0
"""Decision A12: an agent waits less than a person."""

FORMAT = Parameter("format", "string", "md", Field("form of the answer"), choices=("md", "json"))
"""What every tool with rows takes besides its operation's parameters."""

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "memory_query": {"query": "retry budget"},
    "memory_read_page": {"path": "notes/retry-budget.md"},
    "memory_write_page": {"path": "notes/retry-budget.md", "body": "# Retry budget\n\nAt most 3 tries."},
    "memory_delete_page": {"path": "notes/retry-budget.md"},
    "memory_restore_page": {"path": "notes/retry-budget.md"},
    "memory_recent": {"limit": 5},
    "memory_sessions": {"limit": 5},
    "memory_session": {"session": "7d3f0a5e", "limit": 20},
    "memory_finalize_session": {"session": "7d3f0a5e"},
    "memory_status": {},
    "memory_handoff_begin": {"summary": "The till rounds now; the tax is left."},
    "memory_handoff_list": {},
    "memory_handoff_accept": {},
    "memory_handoff_cancel": {"handoff_id": "019ad0f0e000"},
}
"""A valid call of each tool, shown with a refusal."""

_ABSOLUTE_PATH = re.compile(r"(?<![\w:/.])(?:[A-Za-z]:)?[/\\](?:[^\s'\"/\\]+[/\\])+[^\s'\"/\\]*")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model gets: one text, and whether the call failed."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Pins:
    """The scope of calls that name none, from the bridge's command line."""

    workspace: str | None = None
    project: str | None = None


@cache
def tool_parameters(operation: Operation) -> tuple[Parameter, ...]:
    """What the tool takes: the operation's parameters, and `format` where rows come back."""
    found = parameters(operation.load(), "bridge")
    return (*found, FORMAT) if operation.noun else found


def call(tool: str, given: Mapping[str, Any], *, data_dir: DataDir, caller: Caller, pins: Pins) -> Answer:
    """The answer of one tool. Faults are answers too, so it raises none. Safe to kill at any point, as the store is."""
    operation = OPERATION_BY_TOOL[tool]
    try:
        return _called(operation, given, data_dir, caller, pins)
    except Exception as bug:  # noqa: BLE001 the one place of the bridge where a bug becomes an answer
        traceback.print_exc(file=sys.stderr)
        _note(operation, _where(bug), data_dir, caller)
        return _refusal(operation, bug, given, None, data_dir)


def _called(operation: Operation, given: Mapping[str, Any], data_dir: DataDir, caller: Caller, pins: Pins) -> Answer:
    from ai_memory.store.memory import Memory  # the store pulls in git and SQLite: no tools/list needs them

    memory = Memory.open(data_dir, caller=caller, lock_timeout_s=LOCK_TIMEOUT_S, command=operation.tool or "")
    try:
        arguments = bind(tool_parameters(operation), pinned(operation, given, pins))
        form = arguments.pop(FORMAT.name, "md") if operation.noun else "md"
        return Answer(told(operation, operation.load()(memory, **arguments), form))
    except MemoryFault as fault:
        if fault.code in ("busy", "internal"):
            _note(operation, str(fault), data_dir, caller)
        return _refusal(operation, fault, given, _scope(memory, given, pins), data_dir)


def _note(operation: Operation, what: str, data_dir: DataDir, caller: Caller) -> None:
    """A line in the log about a call that failed through no fault of the caller."""
    from ai_memory.store.memory import Memory  # as in `_called`

    Memory.open(data_dir, caller=caller).log_failure(f"{operation.tool} failed: {what}")


def _where(bug: Exception) -> str:
    """Kind and place of a bug; its words may quote what was stored."""
    frames = traceback.extract_tb(bug.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(bug).__name__}{place}"


def warm() -> None:
    """Imports what the first call needs, while the model still thinks. What fails here, the call itself tells."""
    with suppress(ImportError, AttributeError, TypeError):
        import ai_memory.store.memory  # noqa: F401 the store pulls in git and SQLite

        for operation in OPERATION_BY_TOOL.values():
            tool_parameters(operation)


def pinned(operation: Operation, given: Mapping[str, Any], pins: Pins) -> dict[str, Any]:
    """The arguments, completed by the pins where the call names no scope of its own, by argument or in the path."""
    names = {parameter.name for parameter in tool_parameters(operation)}
    completed = dict(given)
    path = given.get("path")
    is_elsewhere = given.get("scope") not in (None, "", "project")
    names_project = bool(given.get("project")) or is_elsewhere or (isinstance(path, str) and ":" in path)
    if "workspace" in names and pins.workspace and not given.get("workspace") and not names_project:
        completed["workspace"] = pins.workspace
    if "project" in names and pins.project and not given.get("workspace") and not names_project:
        completed["project"] = pins.project
    return completed


def told(operation: Operation, result: Any, form: str) -> str:
    """The result as the model gets it: stored text fenced, then one line about scope, gaps and what was left out."""
    has_stored_text = bool(operation.noun) or (operation.read_only and hasattr(result, "pages"))
    if form == "json":
        answer = {**answer_json(result), "notice": NOTICE} if has_stored_text else answer_json(result)
        return neutralise(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
    text = operation.load_text()(result)
    if operation.is_fenced:
        body = text.rstrip("\n") + "\n"
    else:
        body = fence(text) if has_stored_text else neutralise(text).rstrip("\n") + "\n"
    return body + about(result)


def about(result: Any) -> str:
    """`scope default/acme · resolved_by remote · omitted 3 · gaps: index rebuilding: 3 of 10`."""
    scope = getattr(result, "scope", None)
    parts = [scope_words(scope)] if isinstance(scope, Scope) else []
    if omitted := getattr(result, "omitted", 0):
        parts.append(f"omitted {omitted}")
    if gaps := getattr(result, "gaps", ()):
        parts.append(f"gaps: {'; '.join(gaps)}")
    return neutralise(" · ".join(parts))


def scope_words(scope: Scope) -> str:
    """Names only: the folder behind a scope is nobody's business."""
    return f"scope {scope.workspace}/{scope.project} · resolved_by {scope.resolved_by.value}"


def _scope(memory: Any, given: Mapping[str, Any], pins: Pins) -> Scope | None:
    """The scope that the refused call would have had, when it can be told."""
    from ai_memory.operations.scoping import resolve  # reads the checkout: only a refusal needs it here

    names = (given.get("workspace") or pins.workspace, given.get("project") or pins.project)
    try:
        return resolve(memory, *(name if isinstance(name, str) else None for name in names), write=False)
    except MemoryFault:
        return None


def _refusal(
    operation: Operation, fault: Exception, given: Mapping[str, Any], scope: Scope | None, data_dir: DataDir
) -> Answer:
    """What was wrong, what to do, the resolved scope, a valid call."""
    code, message, hint = _words(fault, data_dir)
    if operation.noun and given.get(FORMAT.name) == "json":
        return Answer(neutralise(json.dumps(fault_json(code, message, hint), ensure_ascii=False)), is_error=True)
    lines = [f"error {code}: {message}"]
    if hint:
        lines.append(f"hint: {hint}")
    if scope is not None:
        lines.append(scope_words(scope))
    if code not in ("busy", "internal"):
        lines.append(f"valid call: {operation.tool} {json.dumps(EXAMPLES.get(operation.tool or '', {}))}")
    return Answer(neutralise("\n".join(lines)), is_error=True)


def _words(fault: Exception, data_dir: DataDir) -> tuple[str, str, str]:
    """Code, message and hint; of a bug only its kind, and of no path more than where it lies in the data dir."""
    if not isinstance(fault, MemoryFault):
        return (
            "internal",
            f"ai-memory failed ({type(fault).__name__})",
            "this is a bug; the bridge's stderr has the details",
        )
    shown = _without_paths(fault.message, data_dir), _without_paths(fault.hint, data_dir)
    return fault.code, *shown


def _without_paths(text: str, data_dir: DataDir) -> str:
    """The text with each absolute path cut down to its place in the data dir, or to its last name."""
    root = str(data_dir.root)

    def shortened(found: re.Match[str]) -> str:
        path = found.group()
        return path[len(root) :].lstrip("/\\") if path.startswith(root) else re.split(r"[/\\]", path.rstrip("/\\"))[-1]

    return _ABSOLUTE_PATH.sub(shortened, text)
