"""When each duty of upkeep was last done, in `state.db`."""

from dataclasses import dataclass

from ai_memory.store import state_schema
from ai_memory.store.driver import Connection
from ai_memory.text.sanitize import sanitize

MAX_SAID = 300


@dataclass(frozen=True, slots=True)
class Turn:
    """The last time that a duty had its turn."""

    at_us: int
    """When it was tried."""
    done_at_us: int | None
    """When it last went well; None: never."""
    fault: str
    """What kept it from being done; nothing when all was well."""


def turns(connection: Connection) -> dict[str, Turn]:
    """The last turn of each duty that ever had one, by the duty's name; none in a file of an older program."""
    if state_schema.version(connection) < state_schema.UPKEEP_SINCE:
        return {}
    rows = connection.execute("SELECT duty, at_us, done_at_us, fault FROM upkeep ORDER BY duty")
    return {duty: Turn(*rest) for duty, *rest in rows}


def note_turn(connection: Connection, duty: str, *, at_us: int, fault: str) -> None:
    """Keep that a duty had its turn; with a fault, what went well before stays known. Call in a transaction."""
    connection.execute(
        "INSERT INTO upkeep (duty, at_us, done_at_us, fault) VALUES (:duty, :at_us, :done_at_us, :fault)"
        " ON CONFLICT (duty) DO UPDATE SET at_us = excluded.at_us, fault = excluded.fault,"
        " done_at_us = coalesce(excluded.done_at_us, done_at_us)",
        {
            "duty": duty,
            "at_us": at_us,
            "done_at_us": None if fault else at_us,
            "fault": sanitize(fault[:MAX_SAID]),  # may quote a path or a name
        },
    )
