"""What checks look at, each thing read once: one snapshot of the pages, and what `state.db` tells of their use."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ai_memory.aging.weights import Scales
from ai_memory.config_table import Config
from ai_memory.linting.marks import Marks, marks_of
from ai_memory.model import PageRef, Project, Scope
from ai_memory.store.addresses import NO_REPORT
from ai_memory.store.fact_rows import FactRow, facts_of
from ai_memory.store.page_heads import PageHead, page_heads
from ai_memory.store.snapshot import Filter
from ai_memory.store.usage import NEVER, Access, recorded_since_us
from ai_memory.text.sanitize import NO_PATTERNS, OwnPatterns

if TYPE_CHECKING:
    from ai_memory.store.driver import Connection
    from ai_memory.store.snapshot import Snapshot

PAST_KINDS = frozenset({"session", "handoff"})
"""They tell of the past: nobody is to mend them."""


_TEXTS = """
    SELECT p.workspace, p.project, p.path, p.text, p.body_start FROM pages AS p
    WHERE {wanted} ORDER BY p.workspace, p.project, p.path
"""
_ANOTHER = f"""
    FROM links AS l JOIN pages AS p ON p.id = l.source_id
    WHERE (l.workspace, l.project, l.path) <> (p.workspace, p.project, p.path) AND {NO_REPORT}
"""
_LINKED = f"SELECT DISTINCT l.workspace, l.project, l.path {_ANOTHER}"
_LINKING = f"SELECT DISTINCT p.workspace, p.project, p.path {_ANOTHER}"


def is_rule(page: PageHead) -> bool:
    return page.kind == "rule" or page.ref.path.startswith("_rules/")


def is_slot(page: PageHead) -> bool:
    return page.kind == "slot" or page.ref.path.startswith("_slots/")


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

    @property
    def wanted(self) -> Filter:
        """The pages that are looked at. Reports of earlier looks are none."""
        return Filter(*self.place, no_reports=True)

    @cached_property
    def heads(self) -> Mapping[PageRef, PageHead]:
        """Every page that is looked at, by address."""
        found = page_heads(self.snapshot.index, self.wanted)
        return {page.ref: page for page in found if (page.ref.workspace, page.ref.project) not in self.hidden}

    @cached_property
    def live(self) -> tuple[PageHead, ...]:
        """Those that no other page replaced."""
        return tuple(page for page in self.heads.values() if not page.superseded)

    @cached_property
    def lasting(self) -> tuple[PageHead, ...]:
        """Those of them that tell of more than one session."""
        return tuple(page for page in self.live if page.kind not in PAST_KINDS)

    @cached_property
    def marks(self) -> Mapping[PageRef, Marks]:
        """What the texts show, read in one pass."""
        return dict(self._marks())

    def _marks(self) -> Iterator[tuple[PageRef, Marks]]:
        done, whole, is_slow = 0, len(self.heads), False
        conditions, parameters = self.wanted.sql()
        rows = self.snapshot.index.execute(_TEXTS.format(wanted=conditions), parameters)
        for *address, text, body_start in rows:
            ref = PageRef(*address)
            if ref not in self.heads:
                continue
            found = marks_of(text, body_start, self.own, is_compared=_is_compared(self.heads[ref]))
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
        return tuple(dict.fromkeys((ref.workspace, ref.project) for ref in self.heads))

    @cached_property
    def facts(self) -> tuple[FactRow, ...]:
        """Those that are not closed."""
        rows = (row for place in self.places for row in facts_of(self.snapshot.index, *place))
        return tuple(row for row in rows if not row.fact.standing.is_terminal)

    @cached_property
    def scales(self) -> Scales:
        """What weighs pages: how often each was read, what was said of it."""
        return Scales.of(self.state, self.config, now_us=self.now_us)

    def read_of(self, page: PageHead) -> Access:
        """How often the page was read."""
        return self.scales.read.get(page.ref, NEVER)

    @cached_property
    def reads_since_us(self) -> int | None:
        """Since when reads are recorded; None: not at all."""
        return recorded_since_us(self.state)

    @property
    def root(self) -> str | None:
        """The caller's checkout, where its project is looked at."""
        scope = self.scope
        return scope.root if scope is not None and (scope.workspace, scope.project) in self.places else None


def _is_compared(page: PageHead) -> bool:
    """Whether its words are compared with those of other pages: facts are compared by what they state."""
    return not page.superseded and page.kind not in PAST_KINDS and page.kind != "fact"
