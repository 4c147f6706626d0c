"""Every payload shape becomes the same event."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hook_runs import FIXTURES, Desk

from ai_memory import hook_harnesses
from ai_memory.capture.spooled import parse_event, session_uuid
from ai_memory.hook_places import session_uuid as hooks_session_uuid

FILES = {file: file.stem for file in sorted(FIXTURES.glob("*.json"))}
REAL = {file: file.parent.name for file in sorted(FIXTURES.glob("*/real.json"))}
"""What real programs sent to our hooks, with neutral ids and paths: `tests/e2e/test_real_programs.py` records it."""
SHAPES = [
    pytest.param({"agent": agent} | shape, id=f"{shape.get('agent', agent)}-{file.stem}-{at}-{shape['event']}")
    for file, agent in (FILES | REAL).items()
    for at, shape in enumerate(json.loads(file.read_text(encoding="utf-8")))
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, is_waiting=False)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_recorded_shape_gives_its_event_and_the_drain_reads_it(desk: Desk, shape: dict[str, Any]) -> None:
    ran = desk.run(shape["event"], shape["payload"], agent=shape["agent"])
    assert (ran.code, ran.err) == (0, b"")
    event = desk.event()
    assert event["event"] == shape.get("kind", shape["event"])
    for name in ("prompt", "tool", "call_id", "input", "output", "outcome", "text", "agent_id", "caller", "session"):
        if name in shape:
            assert event.get(name) == shape[name], name
    for name in shape.get("absent", ()):
        assert name not in event
    assert event["extra"].items() >= shape.get("extra", {}).items()
    assert event["cwd"] == shape.get("cwd", event["cwd"])
    assert event["agent"] == shape.get("caller", shape["agent"])
    assert_the_drain_reads_it(desk, shape)


def assert_the_drain_reads_it(desk: Desk, shape: dict[str, Any]) -> None:
    (path,) = (desk.data / "spool").glob("*.json")
    event = parse_event(path.name, path.read_bytes())
    assert event.kind == shape.get("kind", shape["event"])
    if "prompt" in shape or "text" in shape:
        assert event.text == shape.get("prompt", shape.get("text"))
    assert event.process > 0


def test_the_answer_of_the_agent_is_kept_only_on_request(desk: Desk) -> None:
    stop = desk.payload("Stop", last_assistant_message="All done, totals are right.")
    desk.run("stop", stop)
    assert "All done" not in json.dumps(desk.event())
    (desk.data / "hook-policy.json").write_text('{"v":1,"settings":{"assistant":"excerpt"},"markers":{}}')
    desk.run("stop", stop)
    assert desk.events()[1]["text"] == "All done, totals are right."


def test_an_event_without_a_session_is_dropped_but_a_start_gets_one(desk: Desk) -> None:
    for kind in ("user-prompt", "stop", "session-end"):
        assert desk.run(kind, {"cwd": "/x", "prompt": "p"}).out == b"{}"
    assert desk.events() == []
    desk.run("session-start", {"cwd": "/x"})
    assert len(desk.event()["session"]) == 32


def test_cursors_placeholder_conversation_is_dropped(desk: Desk) -> None:
    desk.run("session-start", {"conversation_id": "empty-state-draft", "cursor_version": "2"}, agent="cursor")
    assert desk.events() == []


def test_a_harness_without_ids_is_one_session_a_process(desk: Desk) -> None:
    for text in ("one", "two"):
        desk.run("userPromptSubmitted", {"timestamp": 1, "cwd": "/x", "prompt": text}, agent="copilot-cli")
    first, second = desk.events()
    assert first["session"] == second["session"] != ""


def test_only_the_first_model_call_of_antigravity_is_a_start(desk: Desk) -> None:
    for number in (0, 1):
        desk.run("session-start", {"conversationId": "a", "invocationNum": number}, agent="antigravity-cli")
    assert len(desk.events()) == 1


def test_the_payloads_time_counts_only_within_five_minutes(desk: Desk) -> None:
    now = time.time()
    near = time.strftime("%Y-%m-%dT%H:%M:%S.250Z", time.gmtime(now - 200))
    desk.run("stop", desk.payload("Stop", timestamp=near))
    desk.run("stop", desk.payload("Stop", timestamp="2020-01-01T00:00:00Z"))
    desk.run("stop", desk.payload("Stop", timestamp=int((now - 100) * 1000)))
    first, second, third = (event["at_us"] / 1e6 for event in desk.events())
    assert first == int(now - 200) + 0.25
    assert abs(second - now) < 60
    assert abs(third - (now - 100)) < 0.01


@pytest.mark.parametrize(
    "raw", ["abc", "5b1f0c9e-31aa-4f0e-9d6e-0c6a0b7f1d11", "5B1F0C9E31AA4F0E9D6E0C6A0B7F1D11", "ü", ""]
)
def test_hook_and_drain_give_a_session_the_same_id(raw: str) -> None:
    assert hooks_session_uuid("codex", raw) == session_uuid("codex", raw)


@pytest.mark.parametrize(
    "spelling",
    ["UserPromptSubmit", "user-prompt-submit", "user_prompt_submit", "userPromptSubmit", "USER PROMPT SUBMIT"],
)
def test_event_names_are_taken_in_every_case(spelling: str) -> None:
    assert hook_harnesses.canonical_event(spelling) == "user-prompt"


def test_every_canonical_kind_is_its_own_spelling() -> None:
    assert [hook_harnesses.canonical_event(kind) for kind in hook_harnesses.KINDS] == list(hook_harnesses.KINDS)


def test_codex_notify_gives_its_payload_as_the_last_word(desk: Desk) -> None:
    payload = json.dumps({"type": "agent-turn-complete", "thread-id": "t-9", "cwd": "/x"})
    assert desk.run("stop", b"", payload, agent="codex").code == 0
    assert desk.event()["session"] == "t-9"
