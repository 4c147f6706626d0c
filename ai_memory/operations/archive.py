"""Pages that upkeep took away: listing them, bringing one back, erasing them for good."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, NotFound
from ai_memory.model import PageRef, Scope
from ai_memory.operations.cleaning import clean
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.rows import VERSION_SHOWN
from ai_memory.operations.scoping import locate, resolve
from ai_memory.operations.write import PagePath, session_trailers
from ai_memory.store.tombstones import EVER_US, Tombstone, erased, tombstones
from ai_memory.text.page import splice
from ai_memory.text.times import DAY_US, BadTime, parse_duration

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class ArchivedRow:
    """One version that was taken away."""

    workspace: str
    project: str
    path: str
    version: str
    reason: str
    tier: str
    kind: str
    size_bytes: int
    archived_at: str


@dataclass(frozen=True, slots=True)
class Archived:
    scope: Scope | None
    pages: tuple[ArchivedRow, ...]
    size_bytes: int
    """Of all of them, also of those that are not listed."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Unarchived:
    scope: Scope
    outcome: Literal["restored", "unchanged"]
    page: ArchivedRow
    commit: str | None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class ArchivePurged:
    scope: Scope | None
    outcome: Literal["purged", "would_purge", "unchanged"]
    pages: tuple[ArchivedRow, ...]
    size_bytes: int
    gaps: tuple[str, ...] = ()
    omitted: int = 0


Place = tuple[str | None, str | None]
"""Workspace and project; None for all."""
Everywhere = Annotated[bool, Field("of all projects", flags=("--all",))]


