"""Sessions that agents recorded by themselves, beside those that came here."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ai_memory.capture.spooled import session_uuid
from ai_memory.capture.survey import around_of, is_known
from ai_memory.harnesses.record import Harness
from ai_memory.store.driver import Connection
from ai_memory.store.memory import Memory
from ai_memory.store.session_lookup import AgentSessions, by_agent
from ai_memory.transcripts.record import Losses
from ai_memory.transcripts.scan import Scan
from ai_memory.transcripts.sources import BY_AGENT

MOST_SESSIONS = 1_000
"""Of one agent, the newest: the beginning of each is read."""


@dataclass(frozen=True, slots=True)
class Local:
    """What an agent recorded by itself in these days."""

    sessions: int
    captured: int
    """Of these, how many are here, or were and were purged."""
    is_whole: bool
    """False: there were more than were looked at."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Both sides, by agent. Without an entry in `local` an agent's records cannot be read."""

    local: dict[str, Local] = field(default_factory=dict)
    here: dict[str, AgentSessions] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What could not be looked at."""


def compare(memory: Memory, harnesses: Sequence[Harness], *, since_us: int) -> Compared:
    """Read the beginnings of agents' records, and ask for each whether it is here. *Errors*: StoreFault."""
    notes: list[str] = []
    with memory.state_reading() as connection:
        here = by_agent(connection, since_us=since_us) if connection is not None else {}
        local = {
            harness.id: _local(memory, harness.id, since_us, connection, notes)
            for harness in harnesses
            if harness.id in BY_AGENT
        }
    return Compared(local, here, tuple(notes))


def _local(memory: Memory, agent: str, since_us: int, connection: Connection | None, notes: list[str]) -> Local:
    source, around = BY_AGENT[agent], around_of(memory, notes)
    found = [one for one in source.find(around, Scan(Losses())) if one.changed_us >= since_us]
    found.sort(key=lambda one: (-one.changed_us, one.path, one.native_id))
    sessions = set()
    for one in found[:MOST_SESSIONS]:
        header = source.header(one, around)
        if header is not None and header.native_id and not header.is_subagent:
            sessions.add(session_uuid(agent, header.native_id))
    captured = sum(1 for one in sessions if connection is not None and is_known(connection, one))
    return Local(len(sessions), captured, is_whole=len(found) <= MOST_SESSIONS)
