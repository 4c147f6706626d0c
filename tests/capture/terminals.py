"""A data dir, checkouts, and agents that leave spool files exactly as hooks write them."""

import json
import subprocess
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from ai_memory.capture.draining import Drainer
from ai_memory.model import Caller, Page
from ai_memory.paths import DataDir
from ai_memory.store import state_sessions
from ai_memory.store.memory import Memory
from ai_memory.store.outbox import Outbox
from ai_memory.store.snapshot import Filter
from ai_memory.store.state import Drain
from ai_memory.store.state_sessions import Observation, Session

NINE_US = 1_796_029_200_000_000
"""2026-11-30T09:00:00Z."""
SECOND_US = 1_000_000


@dataclass
class Room:
    """One data dir and what surrounds it. `now_us` is the drain's clock."""

    root: Path
    now_us: int = NINE_US + 3_600 * SECOND_US
    written: int = 0

    @property
    def data_dir(self) -> DataDir:
        return DataDir(self.root / "data")

    @property
    def outbox(self) -> Outbox:
        return Outbox(self.data_dir)

    def memory(self, **options: object) -> Memory:
        caller = Caller(cwd=None, environ={}, home=str(self.root / "home"), face="drain")
        return Memory.open(self.data_dir, caller=caller, clock=lambda: self.now_us, **options)  # type: ignore[arg-type]

    def checkout(self, name: str = "shop") -> str:
        """A folder with a real git repository."""
        folder = self.root / name
        if not folder.exists():
            folder.mkdir()
            subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
        return str(folder)

    def drain(self) -> Drain:
        return Drainer(self.memory()).run()

    def spool(self, record: object, *, at_us: int, raw: bytes | None = None) -> str:
        """Write one spool file; gives its name."""
        self.written += 1
        folder = self.data_dir.spool
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{at_us * 1000:019d}-77-{self.written:08x}.json"
        (folder / name).write_bytes(raw if raw is not None else json.dumps(record).encode())
        return name

    def waiting(self) -> list[str]:
        return sorted(path.name for path in self.data_dir.spool.glob("*.json"))

    def pages(self, kind: str) -> list[Page]:
        with self.memory().reading() as snapshot:
            return snapshot.select(Filter(kind=kind), sort="path").pages

    def session_page(self) -> Page:
        [page] = self.pages("session")
        return page

    def session(self, identifier: str) -> Session:
        with self.memory().state_reading() as connection:
            assert connection is not None
            found = state_sessions.session(connection, identifier)
        assert found is not None
        return found

    def observations(self, identifier: str) -> list[Observation]:
        with self.memory().state_reading() as connection:
            return state_sessions.observations(connection, identifier) if connection is not None else []

    def git(self, *words: str) -> str:
        command = ["git", "-C", str(self.data_dir.wiki), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@dataclass
class Agent:
    """One session of one agent. Every event comes two and a half seconds after the one before."""

    room: Room
    cwd: str
    agent: str = "claude-code"
    at_us: int = NINE_US
    session: str = field(default_factory=lambda: str(uuid.uuid4()))
    process: int = 0

    def tell(self, event: str, *, at_us: int | None = None, **more: object) -> str:
        """Spool one event; gives the file's name."""
        if at_us is None:
            self.at_us += 2_500_000
            at_us = self.at_us
        record = {
            "v": 1,
            "agent": self.agent,
            "caller": self.agent,
            "event": event,
            "source_event": event,
            "at_us": at_us,
            "session": self.session,
            "cwd": self.cwd,
            "extra": {"process": self.process} if self.process else {},
            **more,
        }
        return self.room.spool(record, at_us=at_us)

    def start(self) -> None:
        self.tell("session-start")

    def prompt(self, text: str, **more: object) -> None:
        self.tell("user-prompt", text=text, **more)

    def tool(self, tool: str, given: object, output: str = "", outcome: str = "success", **more: object) -> None:
        call_id = f"call-{self.room.written}"
        self.tell("pre-tool-use", tool=tool, input=given, call_id=call_id, **more)
        self.tell("post-tool-use", tool=tool, input=given, call_id=call_id, output=output, outcome=outcome, **more)

    def bash(self, command: str, output: str = "", outcome: str = "success") -> None:
        self.tool("Bash", {"command": command}, output, outcome)

    def edit(self, path: str) -> None:
        self.tool("Edit", {"file_path": f"{self.cwd}/{path}"})

    def read(self, path: str) -> None:
        self.tool("Read", {"file_path": f"{self.cwd}/{path}"}, "text")

    def stop(self) -> None:
        self.tell("stop")

    def end(self) -> None:
        self.tell("session-end", extra={"reason": "prompt_input_exit"})

    def work(self) -> None:
        """A short session with all that a page tells of."""
        self.start()
        self.prompt("Order 4711 prints 10.00, it should print 9.99. Find the rounding fault.")
        self.read("till.py")
        self.bash("python -m pytest -q", "E   AssertionError: 10 != 9.99\n1 failed, 3 passed in 0.2s", "error")
        self.edit("till.py")
        self.bash("python -m pytest -q", "4 passed in 0.2s")
        self.prompt("ok")
        self.stop()
        self.end()

    def claim(self, handoff: str) -> str | None:
        """Take an open handoff as a start hook does: rename, print, say so."""
        text = self.room.outbox.claim(handoff, self.session)
        if text is not None:
            self.tell("handoff-claimed", extra={"handoff": handoff})
        return text
