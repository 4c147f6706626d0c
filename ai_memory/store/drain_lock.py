"""One drain a data dir: an OS lock of its own on `locks/drain.lock`, and a heart beat that hooks look at.

Standard library only, and light: the drain tries the lock before it imports anything heavy, since most drains that
hooks start find another one at work. The system releases the lock when its holder dies.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from ai_memory.errors import LockBusy

BEAT_S = 1.0
"""How often the beat file is touched. A hook starts a drain only if the beat is older than 5 s (decision B6)."""


class DrainLock:
    """The lock of one data dir, given as its `locks` folder."""

    def __init__(self, locks: Path) -> None:
        self._path = locks / "drain.lock"
        self._beat = locks / "drain.beat"
        self._descriptor: int | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def try_acquire(self) -> bool:
        """Whether the lock is ours now. Creates the folder; never waits. Starts the beat."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOINHERIT", 0), 0o600)
        if not _try_lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        self._touch()
        self._stop.clear()
        self._thread = threading.Thread(target=self._keep_beating, name="drain-beat", daemon=True)
        self._thread.start()
        return True

    def acquire(self, *, timeout_s: float) -> bool:
        """The same, waiting for another drain to end for at most `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        while not self.try_acquire():
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        return True

    def release(self) -> None:
        """Stop the beat, remove its file, let go: in that order, so that a hook never trusts a drain that left."""
        if self._descriptor is None:
            return
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        with contextlib.suppress(OSError):
            self._beat.unlink()
        _unlock(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None

    def _keep_beating(self) -> None:
        while not self._stop.wait(BEAT_S):
            self._touch()

    def _touch(self) -> None:
        with contextlib.suppress(OSError):  # a full or read-only disk: the drain itself will say so
            descriptor = os.open(self._beat, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o600)
            os.close(descriptor)
            os.utime(self._beat)


@contextlib.contextmanager
def no_drain(locks: Path, *, timeout_s: float) -> Iterator[None]:
    """No drain works within the block: it writes rows without the writer lock. Raises LockBusy after `timeout_s`."""
    lock = DrainLock(locks)
    if not lock.acquire(timeout_s=timeout_s):
        raise LockBusy("A drain is at work.", hint="Try again, or wait longer with --lock-timeout SECONDS.")
    try:
        yield
    finally:
        lock.release()


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
