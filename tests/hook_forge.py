"""A warm interpreter that forks a hook a call: a process of its own, with the hook's modules there already.

Run by path it is that interpreter, as isolated as a hook's own. Standard library only: each fork carries what it loads.
"""

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEADLINE_S = 30.0
_forges: "list[Forge]" = []


def forge() -> "Forge":
    """Started with the first hook that is run, and there for all tests of this process."""
    if not _forges:
        _forges.append(Forge())
    return _forges[0]


class Forge:
    """It ends with the process that started it."""

    def __init__(self) -> None:
        import subprocess
        from tempfile import TemporaryDirectory

        self._folder = TemporaryDirectory()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(
        self, words: "list[str]", content: bytes, *, env: "Mapping[str, str]", cwd: "Path", is_waiting: bool = True
    ) -> "tuple[int, bytes, bytes]":
        """Exit code, stdout and stderr of a hook with these words and that stdin. One that hangs fails.

        `is_waiting`: a start waits for a handoff that a drain may be writing just now.
        """
        import select
        from pathlib import Path

        streams = [Path(self._folder.name) / name for name in ("in", "out", "err")]
        streams[0].write_bytes(content)
        places = {"cwd": str(cwd), "streams": list(map(str, streams))}
        told = {"words": words, "env": dict(env), "is_waiting": is_waiting} | places
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(told).encode() + b"\n")
        stdin.flush()
        if not select.select([stdout], [], [], DEADLINE_S)[0]:
            self._process.kill()
            raise TimeoutError("the hook hangs")
        return int(stdout.readline()), streams[1].read_bytes(), streams[2].read_bytes()


def _serve() -> None:
    import gc

    sys.path.append(ROOT)
    from ai_memory import hook_front

    here = os.path.dirname(hook_front.__file__)
    for name in sorted(os.listdir(here)):  # noqa: PTH208
        if name.startswith(("hook_", "scrub")) and name.endswith(".py"):
            __import__(f"ai_memory.{name[:-3]}")
    gc.freeze()
    for line in sys.stdin.buffer:
        told = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                _take(told)
                hook_front.main(sys.argv[1:])
            finally:
                os._exit(70)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _take(told: "dict[str, Any]") -> None:
    """Be the process that was asked for."""
    kinds = (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_TRUNC] * 2)
    for place, (path, kind) in enumerate(zip(told["streams"], kinds, strict=True)):
        one = os.open(path, kind, 0o600)
        os.dup2(one, place)
        os.close(one)
    os.environ.clear()
    os.environ.update(told["env"])
    os.chdir(told["cwd"])
    sys.argv[1:] = told["words"]
    if not told["is_waiting"]:
        from ai_memory import hook_outbox

        hook_outbox.WAIT_S = 0.0


if __name__ == "__main__":
    _serve()
