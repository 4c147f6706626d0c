"""What the operations on handoffs share: the rows they answer with, finding one by its id, and who asks."""

import re
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ai_memory.capture import handoffs
from ai_memory.capture.attribution import Attribution
from ai_memory.capture.claims import Claims, Taker
from ai_memory.capture.handoffs import AGENT_ID, Handoff, HandoffState
from ai_memory.capture.page_work import PageWork
from ai_memory.capture.rules import read_rules
from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, MemoryFault, NotFound, UsageFault, echo
from ai_memory.harnesses import registry
from ai_memory.harnesses.around import session_around
from ai_memory.model import Page, PageRef, ResolvedBy, Scope
from ai_memory.operations.cleaning import refuse_secrets
from ai_memory.operations.field import Field
from ai_memory.operations.scoping import resolve
from ai_memory.operations.session_names import known_session
from ai_memory.scope.known import KnownProjects
from ai_memory.store.log import Log
from ai_memory.store.outbox import Outbox
from ai_memory.store.snapshot import Filter, Snapshot

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

SHORTEST_ID = 6
"""Digits of an id that name one: they tell its month to within five hours, so that few folders are looked into."""
ID_SHOWN = 12
"""Digits that a person sees: the instant, to the millisecond."""
_ID = re.compile(rf"[0-9a-f]{{{SHORTEST_ID},32}}")
_WHOLE_ID = re.compile(r"[0-9a-f]{32}")

HandoffId = Annotated[str | None, Field("id, or how it begins", positional=True, metavar="ID")]
AgentFlag = Annotated[str | None, Field("agent that does it", face="cli")]
FolderFlag = Annotated[str | None, Field("folder it is about, when not this one", is_unlisted=True)]
SessionFlag = Annotated[str | None, Field("session that does it", flags=("--session",), face="cli")]


@dataclass(frozen=True, slots=True)
class HandoffRow:
    """One handoff without its summary."""

    workspace: str
    project: str
    path: str
    id: str
    state: str
    origin: str
    title: str
    from_agent: str | None
    from_session: str | None
    to_agent: str | None
    cwd: str | None
    created_at: str
    expires_at: str | None
    accepted_by_agent: str | None
    accepted_by_session: str | None
    accepted_at: str | None
    open_questions: tuple[str, ...]
    next_steps: tuple[str, ...]
    files_touched: tuple[str, ...]
    version: str


def handoff_of(page: Page) -> Handoff:
    """The handoff that a page tells of; its id is that of the path. Errors: MemoryFault when the page is none."""
    stem = page.ref.path.rpartition("/")[2].removesuffix(".md")
    if not _WHOLE_ID.fullmatch(stem):
        raise MemoryFault(f"{page.ref} is no handoff: its name is no id")
    return replace(handoffs.from_page(page.frontmatter, page.body), id=stem)


def handoff_row(page: Page) -> HandoffRow:
    """Errors: MemoryFault when the page is none."""
    found = handoff_of(page)
    return HandoffRow(
        workspace=page.ref.workspace,
        project=page.ref.project,
        path=page.ref.path,
        id=found.id,
        state=found.state.value,
        origin=found.origin,
        title=found.title,
        from_agent=found.from_agent or None,
        from_session=found.from_session or None,
        to_agent=found.to_agent or None,
        cwd=found.cwd or None,
        created_at=rfc3339(found.created_at_us),
        expires_at=_time(found.expires_at_us),
        accepted_by_agent=found.accepted_by_agent or None,
        accepted_by_session=found.accepted_by_session or None,
        accepted_at=_time(found.accepted_at_us),
        open_questions=found.open_questions,
        next_steps=found.next_steps,
        files_touched=found.files_touched,
        version=page.version,
    )


def _time(at_us: int | None) -> str | None:
    return None if at_us is None else rfc3339(at_us)


def row_line(row: HandoffRow) -> str:
    """`019ad0f0e000 open · default/shop · Handoff: … · from codex, 2026-11-30T08:00:00Z`."""
    taken = f" · taken by {row.accepted_by_agent or 'someone'}" if row.state == HandoffState.ACCEPTED else ""
    whom = f" for {row.to_agent}" if row.to_agent else ""
    place = f"{row.workspace}/{row.project}"
    sender = row.from_agent or row.origin
    return f"{row.id[:ID_SHOWN]} {row.state} · {place} · {row.title} · from {sender}{whom}, {row.created_at}{taken}"


