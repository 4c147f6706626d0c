"""What the drain, the bridge and maintenance wrote into the log."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.operations.field import Field
from ai_memory.store.log import last_lines

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class LogLines:
    lines: tuple[str, ...]
    folder: str
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def logs(
    memory: "Memory",
    *,
    limit: Annotated[int, Field("lines at most", ge=1, le=10_000, flags=("-n", "--limit"))] = 50,
) -> LogLines:
    """Show what ran in the background: drains, bridges, maintenance. Oldest line first.
    Use it when something that should have been captured is missing.
    """
    folder = memory.data_dir.logs
    return LogLines(tuple(last_lines(folder, limit)), str(folder))


def logs_text(result: LogLines) -> str:
    """The lines as they stand in the files."""
    return "\n".join(result.lines) if result.lines else f"nothing logged in {result.folder}"
