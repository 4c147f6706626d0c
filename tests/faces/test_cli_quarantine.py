"""Events that could not be applied are listed, shown without secrets and controls, tried again, or removed."""

import json
import os
import random
import string
import time
from pathlib import Path

import pytest
from cli_room import Room

from ai_memory.paths import DataDir
from ai_memory.store.spool import Spool

FIRST, SECOND = "1764000000000000000-1-0a0b0c0d", "1764000000000000001-1-0a0b0c0d"


@pytest.fixture
def aside(room: Room) -> Path:
    """Two events in quarantine; gives the folder."""
    room.ok("init")
    spool = Spool(DataDir(room.data_dir))
    for number, event in enumerate((FIRST, SECOND)):
        (room.data_dir / "spool" / f"{event}.json").write_text(json.dumps({"v": 1, "number": number}))
        spool.quarantine(f"{event}.json", f"reason {number}", at_us=0)
    return DataDir(room.data_dir).quarantine


@pytest.mark.usefixtures("aside")
def test_they_are_listed_oldest_first_with_the_reason(room: Room) -> None:
    rows = room.json("quarantine", "list")["events"]
    assert [(row["event"], row["reason"], row["at"]) for row in rows] == [
        (FIRST, "reason 0", "2025-11-24T16:00:00Z"),
        (SECOND, "reason 1", "2025-11-24T16:00:00Z"),
    ]
    assert room.json("quarantine", "list", "-n", "1")["omitted"] == 1


@pytest.mark.usefixtures("aside")
def test_status_says_how_to_see_them(room: Room) -> None:
    assert "2 events could not be applied: see `ai-memory quarantine list`" in room.ok("status")


def test_one_is_shown_without_secrets_and_controls(room: Room, aside: Path) -> None:
    token = "ghp_" + "".join(random.Random(5).choices(string.ascii_letters + string.digits, k=36))
    (aside / f"{FIRST}.json").write_bytes(f"say {token} \x1b[31m".encode() + b"\xff\x00 end")
    told = room.ok("quarantine", "show", FIRST)
    assert "reason 0" in told
    assert token not in told
    assert "\x1b" not in told
    assert told.rstrip().endswith("end")


def test_what_is_no_file_is_listed_and_goes(room: Room, aside: Path) -> None:
    (aside / f"{FIRST}.json").unlink()
    os.mkfifo(aside / f"{FIRST}.json")
    (aside / f"{SECOND}.json").unlink()
    (aside / f"{SECOND}.json").mkdir()
    assert [row["size_bytes"] for row in room.json("quarantine", "list")["events"]] == [0, 0]
    room.ok("quarantine", "show", FIRST)
    room.ok("quarantine", "drop", "--all", "--confirm")
    assert list(aside.iterdir()) == []


def test_a_retried_event_waits_again(room: Room, aside: Path) -> None:
    young = f"{time.time_ns()}-1-0a0b0c0d"
    for ending in (".json", ".reason.json"):
        (aside / f"{SECOND}{ending}").rename(aside / f"{young}{ending}")
    assert room.json("quarantine", "retry", young)["events"][0]["event"] == young
    assert sorted(path.name for path in aside.iterdir()) == [f"{FIRST}.json", f"{FIRST}.reason.json"]
    assert (room.data_dir / "spool" / f"{young}.json").exists()


def test_an_event_that_is_too_old_to_be_applied_stays_and_the_answer_says_why(room: Room, aside: Path) -> None:
    told = room.json("quarantine", "retry", "--all")
    assert told["events"] == []
    assert "2 events are older than 90 days" in told["gaps"][0]
    assert "no event waits again" in room.ok("quarantine", "retry", FIRST)
    assert len(list(aside.iterdir())) == 4


def test_dropping_shows_what_would_go_and_acts_when_confirmed(room: Room, aside: Path) -> None:
    assert "say --confirm" in room.ok("quarantine", "drop", FIRST)
    assert len(list(aside.iterdir())) == 4
    assert "removed for good" in room.ok("quarantine", "drop", FIRST, "--confirm")
    assert sorted(path.name for path in aside.iterdir()) == [f"{SECOND}.json", f"{SECOND}.reason.json"]


@pytest.mark.usefixtures("aside")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("show", "9999"), 3),
        (("show", "../../config"), 3),
        (("show", "1764"), 5),
        (("retry",), 2),
        (("drop", FIRST, "--all"), 2),
    ],
)
def test_what_names_none_or_several_is_refused(room: Room, words: tuple[str, ...], code: int) -> None:
    assert room.run("quarantine", *words).exit_code == code


def test_an_empty_quarantine_is_no_fault(room: Room) -> None:
    assert room.ok("quarantine", "list").strip() == "nothing in quarantine"
    assert room.ok("quarantine", "retry", "--all").strip() == "nothing in quarantine"
    assert not room.data_dir.exists()
