"""Sources of records that are read again and again, in `state.db`: what a person named, and how the last look went."""

from dataclasses import dataclass

from ai_memory.store import state_schema
from ai_memory.store.driver import Connection
from ai_memory.text.sanitize import sanitize

MAX_FAULT = 300

_COLUMNS = "name, project_id, namespace, mapping, root, authoritative, every_us, tried_at_us, complete_at_us, fault"
_ALL = f"SELECT {_COLUMNS} FROM sources ORDER BY name"
_ADD = """
    INSERT INTO sources (name, project_id, namespace, mapping, root, authoritative, every_us)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_LOOKED = """
    UPDATE sources SET tried_at_us = :at_us, fault = :fault,
        complete_at_us = CASE WHEN :fault = '' THEN :at_us ELSE complete_at_us END
    WHERE name = :name
"""
_PROMPTS = """
    SELECT count(*) FROM (
        SELECT 1 FROM sessions AS s CROSS JOIN observations AS o ON o.session = s.id
        WHERE s.last_at_us > :since AND o.at_us > :since AND o.kind = 'user-prompt' LIMIT :most
    )
"""
_SIZES = """
    SELECT length(o.text) + length(o.input) + length(o.output)
    FROM sessions AS s CROSS JOIN observations AS o ON o.session = s.id
    WHERE s.last_at_us > :since AND o.at_us > :since
"""


@dataclass(frozen=True, slots=True)
class Source:
    """One source."""

    name: str
    project_id: str
    """Of the project that its records go to, whatever that is called by now."""
    namespace: str
    mapping: str
    """The text of the mapping as it was when the source was added."""
    root: str
    authoritative: bool
    every_us: int
    tried_at_us: int | None = None
    complete_at_us: int | None = None
    """When every record there was last read; None: never."""
    fault: str = ""
    """What kept the last look from that."""

    def is_due(self, now_us: int) -> bool:
        """Whether its interval is over. A last look of the future was a clock set back."""
        return self.tried_at_us is None or not 0 <= now_us - self.tried_at_us < self.every_us


def sources(connection: Connection) -> list[Source]:
    """All of them, by name; none in a file of an older program."""
    if state_schema.version(connection) < state_schema.SOURCES_SINCE:
        return []
    found = []
    for name, project_id, namespace, mapping, root, authoritative, *times in connection.execute(_ALL):
        found.append(Source(name, project_id, namespace, mapping, root, bool(authoritative), *times))
    return found


def add(connection: Connection, one: Source) -> None:
    """Keep it. Call in a transaction."""
    words = (one.name, one.project_id, one.namespace, one.mapping, one.root)
    connection.execute(_ADD, (*words, int(one.authoritative), one.every_us))


def remove(connection: Connection, name: str) -> None:
    """Forget it; its pages stay. Call in a transaction."""
    connection.execute("DELETE FROM sources WHERE name = ?", (name,))


def note_look(connection: Connection, name: str, *, at_us: int, fault: str) -> None:
    """Keep how a look went; what was complete before stays known. Call in a transaction."""
    kept = sanitize(fault[:MAX_FAULT])  # may quote a path or a record
    connection.execute(_LOOKED, {"name": name, "at_us": at_us, "fault": kept})


def is_worked_since(connection: Connection, since_us: int, *, turns: int, chars: int) -> bool:
    """Whether so many prompts came in since that instant, or so many characters of anything, in all projects."""
    found = connection.execute(_PROMPTS, {"since": since_us, "most": turns}).fetchone()
    if int(found[0]) == turns:
        return True
    said = 0
    for (size,) in connection.execute(_SIZES, {"since": since_us}):
        said += size
        if said >= chars:
            return True
    return False
