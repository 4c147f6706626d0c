"""An empty project is filled by itself after the drain of its first session's start, and no other ever."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from terminals import Agent, Room
from transcript_house import CLAUDE, House

from ai_memory.capture import first_fill
from ai_memory.store.memory import Memory

OWN = "77777777-aaaa-4bbb-8ccc-000000000007"


@pytest.fixture
def house(room: Room, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("HOME", str(room.root / "home"))
    monkeypatch.setattr(first_fill, "_memory", lambda _: memory_of(room))
    return House(room)


def memory_of(room: Room) -> Memory:
    return room.memory()


def begin(house: House) -> None:
    """A first session starts, and its drain is done."""
    agent = Agent(house.room, house.cwd, session=OWN)
    agent.start()
    agent.prompt("Where are we?")
    house.room.drain()


def fill(house: House) -> int:
    return first_fill.fill_empty(house.room.data_dir)


def test_an_empty_project_is_filled_once(house: House) -> None:
    house.everything()
    begin(house)
    assert fill(house) == 6
    assert len(house.sessions()) == 7
    house.claude("22222222-aaaa-4bbb-8ccc-00000000000b")
    assert fill(house) == 0
    assert len(house.sessions()) == 7


def test_the_session_that_runs_is_left_as_it_is(house: House) -> None:
    house.claude()
    house.claude(OWN)
    begin(house)
    assert fill(house) == 1
    assert house.room.session(OWN).is_open
    assert house.kinds(OWN) == ["session-start", "user-prompt"]


def test_a_project_with_a_page_or_a_past_is_not_filled(house: House) -> None:
    house.claude()
    Agent(house.room, house.cwd).work()
    house.room.drain()
    begin(house)
    assert fill(house) == 0


def test_the_setting_keeps_it_from_happening(house: House) -> None:
    house.claude()
    house.memory().create()
    house.room.data_dir.config.write_text("[capture]\nbackfill_on_start = false\n")
    begin(house)
    assert fill(house) == 0
    assert [one.id for one in house.sessions()] == [OWN]


def test_under_a_marker_only_what_lies_below_it_comes_in(house: House) -> None:
    inner = Path(house.cwd) / "client"
    inner.mkdir()
    (inner / ".ai-memory.toml").write_text("[capture]\n")
    house.claude()
    house.claude("22222222-aaaa-4bbb-8ccc-00000000000b", cwd=str(inner))
    agent = Agent(house.room, str(inner), session=OWN)
    agent.start()
    house.room.drain()
    assert fill(house) == 1
    assert CLAUDE not in {one.id for one in house.sessions()}


def test_what_was_begun_and_killed_is_gone_on_with_three_times_at_most(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.claude()
    begin(house)
    calls = []

    def killed(*_: object, **__: object) -> None:
        calls.append(1)
        raise OSError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(first_fill, "bring_in", killed)
        assert [fill(house), fill(house)] == [0, 0]
    assert fill(house) == 1
    assert len(calls) == 2


def test_a_start_hook_and_its_drain_fill_the_project(house: House) -> None:
    house.claude()
    data = str(house.room.data_dir.root)
    environ = {"HOME": str(house.home), "PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    house.memory().create()

    def run(*words: str, stdin: str = "") -> None:
        command = [sys.executable, "-m", "ai_memory", *words, "--data-dir", data]
        subprocess.run(command, input=stdin.encode(), env=environ, cwd=house.cwd, check=True, capture_output=True)

    os.utime(next((house.home / ".claude").rglob("*.jsonl")))  # by the real clock it is new: too young to be taken
    payload = {"session_id": OWN, "cwd": house.cwd, "hook_event_name": "SessionStart", "source": "startup"}
    (house.room.data_dir.locks).mkdir(exist_ok=True)
    (house.room.data_dir.locks / "drain.beat").touch()  # the hook starts no drain of its own
    run("hook", "--event", "session-start", "--agent", "claude-code", stdin=json.dumps(payload))
    (house.room.data_dir.locks / "drain.beat").unlink()
    for path in (house.home / ".claude").rglob("*.jsonl"):
        os.utime(path, (path.stat().st_mtime - 3_600,) * 2)
    run("drain", "--wait")
    assert {one.id for one in house.sessions()} == {OWN, CLAUDE}
    assert house.room.pages("handoff") == []
