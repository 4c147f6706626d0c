"""Remembering a conversation of a client that runs no hooks, turn by turn."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory import hook_turn
from ai_memory.errors import StoreFault, UsageFault
from ai_memory.hook_harnesses import canonical_agent
from ai_memory.hook_places import session_uuid
from ai_memory.model import ResolvedBy, Scope
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.handoff_desk import AgentFlag, agent_id, folder_in, seen_from
from ai_memory.operations.scoping import resolve
from ai_memory.operations.unscoped import resolve_if_told
from ai_memory.store.outbox import brief_name, project_key

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

SESSION_LENGTH = 200
"""Characters of a client's own id of a session."""


@dataclass(frozen=True, slots=True)
class CapturedTurn:
    scope: Scope | None
    session: str
    """Under which id the session is kept."""
    outcome: Literal["accepted", "dropped"]
    reason: str
    """Why it was dropped, or kept without its text: the person's own policy says so."""
    text: str
    """At the session's first turn what a start is told: handoff, brief, notices. Fenced."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def capture_turn(
    memory: "Memory",
    *,
    session: Annotated[str, Field("your id of this conversation", max_length=SESSION_LENGTH, aliases=("session_id",))],
    index: Annotated[int, Field("number of the turn, from 0", ge=0)],
    role: Annotated[Literal["user", "assistant"], Field("who said it")],
    text: Annotated[str, Field("what was said", flags=("-b", "--text"), piped=True)],
    cwd: Annotated[str | None, Field("folder that it is about, when not this one")] = None,
    agent: AgentFlag = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> CapturedTurn:
    """Remember one turn, for clients without hooks; telling it twice is once.
    The first turn of a conversation is answered with the handoff that waits, which is taken by that, and the brief.
    """
    if not session.strip() or not text.strip():
        raise UsageFault("session and text are not empty", hint="name the conversation, and what was said in it")
    memory.create()
    there = seen_from(memory, cwd)
    is_named = bool(workspace or project)
    scope, untold = (resolve(there, workspace, project, write=True), ()) if is_named else _told_scope(there)
    caller = canonical_agent(agent_id(agent) or memory.caller.agent or "")
    try:
        turn = hook_turn.take_turn(
            str(memory.data_dir.root),
            memory.caller.environ,
            agent=caller,
            session=session.strip(),
            index=index,
            role=role,
            text=text,
            cwd=folder_in(there, scope) if is_named and scope is not None else _folder(there, scope),
            compile=lambda folder: _compile(memory, folder),
            named=_named(there, scope) if is_named and scope is not None else None,
        )
    except OSError as fault:
        raise StoreFault(
            f"The turn could not be kept: {fault.strerror or fault}.",
            hint="Tell it again with the same index once the data dir can be written: `ai-memory doctor` tells more.",
        ) from fault
    if turn.outcome == "refused":
        raise UsageFault(f"the turn is refused: {turn.reason}", hint="name the conversation by letters and digits")
    outcome: Literal["accepted", "dropped"] = "accepted" if turn.outcome == "accepted" else "dropped"
    return CapturedTurn(scope, session_uuid(caller, session.strip()), outcome, turn.reason, turn.text, untold)


def _compile(memory: "Memory", folder: str) -> None:
    from ai_memory.capture.policy_file import renewed  # reads the whole configuration

    renewed(memory, [folder])


def _told_scope(memory: "Memory") -> tuple[Scope | None, tuple[str, ...]]:
    with memory.reading() as snapshot:
        return resolve_if_told(memory, None, None, snapshot=snapshot)


def _folder(memory: "Memory", scope: Scope | None) -> str:
    is_of_roots = scope is not None and scope.resolved_by is ResolvedBy.ROOTS
    return (scope.root if is_of_roots and scope is not None else None) or memory.caller.cwd or ""


def _named(memory: "Memory", scope: Scope) -> hook_turn.Named:
    """The project that the call names; of one that nobody wrote to nothing waits."""
    with memory.reading() as snapshot:
        keys = [project_key(one.id) for one in snapshot.projects(scope.workspace) if one.name == scope.project]
    return hook_turn.Named(scope.workspace, scope.project, keys, brief_name(scope.workspace, scope.project))


def captured_turn_text(result: CapturedTurn) -> str:
    """What the session is told at its start, then what became of the turn."""
    done = "kept" if result.outcome == "accepted" else "not kept"
    if result.reason:
        done += f", but not its text: {result.reason}" if result.outcome == "accepted" else f": {result.reason}"
    return f"{result.text}\n{done}" if result.text else done
