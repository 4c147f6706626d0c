"""The commits of the wiki: listing them, making one of edits by hand, taking one back."""

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, MemoryFault, NotFound
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.fact_guard import words_lost
from ai_memory.operations.field import Everywhere, Field, ProjectName, Workspace
from ai_memory.operations.history import HANDOFF_BACK, Rows, Skipped
from ai_memory.operations.log import by_whom
from ai_memory.operations.page_state import carry_state, follow_merge, forget_state
from ai_memory.operations.rows import VERSION_SHOWN, Address, address, label_from
from ai_memory.operations.scoping import locate, resolve
from ai_memory.operations.unscoped import resolve_for, resolve_if_told
from ai_memory.store.addresses import MOVED_PROJECTS, page_ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ai_memory.store.change import Change, Committed
    from ai_memory.store.commits import Checkpoint
    from ai_memory.store.memory import Memory
    from ai_memory.store.wiki import Wiki

PATHS_SHOWN = 3
Place = tuple[str, str] | None


MENDED_BACK = "what lint mended is back, secrets too: `ai-memory lint` tells what there is"


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One commit and what it did to pages."""

    commit: str
    at: str
    what: str
    """The operation or pass; `commit` for one that a person made with git."""
    message: str
    by: str
    agent: str
    session: str
    author: str
    created: int
    changed: int
    deleted: int
    paths: tuple[str, ...]
    """All pages, `workspace/project:path`."""


@dataclass(frozen=True, slots=True)
class Checkpoints:
    scope: Scope | None
    checkpoints: tuple[CheckpointRow, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def checkpoints(
    memory: "Memory",
    *,
    page: Annotated[str | None, Field("only commits that changed this page, also before it was moved")] = None,
    limit: Rows = 20,
    offset: Skipped = 0,
    everywhere: Everywhere = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Checkpoints:
    """List the commits of the wiki, newest first: each can be gone back to.
    `ai-memory undo COMMIT` takes one back, `restore-page --from COMMIT` brings a page back.
    """
    untold: tuple[str, ...] = ()
    scope: Scope | None
    if page is not None:
        scope, ref = locate(memory, page, workspace, project, write=False)
    else:
        with memory.reading() as snapshot:
            scope, untold = resolve_for(memory, workspace, project, everywhere=everywhere, snapshot=snapshot)
    with memory.past() as wiki:
        if wiki is None:
            return Checkpoints(scope, (), untold)
        found = _of_page(wiki, ref) if page is not None else _of_place(wiki, None if everywhere else scope)
        rows = [_row(one) for one in islice(found, offset, offset + limit + 1)]
    more = ("older commits not shown",) if len(rows) > limit else ()
    return Checkpoints(scope, tuple(rows[:limit]), (*untold, *more))


def _of_place(wiki: "Wiki", scope: Scope | None) -> "Iterator[Checkpoint]":
    from ai_memory.store import commits  # the git library

    return commits.checkpoints(wiki, place=(scope.workspace, scope.project) if scope else None)


def _of_page(wiki: "Wiki", ref: PageRef) -> "Iterator[Checkpoint]":
    from ai_memory.store import commits  # as above
    from ai_memory.store.history import versions

    return commits.checkpoints(wiki, only=(one.commit for one in versions(wiki, ref)))


def _row(one: "Checkpoint") -> CheckpointRow:
    pages = [(ref, touched) for touched in one.touched if (ref := page_ref(touched.git_path)) is not None]
    return CheckpointRow(
        one.note.id,
        rfc3339(one.note.at_us),
        one.mutation.verb,
        one.note.message,
        by_whom(one.mutation),
        one.mutation.agent,
        one.mutation.session,
        one.mutation.author,
        created=sum(not touched.was for _, touched in pages),
        changed=sum(touched.was and touched.now for _, touched in pages),
        deleted=sum(not touched.now for _, touched in pages),
        paths=tuple(str(ref) for ref, _ in pages),
    )


def checkpoints_text(result: Checkpoints) -> str:
    """One line a commit."""
    if not result.checkpoints:
        return "no commits"
    return "\n".join(f"- {_line(row)}" for row in result.checkpoints)


def _line(row: CheckpointRow) -> str:
    told = (f"{row.created} new", f"{row.changed} changed", f"{row.deleted} deleted")
    counts = ", ".join(word for word in told if not word.startswith("0 "))
    return " · ".join(
        filter(None, (row.commit[:VERSION_SHOWN], f"{row.at[:19]}Z", row.message, counts, f"by {row.by}"))
    )


# --- commit ---


@dataclass(frozen=True, slots=True)
class CommittedEdits:
    commit: str | None
    """None: nobody had changed anything."""
    created: tuple[Address, ...] = ()
    changed: tuple[Address, ...] = ()
    deleted: tuple[Address, ...] = ()
    waiting: int = 0
    """Pages whose files are missing, but not for five seconds yet."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def commit(
    memory: "Memory",
    *,
    message: Annotated[str, Field("what you changed", flags=("-m", "--message"))] = "Edit pages by hand",
) -> CommittedEdits:
    """Commit what you changed in the wiki folder with your own editor, under a message of yours.
    Not needed: the next command that looks commits it, too.
    """
    done = memory.commit_by_hand(message)
    created, changed, deleted = (tuple(map(address, refs)) for refs in (done.created, done.changed, done.deleted))
    return CommittedEdits(done.commit, created, changed, deleted, done.waiting, (*done.asked, *done.skipped))


