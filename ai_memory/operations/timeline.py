"""What was known of one thing over time, and what rests on it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import NotFound, echo
from ai_memory.model import PageRef, Scope
from ai_memory.operations.fact_rows import named_ref, path_named
from ai_memory.operations.field import Field, Limit, ProjectName, Workspace
from ai_memory.operations.history import history
from ai_memory.operations.rows import Address, label_from
from ai_memory.operations.scoping import resolve
from ai_memory.store.fact_rows import FactRow as StoredFact
from ai_memory.store.fact_rows import facts_of

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

Event = Literal["recorded", "begins", "ends", "created", "changed", "moved", "deleted"]


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One thing that happened to what is known, or a time at which a statement begins or ends to hold."""

    at: str
    event: Event
    workspace: str
    project: str
    path: str
    id: str
    """Of a fact; empty for a page."""
    text: str
    """The statement, or what the commit says."""
    standing: str


@dataclass(frozen=True, slots=True)
class Timeline:
    scope: Scope
    entries: tuple[TimelineEntry, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def timeline(
    memory: "Memory",
    *,
    about: Annotated[str, Field("an entity, a subject, or a page path", positional=True, joined=True)],
    limit: Annotated[int, Field("entries at most, the newest", ge=1, le=1000, flags=("-n", "--limit"))] = 50,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Timeline:
    """Show what was known of a thing over time: facts as they were recorded, began to hold and ended.
    For a path also its versions.
    """
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        ref = path_named(scope, about)
        stored = facts_of(snapshot.index, scope.workspace, scope.project)
        near = _facts_about(snapshot, ref, about, stored)
        gaps = tuple(snapshot.gaps)
    entries = [entry for one in near for entry in _of_fact(one)]
    if ref is not None:
        entries += _of_versions(memory, ref)
    if ref is None and not entries:
        raise NotFound(
            f"nothing is known of {echo(about)}", hint="name an entity or a subject of facts, or the path of a page"
        )
    entries.sort(key=lambda entry: (entry.at, entry.event != "ends"))  # what ends makes room for what begins
    return Timeline(scope, tuple(entries[-limit:]), gaps, max(0, len(entries) - limit))


def _facts_about(
    snapshot: "Snapshot", ref: PageRef | None, about: str, stored: Sequence[StoredFact]
) -> list[StoredFact]:
    """Facts of that entity or subject; of a page itself, and those that are linked to be about it."""
    if ref is not None:
        linked = {row.source for row in snapshot.backlinks(ref) if row.kind == "about"} | {ref}
        return [one for one in stored if one.ref in linked]
    word = " ".join(about.split()).casefold()
    return [
        one
        for one in stored
        if word in (one.fact.subject.casefold(), one.fact.id, *map(str.casefold, one.fact.entities))
    ]


def _of_fact(one: StoredFact) -> Iterator[TimelineEntry]:
    fact = one.fact
    moments: list[tuple[int | None, Event]] = [
        (fact.recorded_at_us or None, "recorded"),
        (fact.holds.start_us, "begins"),
        (fact.holds.end_us, "ends"),
    ]
    for at_us, event in moments:
        if at_us is not None:
            place = (one.ref.workspace, one.ref.project, one.ref.path)
            yield TimelineEntry(rfc3339(at_us), event, *place, fact.id, fact.statement, fact.standing.value)


def _of_versions(memory: "Memory", ref: PageRef) -> list[TimelineEntry]:
    try:
        told = history(memory, path=ref.path, limit=1000, workspace=ref.workspace, project=ref.project)
    except NotFound:
        return []
    names: dict[str, Event] = {"created": "created", "moved": "moved", "deleted": "deleted"}
    return [
        TimelineEntry(
            row.at, names.get(row.change, "changed"), row.workspace, row.project, row.path, "", row.message, ""
        )
        for row in reversed(told.versions)
    ]


def timeline_text(result: Timeline) -> str:
    """One line an entry, oldest first."""
    if not result.entries:
        return "nothing is known of it: no fact is about it, and there never was such a page"
    return "\n".join(
        " · ".join(filter(None, (entry.at, entry.event, entry.id or entry.path, entry.standing, entry.text)))
        for entry in result.entries
    )


# --- what rests on it ---

_RESTING = ("depends_on", "derived_from", "about", "references")
"""Links whose source rests on their target."""


@dataclass(frozen=True, slots=True)
class RestingPage:
    """One page or fact that rests on another one."""

    workspace: str
    project: str
    path: str
    title: str
    kind: str
    id: str
    distance: int
    via: str
    """How it names the one before it: `depends_on`; `supported_by` where that one says that it supports it."""
    from_path: str


@dataclass(frozen=True, slots=True)
class Impact:
    scope: Scope
    path: str
    pages: tuple[RestingPage, ...]
    gaps: tuple[str, ...]
    omitted: int


def impact(
    memory: "Memory",
    *,
    name: Annotated[str, Field("id of a fact, or path of any page", positional=True, metavar="ID")],
    depth: Annotated[int, Field("links to follow", ge=1, le=5)] = 3,
    limit: Limit = 50,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Impact:
    """Show what rests on a fact or page: what depends on it, is derived from it, supported by it, or cites it.
    Look here before you resolve or delete it.
    """
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        ref = named_ref(snapshot, scope, name)
        if snapshot.page(ref) is None:
            raise NotFound(
                f"no page {ref}", hint="`ai-memory pages` lists them, `ai-memory facts` facts with their ids"
            )
        found = list(_resting(snapshot, ref, depth))
        gaps = tuple(snapshot.gaps)
    return Impact(scope, ref.path, tuple(found[:limit]), gaps, max(0, len(found) - limit))


def _resting(snapshot: "Snapshot", start: PageRef, depth: int) -> Iterator[RestingPage]:
    """Breadth first, each page once, by its shortest way; private projects of others stay out."""
    hidden = snapshot.private_projects() - {(start.workspace, start.project)}
    seen, ring = {start}, [start]
    for distance in range(1, depth + 1):
        following: list[PageRef] = []
        for here in ring:
            for ref, via in _rest_on(snapshot, here):
                page = None if ref in seen or (ref.workspace, ref.project) in hidden else snapshot.page(ref)
                seen.add(ref)
                if page is not None:
                    following.append(ref)
                    place = (ref.workspace, ref.project, ref.path)
                    identifier = str(page.frontmatter.get("id") or "") if page.kind == "fact" else ""
                    yield RestingPage(*place, page.title, page.kind, identifier, distance, via, here.path)
        ring = following


def _rest_on(snapshot: "Snapshot", here: PageRef) -> list[tuple[PageRef, str]]:
    inward = [(row.source, row.kind) for row in snapshot.backlinks(here) if row.kind in _RESTING]
    outward = [
        (row.target, "supported_by") for row in snapshot.outlinks(here) if row.kind == "supports" and row.resolved
    ]
    return sorted({*inward, *outward})


def impact_text(result: Impact) -> str:
    """One line a page, indented by its distance."""
    if not result.pages:
        return f"nothing rests on {result.path}"
    return "\n".join(_resting_line(row, result.scope) for row in result.pages)


def _resting_line(row: RestingPage, scope: Scope) -> str:
    name = row.id or label_from(Address(row.workspace, row.project, row.path), scope)
    return f"{'  ' * (row.distance - 1)}- {name} · {row.title} · {row.via} ({row.from_path})"
