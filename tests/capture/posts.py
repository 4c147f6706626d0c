"""A desk with a filled outbox, at which sessions start."""

import fcntl
from pathlib import Path

from hook_runs import Desk

from ai_memory.paths import DataDir
from ai_memory.store.outbox import Outbox, directory_names, open_name

ID = "019ad0f0e0007000800000000000000a"
NEWER = "019ad0f0f0007000800000000000000b"


class Post(Desk):
    """A desk whose outbox the store itself fills."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.outbox = Outbox(DataDir(self.data))
        (self.data / "locks" / "drain.beat").unlink()
        self._lock = (self.data / "locks" / "drain.lock").open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # drains start, find another one at work, and leave

    def close(self) -> None:
        self._lock.close()

    def put(
        self, handoff: str = ID, *folders: Path, text: str = "Handoff text", name: str = "", mark: str = ""
    ) -> None:
        self.outbox.put(name or open_name(handoff), text)
        for entry in directory_names(handoff, [str(folder) for folder in folders or (self.checkout,)]):
            self.outbox.put(entry, mark)

    def start(self, session: str = "new", agent: str = "claude-code", **more: object) -> bytes:
        payload = self.payload("SessionStart", session_id=session, source="startup") | more
        return self.run("session-start", payload, agent=agent).out

    @property
    def is_open(self) -> bool:
        return (self.data / "outbox" / open_name(ID)).exists()
