"""Running the real hook as installers do, by path, isolated, without site-packages; or forked from what did so once."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hook_forge import forge

HOOK = Path(__file__).parents[2] / "ai_memory" / "hook.py"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "hooks"
PYTHON = [sys.executable, "-I", "-S"]


DEAD_MOUNT = """
import os, sys, time
sys.path.append(sys.argv.pop(1))
def hang(real):
    def call(path, *rest, **more):
        if str(path).startswith("/dead"):
            time.sleep(30)
        return real(path, *rest, **more)
    return call
os.stat, os.lstat, os.path.realpath = hang(os.stat), hang(os.lstat), hang(os.path.realpath)
from ai_memory.hook_front import main
main(sys.argv[1:])
"""
"""A hook for which every look at a path below `/dead` takes half a minute."""


def content_of(payload: object) -> bytes:
    return payload if isinstance(payload, bytes) else json.dumps(payload).encode()


@dataclass(frozen=True)
class Ran:
    """One run of the hook."""

    code: int
    out: bytes
    err: bytes

    @property
    def answer(self) -> Any:
        return json.loads(self.out)

    @property
    def context(self) -> str:
        """What a Claude-shaped answer injects."""
        return str(self.answer["hookSpecificOutput"]["additionalContext"])


class Desk:
    """An initialised data dir, and a checkout to work in. No drain starts unless asked for."""

    def __init__(self, root: Path, *, is_waiting: bool = True) -> None:
        """`is_waiting`: starts wait a second and a half for what the drain that seems to be at work might write."""
        self.is_waiting = is_waiting
        self.data = root / "data"
        self.checkout = root / "shop"
        (self.data / "wiki").mkdir(parents=True)
        (self.data / "locks").mkdir()
        (self.checkout / ".git").mkdir(parents=True)
        (self.checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.environ = {name: os.environ[name] for name in ("HOME", "PATH")} | {"AI_MEMORY_CAPTURE_OWNER": ""}
        self.keep_drain_away()

    def keep_drain_away(self) -> None:
        """A fresh beat: hooks believe that a drain is at work. Each run of a hook keeps it fresh."""
        (self.data / "locks" / "drain.beat").touch()

    def _beat(self) -> None:
        with contextlib.suppress(FileNotFoundError):  # the test took it away: a drain may come
            os.utime(self.data / "locks" / "drain.beat")

    def words(self, event: str, agent: str = "claude-code", *more: str) -> list[str]:
        return [*PYTHON, str(HOOK), "--data-dir", str(self.data), "--event", event, "--agent", agent, *more]

    def run(
        self,
        event: str,
        payload: object,
        *more: str,
        agent: str = "claude-code",
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Ran:
        """One hook with that payload: bytes as they are, anything else as JSON."""
        self._beat()
        words = self.words(event, agent, *more)[len(PYTHON) + 1 :]
        told = {"env": self.environ | dict(environ or {}), "cwd": cwd or self.checkout}
        return Ran(*forge().run(words, content_of(payload), is_waiting=self.is_waiting, **told))

    def run_alone(self, event: str, payload: object) -> Ran:
        """The same in an interpreter of its own, beside others that run."""
        self._beat()
        done = subprocess.run(
            self.words(event),
            input=content_of(payload),
            capture_output=True,
            env=self.environ,
            cwd=self.checkout,
            timeout=30,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def payload(self, native: str, **more: object) -> dict[str, object]:
        return {"session_id": "s-1", "cwd": str(self.checkout), "hook_event_name": native} | more

    def events(self) -> list[dict[str, Any]]:
        """The spooled events, oldest first."""
        spool = self.data / "spool"
        names = sorted(path for path in spool.iterdir() if path.name[0] != ".") if spool.is_dir() else []
        return [json.loads(path.read_bytes()) for path in names if path.suffix == ".json"]

    def event(self) -> dict[str, Any]:
        (only,) = self.events()
        return only

    def files(self) -> set[str]:
        """Every file and folder of the data dir."""
        return {str(path.relative_to(self.data)) for path in self.data.rglob("*")}
