"""Whose process a hook and a drain take for that of the agent."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hook_runs import Desk
from terminals import Agent, Room

from ai_memory import hook_batch, hook_process
from ai_memory.hook_call import Options
from ai_memory.store.outbox import Provisional

ELSEWHERE = 5 << 32
"""Where no process of this machine runs."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def gone() -> int:
    """The number of a process that has ended."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    return dead.pid


def test_a_process_that_ended_runs_no_more_unless_it_belongs_elsewhere(gone: int) -> None:
    own = hook_process.agent_process()
    here = own - hook_process.id_of(own)
    numbers = [gone, gone | here, gone | ELSEWHERE, os.getpid() | here, (1 << 32) - 1]
    assert [hook_process.is_running(number) for number in numbers] == [False, False, True, True, False]


def test_a_handoff_of_a_container_is_not_given_because_its_process_has_no_like_here(room: Room, gone: int) -> None:
    room.outbox.put(Provisional("a" * 32, gone | ELSEWHERE).name, "text")
    room.outbox.put(Provisional("b" * 32, gone).name, "text")
    assert [one.handoff[0] for one in room.outbox.provisionals() if room.outbox.may_hand_over(one)] == ["b"]
    assert [room.outbox.take(letter * 32, "s") for letter in "ab"] == [None, "text"]


@pytest.mark.parametrize(
    ("processes", "known"),
    [([7, 7], 7), ([7, 8], 0), ([7, 8, 9, 10], 0), ([7, 7, 8], 0), ([7, 7, 8, 8], 8), ([7, 0, 7], 7), ([7], 0)],
    ids=str,
)
@pytest.mark.parametrize("is_one_drain", [True, False], ids=["one drain", "many drains"])
def test_a_process_is_believed_when_the_last_two_hooks_told_it(
    room: Room, agent: Agent, processes: list[int], known: int, is_one_drain: bool
) -> None:
    for process in processes:
        agent.process = process
        agent.prompt(f"Prompt {room.written}.")
        if not is_one_drain:
            room.drain()
    room.drain()
    assert room.session(agent.session).process == known


def test_what_runs_a_producer_is_no_agent(desk: Desk) -> None:
    desk.run("user-prompt", desk.payload("x", prompt="p"), "--extension", "ci", agent="other")
    hook_batch.Batch(Options(["--batch", "--data-dir", str(desk.data)]), lambda *_: None).run(
        io.BytesIO(b'{"event": "user-prompt", "session_id": "s", "prompt": "p"}')
    )
    desk.run("user-prompt", desk.payload("x", prompt="p"))
    assert ["process" in event.get("extra", {}) for event in desk.events()] == [False, False, True]
