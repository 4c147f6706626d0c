"""`capture-turn`: a client without hooks is remembered, and its first turn is told what a start is told."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

from ai_memory import hook_outbox
from ai_memory.bridge.calls import Pins, Place
from ai_memory.hook_places import session_uuid
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.text.fences import FENCE_END, FENCE_START

THREAD = "thread 7 / café"


@pytest.fixture
def zed(room: Room, monkeypatch: pytest.MonkeyPatch) -> Room:
    """A data dir whose drain seems at work: no turn starts one, and none waits for what that drain may write."""
    monkeypatch.setattr(hook_outbox, "WAIT_S", 0.0)
    room.ok("init")
    (room.data_dir / "locks").mkdir(exist_ok=True)
    (room.data_dir / "locks" / "drain.beat").touch()
    return room


def turn(room: Room, index: int, text: str, role: str = "user", **more: Any) -> str:
    environ, pins = more.pop("environ", {}), more.pop("pins", Pins())
    cwd = str(more.pop("stands_in", room.checkout))
    caller = Caller(cwd=cwd, environ=environ, home=str(Path.home()), face="bridge", agent="zed")
    given = {"session": THREAD, "index": index, "role": role, "text": text, **more}
    return Place(DataDir(room.data_dir), caller, pins).call("memory_capture_turn", given).text


def drained(room: Room) -> list[dict[str, Any]]:
    (room.data_dir / "locks" / "drain.beat").unlink(missing_ok=True)
    room.drain()
    (room.data_dir / "locks" / "drain.beat").touch()
    found: list[dict[str, Any]] = room.json("session", session_uuid("zed", THREAD))["observations"]
    return found


def test_turns_become_a_session_and_telling_one_twice_is_once(zed: Room) -> None:
    for _ in range(2):
        assert turn(zed, 0, "Mend the retry budget.").startswith("kept\n")
        turn(zed, 1, "Done.", "assistant")
    turn(zed, 2, "Mend the retry budget.")
    rows = drained(zed)
    assert [(row["kind"], row["text"]) for row in rows] == [
        *(("user-prompt", "Mend the retry budget."), ("stop", ""), ("user-prompt", "Mend the retry budget.")),
    ]
    [session] = zed.json("sessions")["sessions"]
    assert (session["agent"], session["project"], session["state"]) == ("zed", "shop", "open")
    turn(zed, 0, "Mend the retry budget.")
    assert len(drained(zed)) == 3


def test_a_drain_is_started_and_this_process_stays_where_it_is(zed: Room) -> None:
    (zed.data_dir / "locks" / "drain.beat").unlink()
    assert turn(zed, 0, "Mend the retry budget.").startswith("kept")
    assert Path.cwd() == zed.checkout
    deadline = time.monotonic() + 60
    while not zed.json("sessions")["sessions"]:
        assert time.monotonic() < deadline, "no drain applied the turn"
        time.sleep(0.05)


def test_answers_are_kept_where_the_person_asked_for_them(zed: Room) -> None:
    zed.ok("config", "set", "capture.assistant", "excerpt")
    turn(zed, 0, "The till rounds now.", "assistant")
    assert [row["text"] for row in drained(zed)] == ["The till rounds now."]


def test_the_first_turn_is_given_the_handoff_and_takes_it(zed: Room) -> None:
    zed.ok("handoff", "begin", "-b", "Till rounds; tax is left.", "--agent", "codex")
    first = turn(zed, 0, "Where were we?")
    assert "tax is left" in first[first.index(FENCE_START) : first.index(FENCE_END)]
    assert "tax is left" not in turn(zed, 0, "Where were we?")
    assert "tax is left" not in turn(zed, 1, "Go on.")
    drained(zed)
    [handoff] = zed.json("handoff", "list", "--state", "any")["handoffs"]
    assert (handoff["state"], handoff["accepted_by_agent"]) == ("accepted", "zed")


@pytest.mark.parametrize("names", [{"pins": Pins(project="till")}, {"project": "till"}])
def test_turns_belong_to_the_project_that_is_named_and_not_to_the_folder(zed: Room, names: dict[str, Any]) -> None:
    zed.ok("write-page", "-p", "notes/till.md", "-b", "The till rounds.", "--project", "till")
    zed.ok("handoff", "begin", "-b", "Of the folder alone.", "--agent", "codex")
    zed.ok("handoff", "begin", "-b", "Tax is left.", "--agent", "codex", "--project", "till")
    zed.ok("message", "send", "till", "-b", "Look at the prices.")
    first = turn(zed, 0, "Where were we?", **names)
    assert "Tax is left." in first
    assert "Of the folder alone." not in first
    assert "1 message waits for default/till" in first
    assert first.endswith("kept\nscope default/till · resolved_by flag")
    turn(zed, 1, "Round up.", **names)
    drained(zed)
    [session] = zed.json("sessions", "--project", "till")["sessions"]
    assert (session["agent"], session["prompts"]) == ("zed", 2)
    assert zed.json("sessions")["sessions"] == []
    zed.ok("finalize-session", session_uuid("zed", THREAD), "--project", "till")
    assert "Round up." in zed.ok("handoff", "accept", "--project", "till")
    assert "Of the folder alone." in zed.ok("handoff", "accept")


def test_a_named_project_in_whose_checkout_the_client_stands_keeps_branch_and_folder(zed: Room) -> None:
    zed.ok("handoff", "begin", "-b", "Tax is left.", "--agent", "codex")
    assert "Tax is left." in turn(zed, 0, "Where were we?", project="shop")
    drained(zed)
    [session] = zed.json("sessions")["sessions"]
    assert session["cwd"] == str(zed.checkout)


def test_a_turn_about_another_folder_is_answered_with_its_project(zed: Room, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    assert "scope default/shop" in turn(zed, 0, "Where were we?", stands_in=other, cwd=str(zed.checkout))
    [session] = (drained(zed), zed.json("sessions")["sessions"])[1]
    assert session["project"] == "shop"


def test_a_turn_for_a_name_that_is_none_is_refused(zed: Room) -> None:
    assert turn(zed, 0, "x", project="../x").startswith("error invalid: not a workspace name")
    assert turn(zed, 0, "x", cwd="here").startswith("error invalid: 'here' is no absolute path")
    assert list((zed.data_dir / "spool").glob("*.json")) == []


def test_a_turn_that_cannot_be_kept_is_no_bug_and_may_be_told_again(zed: Room) -> None:
    spool = zed.data_dir / "spool"
    moved = spool.rename(zed.data_dir / "moved")
    spool.write_text("no folder")
    answer = turn(zed, 0, "Mend the retry budget.")
    assert answer.startswith("error internal: The turn could not be kept: ")
    assert "hint: Tell it again with the same index" in answer
    spool.unlink()
    moved.rename(spool)
    assert turn(zed, 0, "Mend the retry budget.").endswith("kept\nscope default/shop · resolved_by directory")


def test_an_idle_session_of_turns_ends_with_a_page(zed: Room) -> None:
    turn(zed, 0, "Mend the retry budget.")
    drained(zed)
    done = zed.json("finalize-session", session_uuid("zed", THREAD))
    assert done["sessions"][0]["state"] == "ended"
    assert zed.json("pages", "--kind", "session")["total"] == 1


def test_the_policy_of_hooks_holds(zed: Room) -> None:
    secret = "ghp_" + "aB3" * 12
    turn(zed, 0, f"The token is {secret}. <private>And my aunt.</private>")
    spooled = "".join(path.read_text() for path in (zed.data_dir / "spool").glob("*.json"))
    assert "[REDACTED:github-token]" in spooled
    assert secret not in spooled
    assert "aunt" not in spooled
    assert turn(zed, 1, "More.", environ={"AI_MEMORY_CAPTURE": "off"}).startswith("not kept: AI_MEMORY_CAPTURE is off")
    zed.ok("pause")
    assert turn(zed, 2, "More.").startswith("not kept: paused")
    zed.ok("resume")
    zed.ok("config", "set", "capture.prompts", "false")
    turn(zed, 3, "A quiet word.")
    assert "quiet" not in "".join(path.read_text() for path in (zed.data_dir / "spool").glob("*.json"))


def test_the_first_turn_below_a_marker_that_no_drain_has_met_keeps_its_text(zed: Room) -> None:
    marker = zed.checkout / ".ai-memory.toml"
    marker.write_text('[capture]\nignore_paths = ["secrets/**"]\n')
    assert turn(zed, 0, "Mend the retry budget.").startswith("kept\n")
    marker.write_text("[capture]\nignored = 1\n")
    assert turn(zed, 1, "A word nobody may keep.").startswith(f"kept, but not its text: the policy in {marker} is not")
    assert [row["text"] for row in drained(zed)] == ["Mend the retry budget.", ""]


def test_what_memory_told_is_not_remembered_again(zed: Room) -> None:
    turn(zed, 0, f"{FENCE_START}\nold words\n{FENCE_END}\nGo on.")
    assert [row["text"].strip() for row in drained(zed)] == ["Go on."]


@pytest.mark.parametrize(
    "given",
    [{"session": " "}, {"text": "\n"}, {"index": -1}, {"role": "system"}, {"session": "x" * 201}, {"text": "\udcff"}],
)
def test_what_is_no_turn_is_refused(zed: Room, given: dict[str, Any]) -> None:
    caller = Caller(cwd=str(zed.checkout), environ={}, home=str(Path.home()), face="bridge", agent="zed")
    whole = {"session": THREAD, "index": 0, "role": "user", "text": "x", **given}
    answer = Place(DataDir(zed.data_dir), caller).call("memory_capture_turn", whole)
    assert answer.is_error
    assert list((zed.data_dir / "spool").glob("*.json")) == []


def test_the_command_line_takes_a_turn_from_stdin(zed: Room) -> None:
    words = ("capture-turn", "--session", THREAD, "--index", "0", "--role", "user", "--text", "-", "--agent", "zed")
    answer = json.loads(zed.ok(*words, "--json", stdin="Mend the retry budget."))
    assert (answer["outcome"], answer["session"]) == ("accepted", session_uuid("zed", THREAD))
    assert [row["text"] for row in drained(zed)] == ["Mend the retry budget."]
