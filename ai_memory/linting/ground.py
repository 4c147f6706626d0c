"""What checks look at, each thing read once: one snapshot of the pages, and what `state.db` tells of their use."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ai_memory.config_table import Config
from ai_memory.linting.marks import Marks, marks_of
from ai_memory.model import PageRef, Project, Scope, Tier
from ai_memory.store.addresses import NO_REPORT
from ai_memory.store.fact_rows import FactRow, facts_of
from ai_memory.store.feedback import Feedback, feedback
from ai_memory.store.usage import NEVER, Access, accesses, recorded_since_us
from ai_memory.text.sanitize import NO_PATTERNS, OwnPatterns

if TYPE_CHECKING:
    from ai_memory.store.driver import Connection
    from ai_memory.store.snapshot import Snapshot

PAST_KINDS = frozenset({"session", "handoff"})
"""They tell of the past: nobody is to mend them."""


_HEADS = """
    SELECT p.workspace, p.project, p.path, p.version, p.title, p.kind, p.tier, p.pinned, p.expires_at_us,
        p.updated_at_us, p.superseded, p.fault, p.frontmatter
    FROM pages AS p WHERE {here} ORDER BY p.workspace, p.project, p.path
"""
_TEXTS = """
    SELECT p.workspace, p.project, p.path, p.text, p.body_start FROM pages AS p
    WHERE {here} ORDER BY p.workspace, p.project, p.path
"""
_ANOTHER = f"""
    FROM links AS l JOIN pages AS p ON p.id = l.source_id
    WHERE (l.workspace, l.project, l.path) <> (p.workspace, p.project, p.path) AND {NO_REPORT}
