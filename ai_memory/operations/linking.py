"""Links between pages with a kind: supports, contradicts, depends on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import NotFound, UsageFault
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.cleaning import clean
from ai_memory.operations.fact_rows import named_ref
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.rows import VERSION_SHOWN
from ai_memory.operations.scoping import resolve
from ai_memory.operations.write import session_trailers
from ai_memory.text.links import link_kind, resolve_relation
from ai_memory.text.page import splice

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

KindOfLink = Literal[
    "references",
    "about",
    "supports",
    "contradicts",
    "supersedes",
    "depends_on",
    "causes",
    "fixes",
    "derived_from",
]
From = Annotated[str, Field("page path or id of a fact that names the other", positional=True, metavar="A")]
To = Annotated[str, Field("page path or id of a fact that is named", positional=True, metavar="B")]


@dataclass(frozen=True, slots=True)
class LinkedRow:
    """One link in a page's `relations`."""

    workspace: str
    project: str
    path: str
    kind: str
    target: str
    """As the page names it."""


@dataclass(frozen=True, slots=True)
class Linked:
    scope: Scope
    outcome: Literal["linked", "unlinked", "unchanged"]
    links: tuple[LinkedRow, ...]
    commit: str | None = None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def link(
    memory: "Memory",
    *,
    source: From,
    target: To,
    kind: Annotated[KindOfLink, Field("how A stands to B", flags=("--as",), aliases=("as",))],
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Linked:
    """Link page A to page B with a kind: A supports B, contradicts it, depends on it. It stands in A's `relations`.
    `related` shows it from both ends, `impact` follows it.
    """
    return _changed(memory, source, target, kind, workspace, project, is_added=True)


def unlink(
    memory: "Memory",
    *,
    source: From,
    target: To,
    kind: Annotated[KindOfLink | None, Field("only this kind", flags=("--as",), aliases=("as",))] = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Linked:
    """Take a link with a kind from A to B away again; links in A's text stay."""
    return _changed(memory, source, target, kind, workspace, project, is_added=False)


def _changed(
    memory: "Memory",
    source: str,
    target: str,
    kind: str | None,
    workspace: str | None,
    project: str | None,
    *,
    is_added: bool,
) -> Linked:
    scope = resolve(memory, workspace, project, write=True)
    with memory.reading() as snapshot:
        ref, other = named_ref(snapshot, scope, source), named_ref(snapshot, scope, target)
        if is_added and snapshot.page(other) is None:
            raise NotFound(f"no page {other}", hint="write it first")
    if ref == other:
        raise UsageFault("a page is not linked to itself", hint="name two pages")
    verb = "link" if is_added else "unlink"
    with memory.writing(f"{verb} {ref.path}", trailers=session_trailers(memory)) as change:
        page = change.page(ref)
        if page is None:
            raise NotFound(f"no page {ref}", hint="`ai-memory pages` lists them")
        relations, rows = _edited(page, other, kind, is_added=is_added)
        text = splice(page.text, {"relations": relations or None}, path=ref.path) if rows else page.text
        change.put(ref, clean(memory, text, before=page.text))
    done = change.committed
    commit = done.commit if done else None
    outcome: Literal["linked", "unlinked", "unchanged"] = (
        "unchanged" if commit is None else "linked" if is_added else "unlinked"
    )
    return Linked(scope, outcome, tuple(rows), commit, done.asked if done else ())


def _edited(
    page: Page, other: PageRef, kind: str | None, *, is_added: bool
) -> tuple[dict[str, object], list[LinkedRow]]:
    """The page's relations after the change, and the links that came or went."""
    given = page.frontmatter.get("relations")
    relations = {str(key): _listed(value) for key, value in given.items()} if isinstance(given, Mapping) else {}
    place = (page.ref.workspace, page.ref.project, page.ref.path)
    rows = []
    if is_added:
        assert kind is not None
        key = next((key for key in relations if link_kind(key) == kind), kind)
        name = name_of(other, seen_from=page.ref)
        if not any(resolve_relation(str(one), at=page.ref) == other for one in relations.get(key, [])):
            relations[key] = [*relations.get(key, []), name]
            rows.append(LinkedRow(*place, kind, name))
        return dict(relations), rows
    for key, targets in list(relations.items()):
        if kind not in (None, link_kind(key)):
            continue
        kept = [one for one in targets if resolve_relation(str(one), at=page.ref) != other]
        rows += [LinkedRow(*place, link_kind(key), str(one)) for one in targets if one not in kept]
        relations[key] = kept
    return {key: targets for key, targets in relations.items() if targets}, rows


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else [value]


def name_of(ref: PageRef, *, seen_from: PageRef) -> str:
    """How the page is named from there."""
    if (ref.workspace, ref.project) == (seen_from.workspace, seen_from.project):
        return ref.path
    return f"{ref.project}:{ref.path}" if ref.workspace == seen_from.workspace else str(ref)


def linked_text(result: Linked) -> str:
    """Which links came or went."""
    if result.outcome == "unchanged":
        return "unchanged"
    commit = f" · commit {result.commit[:VERSION_SHOWN]}" if result.commit else ""
    return "\n".join(f"{result.outcome} {row.path} · {row.kind} · {row.target}{commit}" for row in result.links)
