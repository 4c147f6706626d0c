"""Looking at handoffs without taking them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.capture import handoffs
from ai_memory.capture.handoffs import HandoffState
from ai_memory.errors import MemoryFault
from ai_memory.model import Scope
from ai_memory.operations.budget import MaxBytes, shortened_rows
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.handoff_desk import (
    HandoffId,
    HandoffRow,
    find_by_id,
    handoff_of,
    handoff_row,
    is_over,
    row_line,
)
from ai_memory.operations.scoping import resolve
from ai_memory.store.snapshot import Filter, Snapshot

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

State = Literal["open", "accepted", "expired", "cancelled", "any"]
PART = 200
"""Pages that are read at once while rows are looked for."""


@dataclass(frozen=True, slots=True)
class ListedHandoffs:
    scope: Scope
    handoffs: tuple[HandoffRow, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def handoff_list(
    memory: "Memory",
    *,
    state: Annotated[State, Field("which ones")] = "open",
    is_everywhere: Annotated[bool, Field("of all projects", aliases=("all",), flags=("--all",))] = False,
    limit: Annotated[int, Field("rows at most", ge=1, le=200, flags=("-n", "--limit"))] = 50,
    max_bytes: MaxBytes = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> ListedHandoffs:
    """List handoffs, newest first, and take none.
    Use it to see what waits before you accept or cancel.
    """
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        place = (workspace, project) if is_everywhere else (scope.workspace, scope.project)
        rows, faults = rows_of(snapshot, *place, state=state, now_us=memory.clock())
        gaps = (*snapshot.gaps, *faults)
    shown = shortened_rows(rows[:limit], max_bytes, text="title")
    return ListedHandoffs(scope, shown, gaps, len(rows) - len(shown))


def rows_of(
    snapshot: Snapshot, workspace: str | None, project: str | None, *, state: str, now_us: int
) -> tuple[list[HandoffRow], list[str]]:
    """All handoffs of a state, newest first, and what is below `handoffs/` and none. One whose time is over counts as
    expired before a drain says so in its page."""
    wanted = Filter(workspace=workspace, project=project, kind="handoff", prefix="handoffs/")
    rows: list[HandoffRow] = []
    faults: list[str] = []
    offset = 0
    while pages := snapshot.select(wanted, sort="-path", limit=PART, offset=offset).pages:
        offset += len(pages)
        for page in pages:
            try:
                found = handoff_of(page)
            except MemoryFault as fault:
                faults.append(f"{page.ref}: {fault.message}")
                continue
            is_expired = found.state is HandoffState.OPEN and is_over(found, now_us)
            if state in ("any", HandoffState.EXPIRED if is_expired else found.state):
                rows.append(handoff_row(page))
    return rows, faults


def handoff_list_text(result: ListedHandoffs) -> str:
    """One line a handoff."""
    return "\n".join(f"- {row_line(row)}" for row in result.handoffs) or "no handoffs"


@dataclass(frozen=True, slots=True)
class ShownHandoff:
    scope: Scope
    handoffs: tuple[HandoffRow, ...]
    text: str
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def handoff_show(
    memory: "Memory",
    *,
    handoff_id: HandoffId = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> ShownHandoff:
    """Show one handoff and do not take it; without an id the newest open one of this project.
    Any project's handoff can be named by its id.
    """
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        if handoff_id is None:
            place = (scope.workspace, scope.project)
            rows, _ = rows_of(snapshot, *place, state=HandoffState.OPEN, now_us=memory.clock())
            if not rows:
                return ShownHandoff(scope, (), "", tuple(snapshot.gaps))
            handoff_id = rows[0].id
        page = find_by_id(snapshot, handoff_id)
        text = handoffs.outline(handoff_of(page))
        return ShownHandoff(scope, (handoff_row(page),), text, tuple(snapshot.gaps))


def handoff_show_text(result: ShownHandoff) -> str:
    """Its line, then its text."""
    if not result.handoffs:
        return "no handoff waits in this project"
    return f"{row_line(result.handoffs[0])}\n\n{result.text}"
