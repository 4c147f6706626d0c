"""Where test folders can lie in memory: most tests write much, sync it, and throw it away."""

import os
from pathlib import Path

_PLACE = Path("/dev/shm")
_LEAST_BYTES = 4 << 30
"""The folders of tests that passed are removed at once, but a run of many workers has many at a time."""


def folder_in_memory() -> Path | None:
    """A folder in memory that is as good as a disk for tests: large, ours to write to, and programs run from it."""
    if not os.access(_PLACE, os.W_OK | os.X_OK):
        return None
    place = os.statvfs(_PLACE)
    is_large = place.f_bavail * place.f_frsize >= _LEAST_BYTES
    return _PLACE if is_large and not place.f_flag & (os.ST_NOEXEC | os.ST_RDONLY) else None
