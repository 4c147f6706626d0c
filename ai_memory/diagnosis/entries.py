"""What stands of ours in each agent's files, beside what would be written now."""

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
from ai_memory.wiring.plan import Book, FilePlan, State, plan_install
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
    plans: tuple[FilePlan, ...]
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

    @property
    def paths(self) -> str:
        return ", ".join(dict.fromkeys(str(one.path) for one in self.plans))


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
            # without the records: what other agents want in a shared file is told of those
            plans = plan_install(wishes, Book(), desk.edits_of)
            pasted = [note for note in notes if note.snippet]
            commands = tuple(dict.fromkeys(_commands(wishes, pasted, what)))
            if plans or commands or pasted:
                yield Entry(harness, what, checkout, tuple(plans), commands, (what, checkout) in written, bool(pasted))


def _commands(wishes: Sequence[Wish], pasted: Sequence[Note], what: str) -> Iterator[Written]:
    places = [(Path(one.edit.path), one.edit.syntax) for one in wishes]
    for path, syntax in [*places, *((Path(one.path), Syntax.WHOLE) for one in pasted)]:
        try:
            text = look(path).text
        except Refused:
            continue  # the plan says why
        yield from (one for one in written_in(text, syntax) if one.what == what)
