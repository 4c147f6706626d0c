"""Each event that a record wires: its payload through a real hook process, and what the harness reads of it."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hook_runs import FIXTURES
from posts import Post

from ai_memory.harnesses.record import Form, Harness
from ai_memory.harnesses.registry import BY_ID, HARNESSES

PLUGINS = ("opencode", "pi", "omp", "openclaw")
"""Their code calls the hook: tests/capture/test_plugins.py runs it with every event."""
EVENTS = [(one.id, native) for one in HARNESSES if one.id not in PLUGINS for native in one.events]
TOLD = [(name, native) for name, native in EVENTS if BY_ID[name].events[native] == BY_ID[name].inject_at]
HANDOFF = "Handoff – “text”"
MEMBERS = ("prompt", "tool", "call_id", "input", "output", "outcome", "text", "agent_id")

ENVELOPE = {"additionalContext": HANDOFF}
SHAPES: dict[Form, Any] = {
    Form.CAMEL: {"additionalContext": HANDOFF},
    Form.SNAKE: {"additional_context": HANDOFF},
    Form.CONTEXT: {"context": HANDOFF},
    Form.STEPS: {"injectSteps": [{"ephemeralMessage": HANDOFF}]},
    Form.CLINE: {"cancel": False, "contextModification": HANDOFF},
}


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    post = Post(tmp_path)
    yield post
    post.close()


def told(harness: Harness, native: str) -> bytes:
    """What the harness's own page says that a hook prints to give it context."""
    if harness.form is Form.TEXT:
        return HANDOFF.encode()
    name = {"agentSpawn": "SessionStart"}.get(native, native)
    shape = SHAPES.get(harness.form) or {"hookSpecificOutput": {"hookEventName": name, **ENVELOPE}}
    return json.dumps({"systemMessage": "memory: handoff"} | shape if harness.tells else shape).encode()


def fixture(post: Post, harness: str, native: str) -> dict[str, Any]:
    """What the harness sends with the event, for the checkout of this desk, and what becomes of it."""
    text = (FIXTURES / harness / f"{native}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text.replace("{checkout}", str(post.checkout)))
    for name, content in found.get("files", {}).items():
        path = post.checkout / name
        path.parent.mkdir(parents=True)
        path.write_text(content, encoding="utf-8")
    return found


def run(post: Post, harness: str, native: str, row: dict[str, Any]) -> bytes:
    shared = BY_ID[harness].shares or harness
    ran = post.run(native, row["payload"], agent=shared, environ=row.get("environ"))
    assert (ran.code, ran.err) == (0, b"")
    return ran.out


@pytest.mark.parametrize(("harness", "native"), EVENTS)
def test_a_wired_event_is_kept_whole_and_answered_with_nothing(post: Post, harness: str, native: str) -> None:
    row = fixture(post, harness, native)
    assert run(post, harness, native, row) == row["answer"].encode()
    event = post.event()
    assert (event["agent"], event["event"], event["session"]) == (harness, row["kind"], row["session"])
    assert event["cwd"] == row["cwd"]
    assert row["kind"] == BY_ID[harness].events[native]
    for name in MEMBERS:
        if name in row:
            assert event.get(name) == row[name], name
    assert not event.keys() & set(row.get("absent", ()))


@pytest.mark.parametrize(("harness", "native"), EVENTS)
def test_what_waits_is_told_at_one_event_alone_and_in_the_harnesss_form(post: Post, harness: str, native: str) -> None:
    post.put(text=HANDOFF)
    row = fixture(post, harness, native)
    out = run(post, harness, native, row)
    is_first = (harness, native) in TOLD and native != "TaskResume"  # what is resumed was told when it began
    if is_first:
        assert out == told(BY_ID[harness], native)
        assert not post.is_open
        assert run(post, harness, native, row) == row["answer"].encode()
    elif (harness, native) not in (("cursor", "beforeSubmitPrompt"), ("qwen-code", "UserPromptSubmit")):  # starts, too
        assert out == row["answer"].encode()
        assert post.is_open


def test_every_wired_event_has_a_payload_and_no_payload_is_of_another_event() -> None:
    files = {(path.parent.name, path.stem) for path in FIXTURES.glob("*/*.json")}
    files -= {(path.parent.name, "real") for path in FIXTURES.glob("*/real.json")}  # what a program sent, all in one
    assert files == set(EVENTS)


@pytest.mark.parametrize("harness", [one.id for one in HARNESSES if one.is_anonymous])
def test_a_session_without_a_name_is_one_from_its_start_on(post: Post, harness: str) -> None:
    record = BY_ID[harness]
    folder = {"cwd": str(post.checkout)}
    for _ in range(2):
        for native, kind in record.events.items():
            if kind in ("session-start", "user-prompt", "stop"):
                post.run(native, {"hook_event_name": native, "prompt": "p"} | folder, agent=harness)
        for path in (post.data / "locks" / "unnamed").iterdir():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 3))  # within two seconds it would be a double
    sessions = [event["session"] for event in post.events()]
    half = len(sessions) // 2
    assert len(set(sessions[:half])) == len(set(sessions[half:])) == 1
    assert sessions[0] != sessions[-1]


