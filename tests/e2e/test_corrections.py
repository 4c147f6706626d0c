"""A correction typed in one agent is confirmed by the person and told to the next one: real hooks, real drains."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from ai_memory import hook_front
from ai_memory.hook_harnesses import SESSION_VARIABLES

pty = pytest.importorskip("pty")

HOOK = Path(hook_front.__file__).with_name("hook.py")
MARKER = 'workspace = "default"\nproject = "shop"\n[briefing]\ninject_on_session_start = true\n'


class Machine:
    """A home, a checkout that opted in to the brief, an initialised data dir."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.checkout = self.home / "shop"
        self.data = root / "data"
        self.checkout.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.checkout)], check=True)
        (self.checkout / ".ai-memory.toml").write_text(MARKER)
        hidden = {*SESSION_VARIABLES.values(), "CLAUDE_CODE_ENTRYPOINT"}
        self.environ = {name: value for name, value in os.environ.items() if name not in hidden} | {
            "HOME": str(self.home),
            "AI_MEMORY_CAPTURE_OWNER": "",
            "AI_MEMORY_DATA_DIR": str(self.data),
        }
        self.command("init")

    def command(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "ai_memory", *words],
            env=self.environ,
            cwd=self.checkout,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout

    def answers(self, *typed: str) -> None:
        """A review at a terminal, where the person answers so."""
        leader, follower = pty.openpty()
        try:
            os.write(leader, "".join(f"{one}\n" for one in typed).encode())
            command = [sys.executable, "-m", "ai_memory", "review"]
            where: dict[str, Any] = {"env": self.environ, "cwd": self.checkout, "timeout": 60, "check": True}
            subprocess.run(command, stdin=follower, stdout=follower, stderr=follower, **where)
        finally:
            os.close(leader)
            os.close(follower)
        self.command("drain", "--wait")  # a start would wait for it, though not for ever

    def hook(self, event: str, agent: str, session: str, **more: object) -> str:
        """What the agent is given."""
        payload = {"session_id": session, "cwd": str(self.checkout), "hook_event_name": event} | more
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK), "--event", event, "--agent", agent],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=self.environ,
            cwd=self.checkout,
            check=True,
            timeout=30,
        )
        assert done.stderr == b""
        given = json.loads(done.stdout or b"{}")
        return str(given.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def session(self, agent: str, *prompts: str) -> str:
        """A whole session; what its start was given."""
        session = str(uuid.uuid4())
        given = self.hook("SessionStart", agent, session, source="startup")
        for prompt in prompts:
            self.hook("UserPromptSubmit", agent, session, prompt=prompt)
        self.hook("Stop", agent, session)
        self.command("drain", "--wait")
        return given

    def first_hit(self, query: str) -> str:
        return str(json.loads(self.command("search", query, "--json"))["hits"][0]["title"])


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


CASES = {
    "Claude Code to Codex": (
        *("claude-code", "codex", "Mend the till. {} Then test it.", "Never round before the end."),
        *("round at the end or before", "# Rounding\n\nThe till rounds each line of a bill; the printer does, too."),
    ),
    "Codex to Claude Code": (
        *("codex", "claude-code", "{} Go on with the bill.", "Use pnpm instead of npm here."),
        *("pnpm or npm", "# Package managers\n\nThe old shop had npm, its scripts were written for npm 8."),
    ),
    "in Spanish, to Gemini CLI": (
        *("claude-code", "gemini-cli", "Cuenta la caja. {}", "Nunca despliegues los viernes."),
        *("despliegues los viernes", "# Viernes\n\nLos viernes hay mercado y la caja cierra a las ocho."),
    ),
}


@pytest.mark.parametrize(("first", "second", "prompt", "rule", "query", "page"), CASES.values(), ids=CASES)
def test_a_rule_that_the_person_confirmed_is_told_to_the_next_agent(
    machine: Machine, first: str, second: str, prompt: str, rule: str, query: str, page: str
) -> None:
    machine.command("write-page", "-p", "notes/other.md", "-b", page)
    machine.session(first, prompt.format(rule))
    assert rule not in machine.session(second), "nobody confirmed it yet"
    machine.answers("k")
    assert f"## Corrections\n\n- {rule}\n" in machine.session(second)
    assert machine.first_hit(query) == rule


def test_a_correction_that_the_person_puts_in_the_place_of_another_is_told_alone(machine: Machine) -> None:
    machine.session("claude-code", "Never deploy the shop on Fridays.")
    machine.answers("k")
    assert "- Never deploy the shop on Fridays.\n" in machine.session("codex")
    machine.session("codex", "Never deploy the shop on Mondays either, only on Fridays.")
    [waiting] = json.loads(machine.command("review", "--json"))["rows"]
    assert waiting["statement"] == "Never deploy the shop on Mondays either, only on Fridays."
    machine.answers("k")
    held = json.loads(machine.command("facts", "--json"))["facts"]
    new, old = sorted(held, key=lambda one: "Mondays" not in one["statement"])
    machine.command("resolve", old["id"], "--as", "superseded", "--by", new["id"], "--because", "Decided anew")
    machine.command("drain", "--wait")
    given = machine.session("claude-code")
    assert "- Never deploy the shop on Mondays either, only on Fridays.\n" in given
    assert "- Never deploy the shop on Fridays.\n" not in given
    assert machine.first_hit("deploy shop Fridays") == new["statement"]
