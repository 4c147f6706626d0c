"""The three standard streams, whatever the caller made of them: closed, full, or left by their reader.

Standard library only, and nothing that Python has not loaded already: every front door but the hook's begins here.
"""

import errno
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


class Unwritten(OSError):
    """stdout did not take the answer. No `errno`, so that nobody blames a file for it."""

    def __init__(self, reason: str, *, is_unread: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_unread = is_unread
        """The reader left: it has what it wanted."""
        self.done = ""
        """What was done all the same, for a person."""


class _Stdout(io.FileIO):
    """Says that it was stdout which failed. Errors: Unwritten."""

    def write(self, content: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]
        try:
            return super().write(content) or 0
        except BrokenPipeError as fault:
            raise Unwritten("its reader left", is_unread=True) from fault
        except OSError as fault:
            is_closed = fault.errno == errno.EBADF
            raise Unwritten("it is closed" if is_closed else fault.strerror or str(fault)) from fault


class _Stderr(io.FileIO):
    """Loses what nobody can read: a note that cannot be told changes no outcome."""

    def write(self, content: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]
        try:
            return super().write(content) or 0
        except OSError:
            return len(content)


def prepare() -> None:
    """Give the process its three streams; `sys.stdin` stays None where there is none.

    A file that is opened later must not get the number of a closed one: what is printed would land in it.
    """
    # Read only for stdout: writing fails, and the caller learns that nobody saw the answer.
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest number that is free
    if sys.stdout is sys.__stdout__ and not _is_console(sys.stdout):
        sys.stdout = _text(_Stdout(1, "wb", closefd=False), sys.stdout)
    if sys.stderr is sys.__stderr__ and not _is_console(sys.stderr):
        sys.stderr = _text(_Stderr(2, "wb", closefd=False), sys.stderr, by_line=True)


def _is_console(stream: "TextIO | None") -> bool:
    """A window of Windows, which takes Unicode by a way of its own and is never full."""
    return os.name == "nt" and stream is not None and stream.isatty()


def _text(raw: io.FileIO, before: "TextIO | None", *, by_line: bool = False) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=by_line or raw.isatty(),
        write_through=bool(getattr(before, "write_through", False)),
    )


def give_up(fault: Unwritten) -> int:
    """The exit code of a call whose answer could not be told: 0 for a reader that left, else 1 and a line on stderr."""
    # What is still buffered goes nowhere, else the interpreter complains about it at exit.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    if fault.is_unread:
        return 0
    done = f"; done all the same: {fault.done}" if fault.done else ""
    sys.stderr.write(f"error: stdout does not take the answer: {fault.reason}{done}\n")
    return 1
