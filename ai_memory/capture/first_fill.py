"""An empty project is filled by itself, once, when its first session begins: `capture.backfill_on_start`.

Runs after a drain, in its process: detached from any agent, without the drain's lock. What was tried stands in
`locks/backfilled/`, so that a project with nothing to bring in is looked at once.
"""

import hashlib
import os
from pathlib import Path

from ai_memory.capture.batches import scope_of
from ai_memory.capture.filling import bring_in, look
from ai_memory.capture.rules import read_rules
from ai_memory.capture.survey import Wanted, attribution_of, roots_of
from ai_memory.errors import MemoryFault
from ai_memory.hook_places import Surroundings
from ai_memory.hook_policy import read_policy
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.store import session_lookup
from ai_memory.store.driver import Connection, DatabaseError
from ai_memory.store.filesystem import make_folder, write_whole
from ai_memory.store.log import Log
from ai_memory.store.memory import Memory
from ai_memory.store.session_lookup import SessionFilter
from ai_memory.store.snapshot import Filter
from ai_memory.store.state_sessions import Session
from ai_memory.text.times import DAY_US

SINCE_US = 30 * DAY_US
MOST = 25
"""As the command does without flags."""
MAX_PROJECTS = 16
"""Open sessions that are looked at after one drain."""
MAX_TRIES = 3

Place = tuple[str, str]
"""Workspace and project."""


def fill_empty(data_dir: DataDir) -> int:
    """Fill each empty project in which a session runs now; how many sessions came in. Never raises for a bad file.

    Crash: safe; what was begun is gone on with after the next drain.
    """
    memory = _memory(data_dir)
    log = Log(data_dir.logs, "backfill", memory.clock)
    try:
        if not read_rules(memory).fills_empty:
            return 0
        return sum(_fill(memory, session, log) for session in _first_sessions(memory))
    except (MemoryFault, DatabaseError, OSError, ValueError) as fault:
        log.error(str(fault).partition("\n")[0])
        return 0


def _memory(data_dir: DataDir) -> Memory:
    caller = Caller(cwd=None, environ=dict(os.environ), home=os.path.expanduser("~"), face="drain")
    return Memory.open(data_dir, caller=caller, command="backfill")


def _first_sessions(memory: Memory) -> list[Session]:
    """One running session for each project that is empty, or was when its filling began."""
    running = _undecided(memory)
    if not running:  # after most drains
        return []
    found = []
    with memory.reading() as snapshot, memory.state_reading() as connection:
        for place, session in running.items():
            pages = snapshot.select(Filter(workspace=place[0], project=place[1]), sort="path", limit=1).pages
            if _tries(memory.data_dir, place) or (
                connection is not None and not pages and _is_first(connection, place)
            ):
                found.append(session)
            else:
                _note(memory.data_dir, place, None)  # it has a past already
    return found


def _undecided(memory: Memory) -> dict[Place, Session]:
    """Running sessions of projects of which it is not settled yet, one each."""
    with memory.state_reading() as connection:
        if connection is None:
            return {}
        running = session_lookup.sessions(connection, SessionFilter(only_open=True), limit=MAX_PROJECTS)
    found: dict[Place, Session] = {}
    for session in running:
        place = (str(session.workspace), str(session.project))
        tries = _tries(memory.data_dir, place)
        if tries is not None and tries < MAX_TRIES and not scope_of(session).is_guess:
            found.setdefault(place, session)
    return found


def _is_first(connection: Connection, place: Place) -> bool:
    """Whether no session of the project has ended."""
    every = SessionFilter(workspace=place[0], project=place[1])
    running = SessionFilter(workspace=place[0], project=place[1], only_open=True)
    return session_lookup.count_sessions(connection, every) == session_lookup.count_sessions(connection, running)


def _fill(memory: Memory, session: Session, log: Log) -> int:
    place = (session.workspace, session.project)
    _note(memory.data_dir, place, (_tries(memory.data_dir, place) or 0) + 1)
    attribution = attribution_of(memory)
    cwd = str(session.cwd)
    roots = roots_of(attribution, cwd)
    wanted = Wanted(memory.clock() - SINCE_US, scope=scope_of(session), roots=roots)
    home = memory.caller.environ.get("AI_MEMORY_HOME") or memory.caller.home
    has_marker = bool(read_policy(str(memory.data_dir.root), Surroundings(cwd, home)).base)
    run = look(memory, wanted, attribution, most=MOST, progress=_unseen)
    # Under a marker, only what lies below it: an install that captures nowhere else may have begun this session.
    bring_in(memory, run, wanted, attribution, root=roots[0], is_allowlist=has_marker, progress=_unseen)
    _note(memory.data_dir, place, None)
    if run.filled.sessions or run.pages:
        log.info(
            f"filled an empty project: {len(run.filled.sessions)} sessions, {len(run.pages)} pages of memory files"
        )
    return len(run.filled.sessions)


def _unseen(done: int, total: int) -> None:
    """Nobody watches."""


def _mark(data_dir: DataDir, place: Place) -> Path:
    return data_dir.locks / "backfilled" / hashlib.sha256("/".join(place).encode()).hexdigest()[:32]


def _tries(data_dir: DataDir, place: Place) -> int | None:
    """How often its filling was begun and not ended; None when it was ended."""
    try:
        word = _mark(data_dir, place).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return 0
    except (OSError, ValueError):
        return None
    return int(word) if word.isdecimal() else None


def _note(data_dir: DataDir, place: Place, tries: int | None) -> None:
    mark = _mark(data_dir, place)
    make_folder(mark.parent)
    write_whole(mark, b"done" if tries is None else str(tries).encode(), sync=False)
