"""The official client and the bridge's server in one process: everything of the protocol, without a process."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp import Client

from ai_memory.bridge.face import Face
from ai_memory.bridge.manifest import tool_rows
from ai_memory.bridge.options import parse, selected

DEADLINE_S = 60


def talk(work: Callable[[Client, Face], Awaitable[None]], *words: str, mode: Any = "legacy", **client: Any) -> None:
    """Runs `work` with a client of a bridge with these options; `mode="auto"` speaks the newest protocol."""
    options = parse(list(words))
    assert options is not None
    face = Face(options, selected(tool_rows(structured=options.structured), options.profile))

    async def run() -> None:
        with anyio.fail_after(DEADLINE_S):
            async with Client(face.server(), mode=mode, **client) as connected:
                await work(connected, face)

    anyio.run(run)
