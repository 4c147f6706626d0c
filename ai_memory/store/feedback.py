"""What was said of pages: whether they helped, are stale or wrong. Each word is about one version."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ai_memory.model import PageRef, Sanitized
from ai_memory.store import state_schema
from ai_memory.store.driver import Connection

MAX_REASON_CHARS = 500

_PUT = """
    INSERT INTO feedback (workspace, project, path, version, signal, reason, agent, session, at_us)
    VALUES (:workspace, :project, :path, :version, :signal, :reason, :agent, :session, :at_us)
"""
_ALL = """
    SELECT workspace, project, path, version, signal, reason, agent, session, at_us FROM feedback
    WHERE (?1 IS NULL OR workspace = ?1) AND (?2 IS NULL OR project = ?2) AND (?3 IS NULL OR path = ?3)
    ORDER BY workspace, project, path, at_us, id
"""


class Signal(StrEnum):
    """What one reader found."""

    HELPFUL = "helpful"
    NOT_HELPFUL = "not_helpful"
    STALE = "stale"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Feedback:
    """One word on one version of a page."""

    ref: PageRef
    version: str
    signal: Signal
    reason: str
    agent: str
    session: str
    at_us: int


_SAME = """
    SELECT workspace, project, path, version, signal, reason, agent, session, at_us FROM feedback
    WHERE workspace = ? AND project = ? AND path = ? AND version = ? AND signal = ? AND agent = ? AND session = ?
        AND at_us > ?
    ORDER BY at_us DESC, id DESC LIMIT 1
"""
SAID_AGAIN_US = 86_400 * 1_000_000
"""The same word of the same speaker counts once a day: an agent that repeats itself moves nothing."""


def same(connection: Connection, one: Feedback) -> Feedback | None:
    """The same word on that version, said by the same one within a day before; None where there is none."""
    words = (*(one.ref.workspace, one.ref.project, one.ref.path, one.version), one.signal.value)
    row = connection.execute(_SAME, (*words, one.agent, one.session, one.at_us - SAID_AGAIN_US)).fetchone()
    return _read(row) if row is not None else None


def _read(row: Sequence[Any]) -> Feedback:
    return Feedback(PageRef(*row[:3]), row[3], Signal(row[4]), *row[5:])


def put(connection: Connection, one: Feedback, *, reason: Sanitized, agent: Sanitized, session: Sanitized) -> None:
    """Keep it. Call in a transaction; the texts are those of `one`, sanitised."""
    place = {"workspace": one.ref.workspace, "project": one.ref.project, "path": one.ref.path}
    said = {"version": one.version, "signal": one.signal.value, "at_us": one.at_us}
    connection.execute(_PUT, {**place, **said, "reason": reason, "agent": agent, "session": session})


def feedback(
    connection: Connection | None, workspace: str | None = None, project: str | None = None, path: str | None = None
) -> dict[PageRef, list[Feedback]]:
    """All that was said, by page, oldest first. Empty without a file, and in one of an older program."""
    if connection is None or state_schema.version(connection) < state_schema.USAGE_SINCE:
        return {}
    found: dict[PageRef, list[Feedback]] = {}
    for row in connection.execute(_ALL, (workspace, project, path)):
        one = _read(row)
        found.setdefault(one.ref, []).append(one)
    return found