def test_a_pinned_session_is_that_of_the_variable(post: Post) -> None:
    pinned = {"AI_MEMORY_SESSION_ID": "mine", "DEVIN_PROJECT_DIR": str(post.checkout)}
    post.run("UserPromptSubmit", {"prompt": "p"}, agent="devin", environ=pinned, cwd=post.data)
    assert (post.event()["session"], post.event()["cwd"]) == ("mine", str(post.checkout))


def test_after_its_end_an_unnamed_session_is_forgotten(post: Post) -> None:
    for native in ("SessionStart", "SessionEnd", "UserPromptSubmit"):
        post.run(native, {"prompt": "p", "cwd": str(post.checkout)}, agent="devin")
    started, ended, prompted = (event["session"] for event in post.events())
    assert started == ended != prompted


def test_a_hook_behind_a_shell_of_its_own_finds_the_session_by_the_folder(post: Post) -> None:
    (post.data / "locks").mkdir(exist_ok=True)
    post.run("SessionStart", {"cwd": str(post.checkout)}, agent="devin")
    for path in (post.data / "locks" / "unnamed").iterdir():
        if "-" in path.name.partition(".")[2]:
            path.unlink()  # the file of the process, which another shell would not find
    post.run("UserPromptSubmit", {"cwd": str(post.checkout), "prompt": "p"}, agent="devin")
    first, second = post.events()
    assert first["session"] == second["session"]


def cursor(post: Post, native: str, conversation: str = "c-1") -> dict[str, Any]:
    payload = fixture(post, "cursor", native)["payload"] | {"conversation_id": conversation}
    out = post.run(native, payload, agent="cursor").out
    answer: dict[str, Any] = json.loads(out)
    return answer


def test_cursors_first_prompt_repeats_what_a_start_just_before_it_was_told(post: Post) -> None:
    post.put(text=HANDOFF)
    assert cursor(post, "sessionStart") == {"additional_context": HANDOFF}
    assert cursor(post, "beforeSubmitPrompt") == {"continue": True, "additional_context": HANDOFF}
    assert cursor(post, "beforeSubmitPrompt") == {}
    claimed = [event for event in post.events() if event["event"] == "handoff-claimed"]
    assert len(claimed) == 1


def test_cursors_first_prompt_is_told_where_no_start_was(post: Post) -> None:
    post.put(text=HANDOFF)
    assert cursor(post, "beforeSubmitPrompt") == {"continue": True, "additional_context": HANDOFF}
    assert not post.is_open
    assert cursor(post, "sessionStart") == {}


def test_cursors_prompt_repeats_nothing_that_had_time_to_arrive(post: Post) -> None:
    post.put(text=HANDOFF)
    cursor(post, "sessionStart")
    (told_file,) = (post.data / "locks" / "started").glob("*.told")
    before = time.time() - 5
    os.utime(told_file, (before, before))
    assert cursor(post, "beforeSubmitPrompt") == {}


def test_cursor_reloads_in_the_form_of_a_prompt(post: Post) -> None:
    payload = fixture(post, "cursor", "beforeSubmitPrompt")["payload"] | {"prompt": "reload context"}
    answer = json.loads(post.run("beforeSubmitPrompt", payload, agent="cursor").out)
    assert answer["continue"] is True
    assert answer["additional_context"].startswith("Nothing to reload:")


@pytest.mark.parametrize(
    ("environ", "payload", "caller"),
    [
        ({"GROK_HOOK_EVENT": "Stop"}, {"hookEventName": "Stop", "sessionId": "s"}, "grok"),
        ({"DEVIN_PROJECT_DIR": "/x"}, {"hook_event_name": "Stop", "session_id": "s"}, "devin"),
        ({}, {"hook_event_name": "Stop", "session_id": "s", "timestamp": "2026-05-01T12:00:00Z"}, "copilot-cli"),
        ({}, {"hook_event_name": "Stop", "session_id": "s", "transcript_path": "/t"}, "claude-code"),
    ],
)
def test_who_runs_claude_codes_hook_counts_under_its_own_name(
    post: Post, environ: dict[str, str], payload: dict[str, Any], caller: str
) -> None:
    post.run("stop", payload, agent="claude-code", environ=environ)
    assert post.event()["agent"] == caller


@pytest.mark.parametrize(
    ("owner", "origin", "is_kept"),
    [
        ("", "", True),
        ("", "plugin", True),
        ("ai-memory", "", True),
        ("ai-memory", "plugin", False),
        ("plugin", "plugin", True),
        ("plugin", "", False),
    ],
)
def test_the_owner_of_capture_says_whether_an_installed_hook_or_a_plugins_is_kept(
    post: Post, owner: str, origin: str, *, is_kept: bool
) -> None:
    environ = {"AI_MEMORY_CAPTURE_OWNER": owner, "AI_MEMORY_HOOK_ORIGIN": origin}
    post.run("stop", post.payload("Stop"), environ=environ)
    assert bool(post.events()) is is_kept


def test_hermes_runs_in_the_folder_of_its_terminal_unless_that_is_another_profiles(post: Post) -> None:
    elsewhere = {"TERMINAL_CWD": "/srv/shop"}
    for profile, more in (("default", {}), ("work", {}), ("work", {"_HERMES_GATEWAY": "1"})):
        payload = {"session_id": "h", "cwd": "/home/ann", "extra": {"profile": profile}}
        post.run("on_session_start", payload, agent="hermes", environ=elsewhere | more)
    assert [event["cwd"] for event in post.events()] == ["/srv/shop", "/srv/shop", "/home/ann"]
