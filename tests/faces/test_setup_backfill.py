"""`ai-memory setup` offers what agents recorded of this folder before."""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_room import Room

from ai_memory.cli import setup
from ai_memory.operations import setup_agents

SESSION = "11111111-aaaa-4bbb-8ccc-000000000001"


@pytest.fixture
def recorded(room: Room, monkeypatch: pytest.MonkeyPatch) -> Room:
    """A session of an hour ago in this folder, as Claude Code records it. What setup writes is not run."""
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("check_hook", "check_bridge"):
        monkeypatch.setattr(setup_agents, name, lambda *_: "")
    folder = Path.home() / ".claude" / "projects" / re.sub("[^A-Za-z0-9]", "-", str(room.checkout))
    folder.mkdir(parents=True)
    began = datetime.now(UTC) - timedelta(hours=1)
    told = {"sessionId": SESSION, "cwd": str(room.checkout), "type": "user", "uuid": "u"}
    told["timestamp"] = f"{began:%Y-%m-%dT%H:%M:%SZ}"
    path = folder / f"{SESSION}.jsonl"
    path.write_text(json.dumps(told | {"message": {"role": "user", "content": "Mend the till."}}) + "\n")
    os.utime(path, (began.timestamp(),) * 2)
    return room


def test_a_look_only_tells(recorded: Room) -> None:
    for words in (("setup",), ("setup", "--dry-run")):
        assert "earlier 1 session found: ai-memory backfill" in recorded.ok(*words)
    assert recorded.json("setup", "--dry-run")["backfill"] == "1 session found"
    assert recorded.json("setup", "--agent", "cursor", "--dry-run")["backfill"] == "", "whose records cannot be read"
    assert recorded.json("setup", "--agent", "codex", "--dry-run")["backfill"] == "", "who has none"
    assert not recorded.data_dir.exists()


def test_yes_brings_them_in_and_a_second_run_finds_nothing_new(recorded: Room) -> None:
    told = recorded.json("setup", "--yes")
    assert (told["backfill"], told["brought_in"]) == ("1 session found", 1)
    assert [one["id"] for one in recorded.json("sessions")["sessions"]] == [SESSION]
    again = recorded.json("setup", "--yes")
    assert (again["backfill"], again["brought_in"], again["wiring"]["applied"]) == ("", None, True)
    assert "nothing to change" in recorded.ok("setup", "--yes")


@pytest.mark.parametrize(("answers", "came"), [("\nn\n\n", 1), ("\nn\nn\n", 0)], ids=["yes", "no"])
def test_a_person_is_asked_and_a_no_is_remembered(
    recorded: Room, monkeypatch: pytest.MonkeyPatch, answers: str, came: int
) -> None:
    monkeypatch.setattr(setup, "_is_at_terminal", lambda: True)
    told = recorded.ok("setup", stdin=answers)
    assert "Earlier in this folder: 1 session found. Bring them in? [Y/n]" in told
    assert ("earlier sessions that came in: 1" in told) is bool(came)
    assert len(recorded.json("sessions")["sessions"]) == came
    assert recorded.ok("config", "get", "capture.backfill_on_start").strip() == ("true" if came else "false")
    assert "session found" not in recorded.ok("setup", stdin="")


def test_what_keeps_it_from_coming_in_does_not_undo_the_wiring(recorded: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    from ai_memory.errors import LockBusy

    def refuse(*_: object, **__: object) -> None:
        raise LockBusy("Another command is writing.")

    monkeypatch.setattr(setup_agents, "backfill", refuse)
    told = recorded.json("setup", "--yes")
    assert told["gaps"] == ["earlier sessions were not brought in: Another command is writing."]
    assert (Path.home() / ".claude" / "settings.json").exists()
