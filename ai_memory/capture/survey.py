"""Which of the sessions that agents keep by themselves could be brought in: names and beginnings are read, no more."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from ai_memory.capture.attribution import Attribution, within, worktrees
from ai_memory.capture.spooled import MAX_SESSION, session_uuid
from ai_memory.model import Scope
from ai_memory.scope.known import KnownProjects
from ai_memory.store import foreign, state, state_sessions
from ai_memory.store.driver import Connection
from ai_memory.store.memory import Memory
from ai_memory.transcripts.record import Around, Ask, Found, Header, Losses
from ai_memory.transcripts.scan import Scan
from ai_memory.transcripts.sources import SOURCES, Source

MAX_HEADERS = 10_000
"""Sessions whose beginning is read, the newest of all."""
STILL_WRITTEN_US = 120_000_000
"""A file that changed so lately may be that of an agent at work: a later run takes it whole."""

Progress = Callable[[int, int], None]

NO_HEADER = "files that tell no session"
NO_FOLDER = "sessions that do not tell their folder"
AT_WORK = "sessions that changed in the last 2 minutes: run it again later"
UNSEEN = "sessions older than the newest 10,000, not looked at"
OLD = "sessions that ended before --since"
SUBAGENT = "sessions of subagents"
GUESSED = "sessions of folders that belong to no project"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sessions."""

    since_us: int
    agents: frozenset[str] = frozenset()
    """Empty: of all harnesses."""
    scope: Scope | None = None
    """The one project; None: all of them."""
    roots: tuple[str, ...] = ()
    """Folders of its checkouts. Empty: whatever belongs to the project by its folder."""
    takes_known: bool = False
    """Also those that are known already."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A session that can be brought in."""

    source: Source
    found: Found
    header: Header
    session: str
    """Its id here."""
    scope: Scope
    folder: str
    """Where it belongs: its folder, or the nearest above that is still there."""


@dataclass(slots=True)
class Survey:
    """What there is."""

    candidates: list[Candidate] = field(default_factory=list)
    """The newest first."""
    known: int = 0
    """Sessions that hooks or an earlier run brought in."""
    losses: Losses = field(default_factory=Losses)
    notes: list[str] = field(default_factory=list)
    """What could not be looked at, a sentence each."""


def around_of(memory: Memory, notes: list[str], roots: tuple[str, ...] = ()) -> Around:
    """Where this caller's agents keep their sessions."""

    def ask(path: str) -> AbstractContextManager[Ask | None]:
        return foreign.asking(path, lambda why: notes.append(why) if why not in notes else None)

    return Around(memory.caller.home, memory.caller.environ, ask, roots)


def attribution_of(memory: Memory) -> Attribution:
    """Answers for which project a folder belongs to, as the drain gives them."""
    from ai_memory.capture.finalizing import as_drain  # the writing side's; a survey opens nothing for writing

    with memory.reading() as snapshot:
        return Attribution(as_drain(memory).caller, KnownProjects(snapshot.projects()))


def survey(memory: Memory, wanted: Wanted, attribution: Attribution, progress: Progress) -> Survey:
    """Look at all places; changes nothing, not even the databases that are asked. *Errors*: StoreFault."""
    seen = Survey()
    around = around_of(memory, seen.notes, wanted.roots)
    found = _newest_first(around, wanted, seen.losses)
    now_us = memory.clock()
    names: set[str] = set()
    with memory.state_reading() as connection:
        for number, (source, one) in enumerate(found):
            if number % 64 == 0:
                progress(number, len(found))
            candidate = _candidate(source, one, around, wanted, attribution, seen.losses)
            if candidate is None or candidate.session in names:
                continue
            names.add(candidate.session)
            if connection is not None and is_known(connection, candidate.session):
                seen.known += 1
                if not wanted.takes_known or state.is_purged(connection, candidate.session):
                    continue
            elif one.changed_us > now_us - STILL_WRITTEN_US:
                seen.losses.add(AT_WORK)
                continue
            seen.candidates.append(candidate)
    return seen


def _newest_first(around: Around, wanted: Wanted, losses: Losses) -> list[tuple[Source, Found]]:
    scan = Scan(losses)
    found = [
        (source, one)
        for source in SOURCES
        if not wanted.agents or source.agent in wanted.agents
        for one in source.find(around, scan)
        if one.changed_us >= wanted.since_us
    ]
    found.sort(key=lambda pair: (-pair[1].changed_us, pair[1].path, pair[1].native_id))
    losses.add(UNSEEN, max(0, len(found) - MAX_HEADERS))
    return found[:MAX_HEADERS]


def _candidate(
    source: Source, found: Found, around: Around, wanted: Wanted, attribution: Attribution, losses: Losses
) -> Candidate | None:
    if found.cwd and wanted.roots and not _below(found.cwd, wanted.roots):
        return None
    header = source.header(found, around)
    if header is None or not _is_id(header.native_id):
        losses.add(NO_HEADER)
        return None
    if not header.cwd or not os.path.isabs(header.cwd):  # noqa: PTH117 (may hold any bytes)
        losses.add(NO_FOLDER)
        return None
    if wanted.roots and not _below(header.cwd, wanted.roots):
        return None
    if header.is_subagent:
        losses.add(SUBAGENT)
        return None
    folder = standing(header.cwd, wanted.roots)
    scope = attribution.place(folder).scope
    if wanted.scope is not None and (scope.workspace, scope.project) != (wanted.scope.workspace, wanted.scope.project):
        return None
    if scope.is_guess:
        losses.add(GUESSED)
        return None
    return Candidate(source, found, header, session_uuid(source.agent, header.native_id), scope, folder)


def _is_id(native: str) -> bool:
    """Whether it can be a session's own id, as hooks take one."""
    return 0 < len(native) <= MAX_SESSION and native.isprintable()


def is_known(connection: Connection, session: str) -> bool:
    """Whether that session was brought in, or was purged and may not come back."""
    return state_sessions.session(connection, session) is not None or state.is_purged(connection, session)


def roots_of(attribution: Attribution, cwd: str) -> tuple[str, ...]:
    """The folders of a checkout: its root, the main one, every worktree, and the folder itself, which alone is left
    outside of one."""
    repository = attribution.repository(cwd)
    if repository is None:
        return (cwd,)
    folders = (repository.root, repository.main_root or "", *worktrees(repository), cwd)
    return tuple(dict.fromkeys(filter(None, folders)))


def _below(folder: str, roots: Sequence[str]) -> bool:
    return any(_is_inside(folder, root) for root in roots)


def _is_inside(folder: str, root: str) -> bool:
    """By the texts alone: a look at a folder of somebody else's record may never come back."""
    plain, base = _plain(folder), _plain(root)
    return plain == base or plain.startswith(base.rstrip("/") + "/")


def _plain(path: str) -> str:
    return os.path.normcase(os.path.normpath(path)).replace("\\", "/")


def standing(cwd: str, roots: Sequence[str]) -> str:
    """The folder, or the nearest above it that is still there inside one of the roots."""
    found = [cwd]

    def look() -> None:
        for folder in _upwards(cwd, roots):
            if os.path.isdir(folder):  # noqa: PTH112 (may hold any bytes)
                found[0] = folder
                return

    within(1.0, look)
    return found[0]


def _upwards(cwd: str, roots: Sequence[str]) -> Iterator[str]:
    folder = os.path.normpath(cwd)
    yield folder
    while _below(folder, roots) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        if not _below(folder, roots):
            return
        yield folder
