"""What stands of ours in each agent's files, beside what would be written now."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ai_memory.diagnosis.written import Written, written_in
from ai_memory.harnesses.edits import Syntax
from ai_memory.harnesses.record import Harness
from ai_memory.store.wired import Wired
from ai_memory.wiring.agents import Desk
from ai_memory.wiring.documents import Refused
from ai_memory.wiring.files import look
from ai_memory.wiring.plan import FilePlan, State, compared
from ai_memory.wiring.wishes import Note, Wish

WHATS = ("hooks", "mcp")
"""What of an agent starts a command of ours."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent's hooks, or its MCP entry."""

    harness: Harness
    what: str
    checkout: str
    """Of a checkout's own files; empty: the person's."""
    paths: tuple[str, ...]
    """The files in which it stands, or would."""
    plans: tuple[FilePlan, ...]
    """What an installation would make of them; none where none of them is there."""
    commands: tuple[Written, ...]
    was_written: bool
    """Whether a record says that we wrote it."""
    is_pasted: bool = False
    """A person puts it there: nothing is written for this agent."""

    @property
    def is_as_written(self) -> bool:
        """Whether it stands there just as it would be written now."""
        return bool(self.plans) and all(one.state is State.SAME for one in self.plans)

    @property
    def refused(self) -> tuple[FilePlan, ...]:
        return tuple(one for one in self.plans if one.state is State.REFUSED)


def entries_of(harness: Harness, desk: Desk, records: Sequence[Wired]) -> Iterator[Entry]:
    """The agent's entries in the person's files, and in those of checkouts of which a record tells."""
    written = {
        (owner.what, owner.checkout) for record in records for owner in record.owners if owner.agent == harness.id
    }
    checkouts = sorted({checkout for _, checkout in written if checkout and Path(checkout).is_dir()})
    for checkout in ("", *checkouts):
        for what in WHATS:
            if checkout and (what, checkout) not in written:
                continue
            wishes, notes = desk.wishes([harness], what, checkout=checkout)
            pasted = [note for note in notes if note.snippet]
            paths = tuple(dict.fromkeys(str(one.edit.path) for one in wishes))
            is_there = any(os.path.lexists(path) for path in paths)
            plans = compared(wishes) if is_there else []
            commands = tuple(dict.fromkeys(_commands(wishes, pasted, what)))
            if paths or pasted:
                was_written = (what, checkout) in written
                yield Entry(harness, what, checkout, paths, tuple(plans), commands, was_written, bool(pasted))


def _commands(wishes: Sequence[Wish], pasted: Sequence[Note], what: str) -> Iterator[Written]:
    places = [(Path(one.edit.path), one.edit.syntax) for one in wishes]
    for path, syntax in [*places, *((Path(one.path), Syntax.WHOLE) for one in pasted)]:
        try:
            text = look(path).text
        except Refused:
            continue  # the plan says why
        yield from (one for one in written_in(text, syntax) if one.what == what)
