"""The words of this room: a finding, how bad it is, what mends it, one row of the table of checks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ai_memory.diagnosis.ground import Ground


class Severity(StrEnum):
    """From what is only good to know to what loses work."""

    NOTE = "note"
    UNCHECKED = "unchecked"
    """It could not be looked at, so nobody knows."""
    WARNING = "warning"
    BROKEN = "broken"
    """Sessions, or pages, are lost or out of reach as long as it stays."""


class Repair(StrEnum):
    """What `--fix` does by itself: nothing that could lose anything, nor decide in a person's place."""

    DRAIN = "apply what waits"
    REBUILD = "rebuild the index"
    REWIRE = "write our entries anew"
    SWEEP = "remove half-written files"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    code: str
    """Its name in `docs/doctor.md`."""
    severity: Severity
    sentence: str
    fix: str = ""
    """The command that mends it, else what a person does; empty where nothing needs to be done."""
    agent: str = ""
    """The harness it is about; empty: the memory itself."""
    repair: Repair | None = None
    whats: tuple[str, ...] = ()
    """Of REWIRE: which of the agent's entries, `hooks` or `mcp`."""

    @property
    def line(self) -> str:
        """The sentence with what mends it."""
        told = f"run {self.fix}" if self.fix.startswith("ai-memory ") else self.fix
        return f"{self.sentence}; {told}" if told else self.sentence


@dataclass(frozen=True, slots=True)
class Check:
    """One look at one thing."""

    name: str
    title: str
    look: "Callable[[Ground], Iterable[Finding]]"
    codes: tuple[str, ...]
    """All that it may find."""
