"""What a project's memory holds and what happened lately, in one answer. No model is asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from ai_memory.clock import rfc3339
from ai_memory.model import PageRef, ResolvedBy, Scope
from ai_memory.operations.budget import MaxBytes, size_bytes
from ai_memory.operations.confidence import Confidence, confidence_words, confidences
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.scoping import resolve
from ai_memory.operations.search_scope import without_pages
from ai_memory.operations.sessions import SessionRow, session_line, session_rows
from ai_memory.store.activity import Neighbour, Place
from ai_memory.text.times import DAY_US

if TYPE_CHECKING:
    from ai_memory.model import Page
    from ai_memory.store.driver import Connection
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Filter, Snapshot

MAX_RULES = 50
"""Of rules and of slots; what is beyond is counted in `omitted`."""
MAX_PINNED = 10
MAX_SETTLED = 8
MAX_SESSIONS = 5
_SETTLED_LOOKED_AT = 500
"""Rules and decisions of which the best founded ones are chosen."""

LISTS = (
    *("settled", "rules", "slots", "pinned", "recent_pages", "recent_sessions"),
    *("cross_project_dependents", "cross_project_dependencies"),
)
"""Lists of a briefing in the order in which they get room."""


@dataclass(frozen=True, slots=True)
class PageItem:
    """One page by its name."""

    workspace: str
    project: str
    path: str
    title: str
    kind: str
    updated_at: str
    confidence: Confidence | None = None
    """Of rules, decisions and pinned pages that rest on sessions."""


@dataclass(frozen=True, slots=True)
class BriefingCounts:
    """Of this project."""

    pages: int = 0
    sessions: int = 0
    observations: int = 0


@dataclass(frozen=True, slots=True)
class Activity:
    """Of the last `days` days."""

    days: int
    sessions: int = 0
    observations: int = 0
    pages_updated: int = 0


@dataclass(frozen=True, slots=True)
class Briefing:
    scope: Scope
    counts: BriefingCounts
    activity_7d: Activity
    activity_30d: Activity
    last_observation_at: str | None
    pending_handoff_count: int
    pending_message_count: int
    settled: tuple[PageItem, ...]
    """With `settled_first`: rules and decisions learnt in most sessions."""
    rules: tuple[PageItem, ...]
    slots: tuple[PageItem, ...]
    pinned: tuple[PageItem, ...]
    recent_pages: tuple[PageItem, ...]
    recent_sessions: tuple[SessionRow, ...]
    cross_project_dependents: tuple[Neighbour, ...]
    cross_project_dependencies: tuple[Neighbour, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def briefing(
    memory: "Memory",
    *,
    recent_pages_limit: Annotated[
        int, Field("recent pages at most", ge=0, le=100, flags=("-n", "--recent"), is_unlisted=True)
    ] = 10,
    settled_first: Annotated[bool, Field("first the rules and decisions learnt most often")] = False,
    max_bytes: MaxBytes = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Briefing:
    """Show what this project's memory holds, what was done lately and what waits.
    Use it when you come to a project without a question in mind.
    """
    now_us = memory.clock()
    with memory.reading() as snapshot, memory.state_reading() as connection:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        made = _made(
            snapshot, connection, scope, now_us=now_us, recent_limit=recent_pages_limit, has_settled=settled_first
        )
    return made if max_bytes is None else fitted(made, max_bytes)


def _made(
    snapshot: "Snapshot",
    connection: "Connection | None",
    scope: Scope,
    *,
    now_us: int,
    recent_limit: int,
    has_settled: bool,
) -> Briefing:
    from ai_memory.operations.handoff_look import rows_of  # brings all that handoffs need; help and schema do not
    from ai_memory.store import activity, messages
    from ai_memory.store.snapshot import Filter

    place = (scope.workspace, scope.project)
    here = Filter(*place, unexpired_at_us=now_us)
    holding = replace(here, valid_at_us=now_us)
    rules, more_rules = _items(snapshot, replace(holding, kind="rule"), MAX_RULES)
    slots, more_slots = _items(snapshot, replace(holding, kind="slot"), MAX_RULES)
    pinned, more_pinned = _items(snapshot, replace(holding, pinned=True), MAX_PINNED)
    handoffs, faults = rows_of(snapshot, *place, state="open", now_us=now_us)
    counts, last_us, waiting = BriefingCounts(snapshot.select(here, limit=0).total), None, 0
    sessions: tuple[SessionRow, ...] = ()
    if connection is not None:
        counts = replace(counts, **_counted(connection, place))
        last_us = activity.last_work_us(connection, place)
        waiting = messages.count_waiting(connection, place, now_us=now_us)
        sessions = _sessions(snapshot, connection, place)
    settled = _settled(snapshot, connection, here) if has_settled else ()
    if connection is not None:
        settled, rules, pinned = (
            _with_confidence(snapshot, connection, rows, now_us=now_us) for rows in (settled, rules, pinned)
        )
    nothing = without_pages(snapshot, [scope]) if scope.resolved_by is ResolvedBy.FLAG else ()
    return Briefing(
        scope=scope,
        counts=counts,
        activity_7d=_activity(snapshot, connection, place, days=7, now_us=now_us),
        activity_30d=_activity(snapshot, connection, place, days=30, now_us=now_us),
        last_observation_at=None if last_us is None else rfc3339(last_us),
        pending_handoff_count=len(handoffs),
        pending_message_count=waiting,
        settled=settled,
        rules=rules,
        slots=slots,
        pinned=pinned,
        recent_pages=_recent(snapshot, place, now_us=now_us, limit=recent_limit),
        recent_sessions=sessions,
        cross_project_dependents=activity.dependents(snapshot, place),
        cross_project_dependencies=activity.dependencies(snapshot, place),
        gaps=(*snapshot.gaps, *faults, *nothing),
        omitted=more_rules + more_slots + more_pinned,
    )


def _counted(connection: "Connection", place: Place) -> dict[str, int]:
    from ai_memory.store.activity import sessions_since

    sessions, observations = sessions_since(connection, place, 0)
    return {"sessions": sessions, "observations": observations}


def _activity(
    snapshot: "Snapshot", connection: "Connection | None", place: Place, *, days: int, now_us: int
) -> Activity:
    from ai_memory.store.activity import pages_since, sessions_since

    since_us = now_us - days * DAY_US
    told = sessions_since(connection, place, since_us) if connection is not None else (0, 0)
    return Activity(days, *told, pages_since(snapshot, place, since_us))


def _sessions(snapshot: "Snapshot", connection: "Connection", place: Place) -> tuple[SessionRow, ...]:
    from ai_memory.store.session_lookup import SessionFilter
    from ai_memory.store.session_lookup import sessions as listed

    found = listed(connection, SessionFilter(*place), limit=MAX_SESSIONS)
    return session_rows(connection, snapshot, found)


def _items(snapshot: "Snapshot", wanted: "Filter", limit: int) -> tuple[tuple[PageItem, ...], int]:
    """The newest of those pages, and how many are left out."""
    found = snapshot.select(wanted, limit=limit)
    return tuple(map(_item, found.pages)), found.total - len(found.pages)


def _recent(snapshot: "Snapshot", place: Place, *, now_us: int, limit: int) -> tuple[PageItem, ...]:
    from ai_memory.store.standing import recent_titles

    refs = [ref for ref, _ in recent_titles(snapshot, *place, now_us=now_us, limit=limit)]
    return tuple(_item(page) for page in map(snapshot.page, refs) if page is not None)


def _settled(snapshot: "Snapshot", connection: "Connection | None", here: "Filter") -> tuple[PageItem, ...]:
    """Rules and decisions that nothing replaced: those learnt in most sessions, newest first among equals."""
    from ai_memory.store.activity import evidence_by_path

    assert here.workspace is not None and here.project is not None
    known = evidence_by_path(connection, (here.workspace, here.project)) if connection is not None else {}
    wanted = [replace(here, kind=kind, valid_at_us=here.unexpired_at_us) for kind in ("rule", "decision")]
    pages = [page for one in wanted for page in snapshot.select(one, limit=_SETTLED_LOOKED_AT).pages]
    pages.sort(key=lambda page: (-known.get(page.ref.path, 0), -page.updated_at_us, page.ref.path))
    return tuple(map(_item, pages[:MAX_SETTLED]))


def _with_confidence(
    snapshot: "Snapshot", connection: "Connection", rows: tuple[PageItem, ...], *, now_us: int
) -> tuple[PageItem, ...]:
    refs = [PageRef(row.workspace, row.project, row.path) for row in rows]
    sure = confidences(connection, snapshot, refs, now_us=now_us)
    return tuple(replace(row, confidence=sure.get(ref)) for row, ref in zip(rows, refs, strict=True))


def _item(page: "Page") -> PageItem:
    ref = page.ref
    return PageItem(ref.workspace, ref.project, ref.path, page.title, page.kind, rfc3339(page.updated_at_us))


def fitted(whole: Briefing, max_bytes: int) -> Briefing:
    """The briefing in about so many bytes of JSON: lists keep what fits, in the order of `LISTS`; numbers always stay.

    What was left out is counted in `omitted`.
    """
    kept: dict[str, tuple[object, ...]] = dict.fromkeys(LISTS, ())
    room = max_bytes - size_bytes(replace(whole, **kept))  # type: ignore[arg-type]
    omitted = whole.omitted
    for name in LISTS:
        rows: Sequence[object] = getattr(whole, name)
        for number, row in enumerate(rows):
            room -= size_bytes(row) + 1
            if room < 0:
                omitted += len(rows) - number
                break
            kept[name] += (row,)
    return replace(whole, **kept, omitted=omitted)  # type: ignore[arg-type]


def briefing_text(result: Briefing) -> str:
    """Numbers, what waits, then a section for each list."""
    return "\n".join([*number_lines(result), *list_lines(result, LISTS)])


def number_lines(result: Briefing) -> list[str]:
    """How much there is, what was done, what waits."""
    counts = result.counts
    lines = [f"{counts.pages} pages, {counts.sessions} sessions, {counts.observations} observations"]
    lines += [
        f"last {one.days} days: {one.sessions} sessions, {one.observations} observations, {one.pages_updated} pages"
        for one in (result.activity_7d, result.activity_30d)
    ]
    if result.last_observation_at:
        lines.append(f"last work {result.last_observation_at}")
    waiting = [
        f"{number} {what}{'' if number == 1 else 's'}"
        for number, what in ((result.pending_handoff_count, "handoff"), (result.pending_message_count, "message"))
        if number
    ]
    return [*lines, f"waiting: {', '.join(waiting)}"] if waiting else lines


def list_lines(result: Briefing, names: Sequence[str]) -> list[str]:
    """A section for each of those lists that holds anything."""
    lines: list[str] = []
    for name in names:
        rows = getattr(result, name)
        if rows:
            heading = name.removeprefix("cross_project_").replace("_", " ")
            lines += ["", f"{heading}:", *(_line(row, result.scope) for row in rows)]
    return lines


def _line(row: "PageItem | SessionRow | Neighbour", scope: Scope) -> str:
    match row:
        case PageItem():
            sure = f" · {confidence_words(row.confidence)}" if row.confidence else ""
            return f"- {row.path} · {row.title} · {row.kind} · {row.updated_at}{sure}"
        case SessionRow():
            return session_line(row, scope)
        case Neighbour():
            return f"- {row.workspace}/{row.project} · {row.links} link{'' if row.links == 1 else 's'}"
