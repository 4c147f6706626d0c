"""Ending sessions whose agent never said so, and opening them again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import MemoryFault, RefusedScope, UsageFault
from ai_memory.model import Scope
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.scoping import resolve
from ai_memory.operations.sessions import (
    AgentName,
    SessionName,
    SessionRow,
    agent_id,
    no_session_yet,
    session_line,
    session_rows,
)
from ai_memory.operations.unscoped import resolve_if_told

if TYPE_CHECKING:
    from ai_memory.capture.finalizing import Choice
    from ai_memory.store.driver import Connection
    from ai_memory.store.memory import Memory
    from ai_memory.store.state_sessions import Session

Outcome = Literal["ended", "would-end", "reopened", "unchanged"]


@dataclass(frozen=True, slots=True)
class FinalizedSessions:
    scope: Scope | None
    outcome: Outcome
    sessions: tuple[SessionRow, ...]
    """What was ended, opened again, or would be ended; of `unchanged` what was so already."""
    gaps: tuple[str, ...]
    omitted: int = 0


def finalize_session(
    memory: "Memory",
    *,
    session: Annotated[str | None, SessionName] = None,
    every: Annotated[bool, Field("all open sessions", flags=("--all",), aliases=("all",))] = False,
    idle: Annotated[bool, Field("those silent for sessions.idle_end_after_hours")] = False,
    agent: AgentName = None,
    reopen: Annotated[bool, Field("open this ended session again")] = False,
    all_projects: Annotated[bool, Field("also sessions of other projects")] = False,
    confirm: Annotated[bool, Field("do it; without it, many are only shown")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> FinalizedSessions:
    """End an open session now: its page and handoff are made. Many at once are shown first.
    Use it for an agent that was closed without a session-end.
    """
    if (session is not None) + every + idle != 1:
        raise UsageFault("name one session, or all, or idle", hint="finalize-session ID, --all, or --idle")
    if session is None and reopen:
        raise UsageFault("reopen takes one session", hint="finalize-session --reopen ID")
    if session is not None and agent is not None:
        raise UsageFault("agent goes with all or idle", hint="leave it out")
    scope, untold = _scope(memory, workspace, project, all_projects=all_projects)
    limits = None if all_projects else scope
    if session is not None:
        return replace(_one(memory, session, scope, limits, reopen=reopen), gaps=untold)
    return replace(_many(memory, _open_ones(memory, limits, agent, idle=idle), scope, confirm=confirm), gaps=untold)


def _scope(
    memory: "Memory", workspace: str | None, project: str | None, *, all_projects: bool
) -> tuple[Scope | None, tuple[str, ...]]:
    if not all_projects:
        return resolve(memory, workspace, project, write=True, leaves=True), ()
    with memory.reading() as snapshot:
        return resolve_if_told(memory, workspace, project, snapshot=snapshot)


def _one(memory: "Memory", name: str, scope: Scope | None, limits: Scope | None, *, reopen: bool) -> FinalizedSessions:
    from ai_memory.capture.finalizing import end_sessions, reopen_session
    from ai_memory.store.state_sessions import session as row_of

    before: list[Session] = []

    def named(connection: "Connection") -> "list[Session]":
        before.append(_named(connection, name, limits))
        return before

    (reopen_session if reopen else end_sessions)(memory, named)
    if not before:
        raise no_session_yet(name)
    rows = _rows(memory, lambda connection: [one for old in before if (one := row_of(connection, old.id)) is not None])
    is_done = before[0].is_open != reopen
    outcome: Outcome = "unchanged" if not is_done else "reopened" if reopen else "ended"
    return FinalizedSessions(scope, outcome, rows, ())


def _named(connection: "Connection", name: str, limits: Scope | None) -> "Session":
    """The session of that name. Errors: NotFound, Conflict; RefusedScope for one of another project."""
    from ai_memory.store.state_sessions import find_session

    found = find_session(connection, name)
    if limits is not None and (found.workspace, found.project) != (limits.workspace, limits.project):
        raise RefusedScope(
            f"session {name} belongs to {found.workspace}/{found.project}", hint="name that project, or all-projects"
        )
    return found


def _open_ones(memory: "Memory", limits: Scope | None, agent: str | None, *, idle: bool) -> "Choice":
    """How to find the open sessions of the scope, all or the silent ones. Errors: MemoryFault when idle means never."""
    from ai_memory.capture.rules import read_rules
    from ai_memory.store.session_lookup import SessionFilter, sessions

    before_us = None
    if idle:
        limit_us = read_rules(memory).idle_end_us
        if not limit_us:
            raise MemoryFault(
                "sessions.idle_end_after_hours is 0: silence ends no session", hint="set it, or use all instead of idle"
            )
        before_us = memory.clock() - limit_us
    wanted = SessionFilter(
        workspace=limits.workspace if limits else None,
        project=limits.project if limits else None,
        agent=agent_id(agent),
        only_open=True,
        until_us=before_us,
    )
    return lambda connection: sessions(connection, wanted)


def _many(memory: "Memory", choice: "Choice", scope: Scope | None, *, confirm: bool) -> FinalizedSessions:
    shown = _rows(memory, choice)
    if not confirm:
        return FinalizedSessions(scope, "would-end" if shown else "unchanged", shown, ())
    from ai_memory.capture.finalizing import end_sessions
    from ai_memory.store.state_sessions import session as row_of

    chosen = dict.fromkeys(row.id for row in shown)

    def noted(connection: "Connection") -> "Sequence[Session]":
        found = choice(connection)  # once more: what waited in the spool may have opened, ended or woken some
        chosen.update(dict.fromkeys(one.id for one in found))
        return found

    end_sessions(memory, noted)
    rows = _rows(memory, lambda connection: [one for name in chosen if (one := row_of(connection, name)) is not None])
    ended = tuple(row for row in rows if row.state == "ended")
    return FinalizedSessions(scope, "ended" if ended else "unchanged", ended, ())


def _rows(memory: "Memory", choice: "Choice") -> tuple[SessionRow, ...]:
    with memory.reading() as snapshot, memory.state_reading() as connection:
        return session_rows(connection, snapshot, choice(connection)) if connection is not None else ()


def finalized_text(result: FinalizedSessions) -> str:
    """What was done or would be done, one line a session."""
    if not result.sessions:
        return "no session to end"
    heads = {
        "ended": "ended:",
        "would-end": "open; with --confirm they end:",
        "reopened": "open again:",
        "unchanged": "it was so already:",
    }
    return "\n".join([heads[result.outcome], *(session_line(row, result.scope) for row in result.sessions)])
