"""A command in a child of this very process: streams and a death of its own, and its imports made once for all."""

# ruff: noqa: SIM115, BLE001 (the child is a process of its own until it leaves)

import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import ai_memory.capture.draining
import ai_memory.cli.app
import ai_memory.operations.write
import ai_memory.store.writing  # noqa: F401 (what every child needs)
from ai_memory.__main__ import main


@dataclass(frozen=True)
class Done:
    """What `subprocess.run` would tell."""

    returncode: int
    stdout: str
    stderr: str


def run(words: list[str], *, cwd: Path, env: Mapping[str, str] | None = None, timeout_s: float = 60.0) -> Done:
    """`ai-memory` with these words in a forked child, with nothing on stdin. One that hangs is killed and fails."""
    with TemporaryFile("w+b") as out, TemporaryFile("w+b") as err:
        child = os.fork()
        if child == 0:
            _be_command(words, cwd, dict(os.environ if env is None else env), out, err)
        code = _wait(child, time.monotonic() + timeout_s)
        return Done(code, _text(out), _text(err))


def _be_command(words: list[str], cwd: Path, env: dict[str, str], out: IO[bytes], err: IO[bytes]) -> None:
    code = 70
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdin = open(0, closefd=False)
        sys.stdout = open(1, "w", closefd=False)
        sys.stderr = open(2, "w", closefd=False)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        code = main(words)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int, deadline: float) -> int:
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError("the command hangs")
        time.sleep(0.005)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
