"""The one writer lock of a data dir, with a name on the door and a bench for those who wait."""

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from ai_memory.clock import Clock, now_us, rfc3339
from ai_memory.errors import LockBusy
from ai_memory.store.filesystem import make_folder

POLL_S = 0.01
"""How often a waiter tries again. filelock polls; there is no fair queue in the system's file locks."""

COURTESY_S = 0.12
"""How long a batch writer stays away when someone waits (decision A12: without it a waiter starved for 5 s)."""

STALE_WAITER_S = 60.0
"""A waiting note older than this was left by a killed process."""


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
    """An OS file lock on `locks/write.lock`. It is released by the system when its holder dies."""

    def __init__(self, locks: Path, *, command: str, clock: Clock = now_us) -> None:
        self._locks = locks
        self._command = command
        self._clock = clock

    @contextmanager
    def held(self, timeout_s: float) -> Iterator[None]:
        """Hold the lock for the block. Raises LockBusy, naming the holder, after `timeout_s`."""
        lock = self._lock()
        try:
            lock.acquire(timeout=0)
        except Timeout:
            self._wait(lock, timeout_s)
        try:
            self._sign()
            yield
        finally:
            self._leave(lock)

    @contextmanager
    def if_free(self) -> Iterator[bool]:
        """True inside the block when the lock could be taken at once; never waits."""
        lock = self._lock()
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            self._sign()
            yield True
        finally:
            self._leave(lock)

    def holder(self) -> Holder | None:
        """Who signed the note last, or None. The note outlives nobody: it is removed on leaving."""
        try:
            row = json.loads(self._note.read_text(encoding="utf-8"))
            return Holder(int(row["pid"]), str(row["command"]), str(row["host"]), int(row["since_us"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def has_waiters(self) -> bool:
        """Whether someone waits right now. For batch writers, between two batches."""
        try:
            notes = list((self._locks / "waiting").iterdir())
        except OSError:
            return False
        oldest = time.time() - STALE_WAITER_S
        return any(_is_fresh(note, oldest) for note in notes)

    @property
    def _note(self) -> Path:
        return self._locks / "write.holder"

    def _lock(self) -> FileLock:
        make_folder(self._locks)
        # A soft lock would outlive its killed holder, and is no lock between two kinds of lockers.
        return FileLock(self._locks / "write.lock", mode=0o600, fallback_to_soft=False, thread_local=False)

    def _wait(self, lock: FileLock, timeout_s: float) -> None:
        seat = self._locks / "waiting" / f"{os.getpid()}-{time.monotonic_ns()}"
        make_folder(seat.parent)
        seat.touch(mode=0o600)
        try:
            lock.acquire(timeout=timeout_s, poll_interval=POLL_S)
        except Timeout as fault:
            holder = self.holder()
            raise LockBusy(
                f"Another command is writing: {holder or 'its holder left no name'}.",
                hint=f"Waited {timeout_s:g} s. Try again, or wait longer with --lock-timeout SECONDS.",
            ) from fault
        finally:
            seat.unlink(missing_ok=True)

    def _sign(self) -> None:
        holder = Holder(os.getpid(), self._command, socket.gethostname(), self._clock())
        # Only a help for people: a full disk must not stop the write for it.
        with suppress(OSError):
            self._note.write_text(json.dumps(asdict(holder)), encoding="utf-8")
            self._note.chmod(0o600)

    def _leave(self, lock: FileLock) -> None:
        with suppress(OSError):
            self._note.unlink(missing_ok=True)
        lock.release()


def _is_fresh(note: Path, oldest: float) -> bool:
    try:
        return note.stat().st_mtime >= oldest
    except OSError:
        return False
