"""Events of programs that are no harness: one with flags, many as JSON lines; repeats are harmless, time is theirs."""

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import forked
import pytest
from hook_runs import Desk

from ai_memory import hook_batch
from ai_memory.hook_producer import Producer, Refused

NOW_US = 1_790_000_000_000_000
MAY = 1_777_636_800_000_000
"""2026-05-01T12:00:00Z."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def batch(desk: Desk, *lines: object, more: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
    """Exit code and answer of `hook --batch` on these lines: bytes and text as they are, anything else as JSON."""
    content = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    words = ["hook", "--batch", "--data-dir", str(desk.data), *more]
    desk.keep_drain_away()
    done = forked.run(words, content=content, cwd=desk.checkout, env=desk.environ)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def command(desk: Desk, *words: str) -> str:
    """stdout of a command that must succeed."""
    done = forked.run([*words, "--data-dir", str(desk.data)], cwd=desk.checkout, env=desk.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def prompt(desk: Desk, text: str, **more: object) -> dict[str, object]:
    return {"event": "user-prompt", "session_id": "ci-1", "cwd": str(desk.checkout), "prompt": text} | more


def test_lines_become_events_with_the_producers_words(desk: Desk) -> None:
    code, answer = batch(
        desk,
        prompt(desk, "build it", ingest_key="k-1", occurred_at="2026-05-01T14:00:00+02:00", source_event="asked"),
        {"agent": "codex", "payload": prompt(desk, "from a payload"), "event": "user-prompt"},
        more=("--extension", "ci.main", "--agent", "other"),
    )
    assert (code, answer["accepted"], answer["refused"], answer["next_line"]) == (0, 2, 0, None)
    first, second = desk.events()
    assert (first["event"], first["source_event"], first["prompt"]) == ("user-prompt", "asked", "build it")
    assert (first["at_us"], first["ingest_key"], first["extra"]["extension"]) == (MAY, "k-1", "ci.main")
    assert (second["agent"], second["prompt"]) == ("codex", "from a payload")


def test_the_lines_of_the_documentation_are_accepted(desk: Desk) -> None:
    text = (Path(__file__).parents[2] / "docs" / "capture.md").read_text(encoding="utf-8")
    lines = text.partition("```json\n")[2].partition("```")[0].encode().splitlines()
    code, answer = batch(desk, *lines, more=("--extension", "ci"))
    assert (code, answer["accepted"]) == (0, len(lines))
    assert [(event["event"], event["source_event"]) for event in desk.events()] == [
        ("user-prompt", "user-prompt"),
        ("other", "deployed"),
    ]


def test_flags_of_one_event_say_the_same(desk: Desk) -> None:
    more = ("--extension", "ci", "--source-event", "deployed", "--ingest-key", "k", "--occurred-at", str(MAY // 1000))
    assert desk.run("other", {"session_id": "s", "cwd": str(desk.checkout)}, *more).out == b"{}"
    event = desk.event()
    assert (event["event"], event["source_event"]) == ("other", "deployed")
    assert (event["at_us"], event["ingest_key"], event["extra"]["extension"]) == (MAY, "k", "ci")


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"ingest-key": "a b"}, "--ingest-key"),
        ({"ingest-key": "x" * 65}, "--ingest-key"),
        ({"extension": "../up"}, "--extension"),
        ({"occurred-at": "yesterday"}, "RFC 3339"),
        ({"occurred-at": "2026-05-01T12:00:00"}, "RFC 3339"),
        ({"occurred-at": "0"}, "after 1970"),
        ({"occurred-at": "-5"}, "after 1970"),
        ({"occurred-at": str(NOW_US + 301_000_000)}, "after 1970"),
    ],
)
def test_what_a_producer_may_not_say_is_refused_with_a_reason(told: dict[str, str], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        Producer(told, now_us=NOW_US)


@pytest.mark.parametrize("text", ["2026-05-01T12:00:00Z", "1777636800", "1777636800000", str(MAY), "1777636800.0"])
def test_times_of_all_forms(text: str) -> None:
    assert Producer({"occurred-at": text}, now_us=NOW_US).occurred_us == MAY


def test_a_wrong_flag_keeps_nothing_disturbs_nobody_and_is_told_on_request(desk: Desk) -> None:
    payload = {"session_id": "s", "cwd": str(desk.checkout)}
    assert desk.run("other", payload, "--ingest-key", "a b").out == b"{}"
    assert desk.events() == []
    told = desk.run("other", payload, "--ingest-key", "a b", "--check-capture").answer
    assert told["decision"] == "drop"
    assert told["reason"].startswith("--ingest-key takes")


def test_a_line_that_cannot_be_taken_is_named_and_stops_no_other(desk: Desk) -> None:
    code, answer = batch(
        desk,
        b"nonsense",
        b'["a list"]',
        b"",
        {"event": "user-prompt", "cwd": str(desk.checkout), "prompt": "no session"},
        prompt(desk, "good", ingest_key="bad key"),
        b'{"pad":"' + b"x" * (8 << 20) + b'"}',
        prompt(desk, "good"),
        more=("--extension", "ci"),
    )
    assert (code, answer["ok"], answer["accepted"], answer["refused"]) == (1, False, 1, 5)
    assert [one["line"] for one in answer["reasons"]] == [1, 2, 4, 5, 6]
    assert [event["prompt"] for event in desk.events()] == ["good"]


def test_the_policy_holds_for_a_batch_and_dropping_is_no_fault(desk: Desk) -> None:
    (desk.data / "hook-policy.json").write_text('{"v":1,"settings":{"drop_events":["user-prompt"]},"markers":{}}')
    code, answer = batch(desk, prompt(desk, "p"), more=("--extension", "ci"))
    assert (code, answer["accepted"], answer["dropped"]) == (0, 0, 1)
    assert desk.events() == []


def test_a_batch_keeps_the_text_below_a_marker_that_no_drain_has_met(desk: Desk) -> None:
    (desk.checkout / ".ai-memory.toml").write_text('[capture]\nignore_paths = ["secrets/**"]\n')
    read = {"event": "post-tool-use", "tool_name": "Bash", "tool_input": {"command": "cat secrets/key"}}
    code, answer = batch(desk, prompt(desk, "build it"), prompt(desk, "") | read)
    assert (code, answer["accepted"], answer["dropped"]) == (0, 1, 1)
    assert desk.event()["prompt"] == "build it"


def test_secrets_of_a_batch_are_redacted(desk: Desk) -> None:
    secret = "ghp_" + "a1B2" * 9
    batch(desk, prompt(desk, f"use {secret}", source_event=secret))
    assert secret not in json.dumps(desk.events())


def test_no_data_dir_is_told(desk: Desk, tmp_path: Path) -> None:
    code, answer = batch(desk, prompt(desk, "p"), more=("--data-dir", str(tmp_path / "none")))
    assert (code, answer["accepted"], answer["next_line"]) == (1, 0, 1)
    assert "ai-memory init" in answer["reasons"][0]["reason"]
    assert not (tmp_path / "none").exists()


def test_a_full_spool_names_the_line_to_go_on_from(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from ai_memory.hook_call import Options

    monkeypatch.setattr(hook_batch, "ROOM_S", 0.0)
    monkeypatch.setattr(hook_batch, "LOOK_EVERY", 2)
    monkeypatch.setattr(hook_batch.hook_spool, "kick", lambda *_: False)
    (desk.data / "hook-policy.json").write_text('{"v":1,"settings":{"max_files":2},"markers":{}}')
    lines = [json.dumps(prompt(desk, f"p{at}")).encode() + b"\n" for at in range(5)]
    taken = hook_batch.Batch(Options(["--batch", "--data-dir", str(desk.data)]), lambda *_: None)

    class Lines:
        def readline(self, _: int) -> bytes:
            return lines.pop(0) if lines else b""

    taken.run(Lines())  # type: ignore[arg-type]
    assert (taken.accepted, taken.refused, taken.next_line) == (2, 1, 3)
    assert "the spool is full" in taken.reasons[0]["reason"]


def test_a_key_that_came_before_changes_nothing_in_any_batch(desk: Desk) -> None:
    def applied() -> dict[str, Any]:
        return dict(json.loads(command(desk, "drain", "--wait", "--json")))

    command(desk, "init")
    twice = prompt(desk, "same words", ingest_key="k-1", occurred_at=MAY // 1000)
    batch(desk, twice, twice, prompt(desk, "same words", ingest_key="k-2", occurred_at=MAY // 1000))
    first = applied()
    assert (first["applied"], first["repeated"]) == (2, 1)
    batch(desk, twice)
    second = applied()
    assert (second["applied"], second["repeated"]) == (0, 1)
    batch(desk, twice, more=("--extension", "another"))
    assert applied()["applied"] == 1  # another producer's keys are its own
    rows = sqlite3.connect(desk.data / "state.db").execute("SELECT at_us, text FROM observations").fetchall()
    assert rows == [(MAY, "same words")] * 3


def test_keys_are_remembered_from_when_they_came_not_from_when_it_happened(desk: Desk) -> None:
    command(desk, "init")
    batch(desk, prompt(desk, "long ago", ingest_key="k", occurred_at="2020-01-01T00:00:00Z"))
    command(desk, "drain", "--wait")
    with sqlite3.connect(desk.data / "state.db") as state:
        known = state.execute("SELECT event_id, at_us FROM applied_events").fetchall()
    times = [at_us for event_id, at_us in known if not event_id.startswith("usage:")]
    assert len(times) == 2
    assert all(abs(at_us - time.time_ns() // 1000) < 600_000_000 for at_us in times)