def is_over(found: Handoff, now_us: int) -> bool:
    """Whether its time is over, whether or not a drain has closed it yet."""
    return found.expires_at_us is not None and found.expires_at_us <= now_us


def find_by_id(snapshot: Snapshot, name: str) -> Page:
    """The page of the one handoff whose id begins so, in any project. Errors: UsageFault, NotFound, Conflict."""
    wanted = name.strip().lower().replace("-", "")
    if not _ID.fullmatch(wanted):
        raise UsageFault(
            f"{echo(name)} is no id of a handoff",
            hint=f"it is {SHORTEST_ID} to 32 hex digits, as `ai-memory handoff list` shows",
        )
    found: dict[PageRef, Page] = {}
    for filler in "0f":
        folder = handoffs.page_path(wanted.ljust(32, filler)).rpartition("/")[0]
        part = snapshot.select(Filter(kind="handoff", prefix=f"{folder}/{wanted}"), sort="path", limit=2)
        found |= {page.ref: page for page in part.pages}
    if not found:
        raise NotFound(f"no handoff {wanted}", hint="`ai-memory handoff list --all --state any` shows what there is")
    if len(found) > 1:
        raise Conflict(f"several handoffs begin with {wanted}", hint="give more digits of the id")
    return next(iter(found.values()))


def seen_from(memory: "Memory", cwd: str | None) -> "Memory":
    """The memory as it is seen from that folder. Errors: UsageFault for one that is not absolute."""
    if not cwd:
        return memory
    if not Path(cwd).is_absolute():
        raise UsageFault(f"{echo(cwd)} is no absolute path", hint="name the folder from its root, or leave cwd out")
    other = copy(memory)
    other.caller = replace(memory.caller, cwd=cwd, roots=())
    return other


class HandoffDesk:
    """The outbox of a memory, and what the drain does with it. Reads the projects; writes nothing by itself."""

    def __init__(self, memory: "Memory") -> None:
        with memory.reading() as snapshot:
            projects = KnownProjects(snapshot.projects())
        log = Log(memory.data_dir.logs, "handoff", memory.clock)
        self.rules = read_rules(memory)
        self.outbox = Outbox(memory.data_dir)
        self.work = PageWork(memory, self.outbox, Attribution(memory.caller, projects), self.rules, log=log)
        self.claims = Claims(memory, self.outbox, self.work, log=log)


def folder_in(memory: "Memory", scope: Scope) -> str:
    """The caller's folder if it lies in that project, else empty: what is made from elsewhere is for all of it."""
    if scope.resolved_by in (ResolvedBy.ROOTS, ResolvedBy.SESSION):
        return scope.root or ""
    try:
        here = resolve(memory, write=False)
    except MemoryFault:
        return ""
    if (here.workspace, here.project) != (scope.workspace, scope.project):
        return ""
    return (here.root if here.resolved_by in (ResolvedBy.ROOTS, ResolvedBy.SESSION) else memory.caller.cwd) or ""


def asking(memory: "Memory", agent: str | None, session: str | None, *, cwd: str) -> Taker:
    """Who calls: as the call says, else as the harness around this process does by its variables.

    Errors: UsageFault for what is no name of an agent; NotFound and Conflict for a session.
    """
    refuse_secrets(memory, agent=agent, session=session)
    named = agent_id(agent) or memory.caller.agent or ""
    known = known_session(memory, session) if session else memory.caller.session_id or ""
    if memory.caller.face == "cli":
        around, running = session_around(memory.caller.environ, agent=named)
        named, known = around or named, known or running
    return Taker(named, known, cwd, memory.clock())


def agent_id(name: str | None) -> str:
    """The id of a harness by its name or alias; another name as it is. Errors: UsageFault."""
    if not name:
        return ""
    harness = registry.find(name)
    if harness is None and not AGENT_ID.fullmatch(name):
        raise UsageFault(f"{echo(name)} is no name of an agent", hint="write it like claude-code or codex")
    return harness.id if harness else name
