"""The words of the house as frozen values, shared by every room above the ground floor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

Sanitized = NewType("Sanitized", str)
"""Text that went through the sanitiser. Only `ai_memory.text.sanitize.sanitize` makes one."""

NO_TEXT = Sanitized("")


class Tier(StrEnum):
    """How long a page is meant to live."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class ResolvedBy(StrEnum):
    """What told the scope. The last two are guesses: writes and deletes refuse them."""

    FLAG = "flag"
    SESSION = "session"
    MARKER = "marker"
    ROUTE = "route"
    REMOTE = "remote"
    GIT_ROOT = "git-root"
    ROOTS = "roots"
    DIRECTORY = "directory"
    FALLBACK = "fallback"
    ROOTS_AMBIGUOUS = "roots-ambiguous"


@dataclass(frozen=True, slots=True)
class Scope:
    """One workspace and project, and what told it."""

    workspace: str
    project: str
    resolved_by: ResolvedBy
    identity: str | None = None
    """Normalised remote (`host/owner/repo`), or absolute path of a folder without one."""
    identity_source: str | None = None
    """`marker`, `upstream`, `origin`, `git-root` or `directory`."""
    aliases: tuple[str, ...] = ()
    root: str | None = None
    """Absolute path of the checkout, or of the folder, that the scope was read from."""
    why: str = ""
    """One sentence for a person."""
    warnings: tuple[str, ...] = ()
    """What was ignored on the way (unknown keys of a marker, a symlink that leads out)."""
    private: bool | None = None
    """Whether a marker keeps the project out of every answer but its own; None where none says."""
    default_global: bool = False
    """Whether a marker lets what names no project look over all of them."""

    @property
    def is_guess(self) -> bool:
        return self.resolved_by in (ResolvedBy.FALLBACK, ResolvedBy.ROOTS_AMBIGUOUS)


@dataclass(frozen=True, slots=True)
class Project:
    """One project as its `_meta.md` tells it."""

    id: str
    workspace: str
    name: str
    identity: str | None = None
    identity_source: str | None = None
    aliases: tuple[str, ...] = ()
    former_names: tuple[str, ...] = ()
    created_at_us: int = 0
    private: bool = False
    """Its pages answer nobody who did not name it or stand in it."""

    def was_called(self, workspace: str, name: str) -> bool:
        """Whether that is an alias or former name of it; one in another workspace stands there as `workspace/name`."""
        if f"{workspace}/{name}" in self.former_names:
            return True
        return workspace == self.workspace and name in (*self.aliases, *self.former_names)


@dataclass(frozen=True, slots=True, order=True)
class PageRef:
    """Address of a page: `path` is relative to the project, with `/` and the `.md` ending."""

    workspace: str
    project: str
    path: str

    @property
    def git_path(self) -> str:
        """Path inside the wiki's repository."""
        return f"{self.workspace}/{self.project}/{self.path}"

    def __str__(self) -> str:
        return f"{self.workspace}/{self.project}:{self.path}"


@dataclass(frozen=True, slots=True)
class Page:
    """One version of a page, text and what its frontmatter says."""

    ref: PageRef
    version: str
    """Git blob id, 40 hex. Shown as 12, accepted from 7."""
    text: str
    """The whole file."""
    title: str
    kind: str
    tier: Tier
    tags: tuple[str, ...] = ()
    pinned: bool = False
    expires_at_us: int | None = None
    updated_at_us: int = 0
    """Time of the commit that last changed it."""
    frontmatter: Mapping[str, object] = field(default_factory=dict)
    body: str = ""
    fault: str = ""
    """What of it cannot be read, with file and line; empty when all can."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who a commit names."""

    name: str
    email: str


MACHINE = Author("ai-memory", "ai-memory@localhost")
"""Author of what no person typed (decision A14)."""


def never() -> bool:
    """A command is not given up: who interrupts it ends its process."""
    return False


def nobody(_: str) -> bool:
    """No person is there to be asked."""
    return False


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a call comes from. Everything that scope resolution may look at, and whether it is still wanted."""

    cwd: str | None
    environ: Mapping[str, str]
    home: str
    face: str = "cli"
    """`cli`, `bridge`, `drain` or `hook`."""
    roots: tuple[str, ...] = ()
    """Folders that an MCP client offers."""
    session_id: str | None = None
    agent: str | None = None
    is_given_up: Callable[[], bool] = field(default=never, compare=False)
    """Whether nobody takes the answer any more: what has not begun to write then writes nothing."""
    confirms: Callable[[str], bool] = field(default=nobody, compare=False)
    """Asks the person at the terminal; False where none is there. No agent can answer in a person's name."""


@dataclass(frozen=True, slots=True, order=True)
class Encoder:
    """What made a vector. Vectors of two encoders are never compared."""

    provider: str
    model: str
    dim: int
    document_prefix: str = ""
    """Stood before each text. The query's prefix is no part of this: it changes no stored vector."""

    @property
    def key(self) -> tuple[str, str, int, str]:
        """All that tells it from others, in the order of the tables `encoders`."""
        return self.provider, self.model, self.dim, self.document_prefix

    def __str__(self) -> str:
        return f"{self.provider} {self.model}, {self.dim} numbers"
