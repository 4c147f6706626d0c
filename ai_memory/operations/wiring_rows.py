"""Rows and text of what was, or would be, written into agents' settings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ai_memory.scrub import scrub
from ai_memory.wiring.apply import Done
from ai_memory.wiring.plan import FilePlan, State
from ai_memory.wiring.wishes import Note


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file of an agent."""

    path: str
    state: str
    """create, change, delete, no change, left out, refused, failed."""
    agents: tuple[str, ...]
    what: tuple[str, ...]
    """hooks, mcp, instructions, skills."""
    reason: str
    """Why it was refused, failed, or was left out."""
    line: int | None
    column: int | None
    hint: str
    diff: str
    """Secrets in it are replaced by labels; empty where nothing changes."""


@dataclass(frozen=True, slots=True)
class NoteRow:
    """What is not written for an agent, and why; or what a person pastes."""

    agent: str
    what: str
    note: str
    path: str | None
    snippet: str | None


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a command did to agents' files, or would do."""

    files: tuple[FileRow, ...]
    notes: tuple[NoteRow, ...]
    agents: tuple[str, ...]
    """The agents that were meant."""
    applied: bool
    restart: tuple[str, ...] = ()
    """What a person does for the change to count."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def changes(self) -> int:
        """Files that were written, or would be."""
        return sum(row.state in _CHANGES for row in self.files)

    @property
    def exit_code(self) -> int:
        return exit_code_of(self.files)


def exit_code_of(files: Iterable[FileRow]) -> int:
    """1 where a file was refused or could not be written."""
    return 1 if any(row.state in ("refused", "failed") for row in files) else 0


_CHANGES = (State.CREATE, State.CHANGE, State.DELETE)
_DONE = {State.CREATE: "created", State.CHANGE: "changed", State.DELETE: "deleted", State.SAME: "no change"}


def file_row(plan: FilePlan, fault: str = "") -> FileRow:
    """The row of a plan; with a fault it was not written although it could be."""
    return FileRow(
        path=str(plan.path),
        state="failed" if fault else plan.state.value,
        agents=tuple(dict.fromkeys(owner.agent for owner in plan.owners)),
        what=tuple(dict.fromkeys(owner.what for owner in plan.owners)),
        reason=fault or plan.reason,
        line=plan.line or None,
        column=plan.column or None,
        hint=plan.hint,
        diff=scrub(plan.diff()),
    )


def done_rows(done: Iterable[Done]) -> tuple[FileRow, ...]:
    return tuple(file_row(one.plan, one.fault) for one in done)


def note_rows(notes: Sequence[Note]) -> tuple[NoteRow, ...]:
    return tuple(NoteRow(one.agent, one.what, one.text, one.path or None, one.snippet or None) for one in notes)


def wiring_text(result: Wiring) -> str:
    """A diff of each file that changes; applied, one line a file."""
    if not result.agents and not result.files:
        return "no agent was found here; name one with --agent"
    lines = [line for row in result.files for line in _file_lines(row, is_applied=result.applied)]
    lines += [line for note in result.notes if note.snippet for line in _snippet_lines(note)]
    silent = [f"{note.agent}: no {note.what}, {note.note}" for note in result.notes if not note.snippet]
    lines += silent
    if result.changes and not result.applied:
        count = "1 file" if result.changes == 1 else f"{result.changes} files"
        lines.append(f"{count} would be written; --apply does it")
    elif result.files and not result.changes and not result.exit_code:
        lines.append("nothing to change")
    lines += [f"{line}" for line in result.restart]
    return "\n".join(lines or ["nothing to do"])


def _file_lines(row: FileRow, *, is_applied: bool) -> list[str]:
    for_whom = f"{', '.join(row.agents)}: {', '.join(row.what)}"
    if row.reason:
        place = f", line {row.line}" if row.line else ""
        place += f", column {row.column}" if row.line and row.column else ""
        told = f"{row.state}: {row.path} ({for_whom}): {row.reason}{place}"
        return [told, *([f"  {row.hint}"] if row.hint else [])]
    if row.state == State.SAME:
        return []
    if is_applied:
        return [f"{_DONE[State(row.state)]}: {row.path} ({for_whom})"]
    return [f"{row.state}: {row.path} ({for_whom})", row.diff]


def _snippet_lines(note: NoteRow) -> list[str]:
    return [f"paste into {note.path} ({note.agent}: {note.what}): {note.note}", "", note.snippet or "", ""]
