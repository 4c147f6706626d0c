"""Removing for good: pages, sessions, a project. Shown first, done with --confirm, proven with --verify."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import NotFound, UsageFault
from ai_memory.model import PageRef, Scope
from ai_memory.operations.field import Field, ProjectName, Tier, Workspace
from ai_memory.operations.page_state import forget_state
from ai_memory.operations.relocating import SESSION_KEYS, pages_by_session
from ai_memory.operations.rows import EVERYTHING, VERSION_SHOWN, Address, address, label_from
from ai_memory.operations.scoping import locate, resolve
from ai_memory.operations.sessions import SessionName, no_session_yet
from ai_memory.store.addresses import meta_path, meta_project, page_ref
from ai_memory.text.page import parse_leniently
from ai_memory.text.times import parse_moment

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.wiki import Wiki

Confirm = Annotated[bool, Field("yes, remove it for good")]
History = Annotated[bool, Field("also from git's history: every commit is written anew")]
Verify = Annotated[bool, Field("look through every byte of the data dir afterwards")]

SHOWN = 20


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A place that still holds a piece of what was removed."""

    place: str
    piece: str


@dataclass(frozen=True, slots=True)
class Purged:
    scope: Scope | None
    outcome: Literal["purged", "would_purge", "unchanged"]
    pages: tuple[Address, ...]
    sessions: tuple[str, ...]
    observations: int
    events: int
    """Events that waited in the spool."""
    with_history: bool
    commit: str | None = None
    commits_rewritten: int = 0
    objects_removed: int = 0
    verified: bool = False
    traces: tuple[TraceRow, ...] = ()
    """What a look through every byte found."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def exit_code(self) -> int:
        return 1 if self.verified and self.traces else 0


@dataclass(slots=True)
class _Target:
    """What shall go. `paths`: of the wiki, earlier ones of moved pages too."""

    message: str
    refs: list[PageRef] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    shared: dict[str, set[str]] = field(default_factory=dict)
    """Earlier paths of these pages that another page has now, each with what stood there of these."""
    blobs: dict[str, None] = field(default_factory=dict)
    """What the pages held, in all versions: the newest first."""


def forget(
    memory: "Memory",
    *,
    pages: Annotated[tuple[str, ...], Field("page to forget; repeatable", flags=("-p", "--path"))] = (),
    kind: Annotated[str | None, Field("all of this kind")] = None,
    tag: Annotated[str | None, Field("all with this tag")] = None,
    tier: Annotated[Tier | None, Field("all of this tier")] = None,
    prefix: Annotated[str | None, Field("all whose path begins so")] = None,
    query: Annotated[str | None, Field("all whose text holds these words as they stand")] = None,
    last: Annotated[str | None, Field("all written since: 10m, 2h, a time", metavar="TIME")] = None,
    confirm: Confirm = False,
    history: History = False,
    verify: Verify = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Purged:
    """Remove pages for good: text, index, vectors and what waits. Shows what would go; `--confirm` does it.
    git keeps earlier versions unless --history. `delete-page` keeps everything but the page's place.
    """
    filters = (kind, tag, tier, prefix, query, last)
    if not pages and not any(filters):
        raise UsageFault(
            "nothing names what to forget", hint="give -p PATH, or --kind, --tag, --tier, --prefix, --query, --last"
        )
    if pages and any(filters):
        raise UsageFault("pages and filters exclude each other", hint="give one of them")
    target = _Target("forget pages")
    if pages:
        located = [locate(memory, path, workspace, project, write=True, leaves=True) for path in pages]
        scope, target.refs = located[0][0], [ref for _, ref in located]
        target.message = f"forget {target.refs[0].path if len(pages) == 1 else f'{len(pages)} pages'}"
    else:
        scope = resolve(memory, workspace, project, write=True, leaves=True)
        with memory.reading() as snapshot:
            chosen = snapshot.pages(
                workspace=scope.workspace,
                project=scope.project,
                kind=kind,
                tag=tag,
                tier=tier,
                prefix=prefix,
                since_us=parse_moment(last, now_us=memory.clock()) if last else None,
                sort="path",
                limit=EVERYTHING,
            ).pages
        target.refs = [page.ref for page in chosen if query is None or query.casefold() in page.text.casefold()]
    return _purge(memory, scope, target, confirm=confirm, history=history, verify=verify)


def purge_session(
    memory: "Memory",
    *,
    session: Annotated[str, SessionName],
    confirm: Confirm = False,
    history: History = False,
    verify: Verify = False,
) -> Purged:
    """Remove one session for good: what it captured, its page and handoffs, what waits. It never comes back.
    Shows what would go; `--confirm` does it. git keeps its pages' versions unless --history.
    """
    identifier = _session_id(memory, session)
    target = _Target(f"purge-session {identifier[:8]}", sessions=[identifier])
    with memory.reading() as snapshot:
        target.refs = [page.ref for page in pages_by_session(snapshot).get(identifier, ())]
    target.refs += _deleted_of_session(memory, identifier)
    return _purge(memory, None, target, confirm=confirm, history=history, verify=verify)


def purge_project(
    memory: "Memory",
    *,
    name: Annotated[str, Field("project to remove", positional=True)],
    workspace: Workspace = None,
    confirm: Confirm = False,
    history: History = False,
    verify: Verify = False,
) -> Purged:
    """Remove a project for good: its pages, its sessions and all they captured, what waits.
    Shows what would go; `--confirm` does it. git keeps its pages' versions unless --history.
    """
    from ai_memory.store import session_lookup

    scope = resolve(memory, workspace, name, write=True, leaves=True)
    place = (scope.workspace, scope.project)
    target = _Target(f"purge-project {scope.project}")
    with memory.reading() as snapshot:
        target.refs = [
            page.ref for page in snapshot.pages(workspace=place[0], project=place[1], limit=EVERYTHING).pages
        ]
        is_known = any((one.workspace, one.name) == place for one in snapshot.projects())
    with memory.state_reading() as connection:
        if connection is not None:
            its = session_lookup.sessions(connection, session_lookup.SessionFilter(*place))
            target.sessions = sorted(str(session.id) for session in its)
    was_purged = _take_what_was(memory, target, place)
    if not (target.refs or target.sessions or is_known or (was_purged and history)):
        raise NotFound(f"no project {'/'.join(place)}", hint="`ai-memory list-projects` lists them")
    return _purge(memory, scope, target, confirm=confirm, history=history, verify=verify)


def _take_what_was(memory: "Memory", target: _Target, place: tuple[str, str]) -> bool:
    """Add pages of the project that were deleted before, under its earlier names too; whether it was purged before."""
    from ai_memory.store import state
    from ai_memory.store.history import deleted, former_places

    with memory.past() as wiki:
        for one in former_places(wiki, *place) if wiki is not None else {place}:
            target.paths.add(meta_path(*one))
            if wiki is not None:
                target.refs += deleted(wiki, "/".join(one))
    with memory.state_reading() as connection:
        return connection is not None and state.is_purged(connection, state.purged_project(*place))


def _deleted_of_session(memory: "Memory", session: str) -> list[PageRef]:
    """Its page and handoffs that were deleted before: git's history holds them."""
    from ai_memory.store.history import deleted

    with memory.past() as wiki:
        if wiki is None:
            return []
        texts = {ref: wiki.blob(blob).decode("utf-8", "replace") for ref, blob in deleted(wiki).items()}
    pages = {ref: parse_leniently(text, path=ref.path) for ref, text in texts.items() if session in text}
    return [
        ref for ref, page in pages.items() if session in (page.frontmatter.get(key) for key in SESSION_KEYS.values())
    ]


