"""A command in a child of this very process: streams and a death of its own, and its imports made once for all.

Where a fresh interpreter is what a test asks about, `subprocess` starts one.
"""

# ruff: noqa: SIM115, BLE001 (the child is a process of its own until it leaves)

import gc
import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TextIO

import ai_memory.capture.draining
import ai_memory.cli.app
import ai_memory.operations.write
import ai_memory.store.writing  # noqa: F401 (what every child needs)
from ai_memory.__main__ import main

CLOSED = -1
"""Instead of a descriptor: a stream that the command finds closed."""


@dataclass(frozen=True)
class Done:
    """What `subprocess.run` would tell."""

    returncode: int
    stdout: str
    stderr: str


Main = Callable[[list[str]], int]


def run(
    words: list[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    content: bytes = b"",
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    timeout_s: float = 60.0,
    main: Main = main,
) -> Done:
    """`ai-memory` with these words in a forked child. One that hangs is killed and fails.

    Streams are descriptors, or `CLOSED`; without one, stdin holds `content`, and what is written to the others is told.
    """
    with TemporaryFile("w+b") as out, TemporaryFile("w+b") as err, TemporaryFile("w+b") as given:
        given.write(content)
        given.seek(0)
        streams = (
            given.fileno() if stdin is None else stdin,
            out.fileno() if stdout is None else stdout,
            err.fileno() if stderr is None else stderr,
        )
        code = wait(start(words, cwd=cwd, env=env, streams=streams, main=main), timeout_s=timeout_s)
        return Done(code, _text(out), _text(err))


def start(
    words: list[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    streams: tuple[int, int, int],
    main: Main = main,
) -> int:
    """The same, as a child that runs: its process number, to be waited for."""
    pid = os.fork()
    if pid == 0:
        _be_command(words, cwd, dict(os.environ if env is None else env), streams, main)
    return pid


def wait(child: int, *, timeout_s: float = 60.0) -> int:
    """How the child ended, as `subprocess` tells it."""
    code = _wait(child, timeout_s)
    if code is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise TimeoutError("the command hangs")
    return code


def _wait(child: int, timeout_s: float) -> int | None:
    """None where it goes on."""
    deadline = time.monotonic() + timeout_s
    if hasattr(os, "pidfd_open"):
        ending = os.pidfd_open(child)
        try:
            select.select([ending], [], [], timeout_s)
        finally:
            os.close(ending)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(0.005)


class Process:
    """What `subprocess.Popen` gives, with a pipe for each stream."""

    def __init__(self, words: list[str], *, cwd: Path, env: Mapping[str, str] | None = None, main: Main = main) -> None:
        pipes = [os.pipe() for _ in range(3)]
        theirs = (pipes[0][0], pipes[1][1], pipes[2][1])
        self.pid = start(words, cwd=cwd, env=env, streams=theirs, main=main)
        for one in theirs:
            os.close(one)
        self.stdin = os.fdopen(pipes[0][1], "wb")
        self.stdout = os.fdopen(pipes[1][0], "rb")
        self.stderr = os.fdopen(pipes[2][0], "rb")
        self.returncode: int | None = None

    def wait(self, timeout: float = 60.0) -> int:
        if self.returncode is None:
            self.returncode = _wait(self.pid, timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("the forked command", timeout)
        return self.returncode

    def communicate(self, content: bytes = b"", *, timeout_s: float = 60.0) -> tuple[bytes, bytes]:
        """Give all of stdin, and take all of stdout and stderr: little enough to wait in the pipes."""
        with self.stdin, self.stdout, self.stderr:
            with suppress(BrokenPipeError):  # it did not read, as a command need not
                self.stdin.write(content)
                self.stdin.close()
            try:
                self.wait(timeout_s)
            finally:
                self.kill()
            return self.stdout.read(), self.stderr.read()

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forge:
    """An interpreter of its own, warm as well, that forks one command at a time: for each thread of a test one."""

    def __init__(self, env: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, __file__], stdin=pipe, stdout=pipe, env=dict(env), text=True)

    def __enter__(self) -> "Forge":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, words: list[str], *, cwd: Path, timeout_s: float = 60.0) -> Done:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps([words, str(cwd), timeout_s]) + "\n")
        stdin.flush()
        return Done(*json.loads(stdout.readline()))


def _serve() -> None:
    for line in sys.stdin:
        words, cwd, timeout_s = json.loads(line)
        done = run(words, cwd=Path(cwd), timeout_s=timeout_s)
        print(json.dumps([done.returncode, done.stdout, done.stderr]), flush=True)


def _be_command(words: list[str], cwd: Path, env: dict[str, str], streams: tuple[int, int, int], main: Main) -> None:
    code = 70
    try:
        gc.freeze()  # else a collection would copy every page that it shares with its parent
        nothing = os.open(os.devnull, os.O_RDWR)
        _take(streams)
        _leave_other_files(nothing)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        code = main(words)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        _leave(code)


def _take(streams: tuple[int, int, int]) -> None:
    """Be given the three streams, as an interpreter that starts finds them."""
    kept = [one if one == CLOSED else os.dup(one) for one in streams]  # they may lie in each other's places
    for place, one in enumerate(kept):
        if one == CLOSED:
            os.close(place)
        else:
            os.dup2(one, place)
    for one in kept:
        if one != CLOSED:
            os.close(one)
    sys.stdin = None if streams[0] == CLOSED else open(0, closefd=False)  # type: ignore[assignment]
    sys.stdout = _written(1, streams[1], "strict")  # type: ignore[assignment]
    sys.stderr = _written(2, streams[2], "backslashreplace")  # type: ignore[assignment]
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def _leave_other_files(nothing: int) -> None:
    """The parent's ends of pipes would keep them open. No number comes free: what is closed late hits no other file."""
    for one in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        if one not in (0, 1, 2):
            with suppress(OSError):  # the listing's own is closed
                os.fstat(one)
                os.dup2(nothing, one)


def _written(place: int, stream: int, errors: str) -> TextIO | None:
    if stream == CLOSED:
        return None
    buffering = 1 if place == 2 or os.isatty(place) else -1
    return open(place, "w", buffering, errors=errors, closefd=False)


def _leave(code: int) -> None:
    """End as an interpreter does: what stdout does not take at the end is a code of its own."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException:
        code = 120
    finally:
        os._exit(code)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


if __name__ == "__main__":
    _serve()
