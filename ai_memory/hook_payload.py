"""What a harness tells on stdin, read by one tolerant extractor into one shape. Part of the hook: stdlib only, light.

What is peculiar to one harness beyond the names of members stands in `ai_memory.hook_harnesses`.
*Source*: the harnesses' own pages about hooks, and payloads that they sent: `tests/fixtures/hooks`.
"""

# ruff: noqa: SIM105 (contextlib is not loaded in a hook)

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SESSION_LENGTH = 512
CWD_LENGTH = 4_096
"""No directory has a longer name, so a longer text is none."""
NAME_LENGTH = 200
CALL_ID_LENGTH = 128
MEMBER_LENGTH = 1_024
REACH = 4_096
"""Characters beyond these lengths that are read too, so that no secret is split before it is found."""

_NESTED = (
    *("payload", "event", "properties", "info", "path", "tool_info", "preToolUse", "postToolUse", "userPromptSubmit"),
    "extra",
)
_SESSION = ("conversation_id", "session_id", "sessionId", "sessionID", "session", "conversationId", "thread-id")
"""Cursor names its conversation with every event, and with some a session, too."""
_MORE_SESSION = ("trajectory_id", "taskId")
_CWD = (
    *("cwd", "current_dir", "working_dir", "directory", "workspacePaths", "workspace_roots", "workspaceRoots"),
    "workspaceRoot",
)
_PROMPT = ("submitted_prompt", "prompt", "user_prompt", "user_message", "message", "text", "input-messages")
_TOOL = ("tool_name", "toolName", "tool", "name", "mcp_tool_name")
_INPUT = ("tool_input", "toolInput", "toolArgs", "input", "args", "arguments", "parameters", "mcp_tool_arguments")
_CALL_ID = ("tool_use_id", "tool_call_id", "toolCallId", "callID", "call_id", "stepIdx")
_RESULT = (
    *("tool_response", "tool_output", "tool_result", "toolResponse", "toolResult", "toolOutput", "result_json"),
    *("output", "result", "mcp_result", "result_summary", "error", "error_message"),
)
_LAST_ANSWER = (
    *("last_assistant_message", "lastAssistantMessage", "last-assistant-message", "prompt_response", "response"),
)
_KEPT = {
    "source": "source",
    "reason": "reason",
    "trigger": "trigger",
    "model": "model",
    "turn_id": "turn_id",
    "turn-id": "turn_id",
    "notification_type": "notification_type",
    "transcript_path": "transcript_path",
    "transcriptPath": "transcript_path",
    "agent_type": "agent_type",
    "status": "status",
    "duration_ms": "duration_ms",
}
"""Members that go into `extra`, with their name there: short strings and numbers."""


def kind_of(payload: "Mapping[str, Any]", kind: str) -> str:
    """The canonical kind of an event: by its name, which `kind` tells, else by the part of a message."""
    return "post-tool-use" if kind == "other" and _state_of(_part_of(payload)) in ("completed", "error") else kind


def _part_of(payload: "Mapping[str, Any]") -> "Mapping[str, Any]":
    """The part that an event of OpenCode's bus updates: `message.part.updated` wraps it twice."""
    properties = payload.get("properties")
    part = properties.get("part") if isinstance(properties, dict) else None
    return part if isinstance(part, dict) else {}


def _state_of(part: "Mapping[str, Any]") -> str:
    """How far the tool call is that a part tells of; nothing for another part."""
    state = part.get("state")
    return str(state.get("status")) if part.get("type") == "tool" and isinstance(state, dict) else ""


