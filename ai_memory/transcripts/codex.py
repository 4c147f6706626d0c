"""Codex: `sessions/<year>/<month>/<day>/rollout-<time>-<thread id>.jsonl`, lines of `{timestamp, type, payload}`.

Prompts stand in `event_msg.user_message` up to 0.15x, in `item_completed` and in `response_item.message` of 0.171; told
twice in a row they are one. Files of 2025 have items without an envelope.
"""

import os
import re
from collections.abc import Iterable, Iterator

from ai_memory.transcripts.instants import instant
from ai_memory.transcripts.lines import joined, member, parsed, text_of
from ai_memory.transcripts.record import HEAD_RECORDS, Around, Found, Header, Record
from ai_memory.transcripts.scan import Scan
from ai_memory.transcripts.telling import Telling

AGENT = "codex"

_CWD = re.compile(r"<cwd>([^<\n]{1,4096})</cwd>|Current working directory: ([^\n]{1,4096})")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_TEXTS = ("input_text", "output_text", "text", "Text")
_MADE = ("<", "# AGENTS.md instructions")
"""Texts of the role user that the program made begin so."""


def find(around: Around, scan: Scan) -> Iterator[Found]:
    """All rollouts: nothing in their names tells the folder of a session."""
    sessions = os.path.join(around.folder("CODEX_HOME", ".codex"), "sessions")  # noqa: PTH118 (may hold any bytes)
    for year in reversed(scan.folders(sessions)):
        for month in reversed(scan.folders(year)):
            for day in reversed(scan.folders(month)):
                yield from scan.files(AGENT, day, (".jsonl",), beginning="rollout-")


def header(records: Iterable[Record], _: Found, __: Around) -> Header | None:
    """From `session_meta`; of an old file the bare first line, and the folder from what the model was told."""
    native, started_us = "", 0
    for _number, record in zip(range(HEAD_RECORDS), records, strict=False):
        payload = member(record, "payload")
        if record.get("type") == "session_meta":
            git = member(payload, "git")
            return Header(
                text_of(payload, "id", "session_id"),
                text_of(payload, "cwd"),
                instant(record.get("timestamp")),
                branch=text_of(git, "branch"),
                commit=text_of(git, "commit_hash"),
                is_subagent=_is_subagent(payload),
            )
        if not native and "payload" not in record:
            native, started_us = text_of(record, "id"), instant(record.get("timestamp"))
        told = _CWD.search(joined(_item(record).get("content"), *_TEXTS)) if native else None
        if told:
            return Header(native, (told[1] or told[2]).strip(), started_us)
    return Header(native, "", started_us) if native and started_us else None


def _is_subagent(meta: Record) -> bool:
    source = meta.get("source")
    return isinstance(source, dict) or bool(meta.get("parent_thread_id"))


def _item(record: Record) -> Record:
    return member(record, "payload") if "payload" in record else record


def tell(records: Iterable[Record], telling: Telling) -> None:
    """Records in the order of the file."""
    for number, record in enumerate(records):
        kind, item, at = record.get("type"), _item(record), record.get("timestamp")
        key = text_of(item, "id") or str(number)
        if kind == "turn_context":
            telling.cwd = text_of(item, "cwd") or telling.cwd
        elif kind == "compacted":
            telling.compaction(key, text_of(item, "message"), at)
        elif kind == "event_msg":
            _event(item, telling, key, at)
        elif kind == "response_item" or "payload" not in record:
            _response(item, telling, key, at)


def _event(item: Record, telling: Telling, key: str, at: object) -> None:
    match item.get("type"):
        case "user_message":
            _prompt(text_of(item, "message"), telling, key, at)
        case "agent_message":
            telling.answer(key, text_of(item, "message"), at)
        case "item_completed":
            inner = member(item, "item")
            if inner.get("type") == "UserMessage":
                _prompt(joined(inner.get("content"), *_TEXTS), telling, key, at)


def _prompt(text: str, telling: Telling, key: str, at: object) -> None:
    if not text.lstrip().startswith(_MADE):
        telling.prompt(key, text, at)


def _response(item: Record, telling: Telling, key: str, at: object) -> None:
    kind = item.get("type")
    if kind == "message" or (kind is None and "role" in item):
        text = joined(item.get("content"), *_TEXTS)
        if item.get("role") == "user":
            _prompt(text, telling, key, at)
        elif item.get("role") == "assistant":
            telling.answer(key, text, at)
    elif kind in _CALLS:
        telling.call(key, text_of(item, "call_id", "id"), _name(item), _input(item), at)
    elif kind in _OUTPUTS:
        output, is_error = _output(item.get("output"))
        telling.result(key, text_of(item, "call_id", "id"), output, at, is_error=is_error)
    elif kind == "web_search_call":
        action = member(item, "action")
        telling.result(key, "", "", at, tool="web_search", given={"query": text_of(action, "query", "url")})


def _name(item: Record) -> str:
    """With the server of an MCP tool before it, as hooks name it."""
    name, space = text_of(item, "name"), text_of(item, "namespace").rstrip("_")
    if not name and item.get("type") == "local_shell_call":
        return "local_shell"
    return f"{space}__{name}" if space and not name.startswith(space) else name


def _input(item: Record) -> object:
    if item.get("type") == "local_shell_call":
        return {"command": member(item, "action").get("command")}
    given = item.get("arguments", item.get("input"))
    if isinstance(given, str) and given[:1] == "{":
        return parsed(given) or {"input": given}
    return {"input": given} if isinstance(given, str) else given


def _output(given: object) -> tuple[object, bool | None]:
    """(output, whether the call failed): JSON in a string is read, an exit code is looked for."""
    read = parsed(given) if isinstance(given, str) and given[:1] == "{" else given
    if isinstance(read, list):
        return joined(read, *_TEXTS), None
    if not isinstance(read, dict):
        return given, None
    code = member(read, "metadata").get("exit_code")
    text = text_of(read, "output", "content")
    if isinstance(code, int):
        return text, code != 0
    success = read.get("success")
    return text or given, (not success) if isinstance(success, bool) else None
