"""Session files of any harness turned into lines for `hook --batch`, by shape: who spoke, what ran, what came out."""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_INPUTS = ("input", "arguments", "args", "parameters", "rawInput", "tool_input")
_OUTPUTS = ("output", "result", "tool_response", "response", "content")
_MARKDOWN_USER = re.compile(r"^(?:#### (.+)|_\*\*User[^\n]*\*\*_\n+(.+?)(?=\n_\*\*|\Z))", re.MULTILINE | re.DOTALL)


def lines_of(path: Path, *, cwd: str) -> Iterator[dict[str, Any]]:
    """A start, what was said and done, an end. One file is one session."""
    base = {"session_id": f"replay-{path.stem}", "cwd": cwd}
    yield base | {"event": "session-start"}
    for number, (kind, more) in enumerate(_events(path)):
        yield base | {"event": kind, "ingest_key": f"k{number}"} | more
    yield base | {"event": "session-end"}


def _events(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix == ".md":
        for found in _MARKDOWN_USER.finditer(path.read_text(encoding="utf-8", errors="replace")):
            yield "user-prompt", {"prompt": (found[1] or found[2]).strip()}
        return
    for value in _values(path):
        yield from _walk(value, "")


def _values(path: Path) -> Iterator[Any]:
    if path.suffix == ".db":
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                for row in database.execute(f'SELECT * FROM "{table}"'):
                    yield from (found for cell in row if (found := _json(cell)) is not None)
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    whole = _json(text)
    parts = [whole] if whole is not None else [_json(line) for line in text.splitlines()]
    yield from (part for part in parts if part is not None)


def _json(text: object) -> Any:
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _walk(value: Any, speaker: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, list):
        for one in value:
            yield from _walk(one, speaker)
    if not isinstance(value, dict):
        return
    said = str(value.get("role") or value.get("type") or value.get("source") or "").lower()
    speaker = "user" if "user" in said else "agent" if said in ("assistant", "model", "agent", "gemini") else speaker
    given = next((value[key] for key in _INPUTS if isinstance(value.get(key), (dict, str))), None)
    state = value.get("state")
    if given is None and isinstance(state, dict):
        given = state.get("input")
    name = value.get("name") or value.get("tool") or value.get("toolName")
    if isinstance(name, str) and given is not None:
        yield "post-tool-use", {"tool_name": name, "tool_input": given, "tool_response": _output(value)}
        return
    text = value.get("text") if isinstance(value.get("text"), str) else value.get("content")
    if isinstance(text, str) and text.strip():
        if speaker == "user":
            yield "user-prompt", {"prompt": text}
        elif speaker == "agent":
            yield "stop", {"last_assistant_message": text}
    for key, inner in value.items():
        if key not in _INPUTS:
            yield from _walk(inner, speaker)


def _output(value: Mapping[str, Any]) -> Any:
    state = value.get("state")
    places = [value, state] if isinstance(state, dict) else [value]
    return next((place[key] for place in places for key in _OUTPUTS if place.get(key)), "")
