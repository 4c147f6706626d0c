"""Everything that harnesses were seen to send, through real hook processes and a real drain.

Needs a folder with `hooks/<harness>/*.json` and `transcripts/<harness>/…`, named by AI_MEMORY_REPLAY_DATA.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from any_transcript import lines_of
from claude_transcript import hook_payloads
from terminals import Room

from ai_memory.scrub import scrub
from ai_memory.text.page import parse

DATA = Path(os.environ.get("AI_MEMORY_REPLAY_DATA", "/none"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="AI_MEMORY_REPLAY_DATA names no folder")
PAYLOADS = sorted(path for path in DATA.glob("hooks/*/*") if path.suffix in (".json", ".jsonl"))
TRANSCRIPTS = sorted(
    path
    for path in DATA.glob("transcripts/*/**/*")
    if path.is_file() and path.suffix in (".json", ".jsonl", ".md", ".db") and path.stat().st_size
)


def _name(path: Path) -> str:
    return str(path.relative_to(DATA))


def _run(room: Room, *words: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "ai_memory", *words, "--data-dir", str(room.data_dir.root)]
    environment = {"HOME": str(room.root / "home"), "PATH": os.environ["PATH"], "AI_MEMORY_CAPTURE_OWNER": ""}
    return subprocess.run(command, input=stdin, capture_output=True, env=environment, check=True, timeout=120)


@pytest.fixture
def begun(room: Room) -> Room:
    (room.root / "home").mkdir(exist_ok=True)
    _run(room, "init")
    beat = room.data_dir.locks / "drain.beat"
    beat.parent.mkdir(exist_ok=True)
    beat.touch()  # no hook starts a drain: the test does
    return room


def _drained(room: Room) -> dict[str, Any]:
    (room.data_dir.locks / "drain.beat").unlink(missing_ok=True)
    return dict(json.loads(_run(room, "drain", "--wait", "--json").stdout))


def _check_pages(room: Room) -> list[str]:
    """Titles of the session pages, each of which must be readable, clean and of bounded size."""
    titles = []
    for page in room.pages("session"):
        assert parse(page.text, path=page.ref.path).title == page.title
        assert scrub(page.text) == page.text
        assert len(page.text) < 120_000
        titles.append(page.title)
    return titles


def _payloads(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(text)
    except ValueError:
        found = [json.loads(line) for line in text.splitlines() if line.strip()]
    found = found if isinstance(found, list) else [found]
    return [one for wrapped in found for one in (wrapped.get("events") or [wrapped])]


SESSION = re.compile(
    r'"(session_?id|conversation_?id|trajectory_id|thread-id|taskId)": *"(?!empty-state-draft)[^"]', re.I
)


def _call(path: Path, told: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """(name of the event, payload): of a file that wraps several, as it names them."""
    return (told["event"], told["payload"]) if {"event", "payload"} <= told.keys() else (path.stem, told)


def _has_session(payload: dict[str, Any]) -> bool:
    """Whether it names a session anywhere, as any reader of it would say."""
    return SESSION.search(json.dumps(payload)) is not None


@pytest.mark.parametrize("harness", sorted({path.parent.name for path in PAYLOADS}))
def test_every_payload_of_a_harness_is_taken(begun: Room, harness: str) -> None:
    count = expected = 0
    for path in (one for one in PAYLOADS if one.parent.name == harness):
        for told in _payloads(path):
            event, payload = _call(path, told)
            (begun.data_dir.locks / "drain.beat").touch()
            done = _run(begun, "hook", "--event", event, "--agent", harness, stdin=json.dumps(payload).encode())
            expected += _has_session(payload)
            assert done.stderr == b""
            assert not done.stdout or json.loads(done.stdout) is not None
            count += 1
    outcome = _drained(begun)
    assert (outcome["quarantined"], outcome["left"], outcome["ok"]) == (0, 0, True)
    assert count
    assert outcome["applied"] + outcome["repeated"] >= expected
    _check_pages(begun)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=_name)
def test_every_transcript_becomes_a_session(begun: Room, path: Path) -> None:
    cwd = begun.checkout()
    lines = list(lines_of(path, cwd=cwd))
    stdin = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    harness = path.relative_to(DATA / "transcripts").parts[0]
    answer = json.loads(_run(begun, "hook", "--batch", "--agent", harness, "--extension", "replay", stdin=stdin).stdout)
    assert (answer["accepted"], answer["refused"]) == (len(lines), 0)
    outcome = _drained(begun)
    assert (outcome["quarantined"], outcome["left"], outcome["ok"]) == (0, 0, True)
    has_work = any(line["event"] in ("user-prompt", "post-tool-use") for line in lines)
    assert len(_check_pages(begun)) <= 1
    if has_work and any(line.get("prompt", "").strip()[:1] not in ("", "<") for line in lines):
        assert len(_check_pages(begun)) == 1


@pytest.mark.parametrize(
    "path", [one for one in TRANSCRIPTS if "claude-code" in one.parts and one.suffix == ".jsonl"], ids=_name
)
def test_a_claude_code_session_becomes_hook_events_and_a_page(begun: Room, path: Path) -> None:
    cwd = begun.checkout()
    payloads = list(hook_payloads(path, cwd=cwd))
    for payload in payloads:
        name = payload["hook_event_name"]
        done = _run(begun, "hook", "--event", name, "--agent", "claude-code", stdin=json.dumps(payload).encode())
        assert done.stderr == b""
    outcome = _drained(begun)
    assert (outcome["quarantined"], outcome["left"]) == (0, 0)
    titles = _check_pages(begun)
    worked = {"UserPromptSubmit", "PreToolUse", "PostToolUse"}
    assert bool(titles) == any(one["hook_event_name"] in worked for one in payloads)
