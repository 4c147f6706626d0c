"""A drain that cannot do its work says why in one line and ends with 1; nothing that waits is lost."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import forked
import pytest
from terminals import Agent, Room

from ai_memory.store.leftovers import OLD_S
from ai_memory.store.log import last_lines


def drained(room: Room) -> forked.Done:
    """The command as a person runs it."""
    environment = {**os.environ, "HOME": str(room.root / "home")}
    return forked.run(["drain", "--data-dir", str(room.data_dir.root)], cwd=room.root, env=environment)


def drained_below(room: Room, *before: str) -> "subprocess.CompletedProcess[str]":
    """The command as another program starts it."""
    command = [*before, sys.executable, "-m", "ai_memory", "drain", "--data-dir", str(room.data_dir.root)]
    environment = {**os.environ, "HOME": str(room.root / "home")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("is_ended", [True, False])
@pytest.mark.parametrize("content", [b"garbage", b"null", b"[]", b'{"format":99}', b""])
def test_a_redo_log_that_cannot_be_read_is_named_and_kept(
    room: Room, agent: Agent, content: bytes, is_ended: bool
) -> None:
    room.memory().create()
    agent.start()
    agent.prompt("Mend the till.")
    if is_ended:
        agent.end()
    room.data_dir.pending.write_bytes(content)

    done = drained(room)

    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert f"The redo log {room.data_dir.pending} cannot be read" in done.stderr
    assert room.data_dir.pending.read_bytes() == content
    assert any("The redo log" in line for line in last_lines(room.data_dir.logs, 5))
    room.data_dir.pending.unlink()
    assert drained(room).returncode == 0
    assert room.session(agent.session).prompts == 1


@pytest.mark.parametrize("lock", ["refs/heads/main.lock", "index.lock"])
def test_a_lock_of_gits_is_named_and_the_events_are_applied_once_it_is_gone(
    room: Room, agent: Agent, lock: str
) -> None:
    room.memory().create()
    agent.work()
    (room.data_dir.git / lock).touch()

    done = drained(room)

    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "git" in done.stderr
    assert len(room.waiting()) == 1  # the end, until its page is written
    (room.data_dir.git / lock).unlink()
    assert drained(room).returncode == 0
    assert (room.waiting(), len(room.pages("session"))) == ([], 1)


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="needs root to become nobody's friend")
@pytest.mark.parametrize("place", [".", "spool", "locks"])
def test_a_folder_that_may_not_be_read_is_one_line_and_exit_1(room: Room, agent: Agent, place: str) -> None:
    room.memory().create()
    agent.work()
    folder = room.data_dir.root / place
    folder.mkdir(exist_ok=True)
    folder.chmod(0)
    try:
        done = drained_below(room, "setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all")
    finally:
        folder.chmod(0o700)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Permission denied" in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert len(room.waiting()) == 13


def test_a_drain_sweeps_what_a_killed_writer_left(room: Room, agent: Agent) -> None:
    agent.work()
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    room.memory().create()
    left = Path(room.data_dir.root) / f".pending.{child.pid}.tmp"
    left.write_bytes(b"half")
    then = time.time() - OLD_S - 60
    os.utime(left, (then, then))

    assert room.drain().fault == ""

    assert not left.exists()
