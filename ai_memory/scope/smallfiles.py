"""Reading files of a checkout that may be hostile: regular files only, never more than a stated size."""

import os
import stat
from dataclasses import dataclass

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""O_NONBLOCK: opening a FIFO must not wait for a writer."""


class TooBig(Exception):
    """The file holds more than the caller would read."""


@dataclass(frozen=True, slots=True)
class SmallFile:
    """Content of a file, with the size and time that tell whether it changed since."""

    content: bytes
    mtime_ns: int


def read_small(path: str, limit_bytes: int) -> SmallFile | None:
    """The file, or None when it is absent, unreadable or no regular file. *Errors*: TooBig."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > limit_bytes:
            raise TooBig(path)
        parts: list[bytes] = []
        left = limit_bytes + 1
        while left > 0 and (part := os.read(descriptor, min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if left <= 0:
        raise TooBig(path)
    return SmallFile(b"".join(parts), status.st_mtime_ns)


def text_of(path: str, limit_bytes: int, *, errors: str = "replace") -> str | None:
    """The file as text, None when there is none that could be read whole; undecodable bytes become U+FFFD."""
    try:
        found = read_small(path, limit_bytes)
    except TooBig:
        return None
    return found.content.decode("utf-8", errors) if found else None
