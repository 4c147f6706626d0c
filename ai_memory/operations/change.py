"""Changing what a page is called, how it is filed, where it lies, or whether it is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import NotFound, UsageFault, echo
from ai_memory.model import PageRef, Scope
from ai_memory.operations.cleaning import clean, refuse_secrets
from ai_memory.operations.fact_guard import refuse_loss, refuse_unproved
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.page_state import carry_feedback, carry_state, forget_state
from ai_memory.operations.rows import VERSION_SHOWN, Address, PageRow, address, label, page_row
from ai_memory.operations.scoping import locate, refuse_unknown_address, resolve, split_address
from ai_memory.operations.write import (
    ExpectedVersion,
    PagePath,
    Tier,
    Ttl,
    WrittenPage,
    as_written,
    check_words,
    expiry,
    lasting,
    named_keys,
    write_page_text,
    written,
)
from ai_memory.text.links import rewrite_links
from ai_memory.text.names import check_page_path
from ai_memory.text.page import check_size, splice
from ai_memory.text.sanitize import sanitize_edit

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory

changed_page_text = write_page_text


def set_page(
    memory: "Memory",
    *,
    path: PagePath,
    title: Annotated[str | None, Field("new title; empty: the first heading")] = None,
    tags: Annotated[tuple[str, ...], Field("+x adds, -x removes", flags=("-t", "--tag"))] = (),
    kind: Annotated[str | None, Field("new kind; empty: by folder")] = None,
    tier: Annotated[Tier | None, Field("new tier")] = None,
    pinned: Annotated[bool | None, Field("pin or unpin", flags=("--pin/--unpin",))] = None,
    expires_at: Annotated[str | None, Field("date or RFC 3339 time; empty: never", flags=("--expires-at",))] = None,
    aliases: Annotated[tuple[str, ...], Field("other names: +x adds, -x removes", flags=("--alias",))] = (),
    ttl: Ttl = None,
    expected_version: ExpectedVersion = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> WrittenPage:
    """Change a page's metadata, only the keys that you name.
    The body and all other keys stay byte for byte.
    """
    lasts = lasting(expires_at, ttl)
    expires_at = expiry(memory, expires_at, ttl)
    if (title, kind, tier, pinned, expires_at) == (None,) * 5 and not tags and not aliases:
        raise UsageFault("nothing to set", hint="name title, tag, kind, tier, pin, expires-at, ttl or alias")
    check_words(title=(title,), kind=(kind,), tag=_added(tags), alias=_added(aliases))
    refuse_secrets(memory, kind=kind, tag=tags, alias=aliases, expiry=expires_at)
    kept = title and clean(memory, title)
    changes = named_keys(title=kept, kind=kind, tags=None, tier=tier, pinned=pinned, expires_at=expires_at) | lasts
    scope, ref = locate(memory, path, workspace, project, write=True)
    with memory.writing(f"set {ref.path}") as change:
        before = change.page(ref)
        if before is None:
            raise NotFound(f"no page {ref}", hint="ai-memory pages lists what there is")
        for key, edits in (("tags", tags), ("aliases", aliases)):
            if edits:
                changes[key] = _edited(_texts(before.frontmatter.get(key)), edits) or None
        given = splice(before.text, changes, path=ref.path)
        check_size(given)
        refuse_unproved(before, given, ref)
        text = clean(memory, given, before=before.text)
        change.put(ref, text, expected_version=expected_version)
    return written(memory, scope, ref, before, change, cleaned=[(given, text), (title or "", kept or "")])


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(entry) for entry in value] if isinstance(value, list | tuple) else []


def _added(edits: Sequence[str]) -> list[str]:
    """What `+x` and bare `x` name. A word that is to go may be odd, as one by hand."""
    return [edit.removeprefix("+") for edit in edits if edit not in ("", "+") and not edit.startswith("-")]


def _edited(present: Sequence[str], edits: Sequence[str]) -> list[str]:
    """The list after `+x` and `-x` in their order; a bare `x` adds."""
    entries = list(present)
    for edit in edits:
        word = edit[1:] if edit[:1] in "+-" else edit
        if not word:
            raise UsageFault(f"{echo(edit)} names nothing", hint="write +name or -name")
        if edit.startswith("-"):
            entries = [entry for entry in entries if entry != word]
        elif word not in entries:
            entries.append(word)
    return entries


@dataclass(frozen=True, slots=True)
class MovedPage:
    scope: Scope
    pages: tuple[PageRow, ...]
    before: Address
    relinked: tuple[Address, ...]
    """Pages whose links were changed to the new place."""
    commit: str | None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def move_page(
    memory: "Memory",
    *,
    path: Annotated[str, Field("page path", flags=("-p", "--path"), positional=True)],
    new: Annotated[str, Field("new page path", flags=("--new",), positional=True)],
    workspace: Workspace = None,
    project: ProjectName = None,
) -> MovedPage:
    """Move a page to another path or project; links to it and in it follow, in one commit.
    Use it when a page was filed in the wrong place.
    """
    scope, ref = locate(memory, path, workspace, project, write=True, leaves=True)
    target_scope, target = _target(memory, new, scope)
    if ref == target:
        raise UsageFault(f"{ref} lies there already")
    with memory.reading() as snapshot:
        sources = sorted({row.source for row in snapshot.backlinks(ref)} - {ref})
    message = f"move {ref.path} to {target if target_scope != scope else target.path}"
    with memory.writing(message, trailers={"Moved-From": ref.git_path}) as change:
        page = change.page(ref)
        if page is None:
            raise NotFound(f"no page {ref}", hint="ai-memory pages lists what there is")
        change.ensure_project(target_scope)
        text = sanitize_edit(page.text, rewrite_links(page.text, at=ref, moved={ref: target}, now_at=target))
        target = change.move(ref, target, text=text)
        relinked = [source for source in sources if _relink(change, source, ref, target)]
        carry_state(change, ref, target)
        carry_feedback(change, target, page.version)
    moved, gaps = memory.after_write(
        lambda snapshot: as_written(snapshot, change, target), otherwise=change.page(target)
    )
    return MovedPage(
        target_scope,
        (page_row(moved),) if moved else (),
        address(ref),
        tuple(map(address, relinked)),
        change.committed.commit if change.committed else None,
        (*gaps, *(change.committed.asked if change.committed else ())),
    )


def _target(memory: "Memory", new: str, scope: Scope) -> tuple[Scope, PageRef]:
    """Where a page goes: the project of the old path, unless the new one names another."""
    refuse_secrets(memory, new_page_path=new)
    workspace, project, path = split_address(new)
    if project is None:
        return scope, PageRef(scope.workspace, scope.project, check_page_path(path))
    target = resolve(memory, workspace or scope.workspace, project, write=True)
    refuse_unknown_address(memory, new, target)
    return target, PageRef(target.workspace, target.project, check_page_path(path))


def _relink(change: "Change", source: PageRef, ref: PageRef, target: PageRef) -> bool:
    """Point the links of one page to the new place; False when there were none after all."""
    page = change.page(source)
    if page is None or not change.is_utf8(source):
        return False
    text = sanitize_edit(page.text, rewrite_links(page.text, at=source, moved={ref: target}, now_at=source))
    if text == page.text:
        return False
    change.put(source, text, expected_version=page.version)
    carry_feedback(change, source, page.version)
    return True


def moved_page_text(result: MovedPage) -> str:
    """From where to where, how many links followed, the commit."""
    scope = result.scope
    new = label(address(PageRef(scope.workspace, scope.project, result.pages[0].path)), scope.workspace, scope.project)
    lines = [f"moved {label(result.before, scope.workspace, scope.project)} to {new}{_commit(result.commit)}"]
    lines += [f"links follow in {label(one, scope.workspace, scope.project)}" for one in result.relinked]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class DeletedPage:
    scope: Scope
    pages: tuple[Address, ...]
    outcome: Literal["deleted", "absent"]
    commit: str | None
    version: str | None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def delete_page(
    memory: "Memory",
    *,
    path: PagePath,
    expected_version: ExpectedVersion = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> DeletedPage:
    """Delete one page that is wrong or no longer needed.
    Its history keeps every version. A page that is not there is no fault.
    """
    scope, ref = locate(memory, path, workspace, project, write=True, leaves=True)
    memory.fresh(ref)
    with memory.reading() as snapshot:
        present = snapshot.page(ref) if memory.exists else None
        is_known = memory.exists and (present is not None or bool(snapshot.gaps))
    if not is_known:
        return DeletedPage(scope, (address(ref),), "absent", None, None)
    refuse_loss(memory, present)
    with memory.writing(f"delete {ref.path}") as change:
        page = change.page(ref)
        if page is not None:
            change.delete(ref, expected_version=expected_version)
            forget_state(memory, change, page)
    if page is None:
        return DeletedPage(scope, (address(ref),), "absent", None, None)
    done = change.committed
    commit, asked = (done.commit, done.asked) if done else (None, ())
    return DeletedPage(scope, (address(ref),), "deleted", commit, page.version, asked)


def deleted_page_text(result: DeletedPage) -> str:
    """What was deleted, and its last version."""
    name = label(result.pages[0], result.scope.workspace, result.scope.project)
    if result.outcome == "absent":
        return f"nothing deleted: there is no page {name}"
    return f"deleted {name} · version was {(result.version or '')[:VERSION_SHOWN]}{_commit(result.commit)}"


def _commit(commit: str | None) -> str:
    return f" · commit {commit[:VERSION_SHOWN]}" if commit else ""
