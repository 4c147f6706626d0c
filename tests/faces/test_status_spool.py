"""What status says of the spool and of a disk that hooks cannot write: hooks themselves stay silent."""

import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_room import Room

from ai_memory.store import reading

WEEK_NS = 7 * 86_400 * 1_000_000_000


def _spooled(room: Room, *, at_ns: int, size: int = 2) -> Path:
    folder = room.data_dir / "spool"
    folder.mkdir(exist_ok=True)
    path = folder / f"{at_ns:019d}-1-00000000.json"
    with path.open("wb") as file:
        file.truncate(size)
    return path


def _degraded(room: Room) -> list[str]:
    return [str(told) for told in room.json("status")["degraded"]]


def test_the_bounds_stand_in_the_status_and_what_they_cost(room: Room) -> None:
    room.ok("init")
    spool = room.data_dir / "spool"
    spool.mkdir(exist_ok=True)
    (spool / ".dropped").write_bytes(b"...")
    found = room.json("status")["spool"]
    assert (found["dropped"], found["max_files"], found["max_mib"]) == (3, 10_000, 256)
    assert "3 tool events dropped when it was full, holds 10000 events or 256 MiB" in room.ok("status")


def test_a_full_spool_is_degraded_by_number_and_by_size(room: Room) -> None:
    room.ok("init")
    room.ok("config", "set", "hook_spool.max_mib", "16")
    path = _spooled(room, at_ns=time.time_ns(), size=(16 << 20) - 1)
    assert _degraded(room) == []
    with path.open("ab") as file:
        file.write(b"x")
    (told,) = _degraded(room)
    assert told.startswith("the spool is full (1 of 10000 events, 16 of 16 MiB): ")


def test_an_event_older_than_a_week_is_told_and_kept(room: Room) -> None:
    room.ok("init")
    path = _spooled(room, at_ns=time.time_ns() - WEEK_NS - 60_000_000_000)
    (told,) = _degraded(room)
    assert "more than a week" in told
    assert "ai-memory drain" in told
    assert path.exists()


def test_a_data_dir_that_hooks_cannot_write_is_degraded(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.ok("init")
    room.ok("write-page", "notes/a.md", "-b", "# A\n\nx\n")
    monkeypatch.setattr("ai_memory.diagnosis.place.is_writable", lambda folder: folder != room.data_dir)
    assert f"{room.data_dir} cannot be written here: hooks keep nothing; check its owner and permissions" in _degraded(
        room
    )
    assert reading.is_writable(room.data_dir)


def test_a_full_disk_is_degraded(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.ok("init")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=1, used=1, free=4096))
    assert [told for told in _degraded(room) if told.startswith(f"the disk of {room.data_dir} is full (4 KiB free)")]
