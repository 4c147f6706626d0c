"""Events into `state.db`: one batch, one transaction, each event once however often it comes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from ai_memory.capture.declared_prompts import may_declare
from ai_memory.capture.digest import is_work
from ai_memory.capture.handoffs import handoff_id
from ai_memory.capture.spooled import Event
from ai_memory.model import NO_TEXT, ResolvedBy, Sanitized, Scope
from ai_memory.store import declared, state, state_sessions
from ai_memory.store.driver import Connection
from ai_memory.store.spool import named_at_us
from ai_memory.store.state_sessions import Observation, Session
from ai_memory.text.sanitize import sanitize

DOUBLE_US = 2_000_000
"""Two hooks that tell of the same thing do so within this time (decision B9)."""

AFTERGLOW_US = 5_000_000
"""Hooks of one session run at once and stamp by their own clocks: what comes this soon after the end belongs before it
and opens nothing again. A start, a prompt and a tool event came up to 87 ms after their end in a run (2026-11-30)."""

RECENT = 8
"""Of a session that is known, the last observations that are looked at beside the new events."""

STEP_MS = 1_000
"""A clock that went back by less is not worth telling from one that was read late."""

_ACTIVE = frozenset({"session-start", "user-prompt", "pre-tool-use", "post-tool-use"})
_PAUSING = frozenset({"stop", "pre-compact", "session-end"})
_HANDING_OVER = _PAUSING | {"user-prompt"}
"""Kinds from which on a session has something to hand over, also when it is killed."""
COMPACTING = frozenset({"pre-compact", "post-compaction"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session works: resolved once, at its first event. `branch` and `commit` are those of now."""

    scope: Scope
    branch: Sanitized = NO_TEXT
    commit: Sanitized = NO_TEXT


@dataclass(slots=True)
class Batch:
    """What one batch did."""

    applied: int = 0
    repeated: int = 0
    touched: set[str] = field(default_factory=set)
    """Sessions that grew."""
    pausing: set[str] = field(default_factory=set)
    """Sessions that stopped, ended or are about to compact."""
    compacting: set[str] = field(default_factory=set)
    """Sessions that are about to compact or just did."""


Credit = Callable[[Event, Session], Event]


def to_the_session(event: Event, _: Session) -> Event:
    """Whatever a session did belongs to its own project."""
    return event


def apply_batch(
    connection: Connection,
    events: Sequence[Event],
    *,
    place_of: Callable[[Event], Place],
    credit: Credit = to_the_session,
    reads_declarations: bool = False,
) -> Batch:
    """Write the events' observations, full text, session rows and ids. Call inside one transaction.

    `credit` marks what a session did for another project; with `reads_declarations` prompts that may declare a fact
    are remembered for `ai_memory.capture.declaring`.
    Any order, any repetition of the same events over any number of batches gives the same rows, but for what is
    settled at the first event that is seen and then stays: a session's project, and the id of its handoff.
    """
    batch = Batch()
    known = state.known_events(connection, [name for event in events for name in _ids(event)])
    fresh = []
    for event in events:
        if known.isdisjoint(_ids(event)):
            known.update(_ids(event))
            fresh.append(event)
    batch.repeated = len(events) - len(fresh)
    for session_id, of_session in _by_session(fresh).items():
        if not session_id or state.is_purged(connection, session_id):
            continue  # of no session, or of one that was purged: acknowledged and dropped
        new = _apply_session(connection, session_id, of_session, place_of=place_of, credit=credit, batch=batch)
        if reads_declarations:
            declared.remember(connection, [(one.id, session_id, one.at_us) for one in new if may_declare(one)])
    remembered = [(name, named_at_us(event.id)) for event in fresh for name in _ids(event)]
    state.remember_events(connection, remembered)
    return batch


def _ids(event: Event) -> tuple[str, ...]:
    """What tells a repetition: the event's own id, and the key that its producer gave."""
    return (event.id, event.ingest_key) if event.ingest_key else (event.id,)


def _by_session(events: Sequence[Event]) -> dict[str, list[Event]]:
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.session, []).append(event)
    return groups


