"""One event, one file, whole or not at all; bounded; one drain started."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest
from hook_runs import PYTHON, Desk

from ai_memory import hook_spool
from ai_memory.paths import DataDir
from ai_memory.store.drain_lock import DrainLock
from ai_memory.store.spool import _NAME, Spool

ROOT = Path(hook_spool.__file__).parents[1]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_files_are_private_and_named_as_the_drain_expects(desk: Desk) -> None:
    desk.run("stop", desk.payload("Stop"))
    (path,) = (desk.data / "spool").iterdir()
    assert _NAME.fullmatch(path.name)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert abs(int(path.name[:19]) / 1e9 - time.time()) < 60


def test_the_head_of_a_file_names_event_session_and_folder(desk: Desk) -> None:
    desk.run("user-prompt", desk.payload("UserPromptSubmit", prompt="p" * 9000))
    (path,) = (desk.data / "spool").iterdir()
    head = path.read_bytes()[:1024]
    assert b'"event":"user-prompt"' in head
    assert b'"cwd":' in head


def run_python(code: str, *words: str, **more: object) -> subprocess.Popen[bytes]:
    lead = f"import sys;sys.path.append({str(ROOT)!r});"
    return subprocess.Popen([*PYTHON, "-c", lead + code, *words], **more)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("place", ["os.open", "os.write", "os.fsync", "os.rename"])
def test_a_hook_killed_while_it_writes_leaves_nothing_that_is_read(desk: Desk, place: str) -> None:
    code = (
        "import os,signal,time;from ai_memory import hook_spool;"
        f"real={place};"
        f"{place}=lambda *a,**k:(real(*a,**k) if {place!r}=='os.open' else None,"
        "print('here',flush=True),time.sleep(60));"
        "hook_spool.put(sys.argv[1],{'event':'session-end','text':'x'*9000})"
    )
    (desk.data / "spool").mkdir()
    child = run_python(code, str(desk.data), stdout=subprocess.PIPE)
    assert child.stdout
    assert child.stdout.readline() == b"here\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    spool = Spool(DataDir(desk.data))
    assert spool.names() == []
    assert spool.counts().files == 0
    assert all(path.name.startswith(".") for path in (desk.data / "spool").iterdir())


def test_a_failed_write_leaves_nothing_behind(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        hook_spool.put(str(desk.data), {"event": "stop"})
    assert list((desk.data / "spool").iterdir()) == []


def test_only_what_must_survive_a_power_cut_is_synced(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for kind in ("session-start", "user-prompt", "post-tool-use", "stop"):
        hook_spool.put(str(desk.data), {"event": kind})
    assert synced == []
    for kind in ("session-end", "handoff-claimed"):
        hook_spool.put(str(desk.data), {"event": kind})
    assert len(synced) == 4  # each file and its folder


def test_above_the_bound_tool_events_are_dropped_and_counted_but_nothing_else(desk: Desk) -> None:
    spool = desk.data / "spool"
    spool.mkdir()
    (desk.data / "hook-policy.json").write_text('{"v":1,"settings":{"max_files":3},"markers":{}}')
    for number in range(3):
        (spool / f"{number:019d}-1-00000000.json").write_text("{}")
    load = hook_spool.Load(str(desk.data), 3, 1 << 28, must_look=True)
    assert (load.is_full, load.waiting) == (True, 3)
    tool = desk.payload("PostToolUse", tool_name="Bash")
    desk.run("post-tool-use", tool)
    desk.run("pre-tool-use", tool)
    kinds = ["user-prompt", "stop", "pre-compact", "notification", "session-end"]
    for kind in kinds:
        desk.run(kind, desk.payload("x", prompt="p", message="m"))
    assert [event["event"] for event in desk.events()[3:]] == kinds
    assert (spool / ".dropped").stat().st_size == 2
    for path in sorted(spool.glob("*.json"))[2:]:
        path.unlink()
    assert not hook_spool.Load(str(desk.data), 3, 1 << 28, must_look=True).is_full
    desk.run("post-tool-use", tool)
    assert [event.get("event") for event in desk.events()].count("post-tool-use") == 1


def test_the_bound_counts_bytes_too_and_opens_no_file_while_so_many_events_cannot_hold_them(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = desk.data / "spool"
    spool.mkdir()
    for number in range(8):
        (spool / f"{number:019d}-1-00000000.json").write_bytes(b"x" * 1024)
    looked: list[str] = []
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: (looked.append(str(path)), stat(path, **more))[1])
    assert not hook_spool.Load(str(desk.data), 100, 8 * hook_spool.EVENT_BYTES + 1, must_look=True).is_full
    assert [path for path in looked if path.endswith("00.json")] == []
    assert hook_spool.Load(str(desk.data), 100, 8 * 1024, must_look=True).is_full
    assert not hook_spool.Load(str(desk.data), 100, 8 * 1024 + 1, must_look=True).is_full


def test_a_hundred_hooks_at_once_lose_nothing(desk: Desk) -> None:
    def run(number: int) -> None:
        desk.run_alone("user-prompt", desk.payload("UserPromptSubmit", prompt=f"p{number}"))

    drain = DrainLock(desk.data / "locks")
    assert drain.try_acquire()  # and beats: a hook that takes long starts no drain that would empty the spool
    try:
        for start in range(0, 100, 10):
            threads = [threading.Thread(target=run, args=(start + number,)) for number in range(10)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        drain.release()
    assert {event["prompt"] for event in desk.events()} == {f"p{number}" for number in range(100)}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Data dirs for which a drain was started."""
    found: list[str] = []
    monkeypatch.setattr(hook_spool, "_start", found.append)
    return found


