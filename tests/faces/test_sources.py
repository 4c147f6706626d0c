"""`source`: folders of records that are read again, and what searches say when that fails."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

from ai_memory.diagnosis import read_again
from ai_memory.operations import import_json, json_folder, sources
from ai_memory.operations.after_work import read_sources
from ai_memory.operations.table import OPERATIONS
from ai_memory.paths import DataDir
from ai_memory.store import driver
from ai_memory.store.lock import alone
from ai_memory.store.memory import Memory


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


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a disk waits for that does not answer."""
    event = threading.Event()
    yield event
    event.set()


def test_a_root_that_does_not_answer_is_not_waited_for(
    room: Room, root: Path, monkeypatch: pytest.MonkeyPatch, gate: threading.Event
) -> None:
    monkeypatch.setattr(sources, "ANSWER_S", 0.01)
    monkeypatch.setattr(sources, "folder_of_records", lambda *_: gate.wait())
    (row,) = room.json("source", "sync", code=1)["sources"]
    assert row["fault"].startswith(f"{root} did not answer")


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("where", ["_files", "_take", "content_of"])
def test_a_root_that_stops_to_answer_in_the_middle_holds_up_nobody(
    room: Room, monkeypatch: pytest.MonkeyPatch, gate: threading.Event, where: str
) -> None:
    other = room.checkout / "other"
    other.mkdir()
    (other / "texts").mkdir()
    (other / "texts" / "a.txt").write_text("Two tills per shop")
    (other / "b.json").write_text('[{"id": "1", "text": "x", "file": "a.txt"}]')
    mapping = 'namespace = "other"\ncontentFrom = {dir = "texts", field = "file"}\n'
    (room.checkout / "other.toml").write_text(mapping)
    room.ok("source", "add", "other", "--mapping", "other.toml", "--root", "other")
    module = import_json if where == "content_of" else json_folder
    done = getattr(module, where)

    def stalled(path: Path, *more: object, **named: object) -> object:
        is_other = path.is_relative_to(other)
        return gate.wait() if is_other else done(path, *more, **named)

    monkeypatch.setattr(module, where, stalled)
    monkeypatch.setattr(import_json, "STALLED_S", 0.2)
    assert read_sources(DataDir(room.data_dir)) == 2
    faults = {row["name"]: row["fault"] for row in room.json("source", "list")["sources"]}
    assert faults["till"] == ""
    assert "did not answer for 0.2 seconds: nothing was written, nothing retired" in faults["other"]
    assert statements(room) == {"One queue per region": "needs_review"}


def test_a_root_that_became_a_link_closes_nothing(room: Room, root: Path) -> None:
    room.ok("source", "sync")
    elsewhere = room.checkout / "elsewhere"
    elsewhere.mkdir()
    put(elsewhere, "Another matter")
    root.rename(room.checkout / "away")
    root.symlink_to(elsewhere)
    (row,) = room.json("source", "sync", code=1)["sources"]
    assert row["fault"] == f"{root} leads to {elsewhere} now: nothing was written, nothing retired"
    assert statements(room) == {"One queue per region": "needs_review"}


def test_two_looks_at_once_wait_for_each_other_and_both_are_whole(room: Room, root: Path) -> None:
    put(root, *(f"Queue number {number} per region" for number in range(40)))
    command = [sys.executable, "-m", "ai_memory", "source", "sync", "--json"]
    both = [subprocess.Popen(command, cwd=room.checkout, stdout=subprocess.PIPE) for _ in range(2)]
    told = [json.loads(one.communicate(timeout=60)[0])["sources"][0] for one in both]
    assert [row["fault"] for row in told] == ["", ""]
    assert sorted(row["said"] for row in told) == ["40 created", "40 unchanged"]


