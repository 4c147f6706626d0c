"""Rules that people type to agents become facts: whose words count, once each, also after a crash."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_room import SESSION, Room

from ai_memory import hook_attendance
from ai_memory.capture.draining import Drainer
from ai_memory.cli import asking
from ai_memory.hook_harnesses import UNATTENDED
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.store.memory import Memory

RULE = "Never deploy the shop on Fridays."
PROMPT = f"Mend the till. {RULE}"


def facts(room: Room) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = room.json("facts", "--all")["facts"]
    return rows


def told(room: Room, text: str = PROMPT, **more: object) -> list[dict[str, Any]]:
    room.tell("user-prompt", text=text, **more)
    room.drain()
    return facts(room)


def test_a_rule_that_was_typed_waits_as_a_candidate_in_the_persons_words(room: Room) -> None:
    [fact] = told(room)
    assert (fact["kind"], fact["standing"], fact["statement"]) == ("correction", "candidate", RULE)
    [evidence] = fact["evidence"]
    assert (evidence["kind"], evidence["quote"], evidence["session"]) == ("declared", RULE, SESSION)
    assert "Pass: declare" in room.git("log", "-1", "--format=%B")


@pytest.mark.parametrize(("value", "standings"), [("on", ["supported"]), ("off", [])])
def test_the_setting_says_what_becomes_of_it(room: Room, value: str, standings: list[str]) -> None:
    room.ok("init")
    room.ok("config", "set", "capture.declarations", value)
    assert [fact["standing"] for fact in told(room)] == standings


@pytest.mark.parametrize(
    "more",
    [
        {"agent_id": "sub-1"},
        {"flags": [UNATTENDED]},
        {"agent": "other"},
        {"ingest_key": "k-1"},
        {"extra": {"extension": "ci"}},
    ],
    ids=["subagent", "print mode", "no harness", "told by a client", "a producer"],
)
def test_what_no_person_typed_declares_nothing(room: Room, more: dict[str, object]) -> None:
    room.ok("init")
    assert told(room, **more) == []


@pytest.mark.parametrize(
    ("agent", "line", "count"),
    [
        ("codex", {"payload": {"originator": "codex_exec", "source": "exec"}}, 0),
        ("codex", {"payload": {"originator": "codex_cli_rs", "source": {"subagent": "review"}}}, 0),
        ("codex", {"payload": {"originator": "codex_cli_rs", "source": "cli"}}, 1),
        ("claude-code", {"type": "user", "entrypoint": "sdk-cli"}, 0),
        ("claude-code", {"type": "user", "entrypoint": "cli", "said": '"entrypoint": "sdk-cli"'}, 1),
    ],
)
def test_the_agents_own_record_tells_print_mode(
    room: Room, tmp_path: Path, agent: str, line: dict[str, object], count: int
) -> None:
    record = tmp_path / "record.jsonl"
    record.write_text(json.dumps(line) + "\n")
    room.ok("init")
    assert len(told(room, agent=agent, extra={"transcript_path": str(record)})) == count


def test_a_rule_that_is_told_again_is_stored_once_and_a_correction_passes_what_it_resembles(room: Room) -> None:
    told(room)
    told(room, "never deploy  the shop on Fridays")
    assert len(facts(room)) == 1
    told(room, "Never deploy the shop on Fridays after noon.")
    assert len(facts(room)) == 2
    told(room, "Remember that the shop deploys on Fridays are never done.")
    assert len(facts(room)) == 2


def test_two_drains_that_are_killed_between_reading_and_writing_store_it_once(room: Room) -> None:
    class Killed(BaseException):
        pass

    def kill(name: str) -> None:
        if name == "declaring":
            raise Killed

    room.tell("user-prompt", text=PROMPT)
    for _ in range(2):
        with pytest.raises(Killed):
            memory = Memory.open(DataDir(room.data_dir), caller=Caller(cwd=None, environ={}, home="/", face="drain"))
            Drainer(memory, step=kill).run()
    assert facts(room) == []
    room.drain()
    room.drain()
    assert [fact["statement"] for fact in facts(room)] == [RULE]


def test_a_fact_that_quotes_the_rule_takes_the_place_of_the_candidate(room: Room) -> None:
    [candidate] = told(room)
    answer = room.json("record", "The shop is never deployed on Fridays", "--quote", "Never deploy the shop on Fridays")
    assert [(row["standing"], row["id"]) for row in answer["facts"]][1] == ("superseded", candidate["id"])
    assert answer["facts"][0]["standing"] == "supported"


def test_what_a_person_gave_up_may_be_declared_anew(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    [first] = told(room)
    monkeypatch.setattr(asking, "confirms", lambda _: True)
    room.json("resolve", first["id"], "--as", "contradicted", "--because", "We may after all")
    told(room, f"On second thought: {RULE}", session="8e4a1b6f-2222-4333-8444-555566667777")
    assert sorted(fact["standing"] for fact in facts(room)) == ["candidate", "contradicted"]


# --- what a hook can tell ---


@pytest.mark.parametrize(
    ("agent", "environ", "expected"),
    [
        ("claude-code", {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, True),
        ("claude-code", {"CLAUDE_CODE_ENTRYPOINT": "claude-vscode"}, False),
        ("claude-code", {"CLAUDE_CODE_SESSION_ID": "a"}, False),
        ("codex", {"CLAUDE_CODE_SESSION_ID": "a", "CLAUDE_CODE_ENTRYPOINT": "cli"}, True),
        ("codex", {}, False),
    ],
)
def test_a_hook_tells_print_mode_and_agents_in_agents(agent: str, environ: dict[str, str], expected: bool) -> None:
    assert hook_attendance.is_unattended(agent, environ, process=0) is expected


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process shows its input")
def test_an_interactive_agent_without_a_terminal_is_driven_by_a_program() -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:  # waits with a pipe as its input, until the test closes it
        os.dup2(reading, 0)
        os.close(writing)
        os.read(0, 1)
        os._exit(0)
    try:
        environ = {"CLAUDE_CODE_ENTRYPOINT": "cli"}
        os.close(reading)
        while not str(Path(f"/proc/{child}/fd/0").readlink()).startswith("pipe:"):
            pass
        assert hook_attendance.is_unattended("claude-code", environ, process=child)
    finally:
        os.close(writing)
        os.waitpid(child, 0)
