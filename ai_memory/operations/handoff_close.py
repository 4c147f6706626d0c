"""Closing handoffs that nobody shall take, and opening one again."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import uuid4

from ai_memory.capture import handoffs
from ai_memory.capture.handoffs import HandoffState
from ai_memory.capture.page_work import spliced
from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, MemoryFault, NotFound, Recorded, UsageFault
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.handoff_desk import (
    ID_SHOWN,
    HandoffDesk,
    HandoffId,
    HandoffRow,
    find_by_id,
    handoff_of,
    handoff_row,
    is_over,
    row_line,
)
from ai_memory.operations.handoff_look import rows_of
from ai_memory.operations.handoff_take import claimed_by, state_words
from ai_memory.operations.scoping import resolve
from ai_memory.store.outbox import Claim
from ai_memory.text.times import parse_duration, parse_time

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class CancelledHandoffs:
    scope: Scope
    handoffs: tuple[HandoffRow, ...]
    outcome: Literal["cancelled", "would_cancel", "unchanged"]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def handoff_cancel(
    memory: "Memory",
    *,
    handoff_id: HandoffId = None,
    is_all: Annotated[bool, Field("every open one, of all projects", flags=("--all",), face="cli")] = False,
    older_than: Annotated[str | None, Field("with --all: age, like 14d", face="cli")] = None,
    is_confirmed: Annotated[bool, Field("with --all: do it", flags=("--confirm",), face="cli")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> CancelledHandoffs:
    """Close an open handoff that nobody shall take; its page stays.
    With --all it only shows what it would close, until you add --confirm.
    """
    scope = resolve(memory, workspace, project, write=False)
    if (handoff_id is None) != is_all:
        raise UsageFault("give one id, or --all", hint="`ai-memory handoff list` shows the ids")
    if older_than is not None and not is_all:
        raise UsageFault("--older-than goes with --all", hint="leave it out, or give --all")
    desk = HandoffDesk(memory)
    if handoff_id is not None:
        with memory.reading() as snapshot:
            page = find_by_id(snapshot, handoff_id)
        return _cancel_one(memory, desk, scope, page)
    before_us = memory.clock() - (parse_duration(older_than) if older_than else 0)
    with memory.reading() as snapshot:
        rows, faults = rows_of(snapshot, workspace, project, state=HandoffState.OPEN, now_us=memory.clock())
    old = [row for row in rows if parse_time(row.created_at) <= before_us]
    if not old or not is_confirmed:
        return CancelledHandoffs(scope, tuple(old), "would_cancel" if old else "unchanged", tuple(faults))
    closed = _cancel(memory, desk, [PageRef(row.workspace, row.project, row.path) for row in old])
    left = [f"{len(old) - len(closed)} were taken meanwhile"] if len(closed) < len(old) else []
    return CancelledHandoffs(scope, tuple(closed), "cancelled", (*faults, *left))


def _cancel_one(memory: "Memory", desk: HandoffDesk, scope: Scope, page: Page) -> CancelledHandoffs:
    found = handoff_of(page)
    if found.state is HandoffState.CANCELLED:
        return CancelledHandoffs(scope, (handoff_row(page),), "unchanged")
    closed = _cancel(memory, desk, [page.ref]) if found.state is HandoffState.OPEN else []
    if closed:
        return CancelledHandoffs(scope, tuple(closed), "cancelled")
    words = state_words(found) if found.state is not HandoffState.OPEN else claimed_by(desk, found.id)
    raise Conflict(
        f"handoff {found.id[:ID_SHOWN]} {words or 'was taken meanwhile'}", hint="it is not open: nothing was cancelled"
    )


def _cancel(memory: "Memory", desk: HandoffDesk, refs: list[PageRef]) -> list[HandoffRow]:
    """One change that closes those that are open and that nobody is taking. They are claimed first, so that no start
    is shown one meanwhile. Crash: as with a taking that died, what was claimed is open again after a minute."""
    claims: list[Claim] = []
    pages: list[Page] = []
    name = "one handoff" if len(refs) == 1 else f"{len(refs)} handoffs"
    try:
        with memory.writing(f"Cancel {name}", trailers={"Pass": "handoff-cancel"}) as change:
            for ref in refs:
                page = change.page(ref)
                found = handoff_of(page) if page is not None else None
                if found is None or found.state is not HandoffState.OPEN:
                    continue
                claim = Claim(found.id, uuid4().hex)
                if desk.outbox.claim(claim.handoff, claim.session) is not None:
                    claims.append(claim)
                elif claimed_by(desk, found.id):
                    continue
                desk.work.close(change, ref, HandoffState.CANCELLED)
                desk.claims.clear(change, found.id)
                closed = change.page(ref)
                assert closed is not None
                pages.append(closed)
    except Recorded:
        raise
    except MemoryFault:
        for claim in claims:
            desk.outbox.reopen(claim)
        raise
    return [handoff_row(page) for page in pages]


def handoff_cancel_text(result: CancelledHandoffs) -> str:
    """What was closed, or would be."""
    if not result.handoffs:
        return "nothing to cancel"
    lines = [row_line(row) for row in result.handoffs]
    if result.outcome == "would_cancel":
        return "\n".join([f"would cancel {len(lines)}, with --confirm:", *(f"- {line}" for line in lines)])
    return "\n".join([f"{result.outcome}:", *(f"- {line}" for line in lines)])


@dataclass(frozen=True, slots=True)
class ReopenedHandoff:
    scope: Scope
    handoffs: tuple[HandoffRow, ...]
    outcome: Literal["reopened", "unchanged"]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def handoff_reopen(
    memory: "Memory",
    *,
    handoff_id: HandoffId = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> ReopenedHandoff:
    """Let a handoff that was taken, expired or cancelled wait again.
    Without an id, the newest one of this project that was taken.
    """
    scope = resolve(memory, workspace, project, write=False)
    desk = HandoffDesk(memory)
    with memory.reading() as snapshot:
        if handoff_id is None:
            place = (scope.workspace, scope.project)
            rows, _ = rows_of(snapshot, *place, state=HandoffState.ACCEPTED, now_us=memory.clock())
            if not rows:
                return ReopenedHandoff(scope, (), "unchanged")
            handoff_id = max(rows, key=lambda row: row.accepted_at or "").id
        ref = find_by_id(snapshot, handoff_id).ref
    with memory.writing("Open a handoff again", trailers={"Pass": "handoff-reopen"}) as change:
        page = change.page(ref)
        if page is None:
            raise NotFound(f"no page {ref}", hint="it was deleted: `ai-memory history` shows its versions")
        is_done = _reopen(memory, desk, change, page)
        page = change.page(ref)
    assert page is not None
    return ReopenedHandoff(scope, (handoff_row(page),), "reopened" if is_done else "unchanged")


def _reopen(memory: "Memory", desk: HandoffDesk, change: "Change", page: Page) -> bool:
    """False when it waits already. Errors: Conflict while somebody is taking it."""
    found, now_us = handoff_of(page), memory.clock()
    if found.state is HandoffState.OPEN:
        taken = claimed_by(desk, found.id)
        if taken:
            raise Conflict(f"handoff {found.id[:ID_SHOWN]} {taken}", hint="look again in a minute")
        if found.id in desk.outbox.open_handoffs() and not is_over(found, now_us):
            return False
    handoff = handoffs.reopened(found)
    if is_over(found, now_us):
        handoff = replace(handoff, expires_at_us=now_us + desk.rules.handoff_lifetime_us)
    changes: dict[str, object] = {"state": handoff.state.value, **handoffs.claim_keys(handoff)}
    if handoff.expires_at_us != found.expires_at_us and handoff.expires_at_us is not None:
        changes["expires_at"] = rfc3339(handoff.expires_at_us)
    change.put(page.ref, spliced(page, changes), expected_version=page.version)
    desk.claims.clear(change, handoff.id)
    desk.work.publish(change, handoff, page.ref, desk.work.directories(handoff, page.ref))
    return True


def handoff_reopen_text(result: ReopenedHandoff) -> str:
    """Which one waits again."""
    if not result.handoffs:
        return "nothing to open again: no handoff of this project was taken"
    return f"{'waits again' if result.outcome == 'reopened' else 'waits already'}: {row_line(result.handoffs[0])}"