def _apply_session(
    connection: Connection,
    session_id: str,
    events: list[Event],
    *,
    place_of: Callable[[Event], Place],
    credit: Credit,
    batch: Batch,
) -> list[Event]:
    """The events that were new."""
    session = state_sessions.session(connection, session_id)
    recent = state_sessions.latest(connection, session_id, limit=RECENT) if session is not None else []
    events = sorted(_on_one_clock(events, recent), key=_in_order)
    new = _without_doubles(connection, session_id, events, is_known=session is not None)
    batch.repeated += len(events) - len(new)
    if not new:
        return []
    if session is None:
        place = place_of(new[0])
        if state.is_before_purge(connection, place.scope.workspace, place.scope.project, new[0].at_us):
            state_sessions.note_purged(connection, session_id, at_us=new[0].at_us)
            return []
        session = _opened(new[0], place)
    session = replace(advance(session, new), process=_process([*recent, *new]))
    if any(event.kind in _PAUSING for event in new):
        here = place_of(next((event for event in reversed(new) if event.cwd), new[-1]))
        session = replace(session, branch_end=here.branch, commit_end=here.commit)
    state_sessions.put_session(connection, session)
    state_sessions.add_observations(connection, [_observation(credit(event, session)) for event in new])
    batch.applied += len(new)
    batch.touched.add(session_id)
    if any(event.kind in _PAUSING for event in new):
        batch.pausing.add(session_id)
    if any(event.kind in COMPACTING for event in new):
        batch.compacting.add(session_id)
    return new


def _on_one_clock(events: Sequence[Event], recent: Sequence[Observation]) -> list[Event]:
    """The events as if nobody had set the clock back while their session ran, so that they stay in order.

    Hooks tell how long the machine has been up, and when it started by the clock. Where that start lies before what an
    earlier event was told, the clock went back by the difference. One that lies after the event is that of another run
    of the machine.
    """
    booted_ms = max((_number(one.extra, "booted_ms") for one in recent), default=0)
    found = []
    for event in sorted(events, key=lambda one: (_number(one.extra, "up_ms"), one.id)):
        told_ms = _number(event.extra, "booted_ms")
        back_ms = booted_ms - told_ms if told_ms and booted_ms < event.at_us // 1_000 else 0
        booted_ms = max(booted_ms, told_ms)
        found.append(_moved(event, back_ms) if back_ms > STEP_MS else event)
    return found


def _moved(event: Event, back_ms: int) -> Event:
    """Its extra tells the start that the session goes by: later events are compared with that."""
    extra = json.loads(event.extra)
    extra["booted_ms"] += back_ms
    return replace(event, at_us=event.at_us + back_ms * 1_000, extra=Sanitized(json.dumps(extra, sort_keys=True)))


def _opened(event: Event, place: Place) -> Session:
    return Session(
        id=event.session,
        native_id=event.native_id,
        agent=event.agent,
        workspace=sanitize(place.scope.workspace),
        project=sanitize(place.scope.project),
        scope=scope_json(place.scope),
        cwd=event.cwd,
        opened_at_us=event.at_us,
        last_at_us=event.at_us,
        branch_start=place.branch,
        commit_start=place.commit,
    )


def advance(session: Session, events: Sequence[Event]) -> Session:
    """The session's row after these further events, which stand in order of (time, event id)."""
    end_seen = max([session.end_seen_us, *(event.at_us for event in events if event.kind == "session-end")])
    active = max([session.active_us, *map(_activity, events)])
    ended = end_seen if end_seen and active <= end_seen + AFTERGLOW_US else None
    handoff = "" if _went_on(session, events, active=active, end_seen=end_seen) else session.handoff
    if not handoff:
        pausing = next((event for event in events if event.kind in _HANDING_OVER), None)
        handoff = handoff_id(pausing.at_us, f"{session.id}:{pausing.id}") if pausing else ""
    return replace(
        session,
        native_id=session.native_id or next((event.native_id for event in events if event.native_id), NO_TEXT),
        cwd=session.cwd or next((event.cwd for event in events if event.cwd), NO_TEXT),
        opened_at_us=min(session.opened_at_us, events[0].at_us),
        last_at_us=max(session.last_at_us, events[-1].at_us),
        ended_at_us=ended,
        observations=session.observations + len(events),
        prompts=session.prompts + sum(_is_prompt(event) for event in events),
        work=session.work + sum(is_work(event.kind, event.text) for event in events),
        failures=0,
        end_seen_us=end_seen,
        active_us=active,
        handoff=handoff,
    )


def _process(known: Sequence[Observation | Event]) -> int:
    """The agent's process, where the last two hooks told the same; else 0.

    A hook may know no more than who started it, such as a script that is gone a moment later: each hook has another.
    """
    in_order = sorted(known, key=_in_order)
    told = [process for one in reversed(in_order) if (process := _process_of(one))]
    return told[0] if len(told) > 1 and told[0] == told[1] else 0


