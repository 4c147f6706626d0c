"""Ending sessions without their harness, and opening them again.

Both put in the event that the harness did not send, so that all that follows is what a drain does with it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from ai_memory.capture.attribution import Attribution
from ai_memory.capture.batches import apply_batch
from ai_memory.capture.drain import Outcome, drain_all
from ai_memory.capture.spooled import Event
from ai_memory.model import NO_TEXT
from ai_memory.scope.known import KnownProjects
from ai_memory.store import audit
from ai_memory.store.driver import Connection
from ai_memory.store.memory import Memory
from ai_memory.store.state_sessions import Session
from ai_memory.text.sanitize import sanitize

SOURCE = "finalize-session"
"""What the events say of where they come from."""

Choice = Callable[[Connection], Sequence[Session]]


def end_sessions(memory: Memory, choice: Choice) -> None:
    """End the open ones among the sessions that `choice` gives, at their last event, with page and handoff.

    `choice` is asked once, when all that waited is applied; not at all where nothing was ever captured.
    Crash: safe at any point; from the transaction on the next drain makes what is missing.
    Errors: LockBusy when another drain or writer is at work for too long; StoreFault.
    """
    apply_spool(memory)  # what waits belongs to the sessions, and may have ended them
    _put_in(memory, SOURCE, lambda connection: [_end(one) for one in choice(connection) if one.is_open])
    apply_spool(memory)


def reopen_session(memory: Memory, choice: Choice) -> None:
    """Open the ended ones among the sessions that `choice` gives: they go on as if resumed now. Crash: safe.

    Errors: as `end_sessions`.
    """
    apply_spool(memory)
    _put_in(
        memory,
        "reopen-session",
        lambda connection: [_resume(one, memory.clock()) for one in choice(connection) if not one.is_open],
    )


def apply_spool(memory: Memory) -> None:
    """Drain, and wait for another drain as long as for the writer lock. Errors: LockBusy, StoreFault."""
    if memory.data_dir.spool.is_dir():
        drain_all(memory.data_dir, Outcome(), patience_s=memory.lock_timeout_s, memory=as_drain(memory))


def as_drain(memory: Memory) -> Memory:
    """The same data dir, as a drain opens it: of no folder, and in no person's name."""
    return Memory.open(
        memory.data_dir,
        caller=replace(memory.caller, cwd=None, face="drain", roots=()),
        clock=memory.clock,
        lock_timeout_s=memory.lock_timeout_s,
        command=memory.command,
    )


def _put_in(memory: Memory, verb: str, events_of: Callable[[Connection], list[Event]]) -> None:
    if not memory.data_dir.state.exists():
        return
    with memory.reading() as snapshot:
        attribution = Attribution(as_drain(memory).caller, KnownProjects(snapshot.projects()))
    with memory.state_transaction() as connection:  # chosen and applied in one: no event comes in between
        events = events_of(connection)
        apply_batch(connection, events, place_of=attribution.place_of)
        for event in events:
            audit.put(connection, memory.mutation(verb, session=event.session))


def _end(session: Session) -> Event:
    """Its end, right after its last event."""
    return _event(session, "session-end", at_us=session.last_at_us + 1, extra={"reason": SOURCE})


def _resume(session: Session, now_us: int) -> Event:
    return _event(session, "session-start", at_us=max(session.last_at_us + 1, now_us), extra={"source": "resume"})


def _event(session: Session, kind: str, *, at_us: int, extra: dict[str, str]) -> Event:
    identifier = f"{at_us * 1000:019d}-0-{session.id}"
    return Event(
        id=identifier,
        agent=session.agent,
        kind=sanitize(kind),
        source_event=sanitize(SOURCE),
        at_us=at_us,
        session=session.id,
        native_id=session.native_id,
        cwd=session.cwd,
        agent_id=NO_TEXT,
        tool=NO_TEXT,
        call_id=sanitize(identifier),  # its own, or an end within two seconds of another would count as its double
        outcome="",
        input=NO_TEXT,
        output=NO_TEXT,
        text=NO_TEXT,
        flags=NO_TEXT,
        extra=sanitize(json.dumps(extra)),
        process=0,
    )
