"""Antigravity names no prompt in its events: the drain reads them from `history.jsonl`, once, under the policy."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from terminals import NINE_US, SECOND_US, Room

from ai_memory.capture.spooled import session_uuid
from ai_memory.model import Caller
from ai_memory.store import wired
from ai_memory.store.memory import Memory

AT_US = NINE_US + 60 * SECOND_US
SESSION = session_uuid("antigravity-cli", "ag")


def history(room: Room, *lines: object) -> None:
    folder = room.root / "home" / ".gemini" / "antigravity-cli"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "history.jsonl").open("a", encoding="utf-8") as file:
        file.writelines((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines)


def line(prompt: str, *, at_us: int = AT_US, conversation: str = "ag", **more: object) -> dict[str, object]:
    return {"conversationId": conversation, "display": prompt, "timestamp": at_us // 1000} | more


def stop(room: Room, *, at_us: int = AT_US + SECOND_US) -> None:
    record = {
        "v": 1,
        "agent": "antigravity-cli",
        "event": "stop",
        "at_us": at_us,
        "session": "ag",
        "cwd": room.checkout(),
        "extra": {"process": 4242},
    }
    room.spool(record, at_us=at_us)
    assert not room.drain().fault


def prompts(room: Room) -> list[tuple[str, int]]:
    rows = room.observations(SESSION)
    return [(row.text, row.at_us) for row in rows if row.kind == "user-prompt"]


@pytest.fixture(autouse=True)
def _hooks_of_this_home(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(room.root / "home"))
    monkeypatch.delenv("AI_MEMORY_CAPTURE", raising=False)


def test_prompts_of_the_conversation_come_once_with_their_own_time(room: Room) -> None:
    history(room, line("why is it off?"), line("not mine", conversation="other"), "no JSON", {"display": "no id"})
    stop(room)
    assert prompts(room) == [("why is it off?", AT_US)]
    history(room, line("and now?", at_us=AT_US + 5 * SECOND_US))
    stop(room, at_us=AT_US + 9 * SECOND_US)
    assert [text for text, _ in prompts(room)] == ["why is it off?", "and now?"]
    session = room.session(SESSION)
    assert (session.prompts, session.process) == (2, 4242)


def test_a_prompt_is_cleaned_as_any_other(room: Room) -> None:
    history(room, line("<private>mine</private> use ghp_" + "a1B2c3D4e5" * 3 + "a1B2c3"))
    stop(room)
    ((text, _),) = prompts(room)
    assert "mine" not in text
    assert "ghp_" not in text


def test_where_prompts_are_not_captured_only_their_place_is_kept(room: Room) -> None:
    room.data_dir.root.mkdir()
    (room.data_dir.root / "config.toml").write_text("[capture]\nprompts = false\n", encoding="utf-8")
    history(room, line("why is it off?"))
    stop(room)
    assert prompts(room) == [("", AT_US)]


def test_what_was_typed_before_the_session_was_seen_is_left_out(room: Room) -> None:
    history(room, line("long ago", at_us=AT_US - 3_600 * SECOND_US), line("no time", timestamp=None))
    stop(room)
    assert prompts(room) == []


def audited(room: Room, rows: Iterable[tuple[str, str, int]]) -> None:
    """Rows as `pause` and `resume` leave them."""
    caller = Caller(cwd=None, environ={}, home=str(room.root / "home"), face="cli")
    for verb, subject, at_us in rows:
        memory = Memory.open(room.data_dir, caller=caller, clock=lambda at_us=at_us: at_us)  # type: ignore[misc]
        memory.tell(verb, subject=subject)


@pytest.mark.parametrize(
    "rows",
    [
        [("pause", "everywhere until resumed", AT_US - SECOND_US), ("resume", "everywhere until resumed", AT_US + 1)],
        [("pause", "in /home/ada/shop until 2026-11-30T09:02:00Z", AT_US - SECOND_US)],
    ],
)
def test_nothing_that_was_typed_during_a_pause_is_read_after_it(room: Room, rows: list[tuple[str, str, int]]) -> None:
    stop(room, at_us=AT_US - 30 * SECOND_US)
    audited(room, rows)
    later = AT_US + 120 * SECOND_US
    history(room, line("off the record"), line("on the record", at_us=later))
    stop(room, at_us=later + SECOND_US)
    assert prompts(room) == [("on the record", later)]


def test_a_missing_or_strange_history_stops_no_drain(room: Room) -> None:
    stop(room)
    folder = room.root / "home" / ".gemini" / "antigravity-cli"
    folder.mkdir(parents=True)
    (folder / "history.jsonl").mkdir()
    stop(room, at_us=AT_US + 9 * SECOND_US)
    assert prompts(room) == []
    assert Path(folder / "history.jsonl").is_dir()


def test_prompts_that_a_person_does_not_let_be_captured_keep_their_text_out(room: Room) -> None:
    wired.put_without_prompts(room.data_dir, frozenset({"antigravity-cli"}))
    history(room, line("why is it off?"))
    stop(room)
    assert [text for text, _ in prompts(room)] in ([], [""])
