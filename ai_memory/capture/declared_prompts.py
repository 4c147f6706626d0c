"""Which prompts a person typed to an agent that they work with: only those may declare anything.

A prompt in print mode (`claude -p`, `codex exec`) or of an agent that runs another one is no person's word. Hooks flag
what their environment gives away; what an agent's own record says of its session is looked up here.
"""

import json
import re
from pathlib import Path

from ai_memory.capture.prompts import substance
from ai_memory.capture.spooled import Event
from ai_memory.hook_harnesses import HARNESSES, UNATTENDED
from ai_memory.plainfile import open_plain
from ai_memory.text.declarations import declarations

HEAD_BYTES = 64 << 10
"""Of an agent's record: Codex says it in the first line, Claude Code with the first messages."""
_ENTRANCE = re.compile(rb'(?<!\\)"entrypoint": ?"(?:sdk|mcp|claude-code-github-action)')
_EXEC = re.compile(rb'(?<!\\)"originator": ?"codex_exec"|(?<!\\)"source": ?(?:"exec"|\{)')
_TOLD = {"claude-code": _ENTRANCE, "codex": _EXEC}
"""What the records of each say of a session that no person types in."""


def may_declare(event: Event) -> bool:
    """Whether the event is a prompt of a harness, not of a subagent, a program or a client that tells turns by itself,
    that holds a declaration."""
    if event.kind != "user-prompt" or event.agent_id or event.ingest_key or event.agent not in HARNESSES:
        return False
    is_program = UNATTENDED in event.flags.split(",") or "extension" in _extra(event.extra)
    return not is_program and bool(declarations(substance(event.text)))


def is_attended(agent: str, extra: str) -> bool:
    """Whether nothing in the agent's own record of the session says that no person types there."""
    told, path = _TOLD.get(agent), _extra(extra).get("transcript_path")
    if told is None or not isinstance(path, str) or not path:
        return True
    try:
        with open_plain(Path(path)) as file:
            return told.search(file.read(HEAD_BYTES)) is None
    except (OSError, ValueError):  # gone, or never written
        return True


def _extra(text: str) -> dict[str, object]:
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}
