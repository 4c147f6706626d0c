"""Git's lock files as we take them: `<file>.lock` beside the file that is replaced (source: git's lockfile.h).

A lock that a killed writer left must not stop the next one, and a lock of git's must never be broken. What tells them
apart is a second name: ours is a hard link to a file with a name of ours, made in one step, so that there is no instant
in which a lock of ours could be taken for git's. Where the disk knows no hard links (exFAT), a kill between taking and
renaming leaves a lock that a person has to remove, as git's own do.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ai_memory.errors import StoreFault

WAIT_S = 2.0
"""How long a lock of git's is waited for: it holds one for milliseconds."""

_POLL_S = 0.01


def lock_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.lock")


def is_own(lock: Path, own: Path) -> bool:
    """Whether a writer of ours made this lock, alive or dead."""
    try:
        return lock.samefile(own)
    except OSError:
        return False


def clear(target: Path, own: Path) -> None:
    """Remove what a killed writer of ours left of a lock. Call under the writer lock; safe to kill."""
    lock = lock_of(target)
    if is_own(lock, own):
        lock.unlink(missing_ok=True)  # first: with `own` gone nobody could tell whose the lock is
    own.unlink(missing_ok=True)


@contextmanager
def locked(
    target: Path,
    own: Path,
    *,
    wait_s: float = WAIT_S,
    written: Callable[[Path], None] = lambda _: None,
) -> Iterator[Callable[[bytes], None]]:
    """Hold the lock of `target`; the block gets the function that puts new bytes there.

    Which of the two versions a power cut leaves is open until the caller syncs the folder of `target`; it may also be
    a torn one until the caller syncs `target` itself, or what `written` is given before it takes that place.

    `own` lies on the same disk.
    Raises StoreFault when a git command holds the lock. Crash: the next `clear` removes what is left.
    """
    clear(target, own)
    lock = lock_of(target)
    own.touch(mode=0o600)

    def put(content: bytes) -> None:
        lock.write_bytes(content)
        written(lock)
        lock.replace(target)

    try:
        _take(lock, own, time.monotonic() + wait_s)
        try:
            yield put
        finally:
            clear(target, own)
    finally:
        own.unlink(missing_ok=True)


def _take(lock: Path, own: Path, deadline: float) -> None:
    while True:
        try:
            _link(lock, own)
        except FileExistsError as fault:
            if time.monotonic() > deadline:
                raise StoreFault(
                    f"A git command holds the wiki's {lock.name}.",
                    hint=f"Wait for it, or remove {lock} when no git runs there.",
                ) from fault
            time.sleep(_POLL_S)
        else:
            return


def _link(lock: Path, own: Path) -> None:
    try:
        os.link(own, lock)
    except FileExistsError:
        raise
    except OSError:  # no hard links here
        os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
