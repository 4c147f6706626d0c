"""What a person should look at: facts that wait, what is overdue, contradicted, stale, or said twice."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.aging.salience import flags
from ai_memory.clock import rfc3339
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.disuse import unseen, unused
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.said import told_against, version_now
from ai_memory.operations.scoping import resolve
from ai_memory.search.staleness import stale_pages
from ai_memory.store.fact_rows import FactRow as StoredFact
from ai_memory.store.fact_rows import facts_of, rivals, was_weighed
from ai_memory.store.feedback import feedback
from ai_memory.text.admission import alike
from ai_memory.text.facts import Standing, read_instant

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

ReasonName = Literal[
    "contradiction",
    "feedback",
    "overdue",
    "stale",
    "candidate",
    "needs_review",
    "near_duplicate",
    "unseen",
    "unused",
]
REASONS: tuple[ReasonName, ...] = (
    *("contradiction", "feedback", "overdue", "stale", "candidate", "needs_review", "near_duplicate"),
    *("unseen", "unused"),
)
"""In the order in which they are put to a person: what misleads now comes before what only waits."""

MOST_COMPARED = 400
"""The newest facts, of which each is compared with each."""
MOST_PAIRS = 100
MOST_PAGES = 500
"""The newest pages that are compared with the repository."""
WITHIN_S = 2.0
"""That a review spends on the history of the checkout."""

_OVERDUE = """
    SELECT workspace, project, path, title, kind, updated_at_us, json_extract(frontmatter, '$.verify_by') AS due
    FROM pages AS p WHERE workspace = ? AND project = ? AND due IS NOT NULL AND NOT superseded ORDER BY path
"""
_CONTRADICTIONS = """
    SELECT s.workspace, s.project, s.path, t.workspace, t.project, t.path, l.kind FROM links AS l
    CROSS JOIN pages AS s ON s.id = l.source_id AND NOT s.superseded
    CROSS JOIN pages AS t ON t.workspace = l.workspace AND t.project = l.project AND t.path = l.path
    WHERE NOT t.superseded AND (l.kind = 'contradicts' OR (l.kind = 'supersedes' AND t.kind = 'fact'))
    AND ((s.workspace, s.project) = (?1, ?2) OR (t.workspace, t.project) = (?1, ?2))
    ORDER BY 1, 2, 3, 4, 5, 6, 7
