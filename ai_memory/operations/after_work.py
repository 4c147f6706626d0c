"""What follows a drain that had work: sources are read again when enough was done since, old pages go once a day.

Runs in the drain's process, detached from any agent and without its lock, so nothing waits for a slow folder.
"""

import os
from typing import TYPE_CHECKING

from ai_memory.errors import LockBusy, MemoryFault
from ai_memory.model import Caller
from ai_memory.operations.maintain import DutyName, maintain
from ai_memory.store.driver import Connection, DatabaseError
from ai_memory.store.log import Log
from ai_memory.store.memory import Memory
from ai_memory.store.sources import Source, is_worked_since, sources

if TYPE_CHECKING:
    from ai_memory.paths import DataDir

LEAST_US = 300 * 1_000_000
"""Between two looks at one source, whatever was done. *Source*: pi-memory, as for the counts of work."""
DAILY: tuple[DutyName, ...] = ("sweep", "lint")
"""Duties that a drain does by itself; the others are costly, or a person's wish."""
TURNS = 20
PAGES = 10
TOKENS = 40_000
"""Of what agents and tools said, as characters / 4: an agent may work for hours at one prompt."""


def read_sources(data_dir: "DataDir") -> int:
    """Read each source that is due, or since whose last look a lot was done; how many were read. Never raises for them.

    One that failed waits for its interval. Crash: safe; the next drain, or `maintain`, goes on with it.
    """
    caller = Caller(cwd=None, environ=dict(os.environ), home=os.path.expanduser("~"), face="drain")
    memory = Memory.open(data_dir, caller=caller, command="source sync")
    try:
        wanted = _wanted(memory)
        if not wanted:
            return 0
        from ai_memory.operations.sources import synced  # the writing side, and few have a source

        return len([synced(memory, one, _unseen) for one in wanted])
    except LockBusy:
        return 0  # another process reads them
    except (MemoryFault, DatabaseError, OSError) as fault:
        Log(data_dir.logs, "sources", memory.clock).error(str(fault).partition("\n")[0])
        return 0


def do_what_is_due(data_dir: "DataDir") -> tuple[str, ...]:
    """Let the daily duties have their turn, for whom no scheduler does it; says what was done. Never raises for them.

    Crash: safe; the next drain, or `maintain`, goes on with it.
    """
    caller = Caller(cwd=None, environ=dict(os.environ), home=os.path.expanduser("~"), face="drain")
    memory = Memory.open(data_dir, caller=caller, command="maintain")
    log = Log(data_dir.logs, "maintain", memory.clock)
    try:
        done = maintain(memory, only=DAILY).duties
    except (MemoryFault, DatabaseError, OSError) as fault:
        log.error(str(fault).partition("\n")[0])
        return ()
    told = tuple(f"{row.duty}: {row.said}" for row in done if row.outcome in ("done", "failed"))
    for line in told:
        log.info(line)
    return told


def _wanted(memory: Memory) -> list[Source]:
    with memory.state_reading() as connection:
        known = sources(connection) if connection is not None else []
        if connection is None or not known:
            return []
        now_us = memory.clock()
        return [one for one in known if one.is_due(now_us) or _is_early(memory, connection, one, now_us)]


def _is_early(memory: Memory, connection: Connection, one: Source, now_us: int) -> bool:
    """Whether a lot was done since a look that went well and is not of just now."""
    if one.fault or one.tried_at_us is None or now_us - one.tried_at_us < LEAST_US:
        return False
    if is_worked_since(connection, one.tried_at_us, turns=TURNS, chars=4 * TOKENS):
        return True
    with memory.reading() as snapshot:
        return len(snapshot.pages(since_us=one.tried_at_us, limit=PAGES).pages) == PAGES


def _unseen(done: int, total: int) -> None:
    """Nobody watches."""
