"""Whatever field of a payload holds a secret: no file of the spool holds it."""

import random
import string
from pathlib import Path
from typing import Any

import pytest
from hook_runs import Desk

from ai_memory.capture.spooled import parse_event, session_uuid
from ai_memory.hook_harnesses import KINDS

FIELDS = (
    *("session_id", "cwd", "hook_event_name", "tool_name", "tool_use_id", "agent_id", "source", "reason", "trigger"),
    *("model", "turn_id", "notification_type", "transcript_path", "agent_type", "status", "prompt", "message"),
    *("custom_instructions", "summary", "title", "last_assistant_message", "never_heard_of"),
)


def token() -> str:
    """A made-up token in the shape of a forge's, made at run time so that no scanner finds one here."""
    return "gh" + "p_" + "".join(random.Random(5).choices(string.ascii_letters + string.digits, k=36))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def texts_on_disk(desk: Desk) -> str:
    names = sorted(path for path in desk.data.rglob("*"))
    return "\n".join([*map(str, names), *(path.read_text() for path in names if path.is_file())])


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_of_a_payload_brings_a_secret_into_the_spool(desk: Desk, kind: str) -> None:
    nested: dict[str, Any] = {f"key {token()}": {"deep": [token(), {"x": f"see {token()}"}]}, "command": token()}
    payload = {name: token() for name in FIELDS} | {"tool_input": nested, "tool_response": nested, "extra": nested}
    assert desk.run(kind, payload).code == 0
    assert desk.event()["event"] == kind
    assert token() not in texts_on_disk(desk)


def test_a_secret_alone_in_one_field_does_not_pass_either(desk: Desk) -> None:
    for name in FIELDS:
        desk.run("post-tool-use", desk.payload("PostToolUse", tool_name="Bash") | {name: f"a {token()} b"})
    assert len(desk.events()) == len(FIELDS)
    assert token() not in texts_on_disk(desk)


def test_a_secret_across_the_cut_of_a_long_field_leaves_no_part(desk: Desk) -> None:
    lengths = {"session_id": 512, "tool_name": 200, "tool_use_id": 128, "agent_id": 200, "source": 1024}
    long = {name: "x" * (length - 9) + "." + token() for name, length in lengths.items()}
    desk.run("post-tool-use", desk.payload("PostToolUse") | long)
    assert token()[:8] not in texts_on_disk(desk)


def test_a_session_named_by_a_secret_is_one_session_under_the_id_that_its_claims_carry(desk: Desk) -> None:
    raw = f"run {token()}"
    for kind in ("user-prompt", "stop", "session-end"):
        desk.run(kind, desk.payload("x", session_id=raw, prompt="mend it"))
    assert {event["session"] for event in desk.events()} == {session_uuid("claude-code", raw)}
    spooled = [path for path in (desk.data / "spool").iterdir() if path.suffix == ".json"]
    events = [parse_event(path.name, path.read_bytes()) for path in spooled]
    assert {(event.session, event.native_id) for event in events} == {(session_uuid("claude-code", raw),) * 2}


def test_a_pattern_of_ones_own_holds_for_names_too(desk: Desk) -> None:
    policy = '{"v":1,"settings":{"extra":["^ticket-[0-9]+$"]},"config":null,"markers":{}}'
    (desk.data / "hook-policy.json").write_text(policy)
    desk.run("post-tool-use", desk.payload("PostToolUse", tool_name="ticket-77"))
    assert "ticket-77" not in texts_on_disk(desk)