def commit_text(result: CommittedEdits) -> str:
    """The commit and its pages."""
    lines = [f"committed {result.commit[:VERSION_SHOWN]}" if result.commit else "nothing to commit"]
    for verb, pages in (("created", result.created), ("changed", result.changed), ("deleted", result.deleted)):
        lines += [f"{verb} {label_from(page, None)}" for page in pages]
    if result.waiting:
        lines.append(f"{result.waiting} pages are missing: gone for good? Run it again in 5 seconds")
    return "\n".join(lines)


# --- undo ---


@dataclass(frozen=True, slots=True)
class Undone:
    scope: Scope | None
    outcome: Literal["undone", "would_undo", "unchanged"]
    checkpoints: tuple[CheckpointRow, ...]
    """What was taken back."""
    commit: str | None
    """The commit that did it: undo that one to have the change again."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def undo(
    memory: "Memory",
    *,
    commit: Annotated[
        str | None, Field("commit to take back [the last change of this project]", positional=True)
    ] = None,
    dry_run: Annotated[bool, Field("only show what would be taken back")] = False,
    everywhere: Annotated[bool, Field("the last change of any project", flags=("--all",), face="cli")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Undone:
    """Take one change back, of a person, an agent or an automatic pass: a new commit with what stood there before.
    Later changes of other lines stay; of the same lines they stop it. Again takes back the one before.
    """
    scope, place = _place(memory, commit, workspace, project, everywhere=everywhere, dry_run=dry_run)
    with memory.past() as wiki:
        target = _target(wiki, commit, place)
        if wiki is None or target is None:
            return Undone(scope, "unchanged", (), None)
        row = _row(target)
    if dry_run:
        return Undone(scope, "would_undo", (row,), None)
    note = target.note
    if MOVED_PROJECTS in note.trailers:
        raise Conflict(
            f"{note.id[:VERSION_SHOWN]} moved more than pages: {note.trailers[MOVED_PROJECTS]}",
            hint="move it back: `ai-memory rename-project`, `rename-workspace`, `move-project` or `move-session`",
        )
    try:
        done, gaps = _taken_back(memory, target, is_confirmed=False)
    except _Unconfirmed as fault:  # asked where nobody waits for the lock
        if not memory.caller.confirms(f"This takes back what a person said or closed: {fault}"):
            raise MemoryFault(
                "this takes back what a person said or closed, and nobody confirmed it at a terminal",
                hint="run it yourself in a terminal and answer yes",
            ) from fault
        done, gaps = _taken_back(memory, target, is_confirmed=True)
    made = done.commit if done else None
    return Undone(scope, "undone" if made else "unchanged", (row,), made, (*gaps, *(done.asked if done else ())))


class _Unconfirmed(Exception):
    """A person's word would go with it: its statement."""


