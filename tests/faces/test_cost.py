"""What memory costs agents: tokens of tools, starts, prompts and answers, as the drain has counted them."""

import json
import time
from typing import Any

import pytest
from cli_room import Room

from ai_memory.bridge.manifest import manifest
from ai_memory.bridge.options import selected
from ai_memory.operations.cost import SERVED
from ai_memory.text.times import DAY_US


def leave(room: Room, name: str, size: int, *, client: str = "codex", days_ago: float = 0, times: int = 1) -> None:
    """As many calls, each answered with so many bytes."""
    folder = room.data_dir / "spool" / "usage"
    folder.mkdir(parents=True, exist_ok=True)
    at_ns = time.time_ns() - int(days_ago * DAY_US * 1000)
    for number in range(times):
        told = {"v": 1, "client": client, "face": "bridge", "name": name, "bytes": size}
        (folder / f"{at_ns + number:019d}-7-{len(list(folder.iterdir())):08x}.json").write_text(json.dumps(told))


def costs(room: Room, *words: str) -> list[tuple[str, str, str, int, int, int]]:
    rows: list[dict[str, Any]] = room.json("cost", *words)["costs"]
    return [(row["client"], row["what"], row["name"], row["times"], row["tokens"], row["tokens_each"]) for row in rows]


@pytest.fixture
def counted(room: Room) -> Room:
    room.ok("init")
    leave(room, "hook:start", 4_000, client="claude-code", times=3)
    leave(room, "hook:prompt", 401, client="claude-code")
    leave(room, "memory_query", 1_000, times=2)
    leave(room, "memory_query", 10, days_ago=20)
    leave(room, "search", 5_000, client="")
    room.drain()
    return room


def test_tokens_are_a_quarter_of_the_bytes_by_client_and_tool(counted: Room) -> None:
    assert costs(counted) == [
        ("claude-code", "start", "", 3, 3_000, 1_000),
        ("codex", "answer", "memory_query", 3, 503, 168),
        ("claude-code", "prompt", "", 1, 101, 101),
    ]
    assert counted.json("cost")["total_tokens"] == 3_604


def test_only_the_last_days_count(counted: Room) -> None:
    assert costs(counted, "--days", "7", "--client", "codex") == [("codex", "answer", "memory_query", 2, 500, 250)]
    assert counted.run("cost", "--days", "0").exit_code == 2


def test_what_was_asked_outside_any_agent_is_no_cost_of_one(counted: Room) -> None:
    assert ("command line", "answer", "search", 1, 1_250, 1_250) in costs(counted, "--all")
    assert counted.json("cost", "--all")["total_tokens"] == 3_604


def test_the_limit_leaves_rows_out_and_says_so_but_not_of_the_total(counted: Room) -> None:
    answer = counted.json("cost", "-n", "1")
    assert (len(answer["costs"]), answer["omitted"], answer["total_tokens"]) == (1, 2, 3_604)


def test_tools_cost_what_a_client_is_served(room: Room) -> None:
    answer = room.json("cost")
    for one in answer["profiles"]:
        tools = selected(manifest()["tools"], one["profile"])
        size = len(json.dumps({"tools": tools}, separators=(",", ":"), ensure_ascii=False).encode())
        assert (one["tools"], one["tokens"]) == (len(tools), -(-size // 4))
    assert [one["profile"] for one in answer["profiles"]] == ["core", "full"]
    assert answer["instructions_tokens"] > 100
    assert SERVED.is_file()


def test_it_tells_a_person_in_sentences_and_names_the_bounds(counted: Room) -> None:
    told = counted.ok("cost")
    assert "- claude-code · 3 starts · 3,000 tokens, 1,000 each" in told
    assert "- codex · 3 answers of memory_query · 503 tokens, 168 each" in told
    assert "- claude-code · 1 prompt · 101 tokens\n" in told
    assert "[budget] sets no bounds" in told
    counted.ok("config", "set", "budget.start_max_tokens", "500")
    assert "[budget] allows a start 500 tokens" in counted.ok("cost")


def test_without_a_memory_only_the_tools_are_told(room: Room) -> None:
    answer = room.json("cost")
    assert (answer["costs"], answer["total_tokens"]) == ([], 0)
    assert not room.data_dir.exists()