"""
_LINKED = f"SELECT DISTINCT l.workspace, l.project, l.path {_ANOTHER}"
_LINKING = f"SELECT DISTINCT p.workspace, p.project, p.path {_ANOTHER}"


@dataclass(frozen=True, slots=True)
class Head:
    """One page without its text."""

    ref: PageRef
    version: str
    title: str
    kind: str
    tier: Tier
    is_pinned: bool
    expires_at_us: int | None
    updated_at_us: int
    is_superseded: bool
    fault: str
    frontmatter: str
    """As JSON."""

    @property
    def keys(self) -> Mapping[str, object]:
        found = json.loads(self.frontmatter)
        return found if isinstance(found, dict) else {}

    @property
    def place(self) -> tuple[str, str]:
        return self.ref.workspace, self.ref.project

    @property
    def is_rule(self) -> bool:
        return self.kind == "rule" or self.ref.path.startswith("_rules/")

    @property
    def is_slot(self) -> bool:
        return self.kind == "slot" or self.ref.path.startswith("_slots/")


def no_progress(_: int, __: int) -> None:
    """For whoever watches nothing."""


@dataclass(frozen=True)
class Ground:
    """One look at the pages of one project, or of all."""

    snapshot: "Snapshot"
    state: "Connection | None"
    config: Config
    now_us: int
    scope: Scope | None = None
    """Where the caller stands; its checkout is looked at."""
    place: tuple[str | None, str | None] = (None, None)
    """Workspace and project; None: all."""
    own: OwnPatterns = NO_PATTERNS
    hides_private: bool = True
    """Whether private projects that nobody named, and that the caller does not stand in, are left out."""
    progress: Callable[[int, int], None] = no_progress
    gaps: list[str] = field(default_factory=list)
    """What could not be looked at."""

    @cached_property
    def hidden(self) -> frozenset[tuple[str, str]]:
        """Workspace and project of those that are left out."""
        if not self.hides_private:
            return frozenset()
        here = (self.scope.workspace, self.scope.project) if self.scope is not None else None
        return self.snapshot.private_projects() - {here, self.place}

    @cached_property
    def heads(self) -> Mapping[PageRef, Head]:
        """Every page that is looked at, by address. Reports of earlier looks are none."""
        rows = self.snapshot.index.execute(_HEADS.format(here=self.here), self.parameters)
        return {head.ref: head for row in rows if (head := _head(row)).place not in self.hidden}

    @cached_property
    def live(self) -> tuple[Head, ...]:
        """Those that no other page replaced."""
        return tuple(head for head in self.heads.values() if not head.is_superseded)

    @cached_property
    def lasting(self) -> tuple[Head, ...]:
        """Those of them that tell of more than one session."""
        return tuple(head for head in self.live if head.kind not in PAST_KINDS)

    @property
    def here(self) -> str:
        """Conditions over `pages AS p`, for `parameters`."""
        return f"(?1 IS NULL OR p.workspace = ?1) AND (?2 IS NULL OR p.project = ?2) AND {NO_REPORT}"

    @property
    def parameters(self) -> tuple[str | None, str | None]:
        return self.place

    @cached_property
    def marks(self) -> Mapping[PageRef, Marks]:
        """What the texts show, read in one pass."""
        return dict(self._marks())

    def _marks(self) -> Iterator[tuple[PageRef, Marks]]:
        done, whole, is_slow = 0, len(self.heads), False
        for *address, text, body_start in self.snapshot.index.execute(_TEXTS.format(here=self.here), self.parameters):
            ref = PageRef(*address)
            if ref not in self.heads:
                continue
            found = marks_of(text, body_start, self.own)
            is_slow = is_slow or found.was_slow
            yield ref, found
            done += 1
            if done % 100 == 0 or done == whole:
                self.progress(done, whole)
        if is_slow:
            self.gaps.append("your own patterns took too long over some pages: only ours were looked for there")

    @cached_property
    def linked(self) -> frozenset[PageRef]:
        """Addresses that another page links to, from wherever."""
        return frozenset(PageRef(*row) for row in self.snapshot.index.execute(_LINKED))

    @cached_property
    def linking(self) -> frozenset[PageRef]:
        """Pages that link to another address."""
        return frozenset(PageRef(*row) for row in self.snapshot.index.execute(_LINKING))

    @cached_property
    def projects(self) -> tuple[Project, ...]:
        """All that are there, also those that are not looked at."""
        return tuple(self.snapshot.projects())

    @cached_property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Workspace and project of what is looked at."""
        return tuple(dict.fromkeys(head.place for head in self.heads.values()))

    @cached_property
    def facts(self) -> tuple[FactRow, ...]:
        """Those that are not closed."""
        rows = (row for place in self.places for row in facts_of(self.snapshot.index, *place))
        return tuple(row for row in rows if not row.fact.standing.is_terminal)

    @cached_property
    def reads(self) -> Mapping[PageRef, Access]:
        return accesses(self.state, *self.place)

    def read_of(self, head: Head) -> Access:
        """How often the page was read."""
        return self.reads.get(head.ref, NEVER)

    @cached_property
    def reads_since_us(self) -> int | None:
        """Since when reads are recorded; None: not at all."""
        return recorded_since_us(self.state)

    @cached_property
    def said(self) -> Mapping[PageRef, list[Feedback]]:
        """Feedback by page, oldest first."""
        return feedback(self.state, *self.place)

    @property
    def root(self) -> str | None:
        """The caller's checkout, where its project is looked at."""
        scope = self.scope
        return scope.root if scope is not None and (scope.workspace, scope.project) in self.places else None


def _head(row: tuple[object, ...]) -> Head:
    expires = row[8]
    return Head(
        ref=PageRef(str(row[0]), str(row[1]), str(row[2])),
        version=str(row[3]),
        title=str(row[4]),
        kind=str(row[5]),
        tier=Tier(str(row[6])),
        is_pinned=bool(row[7]),
        expires_at_us=None if expires is None else int(str(expires)),
        updated_at_us=int(str(row[9])),
        is_superseded=bool(row[10]),
        fault=str(row[11]),
        frontmatter=str(row[12]),
    )
