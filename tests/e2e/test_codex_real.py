"""The real Codex with our hooks in its hooks.json and a scripted model: what a person does, without a network.

Run by hand: `npm install @openai/codex`, then
`AI_MEMORY_TEST_CODEX=node_modules/.bin/codex pytest -m harness tests/e2e/test_codex_real.py`.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from model_server import Model, serving

import ai_memory
from ai_memory.cli.demo import EVENTS as CLAUDE_EVENTS
from ai_memory.cli.demo_checkout import make_checkout
from ai_memory.cli.demo_stage import Stage, recorded_session, run_hook
from ai_memory.harnesses.codex import CODEX

pytestmark = pytest.mark.harness

VARIABLE = "AI_MEMORY_TEST_CODEX"
PROGRAM = os.environ.get(VARIABLE, "")
"""Read here: a test's environment is cleared of our variables."""
HOOKED = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
TASK = "Round the refund half to even in totals.py"
SENTENCE = "I looked at the folder. Decision: keep decimal for money."
DEADLINE_S = 60.0


@dataclass
class Room:
    """One data dir, one checkout, one Codex home, one model."""

    stage: Stage
    program: str
    model: Model

    @property
    def home(self) -> Path:
        return self.stage.room / "codex-home"

    def ai_memory(self, *words: str) -> str:
        command = [sys.executable, "-P", "-m", "ai_memory", *words]
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", cwd=self.stage.checkout, env=self.stage.environ, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def codex(self, prompt: str) -> str:
        """One whole Codex session. Returns all text that its model was given."""
        before = len(self.model.requests)
        words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access"]
        environ = self.stage.environ | {"CODEX_HOME": str(self.home), "MOCK_KEY": "none"}
        done = subprocess.run(
            [self.program, *words, prompt],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            cwd=self.stage.checkout,
            env=environ,
            timeout=180,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert SENTENCE in done.stdout
        return Model("", "", requests=self.model.requests[before:]).texts()

    def pages(self, kind: str) -> list[str]:
        """The files of the pages of one kind, oldest first."""
        wiki = self.stage.data_dir.root / "wiki"
        found = json.loads(self.ai_memory("pages", "--kind", kind, "--sort", "updated", "--json"))["pages"]
        return [(wiki / page["workspace"] / page["project"] / page["path"]).read_text("utf-8") for page in found]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    if not PROGRAM:
        pytest.skip(f"{VARIABLE} names no codex program (npm install @openai/codex)")
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip(f"{VARIABLE} is {PROGRAM}, which is no program")
    stage = Stage(tmp_path, "ghp_" + "x" * 36)
    make_checkout(stage.checkout)
    with serving("ls", SENTENCE) as model:
        made = Room(stage, str(Path(PROGRAM).absolute()), model)
        configure(made)
        made.ai_memory("init")
        yield made


def configure(room: Room) -> None:
    """Codex's settings as an installer leaves them: its provider, and our hooks in the guarded form."""
    room.home.mkdir()
    (room.stage.room / "home").mkdir()
    (room.home / "config.toml").write_text(
        'model = "mock-1"\nmodel_provider = "mock"\n\n'
        f'[model_providers.mock]\nname = "mock"\nbase_url = "{room.model.url}"\nwire_api = "responses"\n'
        'env_key = "MOCK_KEY"\n'
    )
    entries = {
        native: [{"hooks": [{"type": "command", "command": command(room, native), "timeout": 10}]}] for native in HOOKED
    }
    (room.home / "hooks.json").write_text(json.dumps({"hooks": entries}))


def command(room: Room, native: str) -> str:
    """The command that stands in the settings: it does nothing when Python or the package is gone."""
    hook = Path(ai_memory.__file__).resolve().parent / "hook.py"
    python, script, data = (shlex.quote(str(one)) for one in (sys.executable, hook, room.stage.data_dir.root))
    words = f"-I -S {script} --data-dir {data} --event {CODEX.events[native]} --agent codex"
    return f'P={python}; [ -x "$P" ] && exec "$P" {words} || exit 0'


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.05)


def wait_for_handoff(room: Room) -> None:
    folder = room.stage.data_dir.outbox / "open"
    wait_for(lambda: folder.is_dir() and any(folder.glob("*.md")), "the handoff")


def test_a_codex_session_leaves_a_page_and_the_next_start_carries_its_handoff_to_the_model(room: Room) -> None:
    first = room.codex(TASK)
    assert "Handoff from" not in first
    wait_for_handoff(room)
    room.ai_memory("drain")
    (page,) = room.pages("session")
    assert f"# {TASK}" in page
    assert "- `ls`" in page
    assert "- Ended: 20" in page
    (handoff,) = room.pages("handoff")
    assert "from_agent: codex" in handoff
    assert TASK in handoff
    assert not list(room.stage.data_dir.quarantine.glob("*.json")), "an event of the real Codex was refused"

    second = room.codex("Go on.")
    assert "Handoff from Codex" in second
    assert TASK in second
    room.ai_memory("drain")
    assert any("state: accepted" in one and TASK in one for one in room.pages("handoff"))

    third = room.codex("And now?")
    assert f"Continue from: {TASK}" in third, "a session that only went on lost what it was given"
    assert third.count("Handoff from Codex") == second.count("Handoff from Codex"), "an old handoff came too"


def test_every_event_of_a_turn_arrives_with_what_it_carried(room: Room) -> None:
    room.codex(TASK)
    wait_for_handoff(room)
    room.ai_memory("drain")
    (page,) = room.pages("session")
    raw = page.partition("## Raw observations")[2]
    for told in ("session-start", f"user-prompt: {TASK}", "tool ", ": ls", "stop", "session-end"):
        assert told in raw, f"{told!r} is not in:\n{raw}"


def test_what_claude_code_left_is_given_to_a_codex_started_in_the_same_directory(room: Room) -> None:
    for payload in recorded_session(room.stage):
        run_hook(room.stage, "claude-code", CLAUDE_EVENTS[str(payload["hook_event_name"])], payload)
    wait_for_handoff(room)
    asked = room.codex("Where did we stop?")
    assert "Handoff from Claude Code" in asked
    assert "accountant's CSV import" in asked
    assert room.stage.secret not in asked
    room.ai_memory("drain")
    assert "accountant's CSV import" in room.codex("Go on."), "the question went with the session that was asked it"
