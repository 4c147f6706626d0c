"""`ai-memory tail`: what is stored of agents' sessions, as it comes."""

import json
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Annotated

from ai_memory.cli.call import Call, say
from ai_memory.cli.display import shown
from ai_memory.cli.invoke import escaped
from ai_memory.operations.answer import scope_line
from ai_memory.operations.field import Everywhere, Field, ProjectName, Workspace
from ai_memory.operations.tail import Tail, TailRow, tail_json, tail_text

if TYPE_CHECKING:
    from types import FrameType

LOOK_EVERY_S = 0.5


def tail(
    call: Call,
    *,
    follow: Annotated[bool, Field("go on as events are stored, until Ctrl-C", flags=("-f", "--follow"))] = False,
    limit: Annotated[int, Field("of those that are there already", ge=0, le=1000, flags=("-n", "--limit"))] = 10,
    session: Annotated[str | None, Field("id, its beginning, or the agent's own id")] = None,
    everywhere: Everywhere = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> int:
    """Show the last captured events as they are stored: without secrets, and capped.
    With --json one object a line, with all that is stored; without, long texts are cut.
    """
    looking = Tail(call.open_memory(), session=session, everywhere=everywhere, workspace=workspace, project=project)
    for gap in looking.gaps:
        say(shown(f"note: {gap}"))
    if looking.scope is not None and not everywhere and session is None:
        say(shown(scope_line(looking.scope)))
    if not follow:
        _show(looking, looking.last(limit), call)
        return 0
    interrupt = _Interrupt()
    try:
        _show(looking, looking.last(limit), call)
        while not interrupt.came and not _is_unread(LOOK_EVERY_S):
            _show(looking, looking.more(), call)
    except KeyboardInterrupt:
        pass  # the way in which following ends
    return 0


class _Interrupt:
    """Notes an interrupt as well as raising it: what is raised inside a callback of C code may never arrive."""

    def __init__(self) -> None:
        self.came = False
        signal.signal(signal.SIGINT, self._note)

    def _note(self, _number: int, _frame: "FrameType | None") -> None:
        self.came = True
        raise KeyboardInterrupt


def _show(looking: Tail, rows: list[TailRow], call: Call) -> None:
    for row in rows:
        print(
            escaped(json.dumps(tail_json(row), ensure_ascii=False))
            if call.is_json
            else shown(tail_text(row, looking.scope))
        )
    sys.stdout.flush()


def _is_unread(wait_s: float) -> bool:
    """Wait; True as soon as nobody can read what would be printed."""
    if not hasattr(select, "poll"):  # Windows: the next line that is printed finds out
        time.sleep(wait_s)
        return False
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return bool(poll.poll(wait_s * 1000))
    except (OSError, ValueError):  # no real file behind it
        time.sleep(wait_s)
        return False
