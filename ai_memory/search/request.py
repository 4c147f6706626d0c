"""What is asked of the engine, and what it answers."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ai_memory.hook_terms import STOPWORDS
from ai_memory.model import PageRef, Scope
from ai_memory.search.numbers import SESSION_RECALL_BONUS
from ai_memory.store.snapshot import Filter

if TYPE_CHECKING:
    from ai_memory.search.vectors import Near  # imported where there are vectors

Status = Literal["ok", "partial", "abstained"]


@dataclass(frozen=True, slots=True)
class Switches:
    """Parts of the ranking that a person may turn off or up; named as in `[retrieval]`."""

    query_intent: bool = True
    session_recall_bonus: float = SESSION_RECALL_BONUS
    observation_stream: bool = True
    belief_authority_weight: float = 0.0
    abstract_vectors: bool = False
    staleness: bool = True


@dataclass(frozen=True, slots=True)
class Witness:
    """One session that an observation speaks for. `score`: higher is better, within one answer."""

    ref: PageRef
    session: str
    score: float


@dataclass(frozen=True, slots=True)
class Request:
    """One question. `queries`: the first is the question, the others say it in other words."""

    queries: Sequence[str]
    scopes: Sequence[Scope] | None = None
    """None: every project."""
    wanted: Filter = field(default_factory=Filter)
    limit: int = 10
    offset: int = 0
    now_us: int = 0
    """For words such as "yesterday"; 0 leaves them unread."""
    stopwords: Collection[str] = STOPWORDS
    switches: Switches = field(default_factory=Switches)
    may_abstain: bool = False
    following: int = 0
    """Chunks after the best one that are shown with it."""
    witnesses: Sequence[Witness] = ()
    near: "Sequence[Near]" = ()
    """Chunks by vectors, nearest first; empty without vectors."""
    near_is_multilingual: bool = False
    """Whether a question lies near what answers it in another language."""
    near_is_english: bool = False
    """Whether their encoder reads nothing but English."""
    believe: Callable[[Sequence[PageRef]], Mapping[PageRef, float]] = lambda _: {}
    """How sure those pages are by their evidence, 0 … 1; asked only where the belief has a weight."""


@dataclass(frozen=True, slots=True)
class LegScore:
    """What one leg says of a page."""

    rank: int
    score: float
    """As the leg counts it."""
    share: float
    """What it adds to the sum, where full text gives its best page 1."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One page that answers, with its best passage. `score`: higher is better, comparable within one answer only."""

    ref: PageRef
    title: str
    kind: str
    tier: str
    version: str
    updated_at_us: int
    score: float
    heading: str
    line: int
    """1-based line of the file on which the passage begins."""
    end_line: int
    snippet: str
    coverage: float = 0.0
    """Share of what the query asks, weighted by rarity, that the page's best passages hold."""
    legs: Mapping[str, LegScore] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)
    also: tuple[PageRef, ...] = ()
    """Pages whose passage is nearly the same, folded into this one."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Pages, best first, and how many more were found among the candidates."""

    hits: tuple[Hit, ...]
    omitted: int = 0
    terms: tuple[str, ...] = ()
    legs: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    status: Status = "ok"
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Why candidates are not shown: reason → how many."""
    timings_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def abstained(self) -> bool:
        return self.status == "abstained"
