"""Prompts that may declare a fact, from the transaction that holds them to the change that holds their facts.

Only their ids lie here: the words stay with the observation, and go with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ai_memory.store import state_schema
from ai_memory.store.driver import Connection

_REMEMBER = "INSERT OR IGNORE INTO declared (event_id, session, at_us) VALUES (?, ?, ?)"
_WAITING = """
    SELECT d.event_id, d.session, d.at_us, s.agent, s.scope, o.text, o.extra FROM declared AS d
    JOIN sessions AS s ON s.id = d.session
    JOIN observations AS o ON o.session = d.session AND o.at_us = d.at_us AND o.event_id = d.event_id
    ORDER BY d.at_us, d.event_id LIMIT ?
"""
_FORGET = "DELETE FROM declared WHERE event_id = ?"


@dataclass(frozen=True, slots=True)
class Waiting:
    """One prompt that was not looked at yet."""

    event_id: str
    session: str
    at_us: int
    agent: str
    scope: str
    """Of its session, as JSON."""
    text: str
    extra: str


def remember(connection: Connection, prompts: Iterable[tuple[str, str, int]]) -> None:
    """Note prompts by event id, session and time, in the transaction that writes their observations."""
    connection.executemany(_REMEMBER, list(prompts))


def waiting(connection: Connection, *, limit: int) -> list[Waiting]:
    """The oldest first. A file of before there was such a table has none."""
    if state_schema.version(connection) < state_schema.DECLARED_SINCE:
        return []
    return [Waiting(*row) for row in connection.execute(_WAITING, (limit,))]


def forget(connection: Connection, events: Iterable[str]) -> None:
    """Those prompts were looked at, and say nothing new."""
    connection.executemany(_FORGET, [(event,) for event in events])
