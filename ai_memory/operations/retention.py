"""What fades and when: the weight of pages, what one is made of, and what goes cold when."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.aging import fact_value
from ai_memory.aging.retention import days_between, days_until_cold
from ai_memory.aging.weights import KEPT_KINDS, Scales, Weighed, fades, is_cut_down
from ai_memory.config_table import Config
from ai_memory.errors import NotFound, UsageFault
from ai_memory.model import Scope
from ai_memory.operations.configured import configured
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.scoping import locate, resolve
from ai_memory.store.page_heads import PageHead, page_heads
from ai_memory.store.snapshot import Filter
from ai_memory.text.facts import read_fact

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

SPANS: tuple[tuple[str, float], ...] = (
    ("now", 0.0),
    ("within 7 days", 7.0),
    ("within 30 days", 30.0),
    ("within 90 days", 90.0),
    ("within 180 days", 180.0),
    ("within a year", 365.0),
)
LATER, NEVER = "later", "never"
BAR = 40
"""Characters of the longest bar."""


@dataclass(frozen=True, slots=True)
class RetentionRow:
    """One page and its weight."""

    workspace: str
    project: str
    path: str
    kind: str
    tier: str
    retention: float
    salience: float
    age_days: float
    access_count: int
    idle_days: float | None
    """Since it was last read; None: never."""
    harnesses: int
    fades: bool
    """Whether age alone may take it away."""
    cold_in_days: float | None
    """0: it is cold now. None: never, as it stands."""
    over_in_days: float | None
    """When its `expires_at` comes; 0: it is over. None: there is none, or it only closes a handoff."""
    why: str
    """What it is made of, or why it stays."""


@dataclass(frozen=True, slots=True)
class SpanRow:
    """How many pages go cold, or are over, within a span of time."""

    span: str
    pages: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Retention:
    scope: Scope
    pages: tuple[RetentionRow, ...]
    spans: tuple[SpanRow, ...]
    cold_threshold: float
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def retention(
    memory: "Memory",
    *,
    explain: Annotated[str | None, Field("what the weight of this page is made of", metavar="PATH")] = None,
    plot: Annotated[bool, Field("only a chart of what goes cold when")] = False,
    everything: Annotated[bool, Field("also pages that never fade", flags=("--all-tiers",))] = False,
    limit: Annotated[int, Field("rows at most", ge=1, le=10_000, flags=("-n", "--limit"))] = 20,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Retention:
    """Show the weight of pages, the lightest first, and what goes cold when if nobody reads it.
    `forget-sweep` takes away what is cold. `--explain PATH` says what one weight is made of.
    """
    if explain and (plot or everything):
        raise UsageFault("--explain is about one page", hint="leave --plot and --all-tiers out")
    config = configured(memory) or Config()
    if explain:
        return _explained(memory, explain, config, workspace, project)
    with memory.reading() as snapshot, memory.state_reading() as connection:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        scales = Scales.of(connection, config, now_us=memory.clock())
        heads = list(page_heads(snapshot.index, Filter(scope.workspace, scope.project)))
        gaps = tuple(snapshot.gaps)
    weighed = [scales.weighed(head) for head in heads]
    chosen = sorted(
        (one for one in weighed if everything or fades(one.page) or _over_in_days(one.page, scales) is not None),
        key=lambda one: (one.total, one.page.ref),
    )
    rows = () if plot else tuple(_row(one, scales) for one in chosen[:limit])
    omitted = 0 if plot else max(0, len(chosen) - limit)
    return Retention(scope, rows, _spans(weighed, scales), scales.rates.cold_threshold, gaps, omitted)


def _explained(memory: "Memory", path: str, config: Config, workspace: str | None, project: str | None) -> Retention:
    scope, ref = locate(memory, path, workspace, project, write=False)
    with memory.reading() as snapshot, memory.state_reading() as connection:
        scales = Scales.of(connection, config, now_us=memory.clock())
        head = next(iter(page_heads(snapshot.index, Filter(refs=(ref,)))), None)
        gaps = tuple(snapshot.gaps)
    if head is None:
        raise NotFound(f"no page {ref}", hint="`ai-memory pages` lists them")
    return Retention(scope, (_row(scales.weighed(head), scales),), (), scales.rates.cold_threshold, gaps)


def _row(one: Weighed, scales: Scales) -> RetentionRow:
    page, use = one.page, one.use
    in_days = days_until_cold(use, page.tier, scales.rates, salience=one.salience) if fades(page) else None
    return RetentionRow(
        *(page.ref.workspace, page.ref.project, page.ref.path, page.kind, page.tier.value),
        retention=round(one.total, 4),
        salience=one.salience,
        age_days=round(use.age_days, 1),
        access_count=use.reads,
        idle_days=None if use.idle_days is None else round(use.idle_days, 1),
        harnesses=use.harnesses,
        fades=fades(page),
        cold_in_days=None if in_days is None else round(in_days, 1),
        over_in_days=_over_in_days(page, scales),
        why=_why(one, scales),
    )


def _over_in_days(page: PageHead, scales: Scales) -> float | None:
    if page.expires_at_us is None or page.kind == "handoff":
        return None
    return round(days_between(scales.now_us, page.expires_at_us), 1)


def _why(one: Weighed, scales: Scales) -> str:
    page, rates = one.page, scales.rates
    if page.kind == "fact":
        return _fact_words(page, scales)
    parts = (
        f"{one.salience:g} · e^(-{rates.fading(page.tier):.4g} · {one.use.age_days:.1f} d) = {one.weight.fading:.3f}"
    )
    if one.weight.reinforcement:
        parts += (
            f", reads {rates.sigma:g} · ln(1 + {one.use.reads}) · e^(-{rates.mu:g} · {one.use.idle_days or 0:.1f} d)"
            f"{_breadth_words(one, scales)} = {one.weight.reinforcement:.3f}"
        )
    reason = _stays_because(page)
    return f"{parts}; {reason}" if reason else parts


def _breadth_words(one: Weighed, scales: Scales) -> str:
    weight = scales.rates.breadth_weight
    return f" · (1 + {weight:g} · ln {max(one.use.harnesses, 1)})" if weight else ""


def _fact_words(page: PageHead, scales: Scales) -> str:
    fact = read_fact(page.frontmatter)
    if fact is None:
        return "a fact that cannot be read: it stays"
    age = days_between(fact.recorded_at_us, scales.now_us)
    value = fact_value.value_of(fact, age_days=age, usefulness=scales.usefulness(page))
    kept = ", protected" if value.is_protected else ""
    return f"a fact, worth {value.value:.0f} of 100{kept}: no age takes it away"


def _stays_because(page: PageHead) -> str:
    """Why no age takes the page away; nothing where it does."""
    if fades(page):
        return ""
    if page.pinned:
        return "it is pinned"
    if page.fault:
        return "it cannot be read in full"
    if is_cut_down(page):
        return "it was cut down already"
    if page.kind in KEPT_KINDS:
        return f"a {page.kind} never fades"
    return "it is open" if page.kind == "handoff" else f"{page.tier.value} pages never fade"


def _spans(weighed: Sequence[Weighed], scales: Scales) -> tuple[SpanRow, ...]:
    """How many pages go cold when, as they stand; those that never do, last."""
    names = [name for name, _ in SPANS] + [LATER, NEVER]
    counts, sizes = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for one in weighed:
        span = _span_of(one, scales)
        counts[span] += 1
        sizes[span] += one.page.size_bytes
    return tuple(SpanRow(name, counts[name], sizes[name]) for name in names)


def _span_of(one: Weighed, scales: Scales) -> str:
    cold = days_until_cold(one.use, one.page.tier, scales.rates, salience=one.salience) if fades(one.page) else None
    ends = [days for days in (cold, _over_in_days(one.page, scales)) if days is not None]
    if not ends:
        return NEVER
    days = min(ends)
    return next((name for name, most in SPANS if days <= most), LATER)


def retention_text(result: Retention) -> str:
    """A line a page with its weight and when it goes cold; then the chart."""
    lines = []
    for row in result.pages:
        lines.append(f"- {row.path} · {row.retention:.3f} · {_when(row)}")
        if not result.spans:
            lines.append(f"  {row.why}; cold below {result.cold_threshold:g}")
    if result.omitted:
        lines.append(f"and {result.omitted} more")
    return "\n".join([*lines, *chart(result.spans)]) or "no pages"


def _when(row: RetentionRow) -> str:
    """When it goes: cold, or over."""
    cold = {None: "never cold", 0.0: "cold"}.get(row.cold_in_days, f"cold in {row.cold_in_days or 0:.0f} days")
    if row.over_in_days is None:
        return cold
    over = f"over in {row.over_in_days:.0f} days" if row.over_in_days else "over"
    return over if row.cold_in_days is None or row.over_in_days <= row.cold_in_days else f"{cold}, {over}"


def chart(spans: Sequence[SpanRow]) -> list[str]:
    """Bars of what goes cold when."""
    most = max((one.pages for one in spans), default=0)
    if not most:
        return []
    width = max(len(one.span) for one in spans)
    lines = ["cold or over, if nobody reads it:"]
    for one in spans:
        bar = "█" * (-(-one.pages * BAR // most))
        lines.append(f"  {one.span:<{width}} {bar} {one.pages}" if bar else f"  {one.span:<{width}} 0")
    return lines