"""
_WORDS = {
    "contradicts": ("says that it contradicts", "contradicted by"),
    "supersedes": ("says that it takes the place of", "said to give way to"),
}
"""Of a fact, only its own page closes it: what another one says is put to a person."""


@dataclass(frozen=True, slots=True)
class ReviewReason:
    """One thing to look at."""

    name: ReasonName
    detail: str
    other: str | None = None
    """The page that it is about, too: one that says otherwise, or the same."""


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One fact or page, and all that there is to look at."""

    workspace: str
    project: str
    path: str
    id: str
    """Of a fact; empty for a page."""
    statement: str
    """Of a page its title."""
    kind: str
    standing: str
    since: str
    """Recorded, or for a page last changed."""
    version: str
    reasons: tuple[ReviewReason, ...]


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    scope: Scope
    rows: tuple[ReviewRow, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def review(
    memory: "Memory",
    *,
    reason: Annotated[ReasonName | None, Field("only for this reason")] = None,
    limit: Annotated[int, Field("rows at most", ge=1, le=1000, flags=("-n", "--limit"))] = 50,
    offset: Annotated[int, Field("rows to skip", ge=0)] = 0,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> ReviewQueue:
    """List what a person should look at: facts that wait for review, what is overdue by its `verify_by`, what two pages
    say against each other, what a reader called stale or wrong, what the repository left behind, what is said twice,
    what nobody used for long.
    """
    now_us = memory.clock()
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        facts = [
            one for one in facts_of(snapshot.index, scope.workspace, scope.project) if not one.fact.standing.is_terminal
        ]
        told: dict[PageRef, list[ReviewReason]] = {}
        for found in (
            _contradictions(snapshot, scope, facts),
            _said_against(memory, snapshot, scope),
            _overdue(snapshot, scope, now_us),
            _stale(snapshot, scope),
            _waiting(facts),
            _said_twice(facts),
            _because("unseen", unseen(memory, snapshot, scope, now_us)),
            _because("unused", unused(memory, scope, facts, now_us)),
        ):
            for ref, one in found:
                told.setdefault(ref, []).append(one)
        wanted = {ref: ones for ref, ones in told.items() if reason is None or reason in (one.name for one in ones)}
        by_page = {one.ref: one for one in facts}
        rows = [row for ref, ones in wanted.items() if (row := _row(snapshot, by_page.get(ref), ref, ones)) is not None]
        gaps = tuple(snapshot.gaps)
    rows.sort(key=lambda row: row.path)
    rows.sort(key=lambda row: row.since, reverse=True)
    rows.sort(key=lambda row: min(REASONS.index(one.name) for one in row.reasons))
    shown = tuple(rows[offset : offset + limit])
    return ReviewQueue(scope, shown, gaps, max(0, len(rows) - offset - len(shown)))


Told = Iterator[tuple[PageRef, ReviewReason]]


def _contradictions(snapshot: "Snapshot", scope: Scope, facts: list[StoredFact]) -> Told:
    """Facts that give one property two values, and pages of which one says that it contradicts the other."""
    for one in facts:
        if one.fact.disputed:
            yield one.ref, ReviewReason("contradiction", f"somebody says that it is {one.fact.disputed}")
    for one, other in rivals(facts):
        yield one.ref, ReviewReason("contradiction", f"says otherwise: {other.fact.statement}", other.ref.path)
    here = (scope.workspace, scope.project)
    hidden = snapshot.private_projects() - {here}
    for row in snapshot.index.execute(_CONTRADICTIONS, here):
        source, target = PageRef(*row[:3]), PageRef(*row[3:6])
        says, is_said = _WORDS[row[6]]
        for ref, against, words in ((source, target, says), (target, source, is_said)):
            if (ref.workspace, ref.project) == here and (against.workspace, against.project) not in hidden:
                name = _named(against, scope)
                yield ref, ReviewReason("contradiction", f"{words} {name}", name)


def _said_against(memory: "Memory", snapshot: "Snapshot", scope: Scope) -> Told:
    """Pages that a reader called stale or wrong as they stand."""
    with memory.state_reading() as connection:
        said = feedback(connection, scope.workspace, scope.project)
    for ref, ones in said.items():
        against = flags(ones, version_now(snapshot, ref))
        if against:
            why = f": {against[-1].reason}" if against[-1].reason else ""
            yield ref, ReviewReason("feedback", told_against(against) + why)


def _overdue(snapshot: "Snapshot", scope: Scope, now_us: int) -> Told:
    for row in snapshot.index.execute(_OVERDUE, (scope.workspace, scope.project)):
        due_us = read_instant(row[6])
        if due_us is not None and due_us <= now_us:
            yield PageRef(*row[:3]), ReviewReason("overdue", f"was to be looked at by {rfc3339(due_us)[:10]}")


def _stale(snapshot: "Snapshot", scope: Scope) -> Told:
    from ai_memory.store.snapshot import Filter

    if scope.root is None:
        return
    here = Filter(scope.workspace, scope.project, superseded=False)
    pages = snapshot.select(here, limit=MOST_PAGES).pages
    for ref, stale in sorted(stale_pages(pages, scope, within_s=WITHIN_S).items()):
        yield ref, ReviewReason("stale", "; ".join(stale.notes))


def _waiting(facts: Iterable[StoredFact]) -> Told:
    for one in facts:
        if one.fact.standing is Standing.CANDIDATE:
            yield one.ref, ReviewReason("candidate", "was typed to an agent, and nobody confirmed it")
        elif one.fact.standing is Standing.NEEDS_REVIEW:
            classes = ", ".join(dict.fromkeys(row.klass.value for row in one.fact.evidence))
            yield (
                one.ref,
                ReviewReason("needs_review", f"rests on what is {classes}" if classes else "rests on nothing"),
            )


def _said_twice(facts: list[StoredFact]) -> Told:
    newest = sorted(facts, key=lambda one: (-one.fact.recorded_at_us, one.ref))[:MOST_COMPARED]
    for first, second, likeness in alike([one.fact.statement for one in newest], most=MOST_PAIRS):
        one, other = newest[first], newest[second]
        if one.fact.holds.overlaps(other.fact.holds) and not was_weighed(one, other):
            detail = f"says nearly the same ({likeness:.0%} of the words): {other.fact.statement}"
            yield one.ref, ReviewReason("near_duplicate", detail, other.ref.path)


def _because(name: ReasonName, found: Iterable[tuple[PageRef, str]]) -> Told:
    for ref, detail in found:
        yield ref, ReviewReason(name, detail)


def _row(
    snapshot: "Snapshot", stored: StoredFact | None, ref: PageRef, reasons: list[ReviewReason]
) -> ReviewRow | None:
    place = (ref.workspace, ref.project, ref.path)
    if stored is not None:
        fact = stored.fact
        said = (
            fact.id,
            fact.statement,
            fact.kind.value,
            fact.standing.value,
            rfc3339(fact.recorded_at_us),
            stored.version,
        )
        return ReviewRow(*place, *said, tuple(reasons))
    page: Page | None = snapshot.page(ref)
    if page is None:
        return None
    standing = page.frontmatter.get("standing")
    stands = standing if isinstance(standing, str) else ""
    words = ("", page.title, page.kind, stands, rfc3339(page.updated_at_us))
    return ReviewRow(*place, *words, page.version, tuple(reasons))


def _named(ref: PageRef, scope: Scope) -> str:
    return ref.path if (ref.workspace, ref.project) == (scope.workspace, scope.project) else str(ref)


def review_text(result: ReviewQueue) -> str:
    """Two lines or more a row: what it is, and each reason."""
    lines: list[str] = []
    for row in result.rows:
        lines.append(f"- {' · '.join(filter(None, (row.id or row.path, row.kind, row.standing, row.statement)))}")
        lines += [f"  {one.name.replace('_', ' ')}: {one.detail}" for one in row.reasons]
    return "\n".join(lines) or "nothing waits for review"
