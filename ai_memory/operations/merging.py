"""Making one page of several: bodies, tags, links and evidence come together, stubs lead on. One commit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import Conflict, NotFound, UsageFault
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.cleaning import clean
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.merged_page import Plan, joined, known_text, stub
from ai_memory.operations.page_state import share_evidence
from ai_memory.operations.relocating import note_version
from ai_memory.operations.rows import VERSION_SHOWN, Address, address, label
from ai_memory.operations.scoping import locate
from ai_memory.operations.write import as_written, check_words, session_trailers
from ai_memory.text.facts import read_fact
from ai_memory.text.joining import JoinedPart
from ai_memory.text.links import resolve_relation, rewrite_links
from ai_memory.text.names import default_kind
from ai_memory.text.page import parse_leniently
from ai_memory.text.sanitize import sanitize_edit

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

FEWEST, MOST = 2, 100
"""Pages that one merge makes one of: a page that is there and takes others in counts among the fewest."""
SHOWN = 20
_APART = ("handoff", "fact")


@dataclass(frozen=True, slots=True)
class MergedRow:
    """A page that gives its text to another one."""

    workspace: str
    project: str
    path: str
    title: str
    version: str
    blocks: int
    """Paragraphs, bullets and the like that it brings."""
    repeated: int
    """Those that stood there already."""


@dataclass(frozen=True, slots=True)
class Merged:
    scope: Scope
    outcome: Literal["merged", "would_merge", "unchanged"]
    into: Address
    title: str
    is_new: bool
    """There was no page at that path."""
    pages: tuple[MergedRow, ...]
    tags: tuple[str, ...]
    """All that the page has then."""
    relinked: tuple[Address, ...]
    """Other pages whose links follow."""
    text: str
    """The whole page as it is then."""
    commit: str | None = None
    version: str | None = None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def merge(
    memory: "Memory",
    *,
    paths: Annotated[tuple[str, ...], Field("pages to merge, in order", positional=True, max_length=MOST)],
    into: Annotated[str, Field("the page that takes them in: one of them, another one, or a new one")],
    title: Annotated[str | None, Field("title of a new page [that of the first]")] = None,
    pinned: Annotated[bool, Field("also pages that are pinned", flags=("--pinned",))] = False,
    confirm: Annotated[bool, Field("yes, merge them")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Merged:
    """Make one page of several that tell of one matter: texts, tags and links come together, links to them follow.
    Each leaves a stub that names the page. Shows what would become of them; `--confirm` does it, `undo` takes it back.
    """
    check_words(title=(title,))
    scope, target = locate(memory, into, workspace, project, write=True)
    refs = [locate(memory, path, workspace, project, write=True, leaves=True)[1] for path in paths]
    for ref in {target, *refs}:
        memory.fresh(ref)
    with memory.reading() as snapshot:
        plan = _plan(snapshot, scope, target, list(dict.fromkeys(refs)), title)
        if not plan.sources:
            return _unchanged(plan)
        _refuse(plan, pinned=pinned)
        linking = {link.source for page in plan.sources for link in snapshot.backlinks(page.ref)}
    plan.linking = sorted(linking - {target, *refs})
    text, told = joined(memory, plan)
    answer = _answer(plan, text, told)
    if not confirm:
        return answer
    return _carry_out(memory, plan, text, answer)


# --- looking ---


def _plan(snapshot: "Snapshot", scope: Scope, target: PageRef, refs: Sequence[PageRef], title: str | None) -> Plan:
    """What shall become of which page; those that were merged into it before are left out. Errors: NotFound."""
    survivor = snapshot.page(target)
    sources = []
    for ref in refs:
        if ref == target and survivor is not None:
            continue
        page = snapshot.page(ref)
        if page is None:
            raise NotFound(f"no page {ref}", hint="`ai-memory pages` lists what there is")
        if not _leads_to(page, target):
            sources.append(page)
    named = survivor.title if survivor else title or (sources[0].title if sources else "")
    plan = Plan(scope, target, survivor, sources, named)
    if survivor is not None and title not in (None, survivor.title):
        plan.gaps.append(f"{target.path} keeps its title: `ai-memory set {target.path} --title` changes it")
    if set(refs) == {target} or (survivor is None and len(sources) < FEWEST):
        raise UsageFault(f"{FEWEST} to {MOST} pages make one", hint="`ai-memory move` gives one page another path")
    return plan


def _leads_to(page: Page, target: PageRef) -> bool:
    heir = page.frontmatter.get("superseded_by")
    return isinstance(heir, str) and resolve_relation(heir, at=page.ref) == target


def _refuse(plan: Plan, *, pinned: bool) -> None:
    """Nothing, when the pages may be one. Errors: UsageFault, Conflict."""
    for page in [*plan.sources, *([plan.survivor] if plan.survivor else [])]:
        name, keys = str(page.ref), page.frontmatter
        if page.fault:
            raise Conflict(f"{name} cannot be read in full: {page.fault}", hint="mend its file first")
        if page.kind == "fact" or read_fact(keys) is not None:
            raise UsageFault(
                f"{name} is a fact: a statement with its own evidence and time is not joined to others",
                hint="if another one holds in its place: `ai-memory resolve ID --as superseded --by ID --because WHY`",
            )
        if page.kind == "handoff":
            raise UsageFault(f"{name} is a handoff: it is taken once, as it is", hint="leave it out")
        if keys.get("superseded_by") or keys.get("standing") in ("superseded", "contradicted"):
            raise Conflict(f"{name} holds no longer: {_standing(keys)}", hint="leave it out, or name what replaced it")
    if plan.survivor is None and default_kind(plan.into.path) in _APART:
        raise UsageFault(f"{plan.into.path} would be a {default_kind(plan.into.path)}", hint="name another folder")
    fixed = [page.ref.path for page in plan.sources if page.pinned]
    if fixed and not pinned:
        raise Conflict(f"pinned: {', '.join(fixed[:SHOWN])}", hint="--pinned merges pinned pages, too")


def _standing(keys: Mapping[str, object]) -> str:
    heir = keys.get("superseded_by")
    return f"{keys.get('standing') or 'superseded'}{f' by {heir}' if heir else ''}"


# --- doing ---


def _carry_out(memory: "Memory", plan: Plan, text: str, answer: Merged) -> Merged:
    """All of it in one change, or nothing. Errors: Conflict for a page that changed since the look."""
    now_us = memory.clock()
    names = [page.ref.path if page.ref.project == plan.into.project else str(page.ref) for page in plan.sources]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    relinked = []
    with memory.writing(f"merge {names[0]}{more} into {plan.into.path}", trailers=session_trailers(memory)) as change:
        change.ensure_project(plan.scope)
        seen = plan.survivor
        kept = clean(memory, text, before=known_text(plan))
        change.put(plan.into, kept, expected_version=seen.version if seen else None, create_only=seen is None)
        for page in plan.sources:
            text_of_stub = clean(memory, stub(page, plan, now_us), before=page.text)
            change.put(page.ref, text_of_stub, expected_version=page.version)
            share_evidence(change, page.ref, plan.into)
        relinked = [ref for ref in plan.linking if _relink(change, ref, plan.moved)]
    done = change.committed
    page_now, gaps = memory.after_write(
        lambda snapshot: as_written(snapshot, change, plan.into), otherwise=change.page(plan.into)
    )
    return replace(
        answer,
        outcome="merged",
        relinked=tuple(map(address, relinked)),
        commit=done.commit if done else None,
        version=page_now.version if page_now else None,
        gaps=(*answer.gaps, *gaps, *(done.asked if done else ())),
    )


def _relink(change: "Change", ref: PageRef, moved: Mapping[PageRef, PageRef]) -> bool:
    """Point the links of another page to the one that stays; False when there were none after all."""
    page = change.page(ref)
    if page is None or not change.is_utf8(ref):
        return False
    text = sanitize_edit(page.text, rewrite_links(page.text, at=ref, moved=moved, now_at=ref))
    if text == page.text:
        return False
    change.put(ref, text, expected_version=page.version)
    now = change.page(ref)
    if now is not None:
        note_version(change, page, now.version)
    return True


# --- telling ---


def _answer(plan: Plan, text: str, told: Sequence[JoinedPart]) -> Merged:
    rows = [
        MergedRow(
            *(page.ref.workspace, page.ref.project, page.ref.path, page.title, page.version),
            *(part.added, part.repeated),
        )
        for page, part in zip(plan.sources, told, strict=True)
    ]
    return Merged(
        scope=plan.scope,
        outcome="would_merge",
        into=address(plan.into),
        title=plan.title,
        is_new=plan.survivor is None,
        pages=tuple(rows),
        tags=parse_leniently(text, path=plan.into.path).tags,
        relinked=tuple(map(address, plan.linking)),
        text=text,
        gaps=tuple(plan.gaps),
    )


def _unchanged(plan: Plan) -> Merged:
    page = plan.survivor
    if page is None:
        raise NotFound(f"no page {plan.into}", hint="name two pages or more to merge")
    said = (page.title, False, (), page.tags, (), page.text)
    return Merged(plan.scope, "unchanged", address(page.ref), *said, version=page.version)


def merged_text(result: Merged) -> str:
    """What each page brings, what the page is then, how many links follow."""
    scope = (result.scope.workspace, result.scope.project)
    into = label(result.into, *scope)
    if result.outcome == "unchanged":
        return f"unchanged {into}: nothing of these is left to merge"
    is_done = result.outcome == "merged"
    verb = "merged" if is_done else "would merge, with --confirm:"
    count = f"{len(result.pages)} page{'' if len(result.pages) == 1 else 's'}"
    lines = [f"{verb} {count} into {into} · {result.title}{' · new' if result.is_new else ''}"]
    for row in result.pages[:SHOWN]:
        repeated = f", {row.repeated} stood there already" if row.repeated else ""
        place = label(Address(row.workspace, row.project, row.path), *scope)
        brings = f"{row.blocks} block{'' if row.blocks == 1 else 's'}"
        lines.append(f"- {place} · {row.title} · {brings}{repeated}")
    if len(result.pages) > SHOWN:
        lines.append(f"and {len(result.pages) - SHOWN} more: --json lists all")
    if result.tags:
        lines.append(f"tags: {', '.join(result.tags)}")
    if result.relinked:
        pages = f"{len(result.relinked)} other page{'' if len(result.relinked) == 1 else 's'}"
        lines.append(f"links {'follow in' if is_done else 'would follow in up to'} {pages}")
    if result.commit:
        version = f" · version {result.version[:VERSION_SHOWN]}" if result.version else ""
        lines.append(f"commit {result.commit[:VERSION_SHOWN]}{version}; `ai-memory undo` takes it back")
    return "\n".join(lines)
