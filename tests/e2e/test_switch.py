"""One agent ends, the next begins: real hook processes, real detached drains, nobody waits in between."""

import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

import pytest

from ai_memory import hook_front

HOOK = Path(hook_front.__file__).with_name("hook.py")
HARNESS = """
import json, subprocess, sys
for line in sys.stdin:
    call = json.loads(line)
    subprocess.run(call["words"], input=call["payload"].encode(), stdout=subprocess.DEVNULL)
    print(flush=True)
"""
"""Stands for an agent: its hooks are its children."""


class Machine:
    """A home, a checkout with real git, an initialised data dir."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.checkout = self.home / "shop"
        self.data = root / "data"
        self.checkout.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.checkout)], check=True)
        self.environ = {"HOME": str(self.home), "PATH": os.environ["PATH"], "AI_MEMORY_CAPTURE_OWNER": ""}
        self.command("init")

    def command(self, *words: str) -> str:
        command = [sys.executable, "-m", "ai_memory", "--data-dir", str(self.data), *words]
        done = subprocess.run(
            command, env=self.environ, cwd=self.checkout, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout

    def words(self, event: str, agent: str) -> list[str]:
        where = ["--data-dir", str(self.data), "--event", event, "--agent", agent]
        return [sys.executable, "-I", "-S", str(HOOK), *where]

    def hook(self, event: str, session: str, *, agent: str = "claude-code", **more: object) -> dict[str, Any]:
        payload = {"session_id": session, "cwd": str(self.checkout), "hook_event_name": event} | more
        done = subprocess.run(
            self.words(event, agent),
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=self.environ,
            cwd=self.checkout,
            check=True,
            timeout=30,
        )
        assert done.stderr == b""
        return dict(json.loads(done.stdout))

    def work(self, session: str) -> None:
        self.hook("SessionStart", session, source="startup")
        self.hook("UserPromptSubmit", session, prompt="Round the bill of order 4711 once, at the end.")
        edit = {"file_path": str(self.checkout / "till.py"), "old_string": "1", "new_string": "2"}
        self.hook("PostToolUse", session, tool_name="Edit", tool_input=edit, tool_response={"filePath": "till.py"})
        self.hook("Stop", session)

    def settle(self) -> None:
        """Until no drain is at work and nothing waits."""
        self.command("drain", "--wait")


def given(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_agent_that_starts_right_after_another_ended_is_given_its_work(machine: Machine) -> None:
    session = str(uuid.uuid4())
    machine.work(session)
    machine.hook("SessionEnd", session, reason="exit")
    answer = machine.hook("SessionStart", str(uuid.uuid4()), agent="codex", source="startup")
    assert "order 4711" in given(answer)
    assert "till.py" in given(answer)
    machine.settle()
    (page,) = machine.command("handoff", "list", "--state", "accepted", "--json").splitlines()
    (handoff,) = json.loads(page)["handoffs"]
    assert (handoff["state"], handoff["accepted_by_agent"]) == ("accepted", "codex")


def test_of_six_that_start_at_once_after_one_end_exactly_one_is_given_the_work(machine: Machine) -> None:
    session = str(uuid.uuid4())
    machine.work(session)
    machine.hook("SessionEnd", session, reason="exit")
    answers: list[dict[str, Any]] = []
    agents = ["codex", "claude-code", "gemini-cli", "codex", "claude-code", "qwen-code"]
    starts = [
        threading.Thread(
            target=lambda agent=agent: answers.append(
                machine.hook("SessionStart", str(uuid.uuid4()), agent=agent, source="startup")
            )
        )
        for agent in agents
    ]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert len(answers) == 6
    assert len([answer for answer in answers if "order 4711" in given(answer)]) == 1


def test_a_killed_terminal_hands_over(machine: Machine) -> None:
    """Hooks that are children of a harness, which is then killed: no end is ever told."""
    session = str(uuid.uuid4())
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=machine.environ
    )
    assert harness.stdin is not None
    assert harness.stdout is not None
    calls: list[tuple[str, dict[str, object]]] = [
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "Round the bill of order 4711 once."}),
        ("PostToolUse", {"tool_name": "Edit", "tool_input": {"file_path": str(machine.checkout / "till.py")}}),
        ("Stop", {}),
    ]
    for event, more in calls:
        payload = {"session_id": session, "cwd": str(machine.checkout), "hook_event_name": event} | more
        call = {"words": machine.words(event, "claude-code"), "payload": json.dumps(payload)}
        harness.stdin.write(json.dumps(call).encode() + b"\n")
        harness.stdin.flush()
        assert harness.stdout.readline() == b"\n"
    machine.settle()
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdin.close()
    harness.stdout.close()
    answer = machine.hook("SessionStart", str(uuid.uuid4()), agent="codex", source="startup")
    assert "order 4711" in given(answer)
