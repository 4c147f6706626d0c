"""Handing over on purpose."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import uuid4

from ai_memory.capture import handoffs
from ai_memory.capture.handoffs import Handoff, HandoffState
from ai_memory.capture.session_page import composed
from ai_memory.clock import rfc3339
from ai_memory.errors import MemoryFault, UsageFault, echo
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.cleaning import clean, refuse_secrets, told_changes
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.handoff_desk import (
    ID_SHOWN,
    AgentFlag,
    FolderFlag,
    HandoffDesk,
    HandoffRow,
    SessionFlag,
    agent_id,
    asking,
    folder_in,
    handoff_of,
    handoff_row,
    is_over,
    seen_from,
)
from ai_memory.operations.scoping import resolve
from ai_memory.scrub import strip_private
from ai_memory.store.snapshot import Filter
from ai_memory.text.times import parse_expiry

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

MAX_ENTRIES = 20
MAX_LOOKED_AT = 50
"""Open handoffs of a project that are compared with a new one."""


@dataclass(frozen=True, slots=True)
class BegunHandoff:
    scope: Scope
    handoffs: tuple[HandoffRow, ...]
    outcome: Literal["created", "unchanged"]
    commit: str | None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def handoff_begin(
    memory: "Memory",
    *,
    summary: Annotated[str, Field("what was done, where it stands", flags=("-b", "--body"), piped=True)],
    open_questions: Annotated[
        tuple[str, ...], Field("not decided yet", max_length=MAX_ENTRIES, flags=("--open-question",))
    ] = (),
    next_steps: Annotated[
        tuple[str, ...], Field("what comes next", max_length=MAX_ENTRIES, flags=("--next-step",))
    ] = (),
    files_touched: Annotated[tuple[str, ...], Field("paths", max_length=MAX_ENTRIES, flags=("--file-touched",))] = (),
    to_agent: Annotated[str | None, Field("whom it is meant for; a note")] = None,
    expires_at: Annotated[str | None, Field("default: in two weeks")] = None,
    cwd: FolderFlag = None,
    agent: AgentFlag = None,
    session_id: SessionFlag = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> BegunHandoff:
    """Leave open work to the next session of this project.
    It is shown once, to whoever starts or accepts first.
    """
    refuse_secrets(memory, agent=to_agent, expiry=expires_at, folder=cwd)
    memory = seen_from(memory, cwd)
    now_us = memory.clock()
    scope = resolve(memory, workspace, project, write=True)
    sender = asking(memory, agent, session_id, cwd=folder_in(memory, scope))
    desk = HandoffDesk(memory)
    given = handoffs.manual(
        handoffs.handoff_id(now_us, uuid4().hex),
        summary=summary,
        open_questions=open_questions,
        next_steps=next_steps,
        files_touched=files_touched,
        from_agent=sender.agent,
        from_session=sender.session,
        to_agent=agent_id(to_agent),
        cwd=sender.cwd,
        created_at_us=now_us,
        expires_at_us=_expiry(expires_at, now_us) if expires_at else now_us + desk.rules.handoff_lifetime_us,
    )
    if not given.summary:
        raise UsageFault("the summary is empty", hint="say what was done and where it stands")
    handoff = _cleaned(memory, given)
    gaps = told_changes(zip(_texts(given), _texts(handoff), strict=True))
    if memory.data_dir.pending.exists():
        with memory.writing(""):
            pass  # a killed one may have left this very handoff: whoever writes finishes it first
    again = _begun_already(memory, scope, handoff, now_us)
    if again is not None:
        return BegunHandoff(scope, (handoff_row(again),), "unchanged", None, gaps)
    ref = PageRef(scope.workspace, scope.project, handoffs.page_path(handoff.id))
    directories = desk.work.directories(handoff, ref)
    trailers = {"Pass": "handoff-begin", "Session": handoff.from_session, "Agent": handoff.from_agent}
    with memory.writing(handoff.title, trailers={key: word for key, word in trailers.items() if word}) as change:
        change.ensure_project(scope)
        change.put(
            ref, composed(handoffs.frontmatter(handoff), handoffs.body(handoff), desk.work.own), create_only=True
        )
        desk.work.publish(change, handoff, ref, directories)
        page = change.page(ref)
    assert page is not None
    commit = change.committed.commit if change.committed else None
    return BegunHandoff(scope, (handoff_row(page),), "created", commit, gaps)


def _expiry(text: str, now_us: int) -> int:
    at_us = parse_expiry(text)
    if at_us <= now_us:
        raise UsageFault(f"{echo(text)} is over already", hint=f"give a time after {rfc3339(now_us)}")
    return at_us


def _cleaned(memory: "Memory", given: Handoff) -> Handoff:
    """The handoff as it may be stored, secrets and private parts out of every text."""

    def kept(text: str) -> str:
        return clean(memory, strip_private(text))

    return replace(
        given,
        title=kept(given.title),
        summary=kept(given.summary).strip(),
        open_questions=tuple(map(kept, given.open_questions)),
        next_steps=tuple(map(kept, given.next_steps)),
        files_touched=tuple(map(kept, given.files_touched)),
    )


def _texts(one: Handoff) -> tuple[str, ...]:
    return (one.summary, *one.open_questions, *one.next_steps, *one.files_touched)


def _begun_already(memory: "Memory", scope: Scope, handoff: Handoff, now_us: int) -> Page | None:
    """The open handoff that says the same for the same place: a call that is repeated makes no second one."""
    wanted = Filter(scope.workspace, scope.project, kind="handoff", prefix="handoffs/", state=HandoffState.OPEN)
    with memory.reading() as snapshot:
        pages = snapshot.select(wanted, sort="-path", limit=MAX_LOOKED_AT).pages
    for page in pages:
        try:
            found = handoff_of(page)
        except MemoryFault:
            continue
        if found.state is HandoffState.OPEN and not is_over(found, now_us) and _says(found) == _says(handoff):
            return page
    return None


def _says(one: Handoff) -> tuple[object, ...]:
    lists = (one.open_questions, one.next_steps, one.files_touched)
    return (one.origin, one.cwd, one.from_agent, one.to_agent, one.summary, *lists)


def handoff_begin_text(result: BegunHandoff) -> str:
    """Its id, and until when it waits."""
    row = result.handoffs[0]
    made = "handed over" if result.outcome == "created" else "unchanged, it waits already"
    return f"{made} · handoff {row.id[:ID_SHOWN]} · until {row.expires_at} · {row.path}"
