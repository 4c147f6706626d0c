"""What a tool or command showed of which pages, left for the drain to count: reading changes no row itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ai_memory.harnesses.around import session_around

if TYPE_CHECKING:
    from ai_memory.model import Caller
    from ai_memory.operations.table import Operation
    from ai_memory.store.memory import Memory

Row = tuple[str, str, str]
MOST_PAGES = 100

READ_OUT = {"read-page": "pages"}
"""Operation → field with the pages that it gives whole."""
FOUND = {"search": "hits", "context": "items", "explore": "hits"}
"""The same with the pages that answered a question. An agent is given their passages and rarely opens the page after
that, so it has read them; a person looks at a list. Lists by date or folder say nothing of what was looked for."""


UNCOUNTED = frozenset({"doctor", "size"})
"""They promise that a look changes nothing, not even a count."""


@dataclass(frozen=True, slots=True)
class Used:
    """Pages of one answer."""

    read: tuple[Row, ...] = ()
    shown: tuple[Row, ...] = ()


NOTHING = Used()


def client_of(caller: "Caller", named: str = "") -> str:
    """Who asks: the harness, else what an MCP client calls itself; empty for a person at the command line."""
    if caller.agent:
        return caller.agent
    return session_around(caller.environ)[0] if caller.face == "cli" else named


def used(operation: "Operation", result: Any, *, is_agent: bool) -> Used:
    """Which pages the answer read out, and which it only showed."""
    if operation.name in READ_OUT:
        return Used(read=_rows(getattr(result, READ_OUT[operation.name])), shown=_rows(getattr(result, "related", ())))
    if operation.name in FOUND:
        rows = _rows(getattr(result, FOUND[operation.name]))
        return Used(read=rows) if is_agent else Used(shown=rows)
    return NOTHING


def _rows(found: Iterable[Any]) -> tuple[Row, ...]:
    rows = dict.fromkeys((one.workspace, one.project, one.path) for one in found)
    return tuple(rows)[:MOST_PAGES]


def count_call(memory: "Memory", name: str, size_bytes: int, pages: Used = NOTHING, *, client: str) -> None:
    """Leave word of one call whose answer is out. Never fails, and does nothing where there is no memory."""
    if name in UNCOUNTED:
        return
    record: dict[str, object] = {"v": 1, "client": client, "face": memory.caller.face, "name": name}
    record["bytes"] = size_bytes
    if pages.read:
        record["read"] = pages.read
    if pages.shown:
        record["shown"] = pages.shown
    memory.note_use(record)