@pytest.mark.parametrize("kind", ["session-start", "stop", "pre-compact", "session-end"])
def test_lifecycle_events_start_a_drain_unless_one_beats(desk: Desk, started: list[str], kind: str) -> None:
    assert hook_spool.kick(str(desk.data), kind, 0) is False
    beat = desk.data / "locks" / "drain.beat"
    os.utime(beat, (time.time() - 6, time.time() - 6))
    assert hook_spool.kick(str(desk.data), kind, 0) is True
    beat.unlink()
    assert hook_spool.kick(str(desk.data), kind, 0) is True
    assert len(started) == 2


def test_tool_events_start_a_drain_when_many_wait_and_one_for_a_burst(desk: Desk, started: list[str]) -> None:
    (desk.data / "locks" / "drain.beat").unlink()
    assert not hook_spool.kick(str(desk.data), "post-tool-use", 31)
    assert hook_spool.kick(str(desk.data), "post-tool-use", 32)
    assert not any(hook_spool.kick(str(desk.data), "user-prompt", 0) for _ in range(20))
    assert hook_spool.kick(str(desk.data), "session-end", 0)
    assert len(started) == 2


def test_the_started_drain_is_detached_and_has_none_of_our_descriptors(desk: Desk, tmp_path: Path) -> None:
    report = tmp_path / "report"
    package = tmp_path / "ai_memory"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import json, os, sys\n"
        "def main():\n"
        "    fds = {fd: os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd') if fd != '3'}\n"
        f"    found = [sys.argv[1:], os.getsid(0) == os.getpid(), fds, os.getcwd()]\n"
        f"    open({str(report) + '.tmp'!r}, 'w').write(json.dumps(found))\n"
        f"    os.rename({str(report) + '.tmp'!r}, {str(report)!r})\n"
        "    return 0\n"
    )
    reader, writer = os.pipe()
    code = (
        "from ai_memory import hook_spool;import os;"
        f"hook_spool.__file__={str(package / 'hook_spool.py')!r};hook_spool._start(sys.argv[1]);os._exit(0)"
    )
    child = run_python(code, str(desk.data), pass_fds=(writer,))
    os.close(writer)
    assert child.wait(timeout=30) == 0
    assert os.read(reader, 1) == b"", "the drain holds a pipe of the harness"
    os.close(reader)
    deadline = time.monotonic() + 20
    while not report.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    words, is_leader, descriptors, cwd = json.loads(report.read_text())
    assert words == ["drain", "--data-dir", str(desk.data)]
    assert is_leader
    assert {number: descriptors[number] for number in "012"} == dict.fromkeys("012", "/dev/null")
    assert cwd == str(desk.data)


def test_a_real_drain_applies_what_a_hook_spooled(desk: Desk) -> None:
    with contextlib.suppress(FileNotFoundError):
        (desk.data / "locks" / "drain.beat").unlink()
    (desk.data / "wiki").rmdir()
    (desk.data / "spool").mkdir()
    desk.run("stop", desk.payload("Stop"))
    deadline = time.monotonic() + 30
    while desk.events() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert desk.events() == []
    assert (desk.data / "state.db").exists()
