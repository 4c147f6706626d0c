"""What readers and writers need to know of the memory that they work for."""

from collections.abc import Callable
from typing import Protocol

from ai_memory.clock import Clock
from ai_memory.errors import MemoryFault
from ai_memory.model import Caller
from ai_memory.paths import DataDir


class Desk(Protocol):
    """The store's view of `Memory`."""

    data_dir: DataDir
    caller: Caller
    clock: Clock
    lock_timeout_s: float
    command: str
    step: Callable[[str], None]

    def hindrance(self) -> MemoryFault | None:
        """What keeps writers out of the wiki."""

    def rebuild_beside(self) -> None:
        """Start a rebuild of the index in a process of its own."""
