"""What a sweep would do: which pages are over, cold or too much, and what becomes of each. It only looks."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ai_memory.aging import clusters, fact_value, keeping
from ai_memory.aging.retention import days_between
from ai_memory.aging.weights import Scales, Weighed, fades, is_cut_down
from ai_memory.config_table import Config
from ai_memory.model import Page, PageRef, Tier
from ai_memory.operations.relocating import SESSION_KEYS
from ai_memory.store.page_heads import PageHead, page_heads
from ai_memory.store.snapshot import Filter
from ai_memory.text.facts import read_fact
from ai_memory.text.times import DAY_US

if TYPE_CHECKING:
    from ai_memory.store.driver import Connection
    from ai_memory.store.snapshot import Snapshot

Reason = Literal["expired", "evicted", "working", "resolved", "size", "compacted", "merged"]
MOST_COMPARED = 500
"""Cold pages of one project that are compared with each other, the coldest: the work grows with their square."""
MB = 1_000_000
WEIGHT_OF_FACTS = 50.0
"""A fact is worth 0 to 100, a page mostly 0 to 2: what is compared for size is brought to one measure."""
_LINGERING_US = DAY_US
"""A working page that names no session goes when nobody changed it for so long and it is cold, or its time is over."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one page, at the version that was looked at."""

    one: Weighed
    reason: Reason
    into: PageRef | None = None
    """Of one that is merged: the page that stands for it."""

    @property
    def ref(self) -> PageRef:
        return self.one.page.ref


@dataclass(frozen=True, slots=True)
class Merger:
    """Several cold pages that say nearly the same, and the one that stands for them."""

    survivor: Weighed
    others: tuple[Weighed, ...]
    eps: float


@dataclass(slots=True)
class Plan:
    """All that a sweep would do."""

    evaluated: int = 0
    fates: list[Fate] = field(default_factory=list)
    mergers: list[Merger] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    def add(self, fates: Iterable[Fate]) -> None:
        """Those of pages that have no fate yet: the first reason counts."""
        taken = {one.ref for one in self.fates} | {
            one.page.ref for merger in self.mergers for one in (merger.survivor, *merger.others)
        }
        for fate in fates:
            if fate.ref not in taken:
                taken.add(fate.ref)
                self.fates.append(fate)


@dataclass(frozen=True, slots=True)
class SessionState:
    """Whether a session is over, and whether its page tells all of it."""

    is_ended: bool
    is_told: bool


_SESSIONS = "SELECT id, ended_at_us IS NOT NULL, covered >= observations FROM sessions"
_SESSIONS_OF_PAGES = """
    SELECT workspace, project, path, session FROM evidence WHERE session <> ''
    UNION SELECT workspace, project, path, session FROM page_sessions
"""


def plan(
    snapshot: "Snapshot",
    connection: "Connection | None",
    scales: Scales,
    config: Config,
    *,
    workspace: str | None = None,
    project: str | None = None,
    just_read: Collection[PageRef] = (),
) -> Plan:
    """What a sweep of that project, or of all, would do now. Private projects are swept as others are.

    `just_read`: pages whose reads are not counted yet; they stay for the next run, whatever their weight.
    """
    found = Plan(gaps=list(snapshot.gaps))
    pages = list(page_heads(snapshot.index, Filter(workspace, project)))
    found.evaluated = len(pages)
    sessions = _sessions(connection)
    pages = [page for page in pages if page.ref not in just_read]
    free = [page for page in pages if _is_told(page, sessions)]
    cold = scales.cold(page for page in free if page.tier is not Tier.WORKING or _is_left(page, scales.now_us))
    found.add(_expired(pages, scales))
    if config.decay.dedup_cold_clusters:
        gone = {fate.ref for fate in found.fates}
        found.mergers += _mergers(snapshot, [one for one in cold if one.page.ref not in gone], config, found.gaps)
    found.add(_working(pages, scales, sessions, _sessions_of_pages(connection)))
    found.add(Fate(one, "compacted" if _is_cut(one.page, config) else "evicted") for one in cold)
    found.add(_resolved(pages, scales))
    if config.decay.max_project_mb:
        found.add(_beyond_size(pages, scales, found, sessions, config.decay.max_project_mb * MB))
    return found


