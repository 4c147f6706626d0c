"""Events that could not be applied: what they are, and another try for them, or an end."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, NotFound, UsageFault
from ai_memory.operations.field import Field
from ai_memory.store.spool import Quarantined, Spool, named_at_us
from ai_memory.store.state import EVENT_MEMORY_US
from ai_memory.text.printable import shown
from ai_memory.text.sanitize import sanitize
from ai_memory.text.times import DAY_US

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

SHOWN_CHARS = 16_384
"""Of an event's text: as much as a hook writes of a prompt."""

SHORTEST_ID = 4


@dataclass(frozen=True, slots=True)
class SetAside:
    event: str
    at: str
    reason: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class SetAsideList:
    events: tuple[SetAside, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class ShownEvent:
    event: SetAside
    content: str
    """The record, without secrets and controls."""
    is_cut: bool
    gaps: tuple[str, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class MovedEvents:
    events: tuple[SetAside, ...]
    outcome: Literal["waiting", "dropped", "would drop"]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


EventId = Annotated[str, Field("the event's id, or a beginning of it", positional=True, max_length=200)]
SomeEvent = Annotated[str | None, Field("the event's id, or a beginning of it", positional=True, max_length=200)]


def quarantine_list(
    memory: "Memory",
    *,
    limit: Annotated[int, Field("rows at most", ge=1, le=10_000, flags=("-n", "--limit"))] = 100,
) -> SetAsideList:
    """List events that the drain could not apply, with the reason. Oldest first.
    Use it when `status` says that some are in quarantine.
    """
    spool = Spool(memory.data_dir)
    found = spool.quarantined()
    return SetAsideList(tuple(_row(spool, one) for one in found[:limit]), omitted=max(0, len(found) - limit))


def quarantine_show(memory: "Memory", *, event: EventId) -> ShownEvent:
    """Show one event that could not be applied: the reason and what it holds."""
    spool = Spool(memory.data_dir)
    found = _find(spool, event)
    text = shown(sanitize((spool.quarantined_bytes(found.event_id) or b"").decode("utf-8", "replace")))
    return ShownEvent(_row(spool, found), text[:SHOWN_CHARS], is_cut=len(text) > SHOWN_CHARS)


def quarantine_retry(
    memory: "Memory",
    *,
    event: SomeEvent = None,
    everything: Annotated[bool, Field("all of them", flags=("--all",))] = False,
) -> MovedEvents:
    """Let events that could not be applied wait again: the next drain tries them.
    Use it after an upgrade, or when what stopped them is mended.
    """
    spool = Spool(memory.data_dir)
    chosen = _chosen(spool, event, everything=everything)
    oldest_us = memory.clock() - EVENT_MEMORY_US
    old = [row for row in chosen if named_at_us(f"{row.event}.json") < oldest_us]
    moved = tuple(row for row in chosen if row not in old and spool.retry(row.event))
    return MovedEvents(moved, "waiting", (*_left(old), *_told(memory, "quarantine-retry", moved)))


def quarantine_drop(
    memory: "Memory",
    *,
    event: SomeEvent = None,
    everything: Annotated[bool, Field("all of them", flags=("--all",))] = False,
    confirm: Annotated[bool, Field("remove them; without it they are only named", flags=("--confirm",))] = False,
) -> MovedEvents:
    """Remove events that could not be applied, for good. Shows what would go; acts with --confirm."""
    spool = Spool(memory.data_dir)
    chosen = _chosen(spool, event, everything=everything)
    if not confirm:
        return MovedEvents(chosen, "would drop")
    dropped = tuple(row for row in chosen if spool.drop(row.event))
    return MovedEvents(dropped, "dropped", _told(memory, "quarantine-drop", dropped))


def _told(memory: "Memory", verb: str, events: tuple[SetAside, ...]) -> tuple[str, ...]:
    return memory.tell(verb, subject=events[0].event, count=len(events)) if events else ()


def _left(old: list[SetAside]) -> tuple[str, ...]:
    """A drain would put these aside again (decision B3)."""
    days = EVENT_MEMORY_US // DAY_US
    why = f"older than {days} days: whether they were applied is no longer known, so they stay in quarantine"
    return (f"{len(old)} events are {why}",) if old else ()


def _chosen(spool: Spool, event: str | None, *, everything: bool) -> tuple[SetAside, ...]:
    if (event is None) != everything:
        raise UsageFault("name one event, or all of them", hint="`ai-memory quarantine list` shows them; or use --all")
    found = spool.quarantined() if event is None else [_find(spool, event)]
    return tuple(_row(spool, one) for one in found)


def _find(spool: Spool, event: str) -> Quarantined:
    wanted = event.strip().removesuffix(".json")
    found = [one for one in spool.quarantined() if one.event_id.startswith(wanted)]
    exact = [one for one in found if one.event_id == wanted]
    if len(wanted) < SHORTEST_ID or not found:
        raise NotFound("no such event in quarantine", hint="`ai-memory quarantine list` shows those that there are")
    if len(found) > 1 and not exact:
        raise Conflict(f"{len(found)} events begin with {wanted}", hint="give more of the id")
    return (exact or found)[0]


def _row(spool: Spool, one: Quarantined) -> SetAside:
    at = rfc3339(named_at_us(f"{one.event_id}.json"))
    return SetAside(one.event_id, at, shown(one.reason), spool.quarantined_size(one.event_id))


def quarantine_list_text(result: SetAsideList) -> str:
    """One line an event."""
    if not result.events:
        return "nothing in quarantine"
    return "\n".join(f"{row.event} · {row.at} · {row.size_bytes} bytes · {row.reason}" for row in result.events)


def quarantine_show_text(result: ShownEvent) -> str:
    """The reason, then the record."""
    more = "\n(cut here)" if result.is_cut else ""
    return f"{result.event.event} · {result.event.at}\nreason: {result.event.reason}\n\n{result.content}{more}"


def quarantine_moved_text(result: MovedEvents) -> str:
    """What became of which events."""
    if not result.events:
        return "no event waits again" if result.gaps else "nothing in quarantine"
    told = {
        "waiting": "waits again; `ai-memory drain` applies it now",
        "dropped": "removed for good",
        "would drop": "would be removed; say --confirm to do it",
    }[result.outcome]
    return "\n".join(f"{row.event}: {told}" for row in result.events)
