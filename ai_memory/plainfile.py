"""Opening a file that must be a plain one: a FIFO of that name would be waited for without end."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_LEAST = 4_096
"""Bytes that are asked for at once: files of the system say that they hold none."""


def open_plain(path: Path | str) -> BinaryIO:
    """The file for reading. Raises OSError, also for what is no regular file; links are followed."""
    return os.fdopen(_opened(path)[0], "rb")


def read_plain(path: Path | str) -> bytes:
    """Its bytes. Raises OSError as above."""
    descriptor, size_bytes = _opened(path)
    try:
        pieces = []
        while piece := os.read(descriptor, max(size_bytes + 1, _LEAST)):
            pieces.append(piece)
    finally:
        os.close(descriptor)
    return b"".join(pieces)


def _opened(path: Path | str) -> tuple[int, int]:
    """A descriptor and the size. A file object asks five times more: the branch is read 20 times a write."""
    descriptor = os.open(path, _FLAGS)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return descriptor, status.st_size
