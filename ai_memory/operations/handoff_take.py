"""Taking a handoff, once."""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from ai_memory import hook_spool
from ai_memory.capture import handoffs
from ai_memory.capture.claims import Found, Taker
from ai_memory.capture.handoffs import HandoffState
from ai_memory.capture.page_work import find_handoff
from ai_memory.errors import Conflict, MemoryFault, Recorded
from ai_memory.hook_places import Surroundings
from ai_memory.model import MACHINE, Page, PageRef, Scope
from ai_memory.operations.field import ProjectName, Workspace
from ai_memory.operations.handoff_desk import (
    ID_SHOWN,
    AgentFlag,
    FolderFlag,
    HandoffDesk,
    HandoffId,
    HandoffRow,
    SessionFlag,
    asking,
    find_by_id,
    folder_in,
    handoff_of,
    handoff_row,
    is_over,
    seen_from,
)
from ai_memory.operations.handoff_look import rows_of
from ai_memory.operations.scoping import resolve
from ai_memory.store.outbox import Claim, project_key
from ai_memory.store.state_sessions import session

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory

_SESSION = re.compile(r"[0-9a-f-]{32,36}")


@dataclass(frozen=True, slots=True)
class AcceptedHandoff:
    scope: Scope
    status: Literal["claimed", "none_pending"]
    handoffs: tuple[HandoffRow, ...]
    text: str
    """As a starting session is shown it: fenced, with the notice that it is consumed."""
    commit: str | None = None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def handoff_accept(
    memory: "Memory",
    *,
    handoff_id: HandoffId = None,
    cwd: FolderFlag = None,
    agent: AgentFlag = None,
    session_id: SessionFlag = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> AcceptedHandoff:
    """Take the open work that waits for this folder or project.
    Only when no handoff stands in your context. Each is given once.
    """
    memory = seen_from(memory, cwd)
    scope = resolve(memory, workspace, project, write=handoff_id is None, leaves=True)
    folder = folder_in(memory, scope)
    taker = asking(memory, agent, session_id, cwd=folder)
    desk = HandoffDesk(memory)
    if handoff_id is not None:
        with memory.reading() as snapshot:
            wanted = [handoff_of(find_by_id(snapshot, handoff_id)).id]
    else:
        wanted = _waiting(memory, desk, scope, folder, taker)
    lost = 0
    for identifier in wanted:
        done = _take(memory, desk, scope, identifier, taker, is_named=handoff_id is not None)
        if done is not None:
            return done
        lost += 1
    gaps = (f"{lost} waited and could not be had: expired, or taken meanwhile",) if lost else ()
    return AcceptedHandoff(scope, "none_pending", (), "", gaps=gaps)


def _waiting(memory: "Memory", desk: HandoffDesk, scope: Scope, folder: str, taker: Taker) -> list[str]:
    """Ids of what is meant for the folder or the project: what was left on purpose first, then newest first. What the
    taker's own session left is not among them."""
    with memory.reading() as snapshot:
        known = [one for one in snapshot.projects(scope.workspace) if one.name == scope.project]
        keys = [project_key(one.id) for one in known]
        if folder:
            keys += Surroundings(folder, memory.caller.home).keys()
        found = desk.outbox.meant_for(keys)
        if not folder:  # asked from elsewhere: everything of that project
            place = (scope.workspace, scope.project)
            rows, _ = rows_of(snapshot, *place, state=HandoffState.OPEN, now_us=memory.clock())
            found = sorted({*found, *(row.id for row in rows)}, reverse=True)
        pages = {one: find_handoff(snapshot, one) for one in found}
    open_ones = [one for one in found if _may_be_open(pages[one])]  # the drain takes the others out of the outbox
    if taker.session:
        open_ones = [one for one in open_ones if taker.session not in desk.claims.sources(one, pages[one])]
    return sorted(open_ones, key=lambda one: not _is_manual(pages[one]))  # stable: newest first among equals


def _may_be_open(page: Page | None) -> bool:
    """Whether somebody could take it still; of a session that runs there is no page yet."""
    return page is None or page.frontmatter.get("state") == HandoffState.OPEN


def _is_manual(page: Page | None) -> bool:
    return page is not None and page.frontmatter.get("origin") == "manual"


def _take(
    memory: "Memory", desk: HandoffDesk, scope: Scope, identifier: str, taker: Taker, *, is_named: bool
) -> AcceptedHandoff | None:
    """The handoff, now the taker's. None when it cannot be had; a named one says why. Errors: Conflict.

    Crash: killed after the rename and before the commit it is a claim that nobody confirms, and is open again after a
    minute, as with a start hook.
    """
    found = desk.claims.look(identifier, taker.cwd)
    claim = Claim(identifier, taker.session if _SESSION.fullmatch(taker.session) else uuid4().hex)
    trailers = {"Pass": "handoff-accept", "Session": taker.session, "Agent": taker.agent}
    refusal, text, ref, page = "", None, None, None
    try:
        with memory.writing(
            f"Handoff taken by {taker.agent or 'hand'}",
            author=MACHINE,
            trailers={key: word for key, word in trailers.items() if word},
        ) as change:
            refusal = _refusal(desk, change, found, taker.at_us)
            text = None if refusal else desk.outbox.take(claim.handoff, claim.session)
            if text is None and not refusal:
                refusal = claimed_by(desk, identifier)
            if text is None and not refusal and is_named and found.page is not None:
                text = _rendered(change, found.page)  # a wiki from another machine: its page alone is there
            if text is not None:
                ref = desk.claims.accept(change, found, taker)
                page = change.page(ref) if ref is not None else None
    except Recorded:
        raise  # it is taken: the next command finishes the change
    except MemoryFault:
        desk.outbox.reopen(claim)
        raise
    if text is None:
        if is_named:
            shown = f"handoff {identifier[:ID_SHOWN]}"
            raise Conflict(f"{shown} {refusal or 'is not open'}", hint="`ai-memory handoff list` shows what waits")
        return None
    _tell_session(memory, taker, identifier)
    commit = change.committed.commit if change.committed else None
    return AcceptedHandoff(scope, "claimed", (handoff_row(page),) if page else (), text, commit)


def _tell_session(memory: "Memory", taker: Taker, identifier: str) -> None:
    """Let the taker's session know what it took, as a start hook does: its page and its own handoff tell of it.

    Crash: the page of the handoff says who took it; lost is only that the session's page mentions it.
    """
    with memory.state_reading() as connection:
        if connection is None or not taker.session or session(connection, taker.session) is None:
            return
    event = {"v": 1, "agent": taker.agent, "event": "handoff-claimed", "session": taker.session, "at_us": taker.at_us}
    with suppress(OSError):
        hook_spool.put(str(memory.data_dir.root), event | {"text": identifier, "extra": {"handoff": identifier}})


def _refusal(desk: HandoffDesk, change: "Change", found: Found, now_us: int) -> str:
    """Why the handoff may not be had, as its page says under the lock; empty when it may. What is over is closed."""
    page = change.page(found.page) if found.page is not None else None
    if page is None:
        return "" if found.source is not None else "has no page any more"
    handoff = handoff_of(page)
    if handoff.state is not HandoffState.OPEN:
        return state_words(handoff)
    if is_over(handoff, now_us):
        desk.work.close(change, page.ref, HandoffState.EXPIRED)
        return "is expired"
    return ""


def state_words(handoff: handoffs.Handoff) -> str:
    """`was taken by codex (session 0b5c…) at …`, `is expired`."""
    if handoff.state is not HandoffState.ACCEPTED:
        return f"is {handoff.state.value}"
    session = f" (session {handoff.accepted_by_session})" if handoff.accepted_by_session else ""
    at = handoffs.claim_keys(handoff)["accepted_at"]
    return f"was taken by {handoff.accepted_by_agent or 'someone'}{session}{f' at {at}' if at else ''}"


def claimed_by(desk: HandoffDesk, identifier: str) -> str:
    """Who is taking it right now, as a sentence; empty when nobody is."""
    sessions = [claim.session for claim in desk.outbox.claims() if claim.handoff == identifier]
    return f"is being taken by session {sessions[0]}" if sessions else ""


def _rendered(change: "Change", ref: PageRef) -> str | None:
    page = change.page(ref)
    return handoffs.render(handoff_of(page), ref) if page is not None else None


def handoff_accept_text(result: AcceptedHandoff) -> str:
    """The handoff as a starting session is shown it, or that there is none."""
    return result.text or "no handoff waits here (handoff: null)"
