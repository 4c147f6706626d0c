"""The words of this room: a finding, how bad it is, what mends it, one row of the table of checks."""

import hashlib
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ai_memory.model import PageRef

if TYPE_CHECKING:
    from ai_memory.linting.ground import Ground


class Severity(StrEnum):
    """From what is only good to know to what must not stay."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Higher is worse."""
        return (Severity.INFO, Severity.WARNING, Severity.ERROR).index(self)


class Mend(StrEnum):
    """What `--fix` does by itself: it takes no knowledge away, and decides in nobody's place."""

    RELINK = "let the link lead to where the page is now"
    REDACT = "put a label in the secret's place"
    REMOVE = "remove the empty page"


_NONE: Mapping[Any, Any] = MappingProxyType({})
"""One for all: a look at 100,000 pages finds as many pages without links."""


def _none() -> Mapping[Any, Any]:
    return _NONE


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    kind: str
    """Its name in `docs/lint.md`."""
    severity: Severity
    message: str
    """Follows the page's name."""
    pages: tuple[PageRef, ...]
    """The page that it is about, then the others that take part."""
    fix: str
    """The command that mends it, else what a person does."""
    key: str = ""
    """What tells it from others of its kind about the same pages: no number that grows by itself."""
    mend: Mend | None = None
    onto: Mapping[PageRef, PageRef] = field(default_factory=_none)
    """Of RELINK: address that leads nowhere → page that is meant."""
    figures: Mapping[str, float | int | None] = field(default_factory=_none)
    """What was measured."""

    @property
    def fingerprint(self) -> str:
        """By which it is known again tomorrow: 32 hex."""
        parts = (self.kind, self.key, *(ref.git_path for ref in self.pages))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Check:
    """One look at one thing."""

    name: str
    title: str
    look: "Callable[[Ground], Iterable[Finding]]"
    kinds: tuple[str, ...]
    """All that it may find."""


def named(ref: PageRef) -> str:
    """The page as a command takes it, from wherever it is run."""
    return shlex.quote(str(ref))


def command(*words: str) -> str:
    """A command line to paste; what it names is quoted."""
    return " ".join(("ai-memory", *map(shlex.quote, words)))
