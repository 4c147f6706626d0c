"""One tool call: look up the operation, check the arguments, run it, tell the answer. Knows nothing of the SDK."""

import json
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ai_memory.bridge.shapes import without_nulls
from ai_memory.bridge.takes import FORMAT, example, tool_parameters
from ai_memory.bridge.wording import in_tools
from ai_memory.errors import GivenUp, MemoryFault
from ai_memory.model import Caller, Scope
from ai_memory.operations.answer import answer_json, fault_json
from ai_memory.operations.ceiling import cut_by, most_of, not_over, within
from ai_memory.operations.counting import NOTHING, Used, client_of, count_call, used
from ai_memory.operations.signature import PROGRESS, bind, takes_progress
from ai_memory.operations.table import OPERATION_BY_TOOL, Operation
from ai_memory.paths import DataDir
from ai_memory.text.fences import NOTICE, fence, neutralise

LOCK_TIMEOUT_S = 5.0
"""Decision A12: an agent waits less than a person."""

_ABSOLUTE_PATH = re.compile(r"(?<![\w:/.])(?:[A-Za-z]:)?[/\\](?:[^\s'\"/\\]+[/\\])+[^\s'\"/\\]*")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model gets: one text, and whether the call failed."""

    text: str
    is_error: bool = False
    code: str = ""
    """Of a fault, as `errors.py` names it."""
    structured: dict[str, Any] | None = None
    """The result as an object, where the client asked for such."""
    cause: str = ""
    """Kind and place of a bug."""
    pages: Used = NOTHING
    """Pages that it reads out."""


@dataclass(frozen=True, slots=True)
class Pins:
    """The scope of calls that name none, from the bridge's command line."""

    workspace: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call is made: in which data dir, by whom, and what the client was offered."""

    data_dir: DataDir
    caller: Caller
    pins: Pins = field(default_factory=Pins)
    served: frozenset[str] = frozenset(OPERATION_BY_TOOL)
    """Tools that the client sees: advice names no other."""
    is_structured: bool = False
    client: str = ""
    """What the client calls itself."""

    def call(self, tool: str, given: Mapping[str, Any], progress: Callable[[int, int], None] | None = None) -> Answer:
        """The answer of one tool. Faults are answers too, so it raises none.

        Crash: safe at any point, as the store is.
        """
        operation = OPERATION_BY_TOOL[tool]
        try:
            answer = _called(operation, given, self, progress)
        except Exception as bug:  # noqa: BLE001 the one place of the bridge where a bug becomes an answer
            traceback.print_exc(file=sys.stderr)
            cause = _where(bug)
            _note(operation, cause, self)
            return _refusal(operation, bug, given, None, self, cause=cause)
        self.count(tool, answer.text, answer.pages)
        return answer

    def count(self, name: str, text: str, pages: Used) -> None:
        """Leave word of what was answered, for the drain to add up."""
        count_call(self.memory(name), name, _size(text), pages, client=client_of(self.caller, self.client))

    def memory(self, command: str) -> Any:
        """The store as this caller sees it."""
        from ai_memory.store.memory import Memory  # the store pulls in git and SQLite: no tools/list needs them

        return Memory.open(self.data_dir, caller=self.caller, lock_timeout_s=LOCK_TIMEOUT_S, command=command)


def _called(
    operation: Operation, given: Mapping[str, Any], place: Place, progress: Callable[[int, int], None] | None
) -> Answer:
    memory = place.memory(operation.tool or "")
    try:
        arguments = bind(tool_parameters(operation), pinned(operation, given, place.pins))
        form = arguments.pop(FORMAT.name, "md") if operation.noun else "md"
        function = operation.load()
        if progress is not None and takes_progress(function):
            arguments[PROGRESS] = progress
        most_bytes = most_of(memory, operation)
        result = function(memory, **within(arguments, most_bytes))
        text = told(operation, result, form, place.served, most_bytes=most_bytes)
        found = structured(operation, result) if place.is_structured else None
        if found is not None:
            not_over(_json(found), most_bytes)
        return Answer(
            text,
            structured=found,
            pages=used(operation, result, is_agent=True),
        )
    except MemoryFault as fault:
        if fault.code in ("busy", "internal") and not isinstance(fault, GivenUp):
            _note(operation, str(fault), place)
        return _refusal(operation, fault, given, _scope(memory, given, place.pins), place)


def _note(operation: Operation, what: str, place: Place) -> None:
    """A line in the log about a call that failed through no fault of the caller."""
    place.memory("").log_failure(f"{operation.tool} failed: {what}")


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
    is_named = bool(given.get("project") or given.get("from_project") or given.get("scopes"))
    names_project = is_named or is_elsewhere or (isinstance(path, str) and ":" in path)
    if "workspace" in names and pins.workspace and not given.get("workspace") and not names_project:
        completed["workspace"] = pins.workspace
    if "project" in names and pins.project and not given.get("workspace") and not names_project:
        completed["project"] = pins.project
    return completed


def told(
    operation: Operation,
    result: Any,
    form: str,
    served: frozenset[str] = frozenset(OPERATION_BY_TOOL),
    *,
    most_bytes: int = 0,
) -> str:
    """The result as the model gets it: stored text fenced, then one line about scope, gaps and what was left out.

    Errors: UsageFault for JSON and TOON of more than `most_bytes`; other text is cut, which it says. 0 is no bound.
    """
    if form != "md":
        return not_over(_json(_object(operation, result)) if form == "json" else _toon(operation, result), most_bytes)
    text = operation.load_text()(result)
    if most_bytes and (over := _size(_in_md(operation, result, text, served)) - most_bytes) > 0:
        text = cut_by(text, over)
    return _in_md(operation, result, text, served)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _in_md(operation: Operation, result: Any, text: str, served: frozenset[str]) -> str:
    if operation.is_fenced:
        body = text.rstrip("\n") + "\n"
    elif _has_stored_text(operation, result):
        body = fence(text)
    else:
        body = neutralise(in_tools(text, operation, served)).rstrip("\n") + "\n"
    return body + about(operation, result, served)


def structured(operation: Operation, result: Any) -> dict[str, Any]:
    """The result as an object of its output schema: no markers in its texts, and what is null is not there."""
    found: dict[str, Any] = json.loads(_json(without_nulls(_object(operation, result))))
    return found


def _object(operation: Operation, result: Any) -> dict[str, Any]:
    answer = answer_json(result)
    return {**answer, "notice": NOTICE} if _has_stored_text(operation, result) else answer


def _json(answer: Mapping[str, Any]) -> str:
    return neutralise(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def _toon(operation: Operation, result: Any) -> str:
    from ai_memory.operations.toon import toon_text  # a package that few have

    return neutralise(toon_text(_object(operation, result), operation.noun))


def _has_stored_text(operation: Operation, result: Any) -> bool:
    return bool(operation.noun) or (operation.read_only and hasattr(result, "pages"))


def about(operation: Operation, result: Any, served: frozenset[str]) -> str:
    """`scope default/acme · resolved_by remote · omitted 3 · gaps: index rebuilding: 3 of 10`."""
    scope = getattr(result, "scope", None)
    parts = [scope_words(scope)] if isinstance(scope, Scope) else []
    if omitted := getattr(result, "omitted", 0):
        parts.append(f"omitted {omitted}")
    if gaps := getattr(result, "gaps", ()):
        parts.append(f"gaps: {'; '.join(in_tools(gap, operation, served) for gap in gaps)}")
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
    operation: Operation,
    fault: Exception,
    given: Mapping[str, Any],
    scope: Scope | None,
    place: Place,
    *,
    cause: str = "",
) -> Answer:
    """What was wrong, what to do, the resolved scope, a valid call."""
    code, message, hint = fault_words(fault, operation, place, given)
    if operation.noun and given.get(FORMAT.name) == "json":
        text = _json(fault_json(code, message, hint))
        return Answer(text, is_error=True, code=code, cause=cause)
    lines = [f"error {code}: {message}"]
    if hint:
        lines.append(f"hint: {hint}")
    if scope is not None:
        lines.append(scope_words(scope))
    if code not in ("busy", "internal"):
        lines.append(f"valid call: {operation.tool} {json.dumps(valid(operation, code))}")
    return Answer(neutralise("\n".join(lines)), is_error=True, code=code, cause=cause)


def valid(operation: Operation, code: str) -> dict[str, Any]:
    """Arguments of a valid call; after a guessed scope, of one that names its project."""
    named = {"project": "your-project"} if code == "refused_scope" else {}
    return {**example(operation), **named}


def fault_words(
    fault: Exception, operation: Operation, place: Place, given: Mapping[str, Any] = MappingProxyType({})
) -> tuple[str, str, str]:
    """Code, message and hint; of a bug only its kind, and of no path more than where it lies in the data dir. What the
    call itself names is told as it was `given`."""
    if not isinstance(fault, MemoryFault):
        return (
            "internal",
            f"ai-memory failed ({type(fault).__name__})",
            "this is a bug; the bridge's stderr has the details",
        )
    words = (in_tools(text, operation, place.served) for text in (fault.message, fault.hint))
    message, hint = (_without_paths(text, place.data_dir, given) for text in words)
    return fault.code, message, hint


def _without_paths(text: str, data_dir: DataDir, given: Mapping[str, Any]) -> str:
    """The text with each absolute path cut down to its place in the data dir, or to its last name."""
    root = str(data_dir.root)
    said = {value for value in given.values() if isinstance(value, str)}

    def shortened(found: re.Match[str]) -> str:
        path = found.group()
        if path in said:
            return path
        if path == root:
            return data_dir.root.name
        return path[len(root) :].lstrip("/\\") if path.startswith(root) else re.split(r"[/\\]", path.rstrip("/\\"))[-1]

    return _ABSOLUTE_PATH.sub(shortened, text)
