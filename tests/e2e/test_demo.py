"""The demo is the whole path: hooks, drain, page, handoff, search. Here it runs as a person would run it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ai_memory.cli import demo as program
from ai_memory.cli.app import app
from ai_memory.cli.demo_checkout import make_checkout
from ai_memory.cli.demo_stage import Stage, Unshown, look_for, recorded_session

SECRET = "ghp_" + "x" * 36


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, SECRET)


def test_every_step_of_the_demo_shows_what_it_must_and_is_printed_with_its_time(
    scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Played once, for programs; then the same steps again, for people."""
    command = [sys.executable, "-m", "ai_memory", "demo", "--json"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)
    answer = json.loads(done.stdout)
    failed = [step for step in answer["steps"] if not step["ok"]]
    assert (done.returncode, answer["ok"], failed) == (0, True, []), done.stderr
    assert len(answer["steps"]) == 9
    handoff = next(step for step in answer["steps"] if step["name"].startswith("Codex starts"))
    assert "accountant's CSV import" in handoff["shows"]
    assert list(scratch_home.iterdir()) == [], "the demo touched a home"

    played = [program.Step(one["name"], one["took_ms"], one["shows"]) for one in answer["steps"]]
    monkeypatch.setattr(program, "play", lambda _: iter(played))
    printed = CliRunner().invoke(app, ["demo"])
    assert printed.exit_code == 0, printed.output
    assert all(f"\n{number}. {step.name}  [" in printed.stdout for number, step in enumerate(played, 1))
    assert printed.stdout.count(" ms]\n") == 9
    assert "Every step showed what it must." in printed.stdout


def test_a_demo_whose_hook_is_missing_fails_and_says_so(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("ai_memory.__file__", str(tmp_path / "nowhere" / "__init__.py"))
    *_, last = program.play(stage)
    assert not last.ok
    assert "hook.py" in last.problem


def test_a_page_without_the_words_that_it_must_hold_fails_its_step(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_stage: Stage) -> str:
        raise Unshown("the text lacks 'x'", "the page")

    monkeypatch.setattr(program, "_open_shop", refuse)
    (step,) = program.play(stage)
    assert program.answer([step], None)["ok"] is False
    assert "FAILED: the text lacks 'x'" in program.describe(step, 1)


def test_a_secret_on_disk_is_found_plain_and_inside_git_objects(tmp_path: Path) -> None:
    (tmp_path / "plain.md").write_text(f"key {SECRET}\n")
    make_checkout(tmp_path / "checkout")
    assert look_for(b"total(lines", tmp_path / "checkout" / ".git")[1], "a packed blob was not unpacked"
    assert look_for(SECRET.encode(), tmp_path)[1] == ["plain.md"]


def test_the_demo_checkout_is_a_sound_repository_for_real_git(tmp_path: Path) -> None:
    commit = make_checkout(tmp_path / "shop")

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(tmp_path / "shop"), *words], capture_output=True, encoding="utf-8", check=True
        ).stdout

    git("fsck", "--strict")
    git("reset", "-q")
    assert git("rev-parse", "HEAD").strip() == commit
    assert git("status", "--porcelain") == ""


def test_the_recorded_session_has_claude_codes_form_and_no_key_in_the_package(stage: Stage) -> None:
    payloads = list(recorded_session(stage))
    assert len(payloads) == 23
    assert {payload["session_id"] for payload in payloads} == {payloads[0]["session_id"]}
    assert {payload["cwd"] for payload in payloads} == {str(stage.checkout)}
    assert {str(payload["hook_event_name"]) for payload in payloads} == set(program.EVENTS)
    began = [payload["tool_use_id"] for payload in payloads if payload["hook_event_name"] == "PreToolUse"]
    ended = [payload["tool_use_id"] for payload in payloads if str(payload["hook_event_name"]).startswith("PostTool")]
    assert began == ended
    assert sum(SECRET in json.dumps(payload) for payload in payloads) == 3, "prompt, call and its result"
    raw = Path(program.__file__).with_name("demo_session.jsonl").read_text(encoding="utf-8")
    assert "ghp_" not in raw