def _is_cut(page: PageHead, config: Config) -> bool:
    """A working page goes whole: nobody looks for what was only noted on the way."""
    return config.decay.compact_cold_episodic and page.tier is Tier.EPISODIC and page.kind != "handoff"


def _expired(pages: Iterable[PageHead], scales: Scales) -> Iterator[Fate]:
    """Pages whose time is over, pinned ones too. A handoff's time only closes it, which the drain does."""
    for page in pages:
        if page.expires_at_us is not None and page.expires_at_us <= scales.now_us and page.kind != "handoff":
            yield Fate(scales.weighed(page), "expired")


def _sessions(connection: "Connection | None") -> Mapping[str, SessionState]:
    if connection is None:
        return {}
    return {row[0]: SessionState(bool(row[1]), bool(row[2])) for row in connection.execute(_SESSIONS)}


def _sessions_of_pages(connection: "Connection | None") -> Mapping[PageRef, set[str]]:
    found: dict[PageRef, set[str]] = {}
    for row in connection.execute(_SESSIONS_OF_PAGES) if connection is not None else ():
        found.setdefault(PageRef(*row[:3]), set()).add(row[3])
    return found


def _is_told(page: PageHead, sessions: Mapping[str, SessionState]) -> bool:
    """Whether nothing of its session is still to be told. One that nobody captured here has nothing more to tell."""
    key = SESSION_KEYS.get(page.kind)
    state = sessions.get(str(page.frontmatter.get(key))) if key is not None else None
    return state is None or (state.is_ended and state.is_told)


def _is_left(page: PageHead, now_us: int) -> bool:
    return now_us - page.updated_at_us >= _LINGERING_US


def _working(
    pages: Iterable[PageHead],
    scales: Scales,
    sessions: Mapping[str, SessionState],
    of_pages: Mapping[PageRef, set[str]],
) -> Iterator[Fate]:
    """Pages that were meant for one session, once all that are known to have used them are over."""
    for page in pages:
        if page.tier is Tier.WORKING and not page.pinned and not page.fault:
            known = [sessions[one] for one in of_pages.get(page.ref, ()) if one in sessions]
            if known and all(one.is_ended for one in known):
                yield Fate(scales.weighed(page), "working")


def _resolved(pages: Iterable[PageHead], scales: Scales) -> Iterator[Fate]:
    """Facts that never held and were closed a week ago."""
    for page in pages:
        fact = read_fact(page.frontmatter) if page.kind == "fact" and not page.pinned else None
        if fact is not None and fact_value.may_go(fact, changed_at_us=page.updated_at_us, now_us=scales.now_us):
            yield Fate(scales.weighed(page), "resolved")


# --- near-duplicates ---

_VECTORS = """
    SELECT v.vector FROM vectors AS v JOIN pages AS p ON p.id = v.page_id
    WHERE v.encoder_id = ? AND p.workspace = ? AND p.project = ? AND p.path = ? ORDER BY v.chunk_id
"""


def _mergers(snapshot: "Snapshot", cold: Iterable[Weighed], config: Config, gaps: list[str]) -> list[Merger]:
    """Groups among the cold pages of each project, told by their vectors."""
    from ai_memory.store.vectors import encoders

    counted = encoders(snapshot.index)
    if not counted or not counted[0].vectors:
        gaps.append("near-duplicates were not looked for: there are no vectors (`ai-memory embed` makes them)")
        return []
    by_project: dict[tuple[str, str], list[Weighed]] = {}
    for one in cold:
        if one.page.tier is Tier.EPISODIC and one.page.kind != "handoff":
            by_project.setdefault((one.page.ref.workspace, one.page.ref.project), []).append(one)
    found: list[Merger] = []
    for place, pages in sorted(by_project.items()):
        if len(pages) > MOST_COMPARED:
            gaps.append(f"{'/'.join(place)}: the {MOST_COMPARED} coldest of {len(pages)} pages were compared")
        found += _grouped(snapshot, counted[0].id, pages[:MOST_COMPARED], config)
    return found


