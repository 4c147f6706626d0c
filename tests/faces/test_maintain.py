"""`maintain`: what is due is done, each duty in its own interval."""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from cli_room import SESSION, Room

from ai_memory.config_table import Backup, Config, Embed
from ai_memory.operations import duties
from ai_memory.operations.duties import DAY_S, DUTIES, HOUR_S, RETRY_S, due_at_us
from ai_memory.operations.maintain import DutyName
from ai_memory.paths import DataDir
from ai_memory.store.lock import alone

HOUR_US = HOUR_S * 1_000_000
ALWAYS = {"drain": "done", "sources": "done", "vectors": "off"}
"""What becomes of the other duties on each run of these tests."""
BY_NAME = {duty.name: duty for duty in DUTIES}


def rows(room: Room, *words: str, code: int = 0) -> dict[str, dict[str, object]]:
    return {row["duty"]: row for row in room.json("maintain", *words, code=code)["duties"]}


def outcomes(room: Room, *words: str) -> dict[str, object]:
    return {name: row["outcome"] for name, row in rows(room, *words).items()}


def set_back(room: Room, duty: str, by_us: int) -> None:
    """As if the duty's last turn were so much longer ago."""
    with closing(sqlite3.connect(room.data_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE upkeep SET at_us = at_us - ? WHERE duty = ?", (by_us, duty))


def test_the_flag_offers_every_duty() -> None:
    assert DutyName.__args__ == duties.NAMES  # type: ignore[attr-defined]


def test_what_waits_is_applied_and_a_silent_session_ends_with_its_handoff(room: Room) -> None:
    two_days_ago = time.time_ns() // 1000 - 48 * HOUR_US
    room.tell("user-prompt", text="Mend the retry budget.", at_us=two_days_ago)
    said = rows(room)["drain"]["said"]
    assert said == "1 event applied, 1 page written, 1 handoff opened, 1 silent session ended"
    [session] = room.json("sessions")["sessions"]
    assert (session["id"], session["state"]) == (SESSION, "ended")
    assert rows(room)["drain"]["said"] == "nothing waited"


def test_more_silent_sessions_than_a_drain_ends_end_in_one_run(room: Room) -> None:
    long_ago = time.time_ns() // 1000 - 48 * HOUR_US
    for number in range(27):
        room.tell("user-prompt", session=f"{number:08x}-1111-4222-8333-444455556666", text="Mend it.", at_us=long_ago)
    assert "27 silent sessions ended" in str(rows(room)["drain"]["said"])
    assert room.json("sessions", "--open")["sessions"] == []


def test_each_duty_has_its_own_interval_and_remembers_its_turn(room: Room) -> None:
    room.ok("init")
    room.ok("config", "set", "backup.every_days", "2")
    assert outcomes(room) == {**ALWAYS, "sweep": "done", "lint": "done", "tidy": "done", "backup": "done"}
    assert outcomes(room) == {
        "drain": "done",
        "sources": "done",
        "vectors": "off",
        "sweep": "not-due",
        "lint": "not-due",
        "tidy": "not-due",
        "backup": "not-due",
    }
    set_back(room, "sweep", 24 * HOUR_US)
    set_back(room, "tidy", 24 * HOUR_US)
    set_back(room, "backup", 47 * HOUR_US)
    assert outcomes(room) == {**ALWAYS, "sweep": "done", "lint": "not-due", "tidy": "done", "backup": "not-due"}
    set_back(room, "backup", HOUR_US)
    assert outcomes(room, "--dry-run")["backup"] == "due"
    assert outcomes(room)["backup"] == "done"
    assert outcomes(room, "--force") == {**ALWAYS, "sweep": "done", "lint": "done", "tidy": "done", "backup": "done"}
    assert outcomes(room, "--only", "tidy") == {"tidy": "not-due"}


def test_backups_lie_where_the_settings_say_and_only_so_many_stay(room: Room, tmp_path: Path) -> None:
    room.ok("write-page", "notes/a.md", "-b", "# Heron")
    away = tmp_path / "away"
    away.mkdir()
    for key, value in (("every_days", "1"), ("keep", "2"), ("folder", str(away))):
        room.ok("config", "set", f"backup.{key}", value)
    said = [str(rows(room, "--only", "backup", "--force")["backup"]["said"]) for _ in range(3)]
    assert len(list(away.glob("*.zip"))) == 2
    assert said[2].endswith("1 older removed")
    assert room.json("status")["backup"]["archive"] == Path(said[2].partition(",")[0]).name


def test_a_duty_that_fails_stops_no_other_and_is_tried_again_soon(room: Room) -> None:
    room.ok("init")
    room.ok("config", "set", "backup.every_days", "7")
    room.ok("config", "set", "backup.folder", str(room.data_dir / "wiki"))
    failed = rows(room, code=1)
    assert {name: row["outcome"] for name, row in failed.items()} == {
        "drain": "done",
        "sources": "done",
        "vectors": "off",
        "sweep": "done",
        "lint": "done",
        "tidy": "done",
        "backup": "failed",
    }
    assert "lies in the wiki" in str(failed["backup"]["said"])
    assert failed["backup"]["done_at"] is None
    assert "backup FAILED: " in room.run("maintain", "--force").stdout
    assert outcomes(room)["backup"] == "not-due"
    set_back(room, "backup", RETRY_S * 1_000_000)
    room.ok("config", "unset", "backup.folder")
    assert outcomes(room)["backup"] == "done"


def test_a_last_turn_in_the_future_was_a_clock_set_back(room: Room) -> None:
    room.ok("init")
    room.ok("maintain")
    set_back(room, "tidy", -400 * 24 * HOUR_US)
    assert outcomes(room)["tidy"] == "done"
    assert outcomes(room)["tidy"] == "not-due"


def test_of_two_at_once_one_works_and_the_other_says_so(room: Room) -> None:
    room.ok("init")
    with alone(room.data_dir / "locks" / "maintain.lock"):
        answer = room.json("maintain")
    assert (answer["duties"], answer["gaps"]) == ([], ["another maintain is at work: it does what is due"])


def test_without_a_memory_nothing_is_made(room: Room) -> None:
    assert room.json("maintain")["duties"] == []
    assert not room.data_dir.exists()


def test_a_dry_run_changes_nothing(room: Room) -> None:
    room.work()
    room.tell("session-end")
    before = {path: path.read_bytes() for path in DataDir(room.data_dir).spool.glob("*.json")}
    assert "drain is due: " in room.ok("maintain", "--dry-run")
    assert {path: path.read_bytes() for path in DataDir(room.data_dir).spool.glob("*.json")} == before
    assert outcomes(room, "--dry-run")["tidy"] == "due"


@pytest.mark.parametrize(
    ("name", "config", "expected_s"),
    [
        ("drain", Config(), 0),
        ("tidy", Config(), DAY_S),
        ("backup", Config(), None),
        ("backup", Config(backup=Backup(every_days=3)), 3 * DAY_S),
        ("vectors", Config(), None),
        ("vectors", Config(embed=Embed(provider="none")), None),
        ("vectors", Config(embed=Embed(provider="openai")), HOUR_S),
    ],
)
def test_how_often_a_duty_is_due(name: str, config: Config, expected_s: int | None) -> None:
    duty = BY_NAME[name]
    assert duty.every_s(config) == expected_s
    due = due_at_us(duty, config, 1_000, failed=False)
    assert due == (None if expected_s is None else 1_000 + expected_s * 1_000_000)
    again = due_at_us(duty, config, 1_000, failed=True)
    assert again == (None if expected_s is None else 1_000 + min(expected_s, RETRY_S) * 1_000_000)


def test_status_and_doctor_tell_of_a_duty_that_fails(room: Room) -> None:
    room.ok("init")
    assert room.json("status")["maintain"] is None
    assert "maintain  never ran" in room.ok("status")
    room.ok("maintain")
    told = room.json("status")["maintain"]
    assert {(one["duty"], one["fault"]) for one in told["duties"]} >= {("drain", ""), ("tidy", "")}
    assert told["last_at"] == max(one["tried_at"] for one in told["duties"])
    with closing(sqlite3.connect(room.data_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE upkeep SET fault = 'no room' WHERE duty = 'tidy'")
    set_done_back(room, "tidy", 6 * DAY_S)
    status = room.json("status")
    assert "tidy of the last maintain failed: no room" in status["degraded"]
    assert "maintain  tidy failed, " in room.ok("status")
    assert "upkeep-failed" not in room.run("doctor", "--json").stdout
    set_done_back(room, "tidy", 2 * DAY_S)
    findings = json.loads(room.run("doctor", "--json").stdout)["findings"]
    [found] = [one for one in findings if one["code"] == "upkeep-failed"]
    assert "no room" in found["sentence"]
    assert found["fix"] == "ai-memory maintain --only tidy --force"


def set_done_back(room: Room, duty: str, by_s: int) -> None:
    with closing(sqlite3.connect(room.data_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE upkeep SET done_at_us = done_at_us - ? WHERE duty = ?", (by_s * 10**6, duty))
