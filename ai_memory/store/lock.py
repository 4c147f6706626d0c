"""The one writer lock of a data dir, with a name on the door and a bench for those who wait."""

import json
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from ai_memory.clock import Clock, now_us, rfc3339
from ai_memory.errors import GivenUp, LockBusy
from ai_memory.model import never
from ai_memory.plainfile import read_plain
from ai_memory.store.filesystem import make_folder

POLL_S = 0.01
"""How often a waiter tries again. There is no fair queue in the system's file locks, so the seats below make one."""

BEAT_S = 0.2
"""How often a waiter touches its seat."""

SILENT_S = 1.0
"""A seat that was not touched for so long is that of a killed or stopped process: the others go past it."""

COURTESY_S = 0.12
"""How long a batch writer stays away when someone waits (decision A12: without it a waiter starved for 5 s)."""

STALE_WAITER_S = 60.0
"""A seat older than this was left by a killed process. Far longer than a beat: a file server has its own clock."""


_LEAVING = threading.Event()
_HOLDING: list["WriterLock"] = []
"""Those that this process holds: one a data dir at most."""


def leave(patience_s: float) -> bool:
    """Let no thread of this process take a lock any more, and wait for the one that holds one. False: it still does.

    For a process that ends itself while threads work: what was begun is finished, and nothing is left half done.
    """
    _LEAVING.set()
    deadline = time.monotonic() + patience_s
    while _HOLDING and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return not _HOLDING


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lock, as told by the note beside it."""

    pid: int
    command: str
    host: str
    since_us: int

    def __str__(self) -> str:
        return f"pid {self.pid} on {self.host} ({self.command or 'unnamed'}), since {rfc3339(self.since_us)}"


class WriterLock:
    """An OS file lock on `locks/write.lock`. It is released by the system when its holder dies.

    `is_given_up`: whether nobody waits for the work any more. It is looked at as long as the lock is not held.
    """

    def __init__(
        self, locks: Path, *, command: str, clock: Clock = now_us, is_given_up: Callable[[], bool] = never
    ) -> None:
        self._locks = locks
        self._command = command
        self._clock = clock
        self._nobody_waits = is_given_up

    @contextmanager
    def held(self, timeout_s: float) -> Iterator[None]:
        """Hold the lock for the block, in order of coming. Raises LockBusy, naming the holder, after `timeout_s`,
        and GivenUp.

        Who comes while others wait takes a seat behind them: eight writers that only tried again and again overtook a
        waiter up to five times (2026-11-30).
        """
        lock = self._lock()
        if self.has_waiters() or not _take(lock):
            self._wait(lock, timeout_s)
        _HOLDING.append(self)  # before the look: who leaves says so first, and looks here afterwards
        try:
            if self._is_given_up():
                raise GivenUp
            with self._signed():
                yield
        finally:
            lock.release()
            _HOLDING.remove(self)

    @contextmanager
    def if_free(self) -> Iterator[bool]:
        """True inside the block when the lock could be taken at once; never waits."""
        lock = self._lock()
        if not _take(lock):
            yield False
            return
        _HOLDING.append(self)
        try:
            with self._signed():
                yield True
        finally:
            lock.release()
            _HOLDING.remove(self)

    def holder(self) -> Holder | None:
        """Who signed the note last, or None. The note outlives nobody: it is emptied on leaving."""
        try:
            row = json.loads(read_plain(self._note))
            return Holder(int(row["pid"]), str(row["command"]), str(row["host"]), int(row["since_us"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def has_waiters(self) -> bool:
        """Whether someone waits right now. For batch writers, between two batches."""
        try:
            notes = list((self._locks / "waiting").iterdir())
        except OSError:
            return False
        now = time.time()
        return any(_is_fresh(note, now) for note in notes)

    @property
    def _note(self) -> Path:
        return self._locks / "write.holder"

    def _is_given_up(self) -> bool:
        return _LEAVING.is_set() or self._nobody_waits()

    def _lock(self) -> FileLock:
        make_folder(self._locks)
        # A soft lock would outlive its killed holder, and is no lock between two kinds of lockers.
        return FileLock(self._locks / "write.lock", mode=0o600, fallback_to_soft=False, thread_local=False)

    def _wait(self, lock: FileLock, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        with _Seat(self._locks / "waiting") as seat:
            while time.monotonic() < deadline:
                if self._is_given_up():
                    raise GivenUp
                if seat.is_next() and _take(lock):
                    return
                time.sleep(POLL_S)
        if _take(lock):  # whoever sits before us: nobody is turned away from a free lock
            return
        holder = self.holder()
        raise LockBusy(
            f"Another command is writing: {holder or 'its holder left no name'}.",
            hint=f"Waited {timeout_s:g} s. Try again, or wait longer with --lock-timeout SECONDS.",
        )

    @contextmanager
    def _signed(self) -> Iterator[None]:
        """The holder's name in the note, for the block. The file stays: a new one for each write costs 1 ms on ext4."""
        note = self._open_note()
        try:
            if note is not None:
                holder = Holder(os.getpid(), self._command, socket.gethostname(), self._clock())
                with suppress(OSError):
                    os.ftruncate(note, 0)
                    os.write(note, json.dumps(asdict(holder)).encode("utf-8"))
            yield
        finally:
            if note is not None:
                with suppress(OSError):
                    os.ftruncate(note, 0)
                os.close(note)

    def _open_note(self) -> int | None:
        """None where it cannot be had: it only helps people, and a full disk must not stop the write for it.

        Nothing but a plain file of ours is opened: whatever a link leads to would be emptied.
        """
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            note = os.open(self._note, flags, 0o600)
        except OSError:
            return None
        status = os.fstat(note)
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and not self._note.is_symlink():
            return note
        os.close(note)
        return None


