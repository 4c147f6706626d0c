"""What the demo is played on: one temporary folder, the recorded session, and the installed program as processes."""

import json
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import ai_memory
from ai_memory.paths import DataDir

SESSION = "demo_session.jsonl"
PROCESS_DEADLINE_S = 60.0


class Unshown(Exception):
    """A step did not show what it must. `shows` is what it did show."""

    def __init__(self, problem: str, shows: str = "") -> None:
        super().__init__(problem)
        self.shows = shows


@dataclass(frozen=True, slots=True)
class Stage:
    """The temporary folder and what stands in it."""

    room: Path
    secret: str
    """Made at run time in the form of a GitHub token; it opens nothing."""

    @property
    def checkout(self) -> Path:
        return self.room / "corner-shop"

    @property
    def data_dir(self) -> DataDir:
        return DataDir(self.room / "data")

    @property
    def environ(self) -> dict[str, str]:
        """The caller's environment without anything that steers us or a harness, and with a home of its own."""
        ours = ("AI_MEMORY_", "CLAUDE", "CODEX_", "XDG_", "GIT_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        home = str(self.room / "home")
        return kept | {"HOME": home, "USERPROFILE": home, "AI_MEMORY_DATA_DIR": str(self.data_dir.root)}


def recorded_session(stage: Stage) -> Iterator[dict[str, object]]:
    """The payloads of the bundled session, in Claude Code's own form, with this stage's folder and secret in them."""
    places = {"{checkout}": str(stage.checkout), "{home}": str(stage.room / "home"), "{secret}": stage.secret}
    for line in (files("ai_memory.cli") / SESSION).read_text(encoding="utf-8").splitlines():
        payload = _filled(json.loads(line), places)
        assert isinstance(payload, dict)
        yield payload


def look_for(needle: bytes, root: Path) -> tuple[int, list[str]]:
    """How many files below `root` were read, and the names of those that hold `needle`, packed or plain."""
    seen, holders = 0, []
    for file in sorted(root.rglob("*")):
        if not file.is_file():
            continue
        try:
            content = file.read_bytes()
        except FileNotFoundError:  # the drain removes a file that it has applied
            continue
        seen += 1
        if needle in content or needle in _unpacked(content):
            holders.append(str(file.relative_to(root)))
    return seen, holders


def _unpacked(content: bytes) -> bytes:
    with suppress(zlib.error):
        return zlib.decompress(content)
    return b""


def _filled(value: object, places: Mapping[str, str]) -> object:
    if isinstance(value, dict):
        return {key: _filled(item, places) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, places) for item in value]
    if isinstance(value, str):
        for place, text in places.items():
            value = value.replace(place, text)
    return value


def start_codex(stage: Stage, session: str) -> str:
    payload = {
        "session_id": session,
        "transcript_path": None,
        "cwd": str(stage.checkout),
        "model": "gpt-5.3-codex",
        "permission_mode": "default",
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    printed = run_hook(stage, "codex", "session-start", payload)
    envelope = json.loads(printed) if printed.strip() else {}
    return str(envelope.get("hookSpecificOutput", {}).get("additionalContext", ""))


def run_hook(stage: Stage, agent: str, event: str, payload: Mapping[str, object]) -> str:
    """What the hook printed. The command is the one that stands in a harness's settings."""
    hook = str(Path(ai_memory.__file__).resolve().parent / "hook.py")
    command = [sys.executable, "-I", "-S", hook, "--data-dir", str(stage.data_dir.root)]
    return _run(stage, [*command, "--event", event, "--agent", agent], json.dumps(payload))


def run_ai_memory(stage: Stage, *words: str) -> str:
    return _run(stage, [sys.executable, "-P", "-m", "ai_memory", *words])


def ask_ai_memory(stage: Stage, *words: str) -> dict[str, object]:
    printed = run_ai_memory(stage, *words, "--json")
    try:
        found = json.loads(printed)
    except ValueError as error:
        raise Unshown(f"ai-memory {words[0]} --json printed no JSON", printed) from error
    assert isinstance(found, dict)
    return found


def _run(stage: Stage, command: list[str], stdin: str = "") -> str:
    done = subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        cwd=stage.checkout,
        env=stage.environ,
        timeout=PROCESS_DEADLINE_S,
        check=False,
    )
    if done.returncode:
        raise Unshown(f"exit {done.returncode} from: {' '.join(command)}", f"{done.stdout}{done.stderr}")
    return done.stdout


def rows(found: Mapping[str, object], noun: str) -> list[dict[str, object]]:
    found_rows = found.get(noun)
    if not isinstance(found_rows, list):
        raise Unshown(f"the answer has no `{noun}`", json.dumps(found))
    return found_rows


def must_hold(text: str, *parts: str) -> None:
    missing = [part for part in parts if part not in text]
    if missing:
        raise Unshown(f"the text lacks {', '.join(repr(part) for part in missing)}", text)


def wait_until(is_done: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _json_files(folder: Path) -> list[str]:
    with suppress(FileNotFoundError):
        return sorted(file.name for file in folder.iterdir() if file.suffix == ".json" and file.name[0] != ".")
    return []


def spooled(stage: Stage) -> list[str]:
    return _json_files(stage.data_dir.spool)


def quarantined(stage: Stage) -> list[str]:
    return _json_files(stage.data_dir.quarantine)


def handoffs_waiting(stage: Stage) -> int:
    folder = stage.data_dir.outbox / "open"
    return len(list(folder.glob("*.md"))) if folder.is_dir() else 0


def drain_is_alive(stage: Stage) -> bool:
    return (stage.data_dir.locks / "drain.beat").exists()


def spool_state(stage: Stage) -> str:
    lines = [f"{len(spooled(stage))} events in the spool, {len(quarantined(stage))} in quarantine"]
    for log in sorted(stage.data_dir.logs.glob("*.log")):
        lines += log.read_text(encoding="utf-8", errors="replace").splitlines()[-10:]
    return "\n".join(lines)
