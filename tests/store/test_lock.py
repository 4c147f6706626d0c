"""The writer lock between real processes: it has a name on the door, a bench, and outlives nobody."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from lock_watch import environment, overtaking, turns
from wiki_room import WikiRoom, ref

from ai_memory.errors import GivenUp, LockBusy
from ai_memory.model import Sanitized
from ai_memory.store import lock as lock_module
from ai_memory.store.lock import COURTESY_S, STALE_WAITER_S, WriterLock

HOLD = """
import sys
from pathlib import Path
from ai_memory.store.lock import WriterLock
with WriterLock(Path(sys.argv[1]), command="reindex --all").held(5):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(locks: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Another process that holds the lock until its stdin is closed."""
    command = [sys.executable, "-c", HOLD, str(locks)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"held\n"
            yield process
        finally:
            process.stdin.close()
            process.wait(20)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.005)


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    return tmp_path / "locks"


@pytest.fixture
def lock(locks: Path) -> WriterLock:
    return WriterLock(locks, command="write-page")


def test_a_held_lock_names_its_holder_and_forgets_it_afterwards(lock: WriterLock) -> None:
    with lock.held(1):
        holder = lock.holder()
        assert holder is not None
        assert (holder.pid, holder.command) == (os.getpid(), "write-page")
    assert lock.holder() is None


def test_who_waits_too_long_is_told_who_holds_the_lock_since_when(lock: WriterLock, locks: Path) -> None:
    with held_elsewhere(locks) as other:
        started = time.monotonic()
        with (
            pytest.raises(LockBusy, match=rf"pid {other.pid} on .* \(reindex --all\), since \d{{4}}-") as busy,
            lock.held(0.2),
        ):
            pass
        assert 0.2 <= time.monotonic() - started < 5
    assert busy.value.exit_code == 4
    assert "--lock-timeout" in busy.value.hint
    with lock.held(5):
        pass


def test_a_lock_that_is_taken_is_not_waited_for_when_asked_if_free(lock: WriterLock, locks: Path) -> None:
    with held_elsewhere(locks), lock.if_free() as is_mine:
        assert not is_mine
        assert lock.holder() is not None  # asking did not take the holder's name away
    with lock.if_free() as is_mine:
        assert is_mine


def test_a_killed_holder_releases_the_lock(lock: WriterLock, locks: Path) -> None:
    with held_elsewhere(locks) as other:
        os.kill(other.pid, signal.SIGKILL)
        other.wait(20)
        with lock.held(5):
            holder = lock.holder()
            assert holder is not None
            assert holder.pid == os.getpid()


def test_an_exception_inside_releases_the_lock(lock: WriterLock) -> None:
    with pytest.raises(KeyError), lock.held(1):
        raise KeyError
    with lock.if_free() as is_mine:
        assert is_mine


def test_a_waiter_sits_on_the_bench_until_it_has_the_lock(lock: WriterLock, locks: Path) -> None:
    got: list[float] = []

    def wait() -> None:
        with lock.held(20):
            got.append(time.monotonic())

    with held_elsewhere(locks):
        assert not lock.has_waiters()
        thread = threading.Thread(target=wait)
        thread.start()
        until(lock.has_waiters)
        assert got == []
    thread.join(20)
    assert len(got) == 1
    assert not lock.has_waiters()
    assert list((locks / "waiting").iterdir()) == []


def test_who_gives_up_leaves_the_bench_at_once_and_holds_nothing(locks: Path) -> None:
    given_up = threading.Event()
    lock = WriterLock(locks, command="write-page", is_given_up=given_up.is_set)
    ends: list[type[Exception]] = []

    def wait() -> None:
        try:
            with lock.held(60):
                pass
        except LockBusy as fault:
            ends.append(type(fault))

    with held_elsewhere(locks):
        thread = threading.Thread(target=wait)
        thread.start()
        until(lock.has_waiters)
        given_up.set()
        thread.join(20)
        assert ends == [GivenUp]
        assert not lock.has_waiters()
    with pytest.raises(GivenUp), lock.held(1):
        pytest.fail("the lock is free, and nobody waits for the work")
    with lock.if_free() as is_mine:
        assert is_mine


def test_who_leaves_waits_for_what_was_begun_and_lets_nothing_begin(
    lock: WriterLock, locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_module, "_LEAVING", threading.Event())
    done = threading.Event()
    with lock.held(1):
        assert not lock_module.leave(0.05)
        left = threading.Thread(target=lambda: lock_module.leave(20) and done.set())
        left.start()
        assert not done.wait(0.05)
    assert done.wait(20)
    left.join()
    with pytest.raises(GivenUp), WriterLock(locks, command="late").held(1):
        pytest.fail("it began after all")
    assert not list((locks / "waiting").glob("*"))


def test_what_was_given_up_writes_neither_a_page_nor_a_row(tmp_path: Path) -> None:
    room = WikiRoom(tmp_path)
    room.put("notes/a.md")
    memory = room.memory()
    memory.caller = replace(memory.caller, is_given_up=lambda: True)
    with pytest.raises(GivenUp), memory.writing("Put notes/b.md") as change:
        change.put(ref("notes/b.md"), Sanitized("text\n"))
    with pytest.raises(GivenUp), memory.state_transaction():
        pytest.fail("a row would be written that nobody waits for")
    assert not room.file("notes/b.md").exists()


AGAIN_AND_AGAIN = """
import sys, time
from pathlib import Path
from ai_memory.store import lock as lock_module
from ai_memory.store.lock import WriterLock
print("here", flush=True)
sys.stdin.read()
for _ in range(20):
    with WriterLock(Path(sys.argv[1]), command="again").held(60):
        Path(sys.argv[1], "held").touch()
"""


def test_those_who_wait_come_in_the_order_in_which_they_sat_down(locks: Path, tmp_path: Path) -> None:
    """Six that only try again and again overtake each other as they like."""
    folder = tmp_path / "watch"
    folder.mkdir()
    command = [sys.executable, "-c", AGAIN_AND_AGAIN, str(locks)]
    pipe = subprocess.PIPE
    racers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment(folder)) for _ in range(6)]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == b"here\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
    for racer in racers:
        assert racer.wait(60) == 0
        assert racer.stdout is not None
        racer.stdout.close()

    all_turns = turns(folder)

    assert len(all_turns) == 120
    assert sum(turn.seated is not None for turn in all_turns) > 50
    assert [turn for turn in all_turns if overtaking(turn, all_turns)] == []
    assert list((locks / "waiting").iterdir()) == []


def test_a_killed_waiter_keeps_its_place_for_a_second_only(lock: WriterLock, locks: Path) -> None:
    with held_elsewhere(locks):
        command = [sys.executable, "-c", HOLD, str(locks)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as waiter:
            until(lock.has_waiters)
            waiter.kill()
        assert lock.has_waiters()
    with lock.held(20):
        assert not lock.has_waiters()


def test_a_free_lock_is_given_at_the_end_of_the_wait_whoever_sits_before(lock: WriterLock, locks: Path) -> None:
    seat = locks / "waiting" / "1-1"
    seat.parent.mkdir(parents=True)
    seat.touch()
    with lock.held(0.05):
        assert lock.has_waiters()


def test_a_stopped_waiter_lets_the_others_pass_and_is_served_when_it_goes_on(lock: WriterLock, locks: Path) -> None:
    with held_elsewhere(locks):
        command = [sys.executable, "-c", HOLD, str(locks)]
        waiter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        until(lock.has_waiters)
        os.kill(waiter.pid, signal.SIGSTOP)
    with lock.held(20):
        os.kill(waiter.pid, signal.SIGCONT)
        until(lock.has_waiters)
    out, _ = waiter.communicate(timeout=20)
    assert (out, waiter.returncode) == (b"held\n", 0)


def test_a_note_of_a_killed_waiter_is_forgotten_after_a_minute(lock: WriterLock, locks: Path) -> None:
    note = locks / "waiting" / "1-1"
    note.parent.mkdir(parents=True)
    note.touch()
    assert lock.has_waiters()
    old = time.time() - STALE_WAITER_S - 1
    os.utime(note, (old, old))
    assert not lock.has_waiters()


def test_a_note_that_is_no_json_names_nobody(lock: WriterLock, locks: Path) -> None:
    locks.mkdir()
    for content in (b"", b"{", b"[]", b"\xff", b'{"pid": "x"}'):
        (locks / "write.holder").write_bytes(content)
        assert lock.holder() is None


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_link_in_place_of_the_note_is_never_written_through(lock: WriterLock, locks: Path, link: str) -> None:
    target = locks.parent / "precious"
    target.write_text("precious\n")
    locks.mkdir()
    getattr(locks / "write.holder", link)(target)
    with lock.held(5):
        assert target.read_text() == "precious\n"
    with lock.if_free() as is_mine:
        assert is_mine
    assert target.read_text() == "precious\n"


def test_a_link_that_takes_the_place_of_the_note_meanwhile_is_not_followed(lock: WriterLock, locks: Path) -> None:
    target = locks.parent / "precious"
    target.write_text("precious\n")
    with lock.held(5):
        (locks / "write.holder").unlink()
        (locks / "write.holder").symlink_to(target)
    assert target.read_text() == "precious\n"


def test_the_note_is_one_file_for_all_writes(lock: WriterLock, locks: Path) -> None:
    with lock.held(5):
        made = (locks / "write.holder").stat().st_ino
    with lock.held(5):
        assert (locks / "write.holder").stat().st_ino == made
        assert lock.holder() is not None


def test_a_batch_that_gives_way_lets_a_waiter_in(room: WikiRoom) -> None:
    """Without the pause a poller starved for 5 s (decision A12)."""
    waits: list[float] = []
    stop = threading.Event()

    def batch() -> None:
        memory = room.memory("drain")
        while not stop.is_set():
            with memory.writing("Batch"):
                pass
            memory.give_way()

    def write() -> None:
        for number in range(4):
            started = time.monotonic()
            with room.memory(wait_s=20).writing(f"Write {number}"):
                waits.append(time.monotonic() - started)

    others = threading.Thread(target=batch)
    others.start()
    try:
        write()
    finally:
        stop.set()
        others.join(20)
    assert len(waits) == 4
    assert max(waits) < 5


def test_give_way_costs_nothing_when_nobody_waits(room: WikiRoom) -> None:
    started = time.monotonic()
    room.memory().give_way()
    assert time.monotonic() - started < COURTESY_S


def test_a_write_is_refused_by_name_and_a_read_goes_on_while_another_process_writes(room: WikiRoom) -> None:
    with held_elsewhere(room.data_dir.locks):
        with pytest.raises(LockBusy, match="reindex --all"), room.memory(wait_s=0.1).writing("Late"):
            pass
        assert room.text("notes/a.md") is not None
        assert "Another command is writing." in room.adopt().skipped[0]
        room.by_hand("notes/a.md", "by hand\n")
        started = time.monotonic()
        with room.memory().reading() as snapshot:
            assert snapshot.gaps == []
        assert time.monotonic() - started < 5


def test_a_reader_whose_index_lags_while_another_process_writes_says_so(room: WikiRoom) -> None:
    room.by_hand("notes/d.md", "by hand\n")
    room.git("add", "-A")
    room.git("commit", "-qm", "mine")
    with held_elsewhere(room.data_dir.locks), room.memory().reading() as snapshot:
        assert snapshot.gaps == ["another command is writing: its change may be missing here"]
    assert room.text("notes/d.md") == "by hand\n"
