"""The time of a folder, made to tell whether somebody else changed a name in it since.

A folder's own time alone does not: the kernel's clock stands still for up to 4 ms (Linux; 2 s on exFAT), so a name that
comes in the same tick as one of ours leaves no trace. A stamp is a time further back than that: no clock gives it any
more, and whatever happens in the folder afterwards replaces it. Setting one costs 2 µs and no wait.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

COARSEST_NS = 2_000_000_000
"""How long a disk's clock may stand still (exFAT)."""


def changed_ns(folder: Path) -> int | None:
    """The folder's own time, or None when there is no such folder."""
    try:
        status = folder.lstat()
    except OSError:
        return None
    return status.st_mtime_ns if stat.S_ISDIR(status.st_mode) else None


def settled_ns(folder: Path) -> int | None:
    """The folder's time, stamped if it is so fresh that a further change might not move it; None where that fails."""
    found_ns = changed_ns(folder)
    if found_ns is None or found_ns < time.time_ns() - COARSEST_NS:
        return found_ns
    return _stamp(folder)


def _stamp(folder: Path) -> int | None:
    wanted_ns = time.time_ns() - 2 * COARSEST_NS
    try:
        os.utime(folder, ns=(wanted_ns, wanted_ns))
    except OSError:
        return None
    found_ns = changed_ns(folder)  # as coarse as the disk keeps it; later than that, and somebody was here already
    return found_ns if found_ns is not None and found_ns < wanted_ns + COARSEST_NS else None


class Stamps:
    """Folders that were found in order at the given times, while we change names in them."""

    def __init__(self, in_order: Mapping[Path, int]) -> None:
        self._times = dict(in_order)

    @contextmanager
    def own(self, folder: Path) -> Iterator[None]:
        """Around one call of ours that changes a name in the folder. One that somebody else changed is forgotten."""
        known_ns = self._times.pop(folder, None)
        is_ours = known_ns is not None and changed_ns(folder) == known_ns
        yield
        if is_ours and (stamped_ns := _stamp(folder)) is not None:
            self._times[folder] = stamped_ns

    @property
    def times(self) -> Mapping[Path, int]:
        """The folders that nobody but us changed, with the time that each has for as long as that holds."""
        return self._times