class _Seat:
    """A place in the line: a file in `locks/waiting/` whose name tells since when, touched while its owner waits."""

    def __init__(self, bench: Path) -> None:
        make_folder(bench)
        self._file = bench / f"{time.time_ns():019d}-{os.getpid()}-{os.urandom(4).hex()}"
        self._touched_at = float("-inf")
        self._seen: dict[str, tuple[int, float]] = {}
        """Seats before ours: when they were last touched by their own clock, and since when by ours."""

    def __enter__(self) -> "_Seat":
        self._touch(time.monotonic())
        return self

    def __exit__(self, *_: object) -> None:
        self._file.unlink(missing_ok=True)

    def is_next(self) -> bool:
        """Whether nobody who still waits sits before us. Removes seats whose owners were silent for a second."""
        now = time.monotonic()
        if now - self._touched_at >= BEAT_S:
            self._touch(now)
        before = [name for name in os.listdir(self._file.parent) if name < self._file.name]  # noqa: PTH208 (100 a second)
        return not [name for name in before if self._is_taken(name, now)]

    def _touch(self, now: float) -> None:
        self._file.touch(mode=0o600)  # again where others took us for dead
        self._touched_at = now

    def _is_taken(self, name: str, now: float) -> bool:
        seat = self._file.with_name(name)
        try:
            beat_ns = seat.stat().st_mtime_ns
        except OSError:
            return False
        seen_ns, since = self._seen.get(name, (0, now))
        if seen_ns != beat_ns:
            self._seen[name] = (beat_ns, now)
            return True
        if now - since < SILENT_S:
            return True
        seat.unlink(missing_ok=True)
        return False


def _take(lock: FileLock) -> bool:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    return True


def _is_fresh(note: Path, now: float) -> bool:
    try:
        return abs(now - note.stat().st_mtime) <= STALE_WAITER_S
    except OSError:
        return False


@contextmanager
def alone(path: Path, *, wait_s: float = 0.0) -> Iterator[bool]:
    """True inside the block for the one process that holds the lock of that file; False for others, after `wait_s`."""
    make_folder(path.parent)
    lock = FileLock(path, mode=0o600, fallback_to_soft=False, thread_local=False)
    try:
        lock.acquire(timeout=wait_s, poll_interval=POLL_S)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