def _grouped(snapshot: "Snapshot", encoder: int, cold: list[Weighed], config: Config) -> Iterator[Merger]:
    vectors = {one.page.ref: _mean(snapshot, encoder, one.page.ref) for one in cold}
    pages = [one for one in cold if vectors[one.page.ref]]
    far = clusters.distances([vectors[one.page.ref] for one in pages])
    eps = clusters.elbow_eps(far, k=config.decay.dedup_min_pts, highest=config.decay.dedup_max_eps)
    if eps is None:
        return
    for group in clusters.clusters(clusters.near_ones(far, within=eps), least=config.decay.dedup_min_pts):
        members = sorted((pages[at] for at in group), key=lambda one: (-one.total, one.page.ref))
        yield Merger(members[0], tuple(members[1:]), eps)


def _mean(snapshot: "Snapshot", encoder: int, ref: PageRef) -> list[float]:
    """The mean of the vectors of a page's passages; nothing where it has none."""
    from ai_memory.providers.embedder import unpacked

    rows = snapshot.index.execute(_VECTORS, (encoder, ref.workspace, ref.project, ref.path)).fetchall()
    vectors = [list(unpacked(row[0])) for row in rows]
    return [sum(numbers) / len(vectors) for numbers in zip(*vectors, strict=True)] if vectors else []


# --- size ---


def _beyond_size(
    pages: Iterable[PageHead], scales: Scales, so_far: Plan, sessions: Mapping[str, SessionState], most_bytes: int
) -> Iterator[Fate]:
    """What must go, of least worth first, until each project is within its bound."""
    going = {fate.ref for fate in so_far.fates if fate.reason != "compacted"}
    by_project: dict[tuple[str, str], list[PageHead]] = {}
    for page in pages:
        if page.ref not in going:
            by_project.setdefault((page.ref.workspace, page.ref.project), []).append(page)
    for place, there in sorted(by_project.items()):
        over = sum(page.size_bytes for page in there) - most_bytes
        if over <= 0:
            continue
        for _, _, _, one in sorted(_dispensable(there, scales, sessions), key=lambda row: row[:3]):
            if over <= 0:
                break
            over -= one.page.size_bytes
            yield Fate(one, "size")
        if over > 0:
            so_far.gaps.append(
                f"{'/'.join(place)} stays {over / MB:.1f} MB above decay.max_project_mb: what is left is pinned,"
                " a rule, a procedure, a protected fact, or open"
            )


def _dispensable(
    pages: Iterable[PageHead], scales: Scales, sessions: Mapping[str, SessionState]
) -> Iterator[tuple[bool, float, PageRef, Weighed]]:
    """Pages that a bound on size may take: what is archived already first, then by worth."""
    for page in pages:
        if page.pinned or page.fault or page.kind in ("rule", "slot") or page.tier is Tier.PROCEDURAL:
            continue
        if page.kind == "handoff" and not fades(page):
            continue
        one = scales.weighed(page)
        fact = read_fact(page.frontmatter) if page.kind == "fact" else None
        if fact is not None:
            value = fact_value.value_of(
                fact, age_days=days_between(fact.recorded_at_us, scales.now_us), usefulness=scales.usefulness(page)
            )
            is_young = scales.now_us - (fact.resolved_at_us or 0) < fact_value.RESOLVED_DAYS * DAY_US
            if value.is_protected or is_young:
                continue
            yield not fact.standing.is_terminal, value.value / WEIGHT_OF_FACTS, page.ref, one
        elif page.kind == "fact" or _is_told(page, sessions):
            yield not (is_cut_down(page) or "superseded_by" in page.frontmatter), one.total, page.ref, one


def cut_text(page: Page, *, more: Iterable[str] = ()) -> str:
    """The body of a page that is cut down."""
    said = str(page.frontmatter.get("summary") or page.frontmatter.get("abstract") or "")
    return keeping.cut_down(page.body, title=page.title, given=said, more=more)
