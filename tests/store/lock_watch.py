"""Watches every process of a test at the writer lock: who asked when, was seated when, and held it from when to when.

`environment` makes each Python that is started with it write one line an acquisition. The clock is the system's
monotonic one, which all processes share.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_SITECUSTOMIZE = """
import json, os, time
from contextlib import contextmanager
from threading import local
from ai_memory.store import lock

lock.SILENT_S = 600.0  # a busy machine may leave a waiter without CPU for a second: that is no killed one
here = local()
held, enter = lock.WriterLock.held, lock._Seat.__enter__

@contextmanager
def watched(self, timeout_s):
    row = here.row = {"command": self._command, "asked": time.monotonic(), "seated": None}
    with held(self, timeout_s):
        row["got"] = time.monotonic()
        try:
            yield
        finally:
            row["left"] = time.monotonic()
            with open(%r, "a") as file:
                file.write(json.dumps(row) + "\\n")

def seated(self):
    seat = enter(self)
    here.row["seated"] = time.monotonic()
    return seat

lock.WriterLock.held, lock._Seat.__enter__ = watched, seated
"""


@dataclass(frozen=True)
class Turn:
    """One time that somebody held the lock. Seconds of the monotonic clock."""

    command: str
    asked: float
    seated: float | None
    """When it took a seat; None where it found the lock free."""
    got: float
    left: float

    @property
    def waited(self) -> float:
        return self.got - self.asked

    @property
    def held(self) -> float:
        return self.left - self.got


def environment(folder: Path) -> dict[str, str]:
    """The environment of processes that are watched; their lines go to a file in that folder."""
    program = folder / "sitecustomize.py"
    if not program.exists():
        program.write_text(_SITECUSTOMIZE % str(folder / "turns"))
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return os.environ | {"PYTHONPATH": path}


def turns(folder: Path) -> list[Turn]:
    """All turns, in order of time."""
    rows = [Turn(**json.loads(line)) for line in (folder / "turns").read_text().splitlines()]
    return sorted(rows, key=lambda turn: turn.got)


def before(turn: Turn, all_turns: Iterable[Turn]) -> list[Turn]:
    """The turns of others that began while that one sat and waited."""
    return [other for other in all_turns if turn.seated is not None and turn.seated < other.got < turn.got]


def overtaking(turn: Turn, all_turns: Sequence[Turn]) -> list[Turn]:
    """Those of them that had only asked when that one sat already."""
    return [other for other in before(turn, all_turns) if turn.seated is not None and other.asked > turn.seated]
