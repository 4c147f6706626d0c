"""Running what was written, once: the hook as the agent's shell would, and the bridge's first answer."""

import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Timer

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
    told = _first_answer(launch.bridge_argv(agent), json.dumps(_HELLO) + "\n")
    if isinstance(told, Exception):
        return f"the bridge does not start: {told}"
    try:
        named = json.loads(told.stdout.splitlines()[0])["result"]["serverInfo"]["name"]
    except (ValueError, KeyError, TypeError, IndexError):
        return f"the bridge answers {told.stdout[:200]!r} and ends with {told.returncode}: {told.stderr[-200:]}"
    return "" if named == "ai-memory" else f"the bridge calls itself {named!r}"


def _first_answer(words: Sequence[str], told: str) -> subprocess.CompletedProcess[str] | Exception:
    """As a client asks: the pipe stays open until the answer is there, however busy the machine is."""
    try:
        with subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            cwd=os.path.expanduser("~"),
            env=_environment(),
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            patience = Timer(TIMEOUT_S, process.kill)
            patience.start()
            try:
                with suppress(BrokenPipeError):
                    process.stdin.write(told)
                    process.stdin.flush()
                first = process.stdout.readline()
                rest, errors = process.communicate()
            finally:
                patience.cancel()
    except (OSError, subprocess.SubprocessError) as fault:
        return fault
    return subprocess.CompletedProcess(words, process.returncode, first + rest, errors)


def _environment() -> dict[str, str]:
    """Ours, without what is meant for another Python; nothing is captured of the check."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return environ | {"AI_MEMORY_CAPTURE": "off"}


def _answer(words: str | Sequence[str], told: str) -> subprocess.CompletedProcess[str] | Exception:
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
            env=_environment(),
        )
    except (OSError, subprocess.SubprocessError) as fault:
        return fault