def _taken_back(memory: "Memory", target: "Checkpoint", *, is_confirmed: bool) -> "tuple[Committed | None, list[str]]":
    """One commit with what stood there before. Errors: Conflict; _Unconfirmed, and nothing is written."""
    from ai_memory.store.undoing import UNDOES  # as above

    note = target.note
    trailers = {UNDOES: note.trailers.get("Change-Id", note.id)}
    with memory.writing(f"undo {note.id[:VERSION_SHOWN]}: {note.message}", trailers=trailers) as change:
        before = _pages(change, target)
        left = change.take_back(note.id)
        after = [page for ref in before if (page := change.page(ref)) is not None]
        lost = words_lost([page for page in before.values() if page is not None], after)
        if lost and not is_confirmed:
            raise _Unconfirmed(lost[0].statement)
        gaps = [f"{path} is no page: it stays as it is" for path in left]
        gaps += [MENDED_BACK] if note.trailers.get("Pass") == "lint" else []
        gaps += _follow_with_state(memory, change, before, moved_from=note.trailers.get("Moved-From", ""))
    return change.committed, gaps


def _place(
    memory: "Memory", commit: str | None, workspace: str | None, project: str | None, *, everywhere: bool, dry_run: bool
) -> tuple[Scope | None, Place]:
    """Where the last change is looked for; a commit that was named is taken back wherever it wrote."""
    if commit is not None or everywhere:
        with memory.reading() as snapshot:
            return resolve_if_told(memory, workspace, project, snapshot=snapshot)[0], None
    scope = resolve(memory, workspace, project, write=not dry_run, leaves=True)
    return scope, (scope.workspace, scope.project)


def _target(wiki: "Wiki | None", commit: str | None, place: Place) -> "Checkpoint | None":
    from ai_memory.store import commits, undoing  # the git library

    if wiki is None:
        if commit is not None:
            raise NotFound(f"no commit {commit}: there is no wiki yet", hint="`ai-memory checkpoints` lists them")
        return None
    found = undoing.named(wiki, commit) if commit is not None else undoing.latest(wiki, place)
    return commits.checkpoint(wiki, found, commits.touched(wiki, found, None)) if found is not None else None


def _pages(change: "Change", target: "Checkpoint") -> "dict[PageRef, Page | None]":
    """The pages that the commit changed, as they stand."""
    refs = [ref for touched in target.touched if (ref := page_ref(touched.git_path)) is not None]
    return {ref: change.page(ref) for ref in refs}


def _follow_with_state(
    memory: "Memory", change: "Change", before: "dict[PageRef, Page | None]", *, moved_from: str
) -> list[str]:
    """Let what `state.db` and the outbox hold of the pages follow; gives what a person must know."""
    origin = next((ref for ref in before if ref.git_path == moved_from), None)
    gaps: dict[str, None] = {}
    for ref, page in before.items():
        now = change.page(ref)
        follow_merge(change, page, now)
        if page is not None and now is None:
            if origin is not None and change.page(origin) is not None:
                carry_state(change, ref, origin)
            else:
                forget_state(memory, change, page)
        elif now is not None and now.kind == "handoff" and now != page:
            gaps |= dict.fromkeys(HANDOFF_BACK)
    return list(gaps)


def undo_text(result: Undone) -> str:
    """What was taken back, and the commit that did it."""
    if not result.checkpoints:
        return "nothing to undo"
    [row] = result.checkpoints
    verb = {"undone": "undid", "would_undo": "would undo", "unchanged": "undone already:"}[result.outcome]
    lines = [f"{verb} {_line(row)}", *(f"  {path}" for path in row.paths[:PATHS_SHOWN])]
    if len(row.paths) > PATHS_SHOWN:
        lines.append(f"  and {len(row.paths) - PATHS_SHOWN} more")
    if result.commit:
        lines.append(
            f"commit {result.commit[:VERSION_SHOWN]}; `ai-memory undo {result.commit[:VERSION_SHOWN]}` redoes it"
        )
    return "\n".join(lines)
