"""A damaged `state.db` is read as far as it can be, and what was read takes its place."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.operations.field import Field

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

_AGAIN = {
    "sessions": "`ai-memory backfill` reads sessions anew from agents' own records",
    "purged": "what was purged is not known in full any more: look before you `backfill` or restore an old backup",
}
"""Table → what a person does where rows of it are lost."""


@dataclass(frozen=True, slots=True)
class TableRow:
    table: str
    rows: int
    """Rows that could be read."""
    lost: int | None
    """Rows that could not; null where some may be lost and nothing tells how many."""


@dataclass(frozen=True, slots=True)
class Salvage:
    outcome: Literal["salvaged", "would_salvage", "unchanged"]
    tables: tuple[TableRow, ...] = ()
    sessions_anew: int = 0
    """Sessions of which only what they did is left: their agent, and often their project, is not known."""
    kept: str = ""
    """Folder with the damaged file as it was."""
    gaps: tuple[str, ...] = ()
    """What is lost, and how it can be had again."""
    omitted: int = 0


def salvage(
    memory: "Memory", *, confirm: Annotated[bool, Field("yes, put what can be read in its place")] = False
) -> Salvage:
    """Save what can be read of a damaged state.db: sessions and what agents did in them, messages, evidence, the log.
    Shows rows that are found and lost; `--confirm` does it. The damaged file stays in backups/. Pages lie elsewhere.
    """
    done = memory.salvage(confirm=confirm)
    if not done.is_damaged:
        return Salvage("unchanged")
    rows = tuple(TableRow(one.table, one.rows, one.lost) for one in done.remains.tables)
    return Salvage(
        outcome="would_salvage" if done.kept is None else "salvaged",
        tables=rows,
        sessions_anew=done.remains.sessions_anew,
        kept="" if done.kept is None else str(done.kept),
        gaps=_gaps(memory, rows),
    )


def _gaps(memory: "Memory", rows: tuple[TableRow, ...]) -> tuple[str, ...]:
    from ai_memory.store.backup import archives  # the git library comes with the call, not with help and schema

    torn = [row for row in rows if row.lost != 0]
    gaps = [f"{row.table}: {_lost(row)}" for row in torn]
    if {"sessions", "observations"} & {row.table for row in torn}:
        gaps.append(_AGAIN["sessions"])
    if "purged" in {row.table for row in torn}:
        gaps.append(_AGAIN["purged"])
    kept = archives(memory.data_dir.backups)
    if torn and kept:
        gaps.append(f"`ai-memory restore --force` puts the newest backup back, {kept[0].name}: all as it was then")
    return tuple(gaps)


def _lost(row: TableRow) -> str:
    if row.lost is None:
        return "some rows may be lost, nothing tells how many"
    return f"{row.lost} row{'s' if row.lost != 1 else ''} lost"


def salvage_text(result: Salvage) -> str:
    """What was found of each table."""
    if result.outcome == "unchanged":
        return "nothing in state.db is damaged: nothing to salvage"
    head = "salvaged" if result.outcome == "salvaged" else "can be salvaged, with --confirm:"
    lines = [head, *(f"  {row.table} {row.rows}" for row in result.tables if row.rows)]
    if result.sessions_anew:
        lines.append(f"{result.sessions_anew} sessions lost their own row: what they did is kept")
    return "\n".join([*lines, *([f"the damaged file lies in {result.kept}"] if result.kept else [])])
