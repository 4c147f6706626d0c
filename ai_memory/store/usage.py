"""What was read of the memory, by whom, and what answers cost. The drain writes it, from spooled events."""

from collections.abc import Iterable
from dataclasses import dataclass

from ai_memory.model import PageRef
from ai_memory.store import state_schema
from ai_memory.store.driver import Connection

THROTTLE_US = 60 * 1_000_000
"""Reads of one page by one harness within a minute count once. Source: the facts on access counters, 1.0."""
MOST_READS = 1_000_000
MOST_CLIENTS = 128
"""Names of clients that are told apart on one day; what comes after them counts as `OTHER`."""
OTHER = "other"

_READ = """
    INSERT INTO page_access (workspace, project, path, harness, reads, shown, first_at_us, last_at_us)
    VALUES (:workspace, :project, :path, :harness, 1, 0, :at_us, :at_us)
    ON CONFLICT (workspace, project, path, harness) DO UPDATE SET
        reads = min(:most, reads + (reads = 0 OR abs(excluded.last_at_us - last_at_us) >= :throttle)),
        last_at_us = max(last_at_us, excluded.last_at_us)
"""
_SHOWN = """
    INSERT INTO page_access (workspace, project, path, harness, reads, shown, first_at_us, last_at_us)
    VALUES (:workspace, :project, :path, :harness, 0, 1, :at_us, 0)
    ON CONFLICT (workspace, project, path, harness) DO UPDATE SET shown = min(:most, shown + 1)
"""
_OF_PROJECT = """
    SELECT workspace, project, path, sum(reads), sum(shown), max(last_at_us), sum(reads > 0)
    FROM page_access WHERE (?1 IS NULL OR workspace = ?1) AND (?2 IS NULL OR project = ?2)
    GROUP BY workspace, project, path ORDER BY workspace, project, path
"""
_CALLED = """
    INSERT INTO calls (day, client, name, calls, bytes) VALUES (:day, :client, :name, :calls, :bytes)
    ON CONFLICT (day, client, name) DO UPDATE SET calls = calls + excluded.calls, bytes = bytes + excluded.bytes
"""
_CLIENTS = "SELECT count(DISTINCT client) FROM calls WHERE day = ?1 AND client NOT IN (?2, ?3)"
_CALLS = """
    SELECT day, client, name, calls, bytes FROM calls WHERE day >= ?1 ORDER BY day, client, name
"""


_OF_PAGE = """
    SELECT harness, reads, shown, first_at_us, last_at_us FROM page_access
    WHERE workspace = ? AND project = ? AND path = ? ORDER BY reads DESC, shown DESC, harness
"""
_FORGET = "DELETE FROM calls WHERE day < ?"


@dataclass(frozen=True, slots=True)
class Access:
    """How often a page was read, over all harnesses."""

    reads: int = 0
    shown: int = 0
    """Times among the results of a search; that alone keeps no page."""
    last_at_us: int = 0
    """Of the last read; 0 when it was only shown."""
    harnesses: int = 0
    """How many different ones read it."""


NEVER = Access()


@dataclass(frozen=True, slots=True)
class Calls:
    """What one client asked on one day under one name."""

    day: str
    client: str
    name: str
    calls: int
    bytes: int


def accesses(
    connection: Connection | None, workspace: str | None = None, project: str | None = None
) -> dict[PageRef, Access]:
    """How often each page was read; no entry where never. Empty without a file, and in one of an older program."""
    if connection is None or state_schema.version(connection) < state_schema.USAGE_SINCE:
        return {}
    rows = connection.execute(_OF_PROJECT, (workspace, project))
    return {PageRef(*row[:3]): Access(*row[3:]) for row in rows}


@dataclass(frozen=True, slots=True)
class HarnessAccess:
    """How often one harness read a page; the empty name is the command line outside any agent."""

    harness: str
    reads: int
    shown: int
    first_at_us: int
    last_at_us: int


def accesses_of(connection: Connection | None, ref: PageRef) -> list[HarnessAccess]:
    """Who read the page how often, most first. Empty without a file, and in one of an older program."""
    if connection is None or state_schema.version(connection) < state_schema.USAGE_SINCE:
        return []
    rows = connection.execute(_OF_PAGE, (ref.workspace, ref.project, ref.path))
    return [HarnessAccess(*row) for row in rows]


def note_read(connection: Connection, ref: PageRef, *, harness: str, at_us: int) -> None:
    """Count a read; within a minute of the last one it only moves the time. Call in a transaction."""
    connection.execute(_READ, {**_row(ref, harness, at_us), "throttle": THROTTLE_US})


def note_shown(connection: Connection, refs: Iterable[PageRef], *, harness: str, at_us: int) -> None:
    """Count that the pages were among the results of a search. Call in a transaction."""
    connection.executemany(_SHOWN, [_row(ref, harness, at_us) for ref in refs])


def _row(ref: PageRef, harness: str, at_us: int) -> dict[str, str | int]:
    place: dict[str, str | int] = {"workspace": ref.workspace, "project": ref.project, "path": ref.path}
    return place | {"harness": harness, "at_us": at_us, "most": MOST_READS}


def note_calls(connection: Connection, *, day: str, client: str, name: str, calls: int, size_bytes: int) -> None:
    """Add calls of one client. Call in a transaction."""
    others = connection.execute(_CLIENTS, (day, client, OTHER)).fetchone()[0]
    known = client if others < MOST_CLIENTS else OTHER
    connection.execute(_CALLED, {"day": day, "client": known, "name": name, "calls": calls, "bytes": size_bytes})


def calls_since(connection: Connection | None, day: str) -> list[Calls]:
    """All calls from that day on, by day, client and name."""
    if connection is None or state_schema.version(connection) < state_schema.USAGE_SINCE:
        return []
    return [Calls(*row) for row in connection.execute(_CALLS, (day,))]


def forget_old_calls(connection: Connection, *, before: str) -> None:
    """Drop the calls of the days before that one. Call in a transaction."""
    connection.execute(_FORGET, (before,))


def recorded_since_us(connection: Connection | None) -> int | None:
    """When the first read was recorded, in µs; None where none ever was."""
    if connection is None or state_schema.version(connection) < state_schema.USAGE_SINCE:
        return None
    found = connection.execute("SELECT min(first_at_us) FROM page_access").fetchone()[0]
    return None if found is None else int(found)
