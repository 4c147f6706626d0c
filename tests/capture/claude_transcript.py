"""Claude Code's own transcripts turned into the payloads that its hooks would have been given, in order."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def hook_payloads(path: Path, *, cwd: str | None = None) -> Iterator[dict[str, Any]]:
    """The payloads of one session file: start, prompts, tool calls with results, compactions, stops, end."""
    base: dict[str, Any] = {}
    calls: dict[str, dict[str, Any]] = {}
    has_answered = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if not isinstance(record, dict) or record.get("type") not in ("user", "assistant", "system"):
            continue
        if not base:
            base = {"session_id": record.get("sessionId", path.stem), "cwd": cwd or record.get("cwd", "")}
            yield {**base, "hook_event_name": "SessionStart", "source": "startup"}
        if record.get("isSidechain") or record.get("isMeta"):
            continue
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else message or record.get("content")
        if record["type"] == "assistant" and isinstance(content, list):
            has_answered = True
            for block in content:
                if isinstance(block, dict) and block.get("type") == "tool_use":
                    call = {"tool_name": block["name"], "tool_input": block["input"], "tool_use_id": block["id"]}
                    calls[block["id"]] = call
                    yield {**base, **call, "hook_event_name": "PreToolUse"}
        elif record.get("isCompactSummary"):
            yield {**base, "hook_event_name": "PostCompact", "trigger": "auto", "compact_summary": _text(content)}
        elif record["type"] == "user":
            results = (
                [one for one in content if isinstance(one, dict) and one.get("type") == "tool_result"]
                if (isinstance(content, list))
                else []
            )
            for one in results:
                call = calls.get(one.get("tool_use_id", ""), {})
                name = "PostToolUseFailure" if one.get("is_error") else "PostToolUse"
                answer = record.get("toolUseResult")
                result = (
                    {"error": _text(one.get("content"))}
                    if one.get("is_error")
                    else {"tool_response": answer if isinstance(answer, dict) else _text(one.get("content"))}
                )
                yield {**base, **call, **result, "hook_event_name": name}
            text = "" if results else _text(content)
            if text:
                if has_answered:
                    yield {**base, "hook_event_name": "Stop", "stop_hook_active": False}
                has_answered = False
                yield {**base, "hook_event_name": "UserPromptSubmit", "prompt": text}
    if base:
        yield {**base, "hook_event_name": "Stop", "stop_hook_active": False}
        yield {**base, "hook_event_name": "SessionEnd", "reason": "prompt_input_exit"}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            str(one.get("text", "")) for one in content if isinstance(one, dict) and one.get("type") == "text"
        )
    return ""
