"""`[budget] answer_max_tokens`: no answer of a reading tool is longer, and what is cut says so."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli_room import SESSION, Room

from ai_memory.bridge.calls import Answer, Place
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.text.fences import FENCE_END, FENCE_START

MOST = 300


def call(room: Room, name: str, *, structured: bool = False, **given: Any) -> Answer:
    caller = Caller(cwd=str(room.checkout), environ={}, home=str(Path.home()), face="bridge", agent="codex")
    return Place(DataDir(room.data_dir), caller, is_structured=structured).call(name, given)


@pytest.fixture
def full(room: Room) -> Room:
    """Ten long pages, a session of long prompts, and a bound."""
    for number in range(9):
        room.tell("user-prompt", text=f"Mend till {number}, as it counts wrong. " * 20)
    room.drain()
    for number in range(10):
        words = f"The retry budget of service {number} is three tries a minute. " * 60
        room.ok("write-page", "-p", f"notes/{number}.md", "-b", f"# Retry budget {number}\n\n{words}")
    room.ok("config", "set", "budget.answer_max_tokens", str(MOST))
    return room


READS: list[tuple[str, dict[str, Any]]] = [
    ("memory_query", {"query": "retry budget", "limit": 10}),
    ("memory_read_page", {"path": "notes/3.md"}),
    ("memory_recent", {"limit": 100}),
    ("memory_context", {"query": "retry budget"}),
    ("memory_briefing", {"recent_pages_limit": 100}),
    ("memory_explore", {"focus": "retry budget"}),
    ("memory_status", {}),
]


@pytest.mark.parametrize(("name", "given"), READS, ids=[name for name, _ in READS])
def test_no_answer_of_a_reading_tool_is_longer(full: Room, name: str, given: dict[str, Any]) -> None:
    answer = call(full, name, **given)
    assert not answer.is_error
    assert len(answer.text.encode()) <= MOST * 4
    assert answer.text.count(FENCE_START) == answer.text.count(FENCE_END)
    full.ok("config", "unset", "budget.answer_max_tokens")
    whole = call(full, name, **given)
    assert len(whole.text.encode()) >= len(answer.text.encode())


def test_what_was_cut_says_so_and_the_scope_is_told_all_the_same(full: Room) -> None:
    answer = call(full, "memory_read_page", path="notes/3.md")
    assert "bytes are left out" in answer.text
    assert "scope default/shop" in answer.text
    told = call(full, "memory_read_session_observations", session_id=SESSION).text
    assert "(cut by budget.answer_max_tokens" in told
    assert len(told.encode()) <= MOST * 4
    assert told.count(FENCE_START) == told.count(FENCE_END) == 1


def test_an_object_that_is_too_long_is_refused_with_its_size(full: Room) -> None:
    answer = call(full, "memory_read_session_observations", session_id=SESSION, format="json")
    assert answer.is_error
    assert "budget.answer_max_tokens allows 300" in json.loads(answer.text)["error"]["message"]
    assert call(full, "memory_read_session_observations", session_id=SESSION, structured=True).is_error


def test_what_writes_or_is_taken_once_is_given_whole(full: Room) -> None:
    full.ok("handoff", "begin", "-b", "Tax is left. " * 200)
    answer = call(full, "memory_handoff_accept")
    assert len(answer.text.encode()) > MOST * 4
    assert "cut by" not in answer.text


def test_a_configuration_that_cannot_be_read_bounds_nothing(full: Room) -> None:
    (full.data_dir / "config.toml").write_text("[budget]\nanswer_max_tokens = 'few'\n")
    assert not call(full, "memory_recent").is_error


def test_a_person_at_the_command_line_is_given_all(full: Room) -> None:
    assert len(full.ok("read-page", "notes/3.md")) > MOST * 4