def _process_of(one: Observation | Event) -> int:
    return one.process if isinstance(one, Event) else _number(one.extra, "process")


def _in_order(one: Observation | Event) -> tuple[int, str]:
    return one.at_us, one.event_id if isinstance(one, Observation) else one.id


def _number(extra: str, name: str) -> int:
    """A number that the event told beside all else, 0 where it told none."""
    told = json.loads(extra) if extra else None
    found = told.get(name) if isinstance(told, dict) else None
    return found if isinstance(found, int) else 0


def _is_prompt(event: Event) -> bool:
    return event.kind == "user-prompt" and not event.agent_id and is_work(event.kind, event.text)


def _went_on(session: Session, events: Sequence[Event], *, active: int, end_seen: int) -> bool:
    """Whether an ended session did more than its end told of: active long after it, or at work until a second end."""
    if session.ended_at_us is None:
        return False
    since = session.ended_at_us
    ended_again = end_seen > since + DOUBLE_US
    return active > since + AFTERGLOW_US or (
        ended_again and any(event.at_us > since and is_work(event.kind, event.text) for event in events)
    )


def _activity(event: Event) -> int:
    """The instant against which an end counts. Only a start that says it resumes opens an ended session at once."""
    if event.kind not in _ACTIVE:
        return 0
    return event.at_us + (AFTERGLOW_US if _is_resuming(event) else 0)


def _is_resuming(event: Event) -> bool:
    if event.kind != "session-start":
        return False
    return event.source_event.lower() == "taskresume" or _source(event) == "resume"


def _source(event: Event) -> str:
    """Why the session started, as its harness said."""
    if not event.extra:
        return ""
    extra = json.loads(event.extra)
    return str(extra.get("source", "")).lower() if isinstance(extra, dict) else ""


def _without_doubles(connection: Connection, session_id: str, events: list[Event], *, is_known: bool) -> list[Event]:
    """The events less those that another hook told of within two seconds."""
    seen: dict[tuple[str, str], int] = {}
    if is_known:
        span = (events[0].at_us - DOUBLE_US, events[-1].at_us + DOUBLE_US)
        for row in state_sessions.observations_between(connection, session_id, *span):
            seen[_likeness(row)] = row.at_us
    kept = []
    for event in events:
        key = _likeness(event)
        before = seen.get(key) if not event.ingest_key else None
        if before is not None and abs(event.at_us - before) <= DOUBLE_US:
            continue
        seen[key] = event.at_us
        kept.append(event)
    return kept


def _likeness(of: Event | Observation) -> tuple[str, str]:
    """Equal for two tellings of one thing: kind with call id, else kind with all that was said."""
    who = f"{of.kind}\0{of.agent_id}"
    if of.call_id:
        return who, of.call_id
    return who, "\0".join((of.source_event if of.kind == "other" else "", of.tool, of.input, of.output, of.text))


def _observation(event: Event) -> Observation:
    return Observation(
        event_id=event.id,
        session=event.session,
        at_us=event.at_us,
        kind=event.kind,
        source_event=event.source_event,
        agent_id=event.agent_id,
        tool=event.tool,
        call_id=event.call_id,
        outcome=event.outcome,
        input=event.input,
        output=event.output,
        text=event.text,
        flags=event.flags,
        extra=event.extra,
    )


def scope_json(scope: Scope) -> Sanitized:
    """The whole scope as `sessions.scope` keeps it."""
    kept = {key: _cleaned(value) for key, value in asdict(scope).items()}
    return Sanitized(json.dumps(kept, ensure_ascii=False, sort_keys=True))


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return sanitize(value)
    return [_cleaned(one) for one in value] if isinstance(value, (list, tuple)) else value


def scope_of(session: Session) -> Scope:
    """The scope that was resolved at the session's first event."""
    return read_scope(session.scope)


def read_scope(text: str) -> Scope:
    """What `scope_json` wrote."""
    values: Mapping[str, object] = json.loads(text)
    known = {key: values[key] for key in Scope.__dataclass_fields__ if key in values}
    known = {key: tuple(value) if isinstance(value, list) else value for key, value in known.items()}
    known["resolved_by"] = ResolvedBy(str(known.get("resolved_by", ResolvedBy.FALLBACK)))
    return Scope(**known)  # type: ignore[arg-type]  # written by `scope_json`, which is typed
