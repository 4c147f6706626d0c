"""`ai-memory drain --json`: what was applied, what was set aside, what is left."""

import json
import os
from typing import Any

import forked
import pytest
from terminals import Agent, Room

from ai_memory.capture import drain
from ai_memory.operations import answer
from ai_memory.store.drain_lock import DrainLock


def told(room: Room, *words: str, code: int = 0, before: tuple[str, ...] = ()) -> dict[str, Any]:
    """The one object that the command prints."""
    place = ("--data-dir", str(room.data_dir.root))
    environment = {**os.environ, "HOME": str(room.root / "home")}
    done = forked.run([*before, "drain", *place, *words], cwd=room.root, env=environment)
    assert (done.returncode, done.stderr) == (code, "")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["v"] == answer.JSON_FORMAT == drain.JSON_FORMAT
    return found


def test_a_drain_tells_what_it_applied_and_set_aside(room: Room, agent: Agent) -> None:
    agent.work()
    room.spool(None, at_us=agent.at_us + 1, raw=b"{")

    first = told(room, "--json")
    second = told(room, "--json", "--wait")

    assert first == {
        "v": 1,
        "ok": True,
        "applied": 13,
        "repeated": 0,
        "quarantined": 1,
        "pages": 1,
        "handoffs": 1,
        "left": 0,
        "gaps": [],
    }
    assert (second["applied"], second["pages"], second["left"]) == (0, 0, 0)


@pytest.mark.parametrize("before", [(), ("--json",)])
def test_a_drain_without_a_data_dir_has_nothing_to_do(room: Room, before: tuple[str, ...]) -> None:
    words = () if before else ("--json",)
    assert told(room, *words, before=before)["applied"] == 0
    assert not room.data_dir.root.exists()


def test_a_drain_beside_another_one_says_what_it_left_to_it(room: Room, agent: Agent) -> None:
    agent.work()
    lock = DrainLock(room.data_dir.locks)
    assert lock.try_acquire()
    try:
        answered = told(room, "--json")
    finally:
        lock.release()
    assert (answered["applied"], answered["left"]) == (0, 13)
    assert "another drain is at work" in answered["gaps"][0]


def test_a_drain_that_stops_early_is_a_fault_that_tells_what_was_done_and_what_is_left(
    room: Room, agent: Agent
) -> None:
    agent.work()
    room.memory().create()
    (room.data_dir.git / "MERGE_HEAD").write_text("0" * 40 + "\n")

    answered = told(room, "--json", code=1)

    assert (answered["ok"], answered["error"]["code"]) == (False, "internal")
    assert "merge" in answered["error"]["message"]
    assert (answered["applied"], answered["pages"], answered["left"]) == (13, 0, 1)


def test_a_wrong_word_is_told_as_json_too(room: Room) -> None:
    answered = told(room, "--json", "--frobnicate", code=2)
    assert answered["error"]["code"] == "invalid"
    assert "--frobnicate" in answered["error"]["message"]