def parse(raw: bytes) -> "Mapping[str, Any] | None":
    """The payload, or None when it is no JSON object. One BOM is accepted, bad UTF-8 is replaced, line
    ends may stand in a text."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = raw.decode("utf-16", "replace")
    else:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    try:
        found = json.loads(text, strict=False)  # line ends inside a text, as hand-written callers put them
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def salvage(head: bytes, tail: bytes) -> "Mapping[str, Any]":
    """The members that can be read of an object that was too long to keep: those that stand whole in its head, and
    plain strings in its tail."""
    import re  # json has it loaded already

    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").lstrip()
    found: dict[str, Any] = {}
    decoder = json.JSONDecoder()
    at = 1 if text[:1] == "{" else len(text)
    space = re.compile(r"[\s,:]*+")
    while at < len(text):
        try:
            key, at = decoder.raw_decode(text, space.match(text, at).end())  # type: ignore[union-attr]
            value, at = decoder.raw_decode(text, space.match(text, at).end())  # type: ignore[union-attr]
        except (ValueError, RecursionError):
            break
        if isinstance(key, str):
            found[key] = value
    names = "|".join(("hook_event_name", "hookEventName", "cwd", *_SESSION[:3], "tool_name", "tool_use_id", "agent_id"))
    end = tail.decode("utf-8", "replace")
    for match in re.finditer(rf'(?<!\\)"({names})"\s{{0,8}}:\s{{0,8}}("(?:[^"\\\n]|\\.){{0,4096}}")', end):
        try:
            found.setdefault(match[1], json.loads(match[2]))
        except ValueError:
            continue
    return found


def find(payload: "Mapping[str, Any]", keys: "tuple[str, ...]") -> "Any":
    """The first member of one of these names, at the top first, then in the known nested objects."""
    for key in keys:
        value = payload.get(key)
        if value is not None and value != "":
            return value
    for name in _NESTED:
        inner = payload.get(name)
        if isinstance(inner, dict):
            for key in keys:
                value = inner.get(key)
                if value is not None and value != "":
                    return value
    return None


def session_of(payload: "Mapping[str, Any]") -> str:
    """The harness's own id of the session, or nothing."""
    value = find(payload, _SESSION)
    if isinstance(value, dict):
        value = value.get("id")
    if not isinstance(value, (str, int)):
        properties = payload.get("properties")
        info = payload.get("info") or (properties.get("info") if isinstance(properties, dict) else None)
        value = find(payload, _MORE_SESSION) or _part_of(payload).get("sessionID")
        if isinstance(info, dict):
            value = info.get("sessionID") or info.get("id") or value
    text = str(value).strip() if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    return "" if text == "empty-state-draft" else text[: SESSION_LENGTH + REACH]


def cwd_of(payload: "Mapping[str, Any]") -> str:
    """The working directory that the payload names, or nothing."""
    for key in _CWD:
        value = find(payload, (key,))
        if isinstance(value, list):
            value = next((one for one in value if isinstance(one, str) and one), None)
        if isinstance(value, str) and value and "\0" not in value and len(value) <= CWD_LENGTH:
            return value
    return ""


def names_cwd(payload: "Mapping[str, Any]") -> bool:
    """Whether the payload names a directory at all: one that can be none is not replaced by another."""
    return any(find(payload, (key,)) for key in _CWD)


def subagent_of(payload: "Mapping[str, Any]") -> str:
    """Id of the subagent that the event belongs to. `agent_type` alone is none: `--agent` sets it too."""
    value = payload.get("agent_id") or payload.get("subagentType")
    extra = payload.get("extra")
    if not value and isinstance(extra, dict) and extra.get("platform") == "subagent":  # Hermes
        value = "subagent"
    return str(value)[: NAME_LENGTH + REACH] if isinstance(value, (str, int)) else ""


def prompt_of(payload: "Mapping[str, Any]") -> str:
    """What the person typed."""
    return text_of(find(payload, _PROMPT))


def summary_of(payload: "Mapping[str, Any]") -> str:
    return text_of(find(payload, ("summary", "compact_summary")))


def answer_of(payload: "Mapping[str, Any]") -> str:
    """The agent's last answer, which is kept only where the person asked for it."""
    return text_of(find(payload, _LAST_ANSWER))


def tool_of(payload: "Mapping[str, Any]") -> "tuple[str, Any, str]":
    """(name, input, call id) of a tool call. Input given as JSON in a string is read."""
    call, part = payload.get("toolCall"), _part_of(payload)
    call_id = find(payload, _CALL_ID)
    if isinstance(call, dict):
        name, given = call.get("name"), call.get("args")
    elif _state_of(part):
        name, given, call_id = part.get("tool"), part["state"].get("input"), part.get("callID")
    else:
        name, given = find(payload, _TOOL), find(payload, _INPUT)
    if isinstance(name, dict):
        name = name.get("name")
    if isinstance(given, str) and given[:1] in ("{", "["):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            pass
    action = payload.get("agent_action_name")
    if not isinstance(name, str) and isinstance(action, str):  # Windsurf: `post_run_command` tells of `run_command`
        name = action.partition("_")[2]
    if given is None:
        given = {key: payload[key] for key in ("command", "file_path", "edits", "url", "query") if key in payload}
        inner = payload.get("tool_info")
        if not given and isinstance(inner, dict):
            given = inner
        if not isinstance(name, str) and given:
            name = "shell" if "command" in given else "edit" if "edits" in given else None
    kept = str(call_id)[: CALL_ID_LENGTH + REACH] if call_id is not None else ""
    return (name[: NAME_LENGTH + REACH] if isinstance(name, str) else "", given, kept)


