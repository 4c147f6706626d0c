"""What a transcript tells beyond what is known of its session: so that hooks and transcript never tell a thing twice.

Hooks and transcripts have the same ids of calls, not the same clocks: a permission that is waited for lies between.
"""

from collections.abc import Sequence

from ai_memory.capture.batches import AFTERGLOW_US
from ai_memory.capture.spooled import Event
from ai_memory.store.state_sessions import Observation, Session

NEAR_US = 60_000_000
"""Two tellings of one prompt, answer or compaction lie no further apart."""


def missing(session: Session, known: Sequence[Observation], events: Sequence[Event], end: Event) -> tuple[Event, ...]:
    """Those of the events that `known` does not hold; with an end where they go on after that of an ended session."""
    calls = {(str(row.kind), str(row.call_id)) for row in known if row.call_id}
    said: dict[tuple[str, str], list[int]] = {}
    for row in known:
        if not row.call_id:
            said.setdefault(_likeness(row), []).append(row.at_us)
    found = [event for event in events if not _is_told(event, calls, said)]
    last = found[-1] if found else None
    if last is not None and session.ended_at_us is not None and last.at_us > session.ended_at_us + AFTERGLOW_US:
        found.append(end)
    return tuple(found)


def _is_told(event: Event, calls: set[tuple[str, str]], said: dict[tuple[str, str], list[int]]) -> bool:
    if event.call_id:
        begun_or_done = {(event.kind, event.call_id), ("post-tool-use", event.call_id)}
        return not calls.isdisjoint(begun_or_done)
    return any(_is_said(event, said.get(likeness, [])) for likeness in _likenesses(event))


def _is_said(event: Event, times: list[int]) -> bool:
    nearest = min(times, key=lambda at_us: abs(at_us - event.at_us), default=None)
    if nearest is None or abs(nearest - event.at_us) > NEAR_US:
        return False
    times.remove(nearest)  # one telling answers for one
    return True


def _likenesses(event: Event) -> list[tuple[str, str]]:
    """A prompt may also be known without its words, where they were not to be kept."""
    return [_likeness(event), *([("user-prompt", "")] if event.kind == "user-prompt" else [])]


def _likeness(of: Event | Observation) -> tuple[str, str]:
    """Of what has no id: a prompt by its words, a call by its input, the rest by its kind."""
    if of.kind == "user-prompt":
        return of.kind, " ".join(of.text.split())
    if of.tool:
        return of.kind, f"{of.tool}\0{of.input}"
    return of.kind, ""
