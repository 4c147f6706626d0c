"""One agent ends, the next begins: real hook processes, real detached drains, nobody waits in between."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forked
import pytest
from pytest import MonkeyPatch

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
        done = forked.run(["--data-dir", str(self.data), *words], env=self.environ, cwd=self.checkout)
        assert done.returncode == 0, done.stderr
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


class Terminal:
    """An agent at work whose hooks are its children, or those of what it runs them by."""

    def __init__(self, machine: Machine, form: str) -> None:
        self._machine = machine
        self._form = form
        self._session = str(uuid.uuid4())
        self._harness = subprocess.Popen(
            [sys.executable, "-c", HARNESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=machine.environ
        )

    def work(self) -> None:
        self.tell("SessionStart", source="startup")
        self.tell("UserPromptSubmit", prompt="Round the bill of order 4711 once.")
        edit = {"file_path": str(self._machine.checkout / "till.py")}
        self.tell("PostToolUse", tool_name="Edit", tool_input=edit)
        self.tell("Stop")
        self._machine.settle()

    def tell(self, event: str, **more: object) -> None:
        assert self._harness.stdin is not None
        assert self._harness.stdout is not None
        payload = {"session_id": self._session, "cwd": str(self._machine.checkout), "hook_event_name": event} | more
        words = FORMS[self._form](self._machine.words(event, "claude-code"), self._machine.home)
        self._harness.stdin.write(json.dumps({"words": words, "payload": json.dumps(payload)}).encode() + b"\n")
        self._harness.stdin.flush()
        assert self._harness.stdout.readline() == b"\n"

    def kill(self) -> None:
        self._harness.send_signal(signal.SIGKILL)
        self._harness.communicate()


def _script(words: list[str], home: Path, first_line: str, call: str) -> list[str]:
    script = home / "hook-script"
    script.write_text(f"{first_line}\n{call}\n")
    script.chmod(0o700)
    return [str(script), *words]


FORMS: dict[str, Callable[[list[str], Path], list[str]]] = {
    "direct": lambda words, _: words,
    "sh": lambda words, _: ["/bin/sh", "-c", shlex.join(words)],
    "sh; true": lambda words, _: ["/bin/sh", "-c", f"{shlex.join(words)}; true"],
    "sh || true 2>>log": lambda words, home: ["/bin/sh", "-c", f"{shlex.join(words)} 2>>{home}/log || true"],
    "sh in bash": lambda words, _: ["bash", "-lc", f"true; sh -c {shlex.quote(shlex.join(words) + '; true')}; true"],
    "installed": lambda words, _: [
        *("/bin/sh", "-c"),
        f"P={words[0]}; [ -x $P ] && exec $P {shlex.join(words[1:])} || exit 0",
    ],
    "script": lambda words, home: _script(words, home, "#!/bin/sh", '"$@"; true'),
    "timeout": lambda words, _: ["/bin/sh", "-c", f"timeout 20 {shlex.join(words)}; true"],
}
SELDOM = ("sh; true", "sh || true 2>>log", "script", "timeout")
"""Seconds each, and others go through the same shells."""


@pytest.mark.parametrize("form", [pytest.param(form, marks=[pytest.mark.slow] * (form in SELDOM)) for form in FORMS])
def test_an_agent_hands_over_when_its_terminal_is_killed_and_not_before(machine: Machine, form: str) -> None:
    """However its hooks are run. No end is ever told."""
    terminal = Terminal(machine, form)
    terminal.work()
    while_it_runs = machine.hook("SessionStart", str(uuid.uuid4()), agent="codex", source="startup")
    machine.settle()
    terminal.kill()
    afterwards = machine.hook("SessionStart", str(uuid.uuid4()), agent="codex", source="startup")
    assert "order 4711" not in given(while_it_runs)
    assert "order 4711" in given(afterwards)


def test_a_launcher_that_cannot_be_looked_past_is_taken_for_no_agent(
    machine: Machine, monkeypatch: MonkeyPatch
) -> None:
    """It is gone a moment later, while the agent works on."""
    launch = f"#!{sys.executable}\nimport subprocess, sys"
    call = "subprocess.run(sys.argv[1:] + ['--unknown'])"
    monkeypatch.setitem(FORMS, "launcher", lambda words, home: _script(words, home, launch, call))
    terminal = Terminal(machine, "launcher")
    terminal.work()
    answer = machine.hook("SessionStart", str(uuid.uuid4()), agent="codex", source="startup")
    terminal.kill()
    assert "order 4711" not in given(answer)


def test_hooks_that_shells_run_for_a_harness_without_session_ids_tell_of_one_session(machine: Machine) -> None:
    words = machine.words("user-prompt", "copilot-cli")
    for prompt in ("Round the bill.", "And the tax.", "Run the tests."):
        payload = json.dumps({"cwd": str(machine.checkout), "prompt": prompt})
        command = FORMS["sh; true"](words, machine.home)
        subprocess.run(command, input=payload.encode(), env=machine.environ, check=True, timeout=30)
    machine.settle()
    (session,) = json.loads(machine.command("sessions", "--json"))["sessions"]
    assert session["prompts"] == 3