def test_while_another_process_reads_nothing_is_blamed_on_the_source(
    room: Room, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.ok("source", "sync")
    with alone(room.data_dir / "locks" / "records.lock"):
        assert room.json("--lock-timeout", "0", "source", "sync", code=4)["error"]["code"] == "busy"
        looked_long_ago(monkeypatch)
        monkeypatch.setattr(Memory, "lock_timeout_s", 0.0, raising=False)
        assert read_sources(DataDir(room.data_dir)) == 0
    assert room.json("source", "list")["sources"][0]["fault"] == ""
    assert root.is_dir()


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
    ("minutes", "prompts", "pages", "said", "is_read"),
    [
        (4, 30, 0, 160_000, False),
        (6, 19, 8, 100_000, False),
        (6, 20, 0, 0, True),
        (6, 0, 9, 0, True),
        (6, 1, 0, 160_000, True),
        (61, 1, 0, 0, True),
    ],
)
def test_work_that_was_done_lets_a_drain_read_a_source(
    room: Room, root: Path, minutes: int, prompts: int, pages: int, said: int, is_read: bool
) -> None:
    room.ok("source", "remove", "till")
    room.ok("source", "add", "till", "--mapping", "map.toml", "--root", "tickets", "--every", "1h")
    assert read_sources(DataDir(room.data_dir)) == 1
    with closing(driver.connect(room.data_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE sources SET tried_at_us = tried_at_us - ?", (minutes * 60_000_000,))
    for number in range(prompts):
        room.tell("user-prompt", text=f"Mend the till, part {number}.")
    for number in range(said // 10_000):
        room.tell("post-tool-use", tool="Read", call_id=f"c{number}", output=f"{number:03d}\n" * 2_500)
    room.drain()
    for number in range(pages):
        room.ok("write-page", f"notes/{number}.md", "-b", f"# {number}")
    put(root, "One queue per region", "Two tills")
    # the page that the first look wrote is the tenth, since that look was put back in time
    pages_before = room.json("status")["counts"]
    assert read_sources(DataDir(room.data_dir)) == int(is_read)
    assert (room.json("status")["counts"] != pages_before) is is_read
    assert read_sources(DataDir(room.data_dir)) == 0


def amiss(room: Room) -> list[tuple[str, str]]:
    findings = json.loads(room.run("doctor", "--json").stdout)["findings"]
    return [(one["code"], one["severity"]) for one in findings if one["code"].startswith("source-")]


def test_doctor_tells_of_sources_that_are_gone_failed_or_late(room: Room, root: Path) -> None:
    assert amiss(room) == [("source-late", "note")]
    room.ok("source", "sync")
    assert amiss(room) == []
    (root / "b.json").write_text("{")
    room.json("source", "sync", code=1)
    assert amiss(room) == [("source-failed", "warning")]
    (root / "b.json").unlink()
    room.ok("source", "sync")
    with closing(driver.connect(room.data_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE sources SET tried_at_us = tried_at_us - ?", (25 * 3_600_000_000,))
    assert amiss(room) == [("source-late", "warning")]
    root.rename(room.checkout / "away")
    assert amiss(room) == [("source-gone", "warning")]
    root.symlink_to(room.checkout / "away")
    assert amiss(room) == [("source-gone", "warning")]


@pytest.mark.usefixtures("root")
def test_doctor_waits_for_no_folder_that_does_not_answer(
    room: Room, monkeypatch: pytest.MonkeyPatch, gate: threading.Event
) -> None:
    monkeypatch.setattr(read_again, "ANSWER_S", 0.01)
    monkeypatch.setattr(read_again, "_wrong", lambda _: gate.wait())
    assert amiss(room) == [("source-gone", "warning")]


def test_two_sources_share_neither_name_nor_namespace(room: Room, root: Path) -> None:
    again = ("--mapping", "map.toml", "--root", str(root))
    assert room.json("source", "add", "till", *again, code=5)["error"]["message"] == "there is a source till"
    assert "has the namespace tickets" in room.json("source", "add", "shop", *again, code=5)["error"]["message"]
    assert "too often" in room.json("source", "add", "x", *again, "--every", "4m", code=2)["error"]["message"]
    assert room.json("source", "remove", "none", code=3)["error"]["code"] == "not_found"


def test_no_tool_adds_a_source() -> None:
    assert [one.tool for one in OPERATIONS if one.name.startswith("source ")] == [None] * 4
