"""`source`: folders of records that are read again, and what searches say when that fails."""

import json
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_room import Room

from ai_memory.operations import sources
from ai_memory.operations.after_work import read_sources
from ai_memory.operations.table import OPERATIONS
from ai_memory.paths import DataDir
from ai_memory.store import driver


@pytest.fixture
def root(room: Room) -> Path:
    """A folder of one record that is a source of this project."""
    folder = room.checkout / "tickets"
    folder.mkdir()
    (room.checkout / "map.toml").write_text('namespace = "tickets"\n')
    put(folder, "One queue per region")
    room.ok("source", "add", "till", "--mapping", "map.toml", "--root", "tickets", "--authoritative", "--every", "5m")
    return folder


def put(folder: Path, *texts: str) -> None:
    (folder / "a.json").write_text(json.dumps([{"id": text, "text": text} for text in texts]))


def duty(room: Room, *words: str, code: int = 0) -> Any:
    (row,) = room.json("maintain", "--only", "sources", *words, code=code)["duties"]
    return row["said"]


def statements(room: Room) -> dict[str, str]:
    return {one["statement"]: one["standing"] for one in room.json("facts", "--all")["facts"]}


def looked_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ai_memory.store.sources.Source.is_due", lambda *_: True)


def test_maintain_reads_a_source_when_its_interval_is_over(
    room: Room, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room.checkout / "map.toml").unlink()  # a copy is kept
    assert duty(room) == "till 1 created"
    put(root, "Two queues")
    assert duty(room) == "none is due"
    looked_long_ago(monkeypatch)
    assert duty(room) == "till 1 created, 1 retired"
    assert statements(room) == {"One queue per region": "superseded", "Two queues": "needs_review"}
    head = room.git("rev-parse", "HEAD")
    assert duty(room) == "till 1 unchanged"
    assert room.git("rev-parse", "HEAD") == head


def test_a_root_that_is_gone_retires_nothing_and_searches_say_so(
    room: Room, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.ok("source", "sync")
    room.ok("write-page", "notes/other.md", "-b", "# Oven\n\nBake at noon.")
    assert room.json("search", "queue per region")["gaps"] == []
    root.rename(room.checkout / "away")
    (row,) = room.json("source", "sync", code=1)["sources"]
    assert "is no folder" in row["fault"]
    assert row["complete_at"] is not None
    assert statements(room) == {"One queue per region": "needs_review"}
    for command in ("search", "context"):
        (gap,) = room.json(command, "queue per region")["gaps"]
        assert gap.startswith(f"the source till was last read whole at {row['complete_at']}; the last look failed: ")
    assert room.json("search", "bake at noon")["gaps"] == []
    looked_long_ago(monkeypatch)
    assert "till: " in duty(room, code=1)
    assert "sources of the last maintain failed: till: " in room.ok("status")
    (room.checkout / "away").rename(root)
    assert duty(room, "--force") == "till 1 unchanged"


@pytest.mark.usefixtures("root")
def test_a_source_that_was_not_read_in_time_is_a_gap(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.ok("source", "sync", "till")
    looked_long_ago(monkeypatch)
    (gap,) = room.json("context", "queue per region")["gaps"]
    assert gap.endswith("longer ago than its interval")


def test_a_root_that_does_not_answer_is_not_waited_for(room: Room, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    def blocked(_: object) -> None:
        gate.wait()
        raise OSError

    monkeypatch.setattr(sources, "ANSWER_S", 0.01)
    monkeypatch.setattr(sources, "os", SimpleNamespace(scandir=blocked))
    (row,) = room.json("source", "sync", code=1)["sources"]
    gate.set()
    assert row["fault"].startswith(f"{root} does not answer")


def test_a_source_outlives_a_backup_a_rename_and_a_bad_day(room: Room, root: Path) -> None:
    room.ok("source", "sync")
    room.ok("backup")
    room.ok("source", "remove", "till")
    assert room.json("source", "list")["sources"] == []
    room.ok("restore", "--force")
    room.ok("rename-project", "shop", "store", "--confirm")
    put(root, "One queue per region", "Two tills")
    (row,) = room.json("source", "sync")["sources"]
    assert (row["project"], row["said"]) == ("store", "1 created, 1 unchanged")
    (root / "b.json").write_text("{")
    (row,) = room.json("source", "sync", code=1)["sources"]
    assert row["fault"].startswith("not every record could be read: b.json: ")


@pytest.mark.parametrize(
    ("minutes", "prompts", "pages", "is_read"),
    [(4, 30, 0, False), (6, 19, 8, False), (6, 20, 0, True), (6, 0, 9, True), (61, 1, 0, True)],
)
def test_work_that_was_done_lets_a_drain_read_a_source(
    room: Room, root: Path, minutes: int, prompts: int, pages: int, is_read: bool
) -> None:
    room.ok("source", "remove", "till")
    room.ok("source", "add", "till", "--mapping", "map.toml", "--root", "tickets", "--every", "1h")
    assert read_sources(DataDir(room.data_dir)) == 1
    with closing(driver.connect(room.data_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE sources SET tried_at_us = tried_at_us - ?", (minutes * 60_000_000,))
    for number in range(prompts):
        room.tell("user-prompt", text=f"Mend the till, part {number}.")
    room.drain()
    for number in range(pages):
        room.ok("write-page", f"notes/{number}.md", "-b", f"# {number}")
    put(root, "One queue per region", "Two tills")
    # the page that the first look wrote is the tenth, since that look was put back in time
    pages_before = room.json("status")["counts"]
    assert read_sources(DataDir(room.data_dir)) == int(is_read)
    assert (room.json("status")["counts"] != pages_before) is is_read
    assert read_sources(DataDir(room.data_dir)) == 0


def test_two_sources_share_neither_name_nor_namespace(room: Room, root: Path) -> None:
    again = ("--mapping", "map.toml", "--root", str(root))
    assert room.json("source", "add", "till", *again, code=5)["error"]["message"] == "there is a source till"
    assert "has the namespace tickets" in room.json("source", "add", "shop", *again, code=5)["error"]["message"]
    assert "too often" in room.json("source", "add", "x", *again, "--every", "4m", code=2)["error"]["message"]
    assert room.json("source", "remove", "none", code=3)["error"]["code"] == "not_found"


def test_no_tool_adds_a_source() -> None:
    assert [one.tool for one in OPERATIONS if one.name.startswith("source ")] == [None] * 4
