"""The words of this room: a session that was found, its header, one thing that it tells, what had to be left out."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

Record = Mapping[str, Any]
"""One JSON object of a transcript. Whatever it holds is untrusted."""

MAX_FILES = 50_000
"""Files that are looked at over all harnesses."""
MAX_RECORD_BYTES = 1 << 20
"""The longest line of 288 real sessions has 1,046,941 characters (2026-11-30)."""
MAX_RECORDS = 32_768
MAX_SOURCE_BYTES = 64 << 20
"""Of one session."""
HEAD_RECORDS = 64
HEAD_BYTES = 1 << 20
"""Of a session that is not chosen yet: enough for the header in every format."""

Ask = Callable[[str, tuple[object, ...]], Iterable[tuple[Any, ...]]]
"""Rows of a database that only reads."""


@dataclass(slots=True)
class Losses:
    """What was left out, counted by what it was. Told once, in order of coming."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, what: str, number: int = 1) -> None:
        """`what` stands after a number: `records longer than 1 MiB`."""
        if number:
            self.counts[what] += number


@dataclass(frozen=True, slots=True)
class Around:
    """Where to look, and for which folders."""

    home: str
    environ: Mapping[str, str]
    ask: Callable[[str], AbstractContextManager[Ask | None]]
    """Opens a database of somebody else's to read; None where that cannot be done without changing anything."""
    roots: tuple[str, ...] = ()
    """Real paths of the checkouts that are wanted. Empty: sessions of any folder."""

    def folder(self, variable: str, *default: str) -> str:
        """The folder that a variable names, else one below the home folder. A blank variable counts as not set."""
        named = self.environ.get(variable, "").strip() if variable else ""
        return named or "/".join((self.home.rstrip("/\\"), *default))


@dataclass(frozen=True, slots=True)
class Found:
    """A session that lies somewhere, not opened yet."""

    agent: str
    path: str
    changed_us: int
    size_bytes: int
    native_id: str = ""
    """Where the place itself names it, as a row of a database does."""
    cwd: str = ""
    """Likewise."""


@dataclass(frozen=True, slots=True)
class Header:
    """What the beginning of a session says of it. Empty where it does not say."""

    native_id: str
    cwd: str
    started_us: int = 0
    branch: str = ""
    commit: str = ""
    is_subagent: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that a session tells: a canonical kind of event with what belongs to it. Not clean."""

    kind: str
    at_us: int
    """Strictly growing within a session, in the order of its records."""
    key: str
    """Names the record within its session: the same one has the same key each time it is read."""
    cwd: str = ""
    text: str = ""
    tool: str = ""
    call_id: str = ""
    input: Any = None
    output: Any = None
    is_error: bool | None = None
    """None where nothing says."""
