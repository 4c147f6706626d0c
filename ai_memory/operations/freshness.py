"""Whether what a source brought may be out of date: said where its pages are found."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.model import PageRef
from ai_memory.store.imported_pages import sources_of

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot


def source_gaps(memory: "Memory", snapshot: "Snapshot", refs: Iterable[PageRef]) -> tuple[str, ...]:
    """A sentence on each source of these pages whose last look failed or is older than its interval."""
    brought = sources_of(snapshot.index, refs)
    if not brought:
        return ()
    from ai_memory.store.sources import sources  # few pages came with a source

    projects = {row.id: (row.workspace, row.name) for row in snapshot.projects()}
    now_us = memory.clock()
    with memory.state_reading() as connection:
        known = sources(connection) if connection is not None else []
    told = []
    for one in known:
        if (*projects.get(one.project_id, ("", "")), one.namespace) not in brought:
            continue
        since = rfc3339(one.complete_at_us) if one.complete_at_us is not None else ""
        state = f"was last read whole at {since}" if since else "was never read whole"
        if one.fault:
            told.append(f"the source {one.name} {state}; the last look failed: {one.fault}")
        elif one.is_due(now_us):
            told.append(f"the source {one.name} {state}, longer ago than its interval")
    return tuple(told)