def _session_id(memory: "Memory", name: str) -> str:
    """The session, or one that a purge which was killed has dropped already."""
    from ai_memory.store import state
    from ai_memory.store.state_sessions import find_session

    with memory.state_reading() as connection:
        if connection is None:
            raise no_session_yet(name)
        if state.is_purged(connection, name):
            return name
        return find_session(connection, name).id


def _purge(
    memory: "Memory", scope: Scope | None, target: _Target, *, confirm: bool, history: bool, verify: bool
) -> Purged:
    from ai_memory.store import erasing
    from ai_memory.store.drain_lock import no_drain

    target.refs = sorted(set(target.refs))
    with memory.past() as wiki:
        if wiki is not None:
            _trace(wiki, target)
    answer = Purged(
        scope,
        "would_purge",
        tuple(map(address, target.refs)),
        tuple(target.sessions),
        _observations(memory, target.sessions),
        len(erasing.events_of(memory.data_dir, target.sessions)),
        history,
    )
    if not _anything(memory, target):
        if not (confirm and history and memory.exists):
            return replace(answer, outcome="unchanged")
        done = memory.erase(target.paths, target.sessions, with_history=True)  # of a purge that was killed, the rest
        removed = done.removed if done else 0
        return replace(answer, outcome="purged" if removed else "unchanged", objects_removed=removed)
    if not confirm:
        return replace(answer, gaps=_warnings(memory, history=history))
    pieces = _pieces(memory, target) if verify else []
    with no_drain(memory.data_dir.locks, timeout_s=memory.lock_timeout_s):
        commit = _delete(memory, target)
        done = memory.erase(target.paths, target.sessions, with_history=history, shared=target.shared)
    found = erasing.traces(memory.data_dir, pieces) if verify else []
    return replace(
        answer,
        outcome="purged",
        commit=None if history else commit,
        commits_rewritten=done.commits if done else 0,
        objects_removed=done.removed if done else 0,
        verified=verify,
        traces=tuple(TraceRow(one.place, one.piece) for one in found),
        gaps=_warnings(memory, history=history),
    )


def _trace(wiki: "Wiki", target: _Target) -> None:
    """Find what the pages held in all versions, and where."""
    from ai_memory.store.history import histories

    own = {ref.git_path for ref in target.refs}
    target.paths |= own
    for one in histories(wiki, target.refs):
        path = one.path.git_path
        there = wiki.blob_at(wiki.head(), path) if path not in own else None
        if there is None:
            target.paths.add(path)
        elif one.version not in (None, there):
            target.shared.setdefault(path, set()).add(one.version)
        if one.version is not None:
            target.blobs[one.version] = None


