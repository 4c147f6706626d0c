"""A command in a child of this very process: streams and a death of its own, and its imports made once for all."""

# ruff: noqa: SIM115, BLE001 (the child is a process of its own until it leaves)

import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
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


def run(
    words: list[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    timeout_s: float = 60.0,
) -> Done:
    """`ai-memory` with these words in a forked child. One that hangs is killed and fails.

    Streams are descriptors, or `CLOSED`; without one, stdin is empty, and what is written to the others is told.
    """
    with TemporaryFile("w+b") as out, TemporaryFile("w+b") as err, open(os.devnull, "rb") as nothing:
        streams = (
            nothing.fileno() if stdin is None else stdin,
            out.fileno() if stdout is None else stdout,
            err.fileno() if stderr is None else stderr,
        )
        code = wait(start(words, cwd=cwd, env=env, streams=streams), timeout_s=timeout_s)
        return Done(code, _text(out), _text(err))


def start(words: list[str], *, cwd: Path, env: Mapping[str, str] | None = None, streams: tuple[int, int, int]) -> int:
    """The same, as a child that runs: its process number, to be waited for."""
    pid = os.fork()
    if pid == 0:
        _be_command(words, cwd, dict(os.environ if env is None else env), streams)
    return pid


def wait(child: int, *, timeout_s: float = 60.0) -> int:
    """How the child ended, as `subprocess` tells it."""
    deadline = time.monotonic() + timeout_s
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError("the command hangs")
        time.sleep(0.005)


def _be_command(words: list[str], cwd: Path, env: dict[str, str], streams: tuple[int, int, int]) -> None:
    code = 70
    try:
        gc.freeze()  # else a collection would copy every page that it shares with its parent
        _take(streams)
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