def archive_list(
    memory: "Memory",
    *,
    everywhere: Everywhere = False,
    limit: Annotated[int, Field("rows at most", ge=1, le=10_000, flags=("-n", "--limit"))] = 50,
    offset: Annotated[int, Field("rows to skip", ge=0)] = 0,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Archived:
    """List pages that `forget-sweep` took away, cut down or merged, newest first, with the reason.
    Each can be brought back until it is erased.
    """
    scope = None if everywhere else resolve(memory, workspace, project, write=False)
    found = _away(memory, _place(scope))
    shown = found[offset : offset + limit]
    total = sum(one.size_bytes for one in found)
    return Archived(scope, tuple(map(_row, shown)), total, omitted=max(0, len(found) - offset - len(shown)))


def archive_restore(
    memory: "Memory",
    *,
    path: PagePath,
    version: Annotated[str | None, Field("which version [the last that was taken away]")] = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Unarchived:
    """Bring a page back as it was when it was taken away. What was written there since must go first, or be named by
    `restore-page`.
    """
    scope, ref = locate(memory, path, workspace, project, write=True)
    [grave, *_] = _graves_of(memory, scope, ref, version)
    left = _left_by(memory, grave)
    with memory.writing(f"archive-restore {ref.path}", trailers=session_trailers(memory)) as change:
        present = change.page(ref)
        if present is not None and present.version not in (left, grave.version):
            raise Conflict(
                f"{ref.path} was written anew since, version {present.version[:VERSION_SHOWN]}.",
                hint=f"`restore-page {ref.path} --version {grave.version[:VERSION_SHOWN]}` puts it over that.",
            )
        change.ensure_project_named(ref.workspace, ref.project)
        change.put_back(ref, grave.version)
        lifted = _lift_expiry(memory, change, ref)
        if lifted:
            place = {"workspace": ref.workspace, "project": ref.project, "path": ref.path}
            change.state("tombstone-dropped", **place, version=grave.version)
    done = change.committed
    commit = done.commit if done else None
    gaps = (*lifted, *(done.asked if done else ()))
    return Unarchived(scope, "restored" if commit else "unchanged", _row(grave), commit, gaps)


def _left_by(memory: "Memory", grave: Tombstone) -> str | None:
    """What the sweep wrote in the page's place: None where it took the page away."""
    from ai_memory.store.history import versions

    with memory.past() as wiki:
        found = versions(wiki, grave.ref) if wiki is not None else ()
        return next((one.version for one in found if one.trailers.get("Change-Id") == grave.change_id), None)


def _lift_expiry(memory: "Memory", change: "Change", ref: PageRef) -> tuple[str, ...]:
    """Let a page whose time was over stay: for its `ttl` from now on, else for good. Says so."""
    page = change.page(ref)
    if page is None or page.expires_at_us is None or page.expires_at_us > change.now_us or page.kind == "handoff":
        return ()
    if not change.is_utf8(ref) or page.fault:
        return (f"{ref.path} is over still: the next sweep takes it away again",)
    until_us = _until_us(page.frontmatter.get("ttl"), change.now_us)
    until = rfc3339(until_us) if until_us is not None else None
    text = splice(page.text, {"expires_at": until}, path=ref.path)
    change.put(ref, clean(memory, text, before=page.text))
    return (f"its time was over: it lives until {until} now" if until else "its time was over: it has no expiry now",)


def _until_us(ttl: object, now_us: int) -> int | None:
    try:
        return now_us + parse_duration(ttl) if isinstance(ttl, str) and ttl else None
    except BadTime:
        return None


def archive_purge(
    memory: "Memory",
    *,
    older_than_days: Annotated[int, Field("what went so long ago or earlier", ge=0, le=36_500)] = 0,
    everywhere: Everywhere = False,
    confirm: Annotated[bool, Field("yes, erase it for good")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> ArchivePurged:
    """Erase what was taken away, out of git's history too: nothing brings it back. Shows what would go;
    `--confirm` does it. The sweep does the same after `decay.hard_delete_after_days`.
    """
    scope = None if everywhere else resolve(memory, workspace, project, write=True, leaves=True)
    before_us = memory.clock() - older_than_days * DAY_US + 1
    due = due_for_erasing(memory, before_us=before_us, place=_place(scope))
    rows, size = tuple(map(_row, due)), sum(one.size_bytes for one in due)
    gaps = (why_not,) if (why_not := kept_for_others(memory)) else ()
    if not due:
        return ArchivePurged(scope, "unchanged", (), 0)
    if not confirm:
        return ArchivePurged(scope, "would_purge", rows, size, gaps)
    done = erase(memory, due)
    told = memory.tell("archive-purge", count=done.count) if done.count else ()
    return ArchivePurged(scope, "purged" if done.count else "unchanged", rows, size, (*gaps, *done.gaps, *told))


# --- erasing ---


@dataclass(frozen=True, slots=True)
class Erased:
    """How many versions are gone for good, and what is not."""

    count: int
    gaps: tuple[str, ...] = ()


def due_for_erasing(memory: "Memory", *, before_us: int, place: Place) -> list[Tombstone]:
    """Versions that went before that instant and did not come back, oldest last."""
    return _away(memory, place, before_us=before_us)


def kept_for_others(memory: "Memory") -> str:
    """Why the history is better not written anew by itself; nothing where it may be."""
    config = memory.data_dir.git / "config"
    text = config.read_text(encoding="utf-8", errors="replace") if config.exists() else ""
    if "[remote " in text:
        return "the wiki has a remote, whose history would no longer fit (`archive purge` does it all the same)"
    return ""


def erase(memory: "Memory", due: Sequence[Tombstone]) -> Erased:
    """Take these versions, and those before them, out of git's history, and forget what was kept of their pages.

    Crash: say it again: their tombstones go last.
    """
    from ai_memory.store.history import taken_away

    by_change: dict[str, set[str]] = {}
    for one in due:
        by_change.setdefault(one.change_id, set()).add(one.version)
    with memory.past() as wiki:
        doomed = taken_away(wiki, by_change) if wiki is not None else {}
    memory.forget_versions(doomed)  # also where nothing is found: what a killed one left unreachable goes
    with memory.past() as wiki, memory.reading() as snapshot:
        kept = {one.version for one in due if wiki is not None and wiki.has(one.version)}
        kept -= {version for version in kept if snapshot.has_version(version)}
        live = {one.ref for one in due if snapshot.page(one.ref) is not None}
    with memory.state_transaction() as connection:
        for one in due:
            if one.version not in kept:
                erased(connection, one.ref, one.version, is_live=one.ref in live)
    gaps = (f"{len(kept)} versions are in git's history still: what took them away is not found there",) if kept else ()
    return Erased(len([one for one in due if one.version not in kept]), gaps)


# --- inside ---


def _away(memory: "Memory", place: Place, *, before_us: int = EVER_US) -> list[Tombstone]:
    """What is away: not what stands again, by `undo`, say. Taken back once more, it is away again."""
    with memory.reading() as snapshot, memory.state_reading() as connection:
        found = tombstones(connection, *place, before_us=before_us)
        return [one for one in found if not ((page := snapshot.page(one.ref)) and page.version == one.version)]


def _graves_of(memory: "Memory", scope: Scope, ref: PageRef, version: str | None) -> list[Tombstone]:
    found = [one for one in _away(memory, _place(scope)) if one.ref == ref and one.version.startswith(version or "")]
    if not found:
        which = f" at version {version}" if version else ""
        raise NotFound(
            f"{ref} was not taken away{which}, or is erased", hint="`ai-memory archive list` shows what can come back"
        )
    return found


def _place(scope: Scope | None) -> Place:
    return (scope.workspace, scope.project) if scope is not None else (None, None)


def _row(one: Tombstone) -> ArchivedRow:
    place = (one.ref.workspace, one.ref.project, one.ref.path)
    return ArchivedRow(*place, one.version, one.reason, one.tier, one.kind, one.size_bytes, rfc3339(one.at_us))


def archived_text(result: Archived) -> str:
    """A line a version, and the sum."""
    if not result.pages:
        return "nothing is archived"
    lines = [_line(row, result.scope) for row in result.pages]
    more = f"\nand {result.omitted} more" if result.omitted else ""
    return "\n".join(lines) + more


def unarchived_text(result: Unarchived) -> str:
    """What came back."""
    if result.commit is None:
        return f"unchanged {result.page.path}"
    version, commit = result.page.version[:VERSION_SHOWN], result.commit[:VERSION_SHOWN]
    return f"restored {result.page.path} · version {version} · commit {commit}"


def archive_purged_text(result: ArchivePurged) -> str:
    """What went or would go."""
    if result.outcome == "unchanged":
        return "nothing to erase"
    verb = "erased" if result.outcome == "purged" else "would erase, with --confirm:"
    count = len(result.pages)
    head = f"{verb} {count} {'version' if count == 1 else 'versions'}, {result.size_bytes} bytes of text"
    return "\n".join([head, *(_line(row, result.scope) for row in result.pages[:20])])


def _line(row: ArchivedRow, scope: Scope | None) -> str:
    name = row.path if scope is not None else f"{row.workspace}/{row.project}:{row.path}"
    return f"- {name} · {row.reason} · {row.archived_at[:10]} · version {row.version[:VERSION_SHOWN]}"
