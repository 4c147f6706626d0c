"""How sure a page is: from the sessions that it rests on, how long ago the last was, and what contradicts it.

Counted when it is asked for, kept nowhere. It is shown; it moves no rank unless `retrieval.belief_authority_weight`
gives it a weight.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.model import PageRef
from ai_memory.text.times import DAY_US

if TYPE_CHECKING:
    from ai_memory.store.driver import Connection
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

_CONTRADICTED = """
    SELECT l.workspace, l.project, l.path, count(DISTINCT l.source_id) FROM json_each(?) AS named
    CROSS JOIN links AS l
    ON l.workspace = named.value ->> 0 AND l.project = named.value ->> 1 AND l.path = named.value ->> 2
    CROSS JOIN pages AS p ON p.id = l.source_id AND NOT p.superseded
    WHERE l.kind = 'contradicts' GROUP BY 1, 2, 3
"""


@dataclass(frozen=True, slots=True)
class Confidence:
    """Of one page that rests on a session."""

    value: float
    """0 to 0.95."""
    sessions: int
    """Different ones that it was learnt in."""
    last_at: str
    """When the last of them said so."""
    contradicted_by: int
    """Pages that say otherwise, and that nothing replaced."""


def confidences(
    state: "Connection", snapshot: "Snapshot", refs: Sequence[PageRef], *, now_us: int
) -> dict[PageRef, Confidence]:
    """Of those pages that a session stands behind."""
    from ai_memory.search.numbers import BELIEF_DOUBT, BELIEF_HALF_DAYS, BELIEF_MOST
    from ai_memory.store.session_evidence import sessions_behind  # sqlite, which schema and help do without

    behind = sessions_behind(state, refs)
    named = json.dumps([(ref.workspace, ref.project, ref.path) for ref in behind])
    against = {PageRef(*row[:3]): row[3] for row in snapshot.index.execute(_CONTRADICTED, (named,))} if behind else {}
    found = {}
    for ref, (sessions, last_us) in behind.items():
        doubts = max(0, now_us - last_us) / DAY_US / BELIEF_HALF_DAYS + against.get(ref, 0)
        value = BELIEF_MOST * (1 - BELIEF_DOUBT**sessions) * 0.5**doubts
        found[ref] = Confidence(round(value, 4), sessions, rfc3339(last_us), against.get(ref, 0))
    return found


def confidences_now(memory: "Memory", snapshot: "Snapshot", refs: Sequence[PageRef]) -> dict[PageRef, Confidence]:
    """The same, for whoever has not opened the state."""
    with memory.state_reading() as state:
        return {} if state is None else confidences(state, snapshot, refs, now_us=memory.clock())


def beliefs(memory: "Memory", snapshot: "Snapshot", refs: Sequence[PageRef]) -> dict[PageRef, float]:
    """The value alone, as the ranking takes it."""
    return {ref: one.value for ref, one in confidences_now(memory, snapshot, refs).items()}


def confidence_words(one: Confidence) -> str:
    """`0.57 · 2 sessions, the last on 2026-11-01 · contradicted by 1`."""
    sessions = f"{one.sessions} session{'' if one.sessions == 1 else 's'}, the last on {one.last_at[:10]}"
    against = f" · contradicted by {one.contradicted_by}" if one.contradicted_by else ""
    return f"{one.value:.2f} · {sessions}{against}"