def _observations(memory: "Memory", sessions: list[str]) -> int:
    from ai_memory.store import session_lookup

    with memory.state_reading() as connection:
        if connection is None:
            return 0
        return sum(session_lookup.count_observations(connection, one, words=None, kinds=[]) for one in sessions)


def _anything(memory: "Memory", target: _Target) -> bool:
    """Whether there is, or was, something of it."""
    if target.sessions or target.blobs:
        return True
    with memory.past() as wiki:
        return wiki is not None and any(wiki.blob_at(wiki.head(), path) for path in target.paths)


def _delete(memory: "Memory", target: _Target) -> str | None:
    """The pages and rows in one change, with their tombstones."""
    from ai_memory.store.state import purged_project

    with memory.writing(target.message, trailers={"Pass": target.message.partition(" ")[0]}) as change:
        for ref in target.refs:
            page = change.page(ref)
            if page is not None:
                forget_state(memory, change, page)
                change.delete(ref)
        for path in sorted(target.paths):
            was = page_ref(path)
            if was is not None:
                for statement in ("audit-forgotten", "tombstones-forgotten"):
                    change.state(statement, workspace=was.workspace, project=was.project, path=was.path)
            place = meta_project(path)
            if place is not None:
                change.drop_project(*place)
                change.state("project-purged", project=purged_project(*place), at_us=memory.clock())
        for blob in sorted(target.blobs):
            change.state("page-purged", blob=blob, at_us=memory.clock())
        for session in target.sessions:
            for name in _handed_over(memory, session):
                change.outbox_remove(name)
            change.state("session-purged", session=session, at_us=memory.clock())
            change.state("session-dropped", session=session)
    return change.committed.commit if change.committed else None


def _handed_over(memory: "Memory", session: str) -> list[str]:
    """Entries of the outbox that tell of the session: of its handoff, also of one that is provisional."""
    from ai_memory.store import state_sessions
    from ai_memory.store.outbox import Outbox

    with memory.state_reading() as connection:
        found = state_sessions.session(connection, session) if connection is not None else None
    return Outbox(memory.data_dir).names_of(found.handoff) if found is not None else []


def _pieces(memory: "Memory", target: _Target) -> list[str]:
    """Pieces of lines of what goes that nothing holds which stays."""
    from ai_memory.store import erasing
    from ai_memory.store.state_sessions import observations

    going = set(target.refs)
    with memory.reading() as snapshot:
        pages = snapshot.pages(sort="path", limit=EVERYTHING).pages
    texts = [page.text for page in pages if page.ref in going]
    with memory.past() as wiki:
        if wiki is not None:
            texts += [wiki.blob(blob).decode("utf-8", "replace") for blob in target.blobs]
    with memory.state_reading() as connection:
        if connection is not None:
            for session in target.sessions:
                for row in observations(connection, session):
                    texts += [row.text, row.input, row.output]
    return erasing.needles(texts, (page.text for page in pages if page.ref not in going))


def _warnings(memory: "Memory", *, history: bool) -> tuple[str, ...]:
    """What a purge cannot reach."""
    from ai_memory.store.backup import archives
    from ai_memory.store.salvaging import salvaged_from

    gaps = [] if history else ["git keeps the versions of these pages: --history takes them out of it, too"]
    kept = archives(memory.data_dir.backups)
    if kept:
        gaps.append(f"{len(kept)} backups in {memory.data_dir.backups} may hold it: remove them, and copies elsewhere")
    damaged = salvaged_from(memory.data_dir)
    if damaged:
        gaps.append(f"damaged files that were kept may hold it: remove {', '.join(map(str, damaged))}")
    config = memory.data_dir.git / "config"
    if history and config.exists() and "[remote " in config.read_text(encoding="utf-8", errors="replace"):
        gaps.append("the wiki has a remote: what was pushed there stays, and the next push needs --force")
    return tuple(gaps)


def purged_text(result: Purged) -> str:
    """A receipt: what went or would go, and what a look through every byte found."""
    if result.outcome == "unchanged":
        return "nothing to remove"
    verb = "removed" if result.outcome == "purged" else "would remove, with --confirm:"
    lines = [
        f"{verb} {len(result.pages)} pages, {len(result.sessions)} sessions with {result.observations} observations,"
        f" {result.events} waiting events"
    ]
    lines += [f"  {label_from(page, result.scope)}" for page in result.pages[:SHOWN]]
    if len(result.pages) > SHOWN:
        lines.append(f"  and {len(result.pages) - SHOWN} more")
    if result.commits_rewritten or result.objects_removed:
        lines.append(f"{result.commits_rewritten} commits written anew, {result.objects_removed} objects removed")
    if result.commit:
        lines.append(f"commit {result.commit[:VERSION_SHOWN]}")
    if result.verified:
        lines.append(
            f"still found in {len(result.traces)} places:" if result.traces else "found nowhere in the data dir"
        )
        lines += [f"  {one.place}: {one.piece}" for one in result.traces[:SHOWN]]
    return "\n".join(lines)
