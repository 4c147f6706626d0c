"""What part of all that happened is asked for: of audit rows, events and commits alike."""

from dataclasses import dataclass

Key = tuple[int, str]
"""Place of an entry in order of time: µs, then id."""


@dataclass(frozen=True, slots=True)
class Span:
    """Entries before the key, from `since_us` on, newest first, at most `limit`; of one project, of one session."""

    before: Key
    limit: int
    place: tuple[str, str] | None = None
    """Workspace and project; None: of all."""
    session: str | None = None
    since_us: int = 0
