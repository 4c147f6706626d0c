"""A drain that is killed at any of its steps loses nothing and does nothing twice."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import forked
import pytest
from terminals import NINE_US, Agent, Room

from ai_memory.capture.draining import Drainer
from ai_memory.store import session_lookup, state_sessions
from ai_memory.store.drain_lock import DrainLock

SESSION = "11111111-2222-4333-8444-555555555555"
CLAIMER = "99999999-2222-4333-8444-555555555555"


def furnish(root: Path) -> Room:
    """An ended session to be paged, a handoff to be replaced, a claim to be written, a running session."""
    (root / "home").mkdir(parents=True)
    room = Room(root)
    cwd = room.checkout()
    first = Agent(room, cwd, session="00000000-2222-4333-8444-555555555555")
    first.work()
    room.drain()
    claimer = Agent(room, cwd, agent="codex", session=CLAIMER, at_us=NINE_US + 600_000_000, process=os.getpid())
    claimer.start()
    claimer.claim(room.outbox.open_handoffs()[0])
    claimer.prompt("Go on with the till.")
    claimer.stop()
    Agent(room, cwd, session=SESSION, at_us=NINE_US + 700_000_000).work()
    room.spool(None, at_us=NINE_US + 800_000_000, raw=b"poison")
    return room


def outcome(room: Room) -> dict[str, object]:
    """All that must not depend on how often a drain was killed."""
    with room.memory().state_reading() as connection:
        assert connection is not None
        totals = state_sessions.totals(connection)
        sessions = [(one.id, one.work, one.covered, one.handoff) for one in session_lookup.sessions(connection)]
    where = str(room.root)
    return {
        "waiting": room.waiting(),
        "quarantined": sorted(path.name for path in room.data_dir.quarantine.iterdir()),
        "totals": totals,
        "sessions": sessions,
        "pages": [(str(page.ref), page.text.replace(where, "")) for page in room.pages("session")],
        "handoffs": [(str(page.ref), page.text.replace(where, "")) for page in room.pages("handoff")],
        "open": room.outbox.open_handoffs(),
        "provisional": room.outbox.provisionals(),
        "claims": room.outbox.claims(),
        "starts": [
            (name, (room.outbox.read(name) or "").replace(where, ""))
            for name in room.outbox.names_in("starts") + room.outbox.names_in("recaps")
            if name.endswith((".brief.json", ".md"))
        ],
        "commits": sorted(room.git("log", "--format=%s").splitlines()),
        "status": room.git("status", "--porcelain"),
        "pending": room.data_dir.pending.exists(),
    }


def drain_in_child(room: Room, *, kill_at: int) -> int:
    """Drain in a process of its own that kills itself at its n-th step; gives how many steps it made, -1 if killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        taken = 0

        def step(_: str) -> None:
            nonlocal taken
            taken += 1
            if taken == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            Drainer(room.memory(step=step), step=step).run()
            os.write(writing, str(taken).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        answer = told.read()
    os.waitpid(child, 0)
    return int(answer) if answer else -1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
@pytest.mark.parametrize("first", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_a_drain_killed_at_each_of_its_steps_is_finished_by_the_next(tmp_path: Path, first: int) -> None:
    """Every third step by default, from another one on where slow tests are asked for."""
    reference = furnish(tmp_path / "reference")
    steps = drain_in_child(reference, kill_at=-1)
    expected = outcome(reference)
    assert steps >= 20
    assert expected["waiting"] == []
    assert len(reference.outbox.open_handoffs()) == 1

    root, kept = tmp_path / "killed", tmp_path / "kept"
    room = furnish(root)
    shutil.copytree(root, kept, symlinks=True)
    for at in range(first, steps + 1, 3):
        shutil.rmtree(root)
        shutil.copytree(kept, root, symlinks=True)
        assert drain_in_child(room, kill_at=at) == -1
        drain_in_child(room, kill_at=-1)
        assert outcome(room) == expected, f"killed at step {at} of {steps}"


def run_drain(room: Room, *words: str) -> forked.Done:
    environment = {**os.environ, "HOME": str(room.root / "home")}
    return forked.run(["drain", "--data-dir", str(room.data_dir.root), *words], cwd=room.root, env=environment)


def poll(condition: Callable[[], bool], *, within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)


def test_the_command_drains_and_leaves_neither_beat_nor_lock(room: Room, agent: Agent) -> None:
    agent.work()

    result = run_drain(room)

    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == "applied 13 events, 1 page, 1 handoff\n"
    assert len(room.outbox.open_handoffs()) == 1
    assert not (room.data_dir.locks / "drain.beat").exists()


def test_a_drain_beside_another_one_leaves_at_once_and_one_that_waits_takes_over(room: Room, agent: Agent) -> None:
    agent.work()
    lock = DrainLock(room.data_dir.locks)
    assert lock.try_acquire()
    assert (room.data_dir.locks / "drain.beat").exists()

    assert run_drain(room).returncode == 0
    assert len(room.waiting()) == 13
    words = ["drain", "--wait", "--data-dir", str(room.data_dir.root)]
    waiter = forked.Process(words, cwd=room.root, env={**os.environ, "HOME": str(room.root / "home")})
    lock.release()

    waiter.communicate(timeout_s=30)
    assert waiter.returncode == 0
    assert room.waiting() == []


def test_the_lock_of_a_killed_drain_is_free(room: Room) -> None:
    room.data_dir.spool.mkdir(parents=True)
    program = (
        "import sys; from pathlib import Path; from ai_memory.store.drain_lock import DrainLock;"
        "print(DrainLock(Path(sys.argv[1])).try_acquire(), flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(room.data_dir.locks)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == b"True"
    lock = DrainLock(room.data_dir.locks)
    assert not lock.try_acquire()

    holder.kill()
    holder.wait()
    holder.stdout.close()
    if holder.stdin is not None:
        holder.stdin.close()

    assert lock.try_acquire()
    lock.release()


def test_eight_drains_at_once_apply_everything_once(room: Room, agent: Agent) -> None:
    agent.work()
    for number in range(300):
        agent.tell("post-tool-use", tool="Bash", input={"command": f"echo {number}"}, call_id=f"c{number}")
    agent.end()
    words = ["drain", "--data-dir", str(room.data_dir.root)]
    environment = {**os.environ, "HOME": str(room.root / "home")}

    drains = [forked.Process(words, cwd=room.root, env=environment) for _ in range(8)]

    told = [one.communicate() for one in drains]
    assert [one.returncode for one in drains] == [0] * 8, told
    assert room.waiting() == []
    assert len(room.observations(agent.session)) == 314
    assert len(room.outbox.open_handoffs()) == 1


def test_events_written_while_a_drain_leaves_are_applied_by_it(room: Room) -> None:
    """The window between the last listing and the release of the lock: hooks that saw the beat start no drain."""
    program = """
import sys
from pathlib import Path
from ai_memory.capture import drain
from ai_memory.store.drain_lock import DrainLock
spool, late = Path(sys.argv[1]) / "spool", Path(sys.argv[2])
release = DrainLock.release
def late_release(self):
    if late.exists():
        late.rename(spool / late.name)
    release(self)
DrainLock.release = late_release
sys.exit(drain.main(["--data-dir", sys.argv[1]]))
"""
    agent = Agent(room, room.checkout())
    agent.start()
    agent.prompt("Mend the till.")
    name = agent.tell("user-prompt", text="Late.")
    late = room.root / name
    (room.data_dir.spool / name).rename(late)
    environment = {**os.environ, "HOME": str(room.root / "home")}

    words = [sys.executable, "-c", program, str(room.data_dir.root), str(late)]
    assert subprocess.run(words, env=environment, check=False).returncode == 0

    assert room.waiting() == []
    assert [row.text for row in room.observations(agent.session)][-1] == "Late."


def test_a_drain_without_a_spool_makes_no_data_dir(tmp_path: Path) -> None:
    room = Room(tmp_path)
    (tmp_path / "home").mkdir()

    assert run_drain(room).returncode == 0

    assert not room.data_dir.root.exists()


def test_a_drain_killed_from_outside_at_random_moments_still_ends_with_every_event_once(
    room: Room, agent: Agent
) -> None:
    for number in range(400):
        agent.tell("post-tool-use", tool="Bash", input={"command": f"echo {number}"}, call_id=f"c{number}")
    agent.end()
    command = [sys.executable, "-m", "ai_memory", "drain", "--data-dir", str(room.data_dir.root)]
    environment = {**os.environ, "HOME": str(room.root / "home")}
    for number in range(8):
        victim = subprocess.Popen(command, env=environment, start_new_session=True)
        deadline = time.monotonic() + 0.06 * (number + 1)
        poll(lambda one=victim, until=deadline: one.poll() is not None or time.monotonic() > until)  # type: ignore[misc]
        victim.kill()
        victim.wait()

    assert run_drain(room, "--wait").returncode == 0

    assert room.waiting() == []
    assert len(room.observations(agent.session)) == 401
    assert len(room.outbox.open_handoffs()) == 1
    assert room.git("status", "--porcelain") == ""
