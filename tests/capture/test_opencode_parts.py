"""What OpenCode tells of a tool call in the parts of a message becomes an event with session, input, output."""

from pathlib import Path

import pytest
from hook_runs import Desk


def part(**more: object) -> dict[str, object]:
    """`message.part.updated`, as OpenCode 1.2 puts it on its bus."""
    whole = {"id": "prt_1", "sessionID": "ses_9", "messageID": "msg_1"} | more
    return {"type": "message.part.updated", "properties": {"part": whole}}


def tool(**state: object) -> dict[str, object]:
    return part(type="tool", callID="c-1", tool="bash", state=state)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_completed_call_is_kept_with_input_and_output(desk: Desk) -> None:
    told = tool(status="completed", input={"command": "npm test"}, output="15 passed", title="", metadata={})
    desk.run("message.part.updated", told, agent="opencode")
    event = desk.event()
    assert (event["event"], event["session"], event["call_id"]) == ("post-tool-use", "ses_9", "c-1")
    assert (event["tool"], event["input"], event["output"]) == ("bash", {"command": "npm test"}, "15 passed")
    assert event["outcome"] == "success"


def test_a_failed_call_says_why(desk: Desk) -> None:
    desk.run(
        "message.part.updated", tool(status="error", input={"command": "x"}, error="no such program"), agent="opencode"
    )
    assert (desk.event()["outcome"], desk.event()["output"]) == ("error", "no such program")


@pytest.mark.parametrize(
    "told", [part(type="text", text="hello"), tool(status="running", input={}), part(type="step-finish", reason="stop")]
)
def test_any_other_part_is_an_event_of_its_session_without_content(desk: Desk, told: dict[str, object]) -> None:
    desk.run("message.part.updated", told, agent="opencode")
    event = desk.event()
    assert (event["event"], event["session"]) == ("other", "ses_9")
    assert "hello" not in str(event)
