"""The client's two pipes, out of reach of everything else in the process. Stdlib only: the front door imports it."""

import os
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is thrown away: no client sends one on purpose, and a line without an end must not fill the memory."""


class Wire:
    """Reads lines from the client and writes whole frames to it, from one thread, in the order given."""

    def __init__(self) -> None:
        """Takes fd 0 and fd 1: from here on stdin is empty, and what anything prints goes to stderr."""
        self._source = os.fdopen(_taken(0, _nothing_to_read()), "rb", buffering=1 << 16)
        self._sink = _taken(1, _place_for_prints())
        sys.stdout = sys.stderr
        self._frames: SimpleQueue[bytes | None] = SimpleQueue()
        self._is_done = threading.Event()

    def start(self, broken: Callable[[], None]) -> None:
        """Starts writing; `broken` is called, from the writing thread, when the client reads no longer."""
        threading.Thread(target=self._write_all, args=(broken,), daemon=True, name="wire").start()

    def read_line(self) -> bytes | None:
        """The next line that is not blank; None when the client closed the pipe. Of a line too long comes a NUL."""
        while True:
            line = self._source.readline(MAX_LINE_BYTES)
            if not line:
                return None
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                self._skip_line()
                return b"\0"  # not JSON: answered as such
            line = line.strip()
            if line:
                return line

    def _skip_line(self) -> None:
        while (part := self._source.readline(1 << 20)) and not part.endswith(b"\n"):
            pass

    def write(self, frame: bytes) -> None:
        """Queues one message; returns at once."""
        self._frames.put(frame)

    def finish(self, timeout_s: float) -> None:
        """Waits until all that was queued is written, or the time is over."""
        self._frames.put(None)
        self._is_done.wait(timeout_s)

    def _write_all(self, broken: Callable[[], None]) -> None:
        try:
            while (frame := self._frames.get()) is not None:
                rest = memoryview(frame + b"\n")
                while rest:
                    rest = rest[os.write(self._sink, rest) :]
        except OSError:
            broken()
        finally:
            self._is_done.set()


def _taken(fd: int, replacement: int) -> int:
    """A private copy of the descriptor, above the standard ones and not inherited; `replacement` takes its place."""
    copy = os.dup(fd)
    lower = []
    while copy <= 2:
        lower.append(copy)
        copy = os.dup(fd)
    for spare in lower:
        os.close(spare)
    if os.name != "nt":
        os.set_blocking(copy, True)  # some clients hand over pipes that do not block
    os.dup2(replacement, fd)
    os.close(replacement)
    return copy


def _nothing_to_read() -> int:
    return os.open(os.devnull, os.O_RDONLY)


def _place_for_prints() -> int:
    try:
        return os.dup(2)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)
