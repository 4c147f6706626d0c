"""Giving room back to the disk, and beginning anew."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.operations.field import Field
from ai_memory.store import compacting, purge

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

KIB = 1024


@dataclass(frozen=True, slots=True)
class Compacted:
    outcome: Literal["compacted", "would_compact", "unchanged"]
    parts: tuple[compacting.Room, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class ContentRow:
    """One part of the data dir."""

    path: str
    size_bytes: int
    goes: bool


@dataclass(frozen=True, slots=True)
class Reset:
    outcome: Literal["reset", "would_reset", "unchanged"]
    parts: tuple[ContentRow, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def compact(
    memory: "Memory", *, confirm: Annotated[bool, Field("yes, do it: others wait meanwhile")] = False
) -> Compacted:
    """Make the memory smaller on the disk: databases are written anew, git's objects packed. Nothing is forgotten.
    Shows sizes; `--confirm` does it. Needs free room of the largest part.
    """
    if not memory.exists:
        return Compacted("unchanged", ())
    before = compacting.parts(memory.data_dir)
    if not confirm:
        return Compacted("would_compact", tuple(compacting.Room(name, size, size) for name, size in before.items()))
    with_git = memory.compact()
    gaps = () if with_git else ("there is no git here: its packs were left as they are, loose objects were packed",)
    after = compacting.parts(memory.data_dir)
    rows = tuple(compacting.Room(name, size, after[name]) for name, size in before.items())
    return Compacted("compacted", rows, (*gaps, *memory.tell("compact")))


def compacted_text(result: Compacted) -> str:
    """Sizes before and after."""
    if result.outcome == "unchanged":
        return "there is no memory yet"
    if result.outcome == "would_compact":
        rows = [f"  {row.path} {_size(row.before_bytes)}" for row in result.parts]
        return "\n".join(["would compact, with --confirm:", *rows])
    rows = [f"  {row.path} {_size(row.before_bytes)} → {_size(row.after_bytes)}" for row in result.parts]
    return "\n".join(["compacted", *rows])


def reset(
    memory: "Memory", *, confirm: Annotated[bool, Field("yes, remove all pages and sessions for good")] = False
) -> Reset:
    """Begin anew: pages, their history, sessions, what waits and all that was made of them go for good.
    Shows what would go; `--confirm` does it. Settings, backups, models, logs and agents' wiring stay.
    """
    going = {one.path for one in compacting.content(memory.data_dir)}
    rows = tuple(
        ContentRow(one.path.name, one.size_bytes, one.path in going) for one in purge.contents(memory.data_dir)
    )
    if not going:
        return Reset("unchanged", rows)
    if not confirm:
        return Reset("would_reset", rows, ("`ai-memory backup` keeps a copy; `restore` brings it back",))
    memory.reset()
    return Reset("reset", rows, memory.tell("reset"))


def reset_text(result: Reset) -> str:
    """What goes and what stays."""
    if result.outcome == "unchanged":
        return "nothing to remove"
    head = "removed" if result.outcome == "reset" else "would remove, with --confirm:"
    lines = [head, *(f"  {row.path} {_size(row.size_bytes)}" for row in result.parts if row.goes)]
    staying = [row.path for row in result.parts if not row.goes]
    return "\n".join([*lines, *([f"stays: {', '.join(staying)}"] if staying else [])])


def _size(count: int) -> str:
    return f"{count / KIB / KIB:.1f} MiB" if count >= KIB * KIB else f"{count / KIB:.1f} KiB"
