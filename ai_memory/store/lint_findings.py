"""Findings of lint that a report told, in `state.db`: what was told is no news tomorrow."""

from collections.abc import Iterable

from ai_memory.store import state_schema
from ai_memory.store.driver import Connection
from ai_memory.text.times import DAY_US

KEPT_US = 90 * DAY_US
"""What was not found for so long is news when it comes again."""

_NOTE = """
    INSERT INTO lint_findings (fingerprint, first_at_us, last_at_us) VALUES (:fingerprint, :at_us, :at_us)
    ON CONFLICT (fingerprint) DO UPDATE SET last_at_us = max(last_at_us, excluded.last_at_us)
"""
_FORGET = "DELETE FROM lint_findings WHERE last_at_us < ?"


def told_findings(connection: Connection | None) -> dict[str, int]:
    """Fingerprint → when a report first told it, in µs. Empty without a file, and in one of an older program."""
    if connection is None or state_schema.version(connection) < state_schema.LINT_SINCE:
        return {}
    rows = connection.execute("SELECT fingerprint, first_at_us FROM lint_findings ORDER BY fingerprint")
    return {str(fingerprint): int(at_us) for fingerprint, at_us in rows}


def note_findings(connection: Connection, fingerprints: Iterable[str], *, at_us: int) -> None:
    """Keep that they were found at that instant; what was not found for long is forgotten. Call in a transaction."""
    connection.executemany(_NOTE, [{"fingerprint": one, "at_us": at_us} for one in fingerprints])
    connection.execute(_FORGET, (at_us - KEPT_US,))