def result_of(payload: "Mapping[str, Any]") -> "tuple[str, str]":
    """(output, outcome) of a tool call: outcome is success, error or unknown."""
    part = _part_of(payload)
    value = part["state"] if _state_of(part) else find(payload, _RESULT)
    if isinstance(value, str) and value[:1] == "{" and ("result_json" in payload or "cursor_version" in payload):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            pass
    return _output_text(value), _outcome(payload, value)


def _outcome(payload: "Mapping[str, Any]", value: "Any") -> str:
    name = str(payload.get("hook_event_name") or payload.get("hookEventName") or "")
    if "failure" in name.lower() or payload.get("error") or payload.get("isError") or payload.get("is_error"):
        return "error"
    if not isinstance(value, dict):
        value = payload.get("postToolUse") or payload.get("extra")  # Cline and Hermes say it beside the result
    if not isinstance(value, dict):
        return "unknown"
    for key in ("is_error", "isError", "interrupted"):
        if value.get(key) is True:
            return "error"
    for key in ("exit_code", "exitCode", "returnCode"):
        if isinstance(value.get(key), int):
            return "error" if value[key] else "success"
    if isinstance(value.get("success"), bool):
        return "success" if value["success"] else "error"
    kind = value.get("result_type") or value.get("resultType") or value.get("status")
    if isinstance(kind, str):
        return "error" if kind.lower() in ("failure", "error", "failed", "denied", "rejected") else "success"
    if value.get("error"):
        return "error"
    return "success" if "stdout" in value or "structuredPatch" in value or "ok" in value else "unknown"


def _output_text(value: "Any") -> str:
    if not isinstance(value, dict):
        return text_of(value)
    inner = value.get("file")
    if isinstance(inner, dict) and isinstance(inner.get("content"), str):
        return str(inner["content"])
    out, err = value.get("stdout"), value.get("stderr")
    if isinstance(out, str) or isinstance(err, str):
        parts = [part for part in (out, err) if isinstance(part, str) and part]
        return "\n".join(parts)
    for key in ("text_result_for_llm", "textResultForLlm", "llmContent", "output", "content", "text", "result"):
        text = text_of(value.get(key)) if value.get(key) else ""
        if text:
            return text
    for key in ("error", "message", "error_message"):
        if isinstance(value.get(key), str) and value[key]:
            return str(value[key])
    if "oldString" in value or "structuredPatch" in value:
        return ""  # the input says it already
    return _json(value)


def text_of(value: "Any") -> str:
    """Text of a value: a string, the text blocks of a list, else its JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value, dict) and "content" in value:
        return text_of(value["content"])
    if isinstance(value, list):
        parts = []
        for one in value:
            if isinstance(one, str):
                parts.append(one)
            elif isinstance(one, dict) and one.get("type") not in ("image", "reasoning", "thinking"):
                parts.append(text_of(one))
        return "\n".join(part for part in parts if part)
    return _json(value)


def _json(value: "Any") -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return ""


def kept_members(payload: "Mapping[str, Any]") -> "dict[str, Any]":
    """The small members that are worth keeping with any event."""
    found: dict[str, Any] = {}
    for key, name in _KEPT.items():
        value = find(payload, (key,))
        if isinstance(value, str) and value:
            found.setdefault(name, value[: MEMBER_LENGTH + REACH])
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found.setdefault(name, value)
    return found


def time_of(payload: "Mapping[str, Any]", now_us: int) -> int:
    """When it happened, µs: the payload's own time within five minutes of ours, else ours (decision B2)."""
    value = payload.get("timestamp") or payload.get("occurred_at")
    at_us = 0
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e17:
        at_us = int(value * 1_000_000 if value < 1e11 else value * 1000 if value < 1e14 else value)
    elif isinstance(value, str):
        at_us = _from_rfc3339(value)
    return at_us if abs(at_us - now_us) <= 300_000_000 else now_us


def _from_rfc3339(text: str) -> int:
    """Microseconds of a UTC time, 0 for anything else. By hand: datetime costs the hook 2 ms."""
    if len(text) < 20 or not text.endswith(("Z", "+00:00")) or text[10] not in "Tt ":
        return 0
    try:
        year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
        seconds = int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
        fraction = text[19:].removesuffix("Z").removesuffix("+00:00").lstrip(".")
        micros = int((fraction + "000000")[:6]) if fraction else 0
    except ValueError:
        return 0
    # days_from_civil: https://howardhinnant.github.io/date_algorithms.html
    year -= month <= 2
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468
    return (days * 86_400 + seconds) * 1_000_000 + micros
