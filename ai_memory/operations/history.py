"""The versions of a page: which there are, what differs between two, bringing one back."""

from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import MemoryFault, NotFound, UsageFault, echo
from ai_memory.model import PageRef, Scope
from ai_memory.operations.fact_guard import refuse_undoing
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.rows import VERSION_SHOWN, Address, PageRow, label, page_row
from ai_memory.operations.scoping import locate
from ai_memory.operations.write import ExpectedVersion, as_written
from ai_memory.text.times import BadTime

if TYPE_CHECKING:
    from ai_memory.store.history import PageVersion
    from ai_memory.store.memory import Memory
    from ai_memory.store.wiki import Wiki

PagePath = Annotated[str, Field("page path", flags=("-p", "--path"), positional=True)]
Rows = Annotated[int, Field("rows at most", ge=1, le=1000, flags=("-n", "--limit"))]
Skipped = Annotated[int, Field("rows to skip", ge=0)]

GONE = "gone"
"""Stands for a version where the page was deleted."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    workspace: str
    project: str
    path: str
    """Its path at that time."""
    version: str | None
    """None where it was deleted."""
    commit: str
    at: str
    change: str
    author: str
    message: str


@dataclass(frozen=True, slots=True)
class PageHistory:
    scope: Scope
    versions: tuple[VersionRow, ...]
    gaps: tuple[str, ...]
    omitted: int = 0


def history(
    memory: "Memory",
    *,
    path: PagePath,
    limit: Rows = 50,
    offset: Skipped = 0,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> PageHistory:
    """List the versions of a page, newest first, deleted ones too.
    Use it to see who changed what, and which version to go back to.
    """
    scope, ref = locate(memory, path, workspace, project, write=False)
    return _listed(memory, scope, ref, limit=limit, offset=offset)


def _listed(memory: "Memory", scope: Scope, ref: PageRef, *, limit: int, offset: int = 0) -> PageHistory:
    found = memory.history(ref, limit=limit + 1, offset=offset)
    if not found and not offset:
        raise _never_was(ref)
    gaps = ("older versions not shown",) if len(found) > limit else ()
    return PageHistory(scope, tuple(map(version_row, found[:limit])), gaps)


def _never_was(ref: PageRef) -> NotFound:
    return NotFound(f"no page {ref}, now or before", hint="ai-memory pages lists what there is")


def version_row(version: "PageVersion") -> VersionRow:
    """The version as an answer shows it."""
    return VersionRow(
        version.path.workspace,
        version.path.project,
        version.path.path,
        version.version,
        version.commit,
        rfc3339(version.at_us),
        version.change,
        version.author,
        version.message,
    )


def history_text(result: PageHistory) -> str:
    """One line a version."""
    return "\n".join(map(_version_line, result.versions))


def _version_line(row: VersionRow) -> str:
    return f"- {_short(row)} · {row.at} · {row.change} · {row.author} · {row.message}"


def _short(row: VersionRow) -> str:
    return (row.version or GONE)[:VERSION_SHOWN]


# --- diff ---


@dataclass(frozen=True, slots=True)
class PageDiff:
    scope: Scope
    before: VersionRow | None
    """None: the page was not there yet."""
    after: VersionRow
    diff: str
    """Unified; empty where nothing differs."""
    added: int
    removed: int
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def diff(
    memory: "Memory",
    *,
    path: PagePath,
    rev: Annotated[
        str | None, Field("older side: a version or commit, a time, 2d [the version before]", positional=True)
    ] = None,
    to: Annotated[str | None, Field("newer side [the page as it is]", metavar="REV")] = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> PageDiff:
    """Show what differs between two versions of a page, by default the last change.
    `ai-memory history` lists the versions.
    """
    scope, ref = locate(memory, path, workspace, project, write=False)
    asked = memory.fresh(ref)
    with memory.past() as wiki:
        after = named_version(memory, wiki, ref, to)
        assert wiki is not None
        if rev is not None:
            before: PageVersion | None = named_version(memory, wiki, ref, rev)
        else:
            before = _version_before(wiki, ref, after)
        old, new = _content(wiki, before), _content(wiki, after)
    lines = list(_unified(old, new, before, after))
    return PageDiff(
        scope,
        version_row(before) if before else None,
        version_row(after),
        "".join(lines),
        sum(line.startswith("+") for line in lines[2:]),
        sum(line.startswith("-") for line in lines[2:]),
        (*asked, *_unreadable(old, new)),
    )


def named_version(memory: "Memory", wiki: "Wiki | None", ref: PageRef, name: str | None) -> "PageVersion":
    """The version of that name; without one the newest, which may be a deletion. Errors: NotFound, UsageFault."""
    from ai_memory.store.history import version_at, versions  # the git library

    newest = next(versions(wiki, ref), None) if wiki is not None else None
    if wiki is None or newest is None:
        raise _never_was(ref)
    if name is None:
        return newest
    try:
        return version_at(wiki, ref, name.strip(), now_us=memory.clock())
    except BadTime as fault:
        raise UsageFault(
            f"{echo(name)} is no version, commit or time", hint="`ai-memory history` lists versions and commits"
        ) from fault


def _last(wiki: "Wiki | None", ref: PageRef) -> "PageVersion | None":
    """The newest version that has a text, also of a page that was deleted since."""
    from ai_memory.store.history import versions  # as above

    return next((one for one in versions(wiki, ref) if one.version is not None), None) if wiki is not None else None


def _version_before(wiki: "Wiki", ref: PageRef, after: "PageVersion") -> "PageVersion | None":
    from ai_memory.store.history import versions  # as above

    found = versions(wiki, ref)
    return next((older for one in found if one == after for older in islice(found, 1)), None)


def _content(wiki: "Wiki | None", version: "PageVersion | None") -> bytes:
    if wiki is None or version is None or version.version is None:
        return b""
    return wiki.blob(version.version)


def _unreadable(*contents: bytes) -> tuple[str, ...]:
    for content in contents:
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            return ("a version is not UTF-8: bytes that cannot be read are shown as \ufffd",)
    return ()


def _unified(old: bytes, new: bytes, before: "PageVersion | None", after: "PageVersion") -> "list[str]":
    """The lines of the difference, each with its end."""
    left, right = (content.decode("utf-8", "replace").splitlines(keepends=True) for content in (old, new))
    found = unified_diff(left, right, _side(before), _side(after))
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found]


def _side(version: "PageVersion | None") -> str:
    return f"{version.path.path} {(version.version or GONE)[:VERSION_SHOWN]}" if version else "nothing"


def diff_text(result: PageDiff) -> str:
    """The unified difference."""
    if result.diff:
        return result.diff.rstrip("\n")
    before = _short(result.before) if result.before else "nothing"
    return f"nothing differs between {before} and {_short(result.after)}"


# --- restoring ---


@dataclass(frozen=True, slots=True)
class RestoredPage:
    scope: Scope
    outcome: Literal["listed", "restored", "unchanged"]
    versions: tuple[VersionRow, ...]
    """All of the page where no version was named; else the one that was brought back."""
    pages: tuple[PageRow, ...]
    commit: str | None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def restore_page(
    memory: "Memory",
    *,
    path: PagePath,
    rev: Annotated[str | None, Field("version, commit or time; none: list them", flags=("--from",))] = None,
    limit: Annotated[int, Field("versions listed at most", ge=1, le=1000, flags=("-n", "--limit"))] = 20,
    expected_version: ExpectedVersion = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> RestoredPage:
    """Bring an earlier version of a page back, a deleted page too; without rev list the versions.
    What stands there now stays in the history.
    """
    scope, ref = locate(memory, path, workspace, project, write=rev is not None)
    if rev is None:
        listed = _listed(memory, scope, ref, limit=limit)
        return RestoredPage(scope, "listed", listed.versions, (), None, listed.gaps)
    with memory.past() as wiki:
        version = named_version(memory, wiki, ref, rev)
        former, text = (_content(wiki, one).decode("utf-8", "replace") for one in (_last(wiki, ref), version))
    if version.version is None:
        raise MemoryFault(
            f"{ref} was deleted in {version.commit[:VERSION_SHOWN]}: there is no text to bring back",
            hint="name an older version: `ai-memory history` lists them",
        )
    with memory.writing(f"restore {ref.path} from {version.version[:VERSION_SHOWN]}") as change:
        change.ensure_project(scope)
        present = change.page(ref)
        refuse_undoing(former if present is None else present.text, text, ref)
        ref = change.put_back(ref, version.version, expected_version=expected_version)
    page, gaps = memory.after_write(lambda snapshot: as_written(snapshot, change, ref), otherwise=change.page(ref))
    done = change.committed
    commit, asked = (done.commit, done.asked) if done else (None, ())
    if page is not None and page.kind == "handoff":
        gaps = (*gaps, *HANDOFF_BACK)
    return RestoredPage(
        scope,
        "unchanged" if commit is None else "restored",
        (version_row(version),),
        (page_row(page),) if page else (),
        commit,
        (*gaps, *asked),
    )


HANDOFF_BACK = ("a handoff that came back is given to nobody until `ai-memory handoff reopen ID`",)


def restored_page_text(result: RestoredPage) -> str:
    """The versions, or what was brought back."""
    if result.outcome == "listed":
        how = "name one to bring it back: --from VERSION on the command line, rev in a tool call"
        return "\n".join([*map(_version_line, result.versions), how])
    row = result.pages[0]
    name = label(Address(row.workspace, row.project, row.path), result.scope.workspace, result.scope.project)
    if result.outcome == "unchanged":
        return f"unchanged {name} · it is that version already"
    [version] = result.versions
    commit = (result.commit or "")[:VERSION_SHOWN]
    return f"restored {name} as of {version.at} · version {_short(version)} · commit {commit}"
