"""Running what was written, once: the hook as the agent's shell would, and the bridge's first answer."""

import json
import os
import subprocess
from collections.abc import Sequence

from ai_memory.harnesses.launch import Launch

TIMEOUT_S = 20.0
_PAYLOAD = {"session_id": "self-check", "hook_event_name": "UserPromptSubmit", "prompt": "self-check"}
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "setup", "version": "1"}},
}


def check_hook(launch: Launch, agent: str) -> str:
    """What is wrong with the hook command; empty where it answers. It keeps nothing of the event."""
    line = launch.hook_line(agent, "user-prompt").replace(" --event ", " --check-capture --event ")
    words: str | Sequence[str] = line if launch.platform == "win32" else ("/bin/sh", "-c", line)
    told = _answer(words, json.dumps(_PAYLOAD | {"cwd": os.path.expanduser("~")}))
    if isinstance(told, Exception):
        return f"the hook does not start: {told}"
    try:
        return "" if "decision" in json.loads(told.stdout) else f"the hook answers {told.stdout[:200]!r}"
    except (ValueError, TypeError):
        return f"the hook answers {told.stdout[:200]!r} and ends with {told.returncode}: {told.stderr[-200:]}"


def check_bridge(launch: Launch, agent: str = "") -> str:
    """What is wrong with the bridge; empty where it answers `initialize`."""
    told = _answer(launch.bridge_argv(agent), json.dumps(_HELLO) + "\n")
    if isinstance(told, Exception):
        return f"the bridge does not start: {told}"
    try:
        named = json.loads(told.stdout.splitlines()[0])["result"]["serverInfo"]["name"]
    except (ValueError, KeyError, TypeError, IndexError):
        return f"the bridge answers {told.stdout[:200]!r} and ends with {told.returncode}: {told.stderr[-200:]}"
    return "" if named == "ai-memory" else f"the bridge calls itself {named!r}"


def _answer(words: str | Sequence[str], told: str) -> subprocess.CompletedProcess[str] | Exception:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        return subprocess.run(
            words,
            input=told,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
            cwd=os.path.expanduser("~"),
            env=environ | {"AI_MEMORY_CAPTURE": "off"},
        )
    except (OSError, subprocess.SubprocessError) as fault:
        return fault
