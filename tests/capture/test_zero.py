"""Zero ends what a hook leaves running: its hooks apply what they spooled while they are waited for."""

import subprocess
import sys
from pathlib import Path

import forked
import pytest
from hook_runs import Desk

from ai_memory import hook_drain, hook_spool


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    init = ["--data-dir", str(desk.data), "init"]
    assert forked.run(init, cwd=tmp_path, env=desk.environ | {"HOME": str(tmp_path)}).returncode == 0
    (desk.data / "locks" / "drain.beat").unlink(missing_ok=True)
    desk.environ["HOME"] = str(tmp_path)
    return desk


def zero(desk: Desk, native: str, **more: object) -> bytes:
    return desk.run(native, {"event": native, "sessionId": "z", "cwd": str(desk.checkout)} | more, agent="zero").out


def test_an_end_is_applied_when_its_hook_returns_and_no_drain_is_left(desk: Desk) -> None:
    assert zero(desk, "beforeTool", toolName="bash", input={"command": "make"}) == b"{}"
    assert len(desk.events()) == 1  # it waits: an agent at work calls tools many times a minute
    assert zero(desk, "sessionEnd") == b"{}"
    assert desk.events() == []
    assert (desk.data / "state.db").exists()
    assert not hook_spool.is_drain_alive(str(desk.data))


def test_a_drain_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def start(*words: object, **more: object) -> subprocess.Popen[bytes]:
        started.append(real(*words, **more))  # type: ignore[call-overload]
        return started[0]

    code = "import signal,time;signal.signal(signal.SIGTERM,signal.SIG_IGN);print('up',flush=True);time.sleep(60)"
    monkeypatch.setattr(hook_drain, "PATIENCE_S", 0.5)
    monkeypatch.setattr(hook_drain, "HARD_S", 0.5)
    monkeypatch.setattr(hook_spool, "drain_command", lambda _: ([sys.executable, "-c", code], None))
    monkeypatch.setattr(hook_drain.subprocess, "Popen", start)
    hook_drain.drain_here(str(tmp_path))
    assert started[0].poll() is not None
