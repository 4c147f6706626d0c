"""What nobody used for long and no sweep takes away: procedures that were not read, rules that waited too long."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.model import PageRef, Scope
from ai_memory.store.fact_rows import FactRow
from ai_memory.store.page_heads import page_heads
from ai_memory.store.snapshot import Filter
from ai_memory.store.usage import NEVER, accesses
from ai_memory.text.facts import Standing
from ai_memory.text.times import DAY_US

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

UNSEEN_US = 180 * DAY_US
UNUSED_US = 30 * DAY_US
"""*Source*: the facts on procedures, and on candidates (A12)."""
_READ_AT_STARTS = frozenset({"rule", "slot", "fact"})


def unseen(memory: "Memory", snapshot: "Snapshot", scope: Scope, now_us: int) -> Iterator[tuple[PageRef, str]]:
    """Procedural pages that were neither read nor changed for 180 days, and what to say of each."""
    with memory.state_reading() as connection:
        reads = accesses(connection, scope.workspace, scope.project)
    here = Filter(scope.workspace, scope.project, tier="procedural", superseded=False)
    for page in page_heads(snapshot.index, here):
        last_us = max(page.updated_at_us, reads.get(page.ref, NEVER).last_at_us)
        if now_us - last_us >= UNSEEN_US and not page.pinned and page.kind not in _READ_AT_STARTS:
            yield page.ref, f"nobody read it since {rfc3339(last_us)[:10]}: does anybody still work so?"


def unused(memory: "Memory", scope: Scope, facts: Iterable[FactRow], now_us: int) -> Iterator[tuple[PageRef, str]]:
    """Candidates that nobody confirmed or read for 30 days, and what to say of each."""
    waiting = [one for one in facts if one.fact.standing is Standing.CANDIDATE]
    if not waiting:
        return
    with memory.state_reading() as connection:
        reads = accesses(connection, scope.workspace, scope.project)
    for one in waiting:
        last_us = max(one.fact.recorded_at_us, reads.get(one.ref, NEVER).last_at_us)
        if now_us - last_us >= UNUSED_US:
            yield one.ref, f"nobody used it since {rfc3339(last_us)[:10]}"
