"""The real programs with our hooks in their settings and a scripted model: what a person does, without a network.

Run by hand: `tests/e2e/install_programs.sh FOLDER`, then
`AI_MEMORY_TEST_PROGRAMS=FOLDER pytest -m harness -n0 tests/e2e/test_real_programs.py`.
What the programs sent to our hooks lies in `payloads/` of each test's folder (`--basetemp`).
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from model_server import Model, said_in, serving
from programs import ALL, PROGRAMS, Places, Program, launch_at

from ai_memory.cli.demo import EVENTS as CLAUDE_EVENTS
from ai_memory.cli.demo_checkout import make_checkout
from ai_memory.cli.demo_stage import Stage, recorded_session, run_hook
from ai_memory.harnesses import registry

pytestmark = pytest.mark.harness

TASK = "Round the refund half to even in totals.py"
SENTENCE = "I looked at the folder. Decision: keep decimal for money."
RECEIPT = "receipt-4711.txt"
"""A file in the checkout: the tool's result names it."""
DEADLINE_S = 60.0
SESSION_S = 280.0
"""A first start may install what the program needs."""

RECORDER = """#!/bin/sh
# Stands in the settings for the interpreter: keeps what the program sends, and hands it on.
case " $* " in *" --event "*) ;; *) exec {python} "$@" ;; esac
for word; do event=$word; done
file=$(mktemp "{folder}/$(date +%s%N)-$event-XXXXXX")
cat > "$file"
exec {python} "$@" < "$file"
"""


@dataclass
class Room:
    """One data dir, one checkout, one home with the program's settings, one model."""

    stage: Stage
    program: Program
    places: Places
    model: Model

    @property
    def environ(self) -> dict[str, str]:
        own = {"HOME": str(self.places.home), "PATH": self.program.search_path, "TERM": "dumb"}
        own["PWD"] = str(self.stage.checkout)  # OpenCode believes it
        return self.stage.environ | own | dict(self.program.environ(self.places))

    def ai_memory(self, *words: str) -> str:
        command = [sys.executable, "-P", "-m", "ai_memory", *words]
        environ = self.stage.environ | {"HOME": str(self.places.home)}
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", cwd=self.stage.checkout, env=environ, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def session(self, prompt: str) -> list[str]:
        """One whole session. Returns what each request told its model."""
        before = len(self.model.requests)
        done = subprocess.run(
            [self.program.path, *self.program.words, prompt],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            cwd=self.stage.checkout,
            env=self.environ,
            timeout=SESSION_S,
        )
        assert SENTENCE in done.stdout, done.stdout + done.stderr
        assert done.returncode == 0, done.stdout + done.stderr
        return [said_in(one) for one in self.model.requests[before:]]

    def pages(self, kind: str) -> list[str]:
        """The files of the pages of one kind, oldest first."""
        wiki = self.stage.data_dir.root / "wiki"
        found = json.loads(self.ai_memory("pages", "--kind", kind, "--sort", "updated", "--json"))["pages"]
        return [(wiki / page["workspace"] / page["project"] / page["path"]).read_text("utf-8") for page in found]


@pytest.fixture(params=ALL, ids=[one.agent for one in ALL])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Room]:
    program: Program = request.param
    if not PROGRAMS or not os.access(program.path, os.X_OK):
        pytest.skip(f"AI_MEMORY_TEST_PROGRAMS holds no {program.executable}: tests/e2e/install_programs.sh installs it")
    stage = Stage(tmp_path, "ghp_" + "x" * 36)
    make_checkout(stage.checkout)
    (stage.checkout / RECEIPT).touch()
    home = tmp_path / "agent-home"
    home.mkdir()
    with serving("ls", SENTENCE) as model:
        made = Room(stage, program, Places(home, stage.checkout, stage.data_dir.root, model.url), model)
        program.configure(made.places)
        made.ai_memory("init")
        install(made)
        yield made


def install(room: Room) -> None:
    """Our hooks, by our command where the program's record says what to write, with a recorder for an interpreter."""
    payloads = room.stage.room / "payloads"
    payloads.mkdir()
    recorder = room.stage.room / "recorder"
    recorder.write_text(RECORDER.format(python=sys.executable, folder=payloads))
    recorder.chmod(0o755)
    hooks = registry.get(room.program.agent).hooks
    if hooks is None:
        assert room.program.wire is not None
        room.program.wire(room.places, launch_at(room.places, str(recorder)))
        return
    room.ai_memory("install-hooks", "--agent", room.program.agent, "--apply")
    written = [one for one in room.places.home.rglob("*") if one.is_file() and b"hook.py" in one.read_bytes()]
    assert written, "the command wrote no hook"
    for file in written:
        file.write_text(file.read_text().replace(sys.executable, str(recorder)))


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.05)


def wait_for_handoff(room: Room) -> None:
    folder = room.stage.data_dir.outbox / ("open" if room.program.says_end else "provisional")
    wait_for(lambda: folder.is_dir() and any(folder.glob("*.md")), "the handoff")
    room.ai_memory("drain", "--wait")


def test_a_session_leaves_a_page_and_the_next_start_carries_its_handoff_to_the_model(room: Room) -> None:
    assert "Handoff from" not in "\n".join(room.session(TASK))
    wait_for_handoff(room)
    if room.program.says_end:
        (page,) = room.pages("session")
        assert TASK in page
        assert "- `ls`" in page
        assert "- Ended: 20" in page
        (handoff,) = room.pages("handoff")
        assert f"from_agent: {room.program.agent}" in handoff
        assert TASK in handoff
    assert not list(room.stage.data_dir.quarantine.glob("*.json")), "an event of the real program was refused"

    second = room.session("Go on.")
    given = [one for one in second if "Handoff from" in one]
    assert given, "no request carried the handoff"
    assert TASK in given[0]
    assert "Handoff from" in second[-1], "the handoff was gone after the tool call"
    room.ai_memory("drain", "--wait")
    assert any("state: accepted" in one and TASK in one for one in room.pages("handoff"))


def test_every_event_of_a_turn_arrives_with_what_it_carried(room: Room) -> None:
    room.session(TASK)
    wait_for_handoff(room)
    edges = ("session-start", "session-end") if room.program.says_end else ()
    if not room.program.says_end:
        room.ai_memory("finalize-session", "--all", "--confirm")
    (page,) = room.pages("session")
    raw = page.partition("## Raw observations")[2]
    for told in ("user-prompt: ", TASK, "tool ", ": ls", "stop", *edges):
        assert told in raw, f"{told!r} is not in:\n{raw}"
    (session,) = re.findall(r"^- Session: `(.+)`$", page, re.MULTILINE)
    assert RECEIPT in room.ai_memory("session", "--json", session), "what the tool gave is not there"


def test_what_claude_code_left_is_given_to_another_agent_started_in_the_same_directory(room: Room) -> None:
    for payload in recorded_session(room.stage):
        run_hook(room.stage, "claude-code", CLAUDE_EVENTS[str(payload["hook_event_name"])], payload)
    folder = room.stage.data_dir.outbox / "open"
    wait_for(lambda: folder.is_dir() and any(folder.glob("*.md")), "the handoff")
    asked = "\n".join(room.session("Where did we stop?"))
    assert "Handoff from Claude Code" in asked
    assert "accountant's CSV import" in asked
    assert room.stage.secret not in asked
