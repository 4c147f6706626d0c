"""The APIs of model providers as far as agents need them: some calls, then one sentence, in each one's own form."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Arguments = Mapping[str, Any]

Plan = str | Sequence[tuple[str, Arguments]]
"""What the model does before it says its sentence: one command line, or calls of tools whose names end so."""

_SHELLS: Mapping[str, Callable[[str], Arguments]] = {
    "exec_command": lambda line: {"cmd": line},
    "shell_command": lambda line: {"command": line},
    "shell": lambda line: {"command": ["bash", "-lc", line]},
    "bash": lambda line: {"command": line, "description": "Look at the folder"},
    "Bash": lambda line: {"command": line, "description": "Look at the folder"},
    "run_shell_command": lambda line: {"command": line, "description": "Look at the folder"},
    "Shell": lambda line: {"command": line},
}
"""Shell tools that agents offer → their arguments for a command line."""

_USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 15,
}
_CHAT_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def answer(path: str, request: dict[str, Any], *, command: Plan, sentence: str, number: int) -> tuple[str, str] | None:
    """(content type, body) of what the model answers there; None where no model is asked."""
    if path.endswith("/responses"):
        return "text/event-stream", _responses(request, command, sentence, number)
    if path.endswith("/chat/completions"):
        return _chat(request, command, sentence)
    if path.endswith("/messages"):
        return _messages(request, command, sentence)
    if "enerateContent" in path:
        return _gemini(request, command, sentence, is_stream="stream" in path)
    return None


def _tool(names: Iterable[str], command: Plan, done: int) -> tuple[str, Arguments] | None:
    """The next call, after as many as were answered; None when all were made, or nobody offers the tool."""
    offered = list(names)
    if isinstance(command, str):
        known = ((name, make(command)) for name, make in _SHELLS.items() if name in offered and not done)
        return next(known, None)
    if done >= len(command):
        return None
    wanted, arguments = command[done]
    return next(((name, arguments) for name in offered if name.endswith(wanted)), None)


def _events(events: Iterable[Mapping[str, Any]], *, is_named: bool = True) -> str:
    return "".join((f"event: {one['type']}\n" if is_named else "") + f"data: {json.dumps(one)}\n\n" for one in events)


def _flat(tools: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Name of each tool → what a call of it says beside. Codex puts the tools of one MCP server into a name space."""
    found: dict[str, dict[str, str]] = {}
    for tool in tools:
        name = str(tool.get("name"))
        inner = tool.get("tools") if tool.get("type") == "namespace" else None
        found |= {str(one["name"]): {"namespace": name} for one in inner} if inner else {name: {}}
    return found


def _responses(request: dict[str, Any], command: Plan, sentence: str, number: int) -> str:
    """Codex. *Source*: the Responses API of OpenAI."""
    given = request.get("input") or []
    done = sum(str(one.get("type", "")).endswith("_call_output") for one in given)
    offered = _flat(request.get("tools") or [])
    tool = _tool(offered, command, done)
    item: dict[str, Any]
    if tool is None:
        said = {"type": "output_text", "text": sentence, "annotations": []}
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said]}
    else:
        item = {
            "type": "function_call",
            "id": f"fc_{done}",
            "call_id": f"call_{done}",
            "name": tool[0],
            "status": "completed",
        }
        item |= {"arguments": json.dumps(tool[1])} | offered[tool[0]]
    identifier = f"resp_{number}"
    whole = {"id": identifier, "object": "response", "status": "completed", "output": [item], "usage": _USAGE}
    return _events(
        [
            {"type": "response.created", "response": {"id": identifier, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item | {"status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
    )


def _chat(request: dict[str, Any], command: Plan, sentence: str) -> tuple[str, str]:
    """OpenCode, Pi, Qwen Code, Crush. *Source*: the Chat Completions API of OpenAI."""
    offered = (str(tool.get("function", {}).get("name")) for tool in request.get("tools") or [])
    done = sum(one.get("role") == "tool" for one in request.get("messages") or [])
    tool = _tool(offered, command, done)
    said: dict[str, Any] = {"role": "assistant", "content": sentence}
    if tool is not None:
        function = {"name": tool[0], "arguments": json.dumps(tool[1])}
        said = {"role": "assistant", "content": None}
        said["tool_calls"] = [{"index": 0, "id": f"call_{done}", "type": "function", "function": function}]
    reason = "stop" if tool is None else "tool_calls"
    head = {"id": "chatcmpl-1", "created": 1, "model": str(request.get("model") or "mock-1")}
    if not request.get("stream"):
        choice = {"index": 0, "message": said, "finish_reason": reason}
        whole = head | {"object": "chat.completion", "choices": [choice], "usage": _CHAT_USAGE}
        return "application/json", json.dumps(whole)
    chunk = head | {"object": "chat.completion.chunk"}
    parts = [
        chunk | {"choices": [{"index": 0, "delta": said, "finish_reason": None}]},
        chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        chunk | {"choices": [], "usage": _CHAT_USAGE},
    ]
    return "text/event-stream", _events(parts, is_named=False) + "data: [DONE]\n\n"


def _messages(request: dict[str, Any], command: Plan, sentence: str) -> tuple[str, str]:
    """Claude Code. *Source*: the Messages API of Anthropic."""
    done = json.dumps(request.get("messages") or []).count('"tool_result"')
    tool = _tool((str(tool.get("name")) for tool in request.get("tools") or []), command, done)
    block: dict[str, Any] = {"type": "text", "text": sentence}
    if tool is not None:
        block = {"type": "tool_use", "id": f"toolu_{done}", "name": tool[0], "input": tool[1]}
    reason = "end_turn" if tool is None else "tool_use"
    usage = {"input_tokens": 10, "output_tokens": 5}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": str(request.get("model") or "mock-1")}
    if not request.get("stream"):
        whole = head | {"content": [block], "stop_reason": reason, "stop_sequence": None, "usage": usage}
        return "application/json", json.dumps(whole)
    if block["type"] == "text":
        begun, delta = block | {"text": ""}, {"type": "text_delta", "text": sentence}
    else:
        begun = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    begin = head | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    end = {"stop_reason": reason, "stop_sequence": None}
    return "text/event-stream", _events(
        [
            {"type": "message_start", "message": begin},
            {"type": "content_block_start", "index": 0, "content_block": begun},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": usage},
            {"type": "message_stop"},
        ]
    )


def _gemini(request: dict[str, Any], command: Plan, sentence: str, *, is_stream: bool) -> tuple[str, str]:
    """Gemini CLI. *Source*: the Gemini API of Google."""
    declared = [one for tool in request.get("tools") or [] for one in tool.get("functionDeclarations") or []]
    done = json.dumps(request.get("contents") or []).count('"functionResponse"')
    tool = _tool((str(one.get("name")) for one in declared), command, done)
    wanted = request.get("generationConfig") or {}
    part: dict[str, Any] = {"text": sentence}
    if wanted.get("responseMimeType") == "application/json":  # it asks itself which model is best
        about = {"reasoning": "x", "complexity_reasoning": "x", "complexity_score": 10}
        part = {"text": json.dumps(about | {"next_speaker": "user", "model_choice": "flash"})}
    elif tool is not None:
        part = {"functionCall": {"name": tool[0], "args": tool[1]}}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    choice = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [choice], "usageMetadata": usage, "modelVersion": "mock-1"}
    if is_stream:
        return "text/event-stream", f"data: {json.dumps(whole)}\r\n\r\n"
    return "application/json", json.dumps(whole)
