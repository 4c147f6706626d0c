"""Other names and places for projects, workspaces and sessions. Shown first, done with --confirm in one commit."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import Conflict, NotFound, UsageFault, echo
from ai_memory.operations.cleaning import refuse_secrets
from ai_memory.operations.field import Field, Workspace
from ai_memory.operations.relocating import OnConflict, Place, Plan, carry_out, look
from ai_memory.operations.rows import VERSION_SHOWN, Address, address, label_from
from ai_memory.operations.scoping import resolve
from ai_memory.operations.sessions import SessionName, no_session_yet
from ai_memory.text.names import check_name, is_reserved_project

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot
    from ai_memory.store.state_sessions import Session

Confirm = Annotated[bool, Field("yes, move it")]
ConflictFlag = Annotated[
    OnConflict, Field("where another page has the path: stop, replace it, or put it beside as <name>-from-<origin>.md")
]
SHOWN = 20


@dataclass(frozen=True, slots=True)
class MovedProject:
    """One project, or what of it moves, and how much that is."""

    old: str
    new: str
    """Workspace and name, `/` between."""
    pages: int
    sessions: int
    observations: int
    handoffs: int
    """Of the pages, those of handoffs."""
    messages: int
    """To it and from it."""


@dataclass(frozen=True, slots=True)
class Relocated:
    outcome: Literal["moved", "would_move", "blocked", "unchanged"]
    projects: tuple[MovedProject, ...]
    conflicts: tuple[Address, ...]
    """Pages that lie where others shall go."""
    relinked: tuple[Address, ...]
    """Pages elsewhere whose links were changed, or may have to be."""
    commit: str | None = None
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def exit_code(self) -> int:
        return Conflict.exit_code if self.outcome == "blocked" else 0


def rename_project(
    memory: "Memory",
    *,
    name: Annotated[str, Field("project to rename", positional=True)],
    new: Annotated[str, Field("its new name", flags=("--new",), positional=True)],
    workspace: Workspace = None,
    confirm: Confirm = False,
) -> Relocated:
    """Give a project another name: pages, sessions, handoffs, messages and links follow, history stays.
    Shows what would change; `--confirm` does it. The old name still leads to it.
    """
    memory.adopt()
    _check_new(memory, project=new)
    with memory.reading() as snapshot:
        old = _known(memory, snapshot, workspace, name)
        target = (old[0], new)
        if target == old:
            raise UsageFault(f"{'/'.join(old)} has that name already")
        _refuse_taken(snapshot, target, but_for=old)
        plan = Plan(f"rename-project {'/'.join(old)} to {new}", {old: target})
        return relocate(memory, snapshot, plan, confirm=confirm)


def rename_workspace(
    memory: "Memory",
    *,
    name: Annotated[str, Field("workspace to rename", positional=True)],
    new: Annotated[str, Field("its new name, or another workspace to join", flags=("--new",), positional=True)],
    confirm: Confirm = False,
) -> Relocated:
    """Give a workspace another name: all its projects move there in one commit.
    Shows what would change; `--confirm` does it. Markers that name the old one still lead to its projects.
    """
    memory.adopt()
    check_name(name, what="workspace")
    _check_new(memory, workspace=new)
    if name == new:
        raise UsageFault(f"the workspace is called {new} already")
    with memory.reading() as snapshot:
        places = sorted({*((one.workspace, one.name) for one in snapshot.projects(name)), *_in_state(memory, name)})
        if not places:
            raise NotFound(f"no workspace {name}", hint="`ai-memory list-projects` shows workspaces and projects")
        for old in places:
            _refuse_taken(snapshot, (new, old[1]), but_for=old)
        plan = Plan(f"rename-workspace {name} to {new}", {old: (new, old[1]) for old in places})
        return relocate(memory, snapshot, plan, confirm=confirm)


def move_project(
    memory: "Memory",
    *,
    name: Annotated[str, Field("project to move", positional=True)],
    to: Annotated[str, Field("workspace, or workspace/project to join", flags=("--to",), positional=True)],
    workspace: Workspace = None,
    conflict: ConflictFlag = "block",
    confirm: Confirm = False,
) -> Relocated:
    """Move a project to another workspace, or into another project: everything of it follows, history stays.
    Shows what would change; `--confirm` does it. The old name still leads to it.
    """
    memory.adopt()
    with memory.reading() as snapshot:
        old = _known(memory, snapshot, workspace, name)
        there, slash, into = to.partition("/")
        new = (there, into if slash else old[1])
        _check_new(memory, workspace=there, project=new[1])
        if new == old:
            raise UsageFault(f"{'/'.join(old)} lies there already")
        if not slash:
            _refuse_taken(snapshot, new, but_for=old)
        plan = Plan(f"move-project {'/'.join(old)} to {'/'.join(new)}", {old: new})
        return relocate(memory, snapshot, plan, conflict=conflict, confirm=confirm)


def move_session(
    memory: "Memory",
    *,
    session: Annotated[str, SessionName],
    to: Annotated[str, Field("project, or workspace/project", flags=("--to",), positional=True)],
    create: Annotated[bool, Field("begin that project if there is none")] = False,
    force: Annotated[bool, Field("also a session that has not ended")] = False,
    conflict: ConflictFlag = "block",
    confirm: Confirm = False,
) -> Relocated:
    """Move a session that was captured in the wrong project: its page, handoffs and observations follow.
    Shows what would change; `--confirm` does it. Counts are exact before.
    """
    memory.adopt()
    found = _session(memory, session)
    old = (str(found.workspace), str(found.project))
    there, slash, into = to.rpartition("/")
    with memory.reading() as snapshot:
        scope = resolve(memory, there if slash else old[0], into, write=True, snapshot=snapshot)
        new = (scope.workspace, scope.project)
        if new == old:
            raise UsageFault(f"the session lies in {'/'.join(old)} already")
        _check_new(memory, workspace=new[0], project=new[1])
        if not create and new not in {(one.workspace, one.name) for one in snapshot.projects()}:
            raise NotFound(
                f"no project {'/'.join(new)}", hint="--create begins it; `ai-memory list-projects` lists all"
            )
        if found.is_open and not force:
            raise Conflict(
                f"session {found.id[:8]} has not ended", hint="end it, or `finalize-session` it; --force moves it"
            )
        plan = Plan(f"move-session {found.id[:8]} to {'/'.join(new)}", sessions={found.id: (old, new)})
        answer = relocate(memory, snapshot, plan, conflict=conflict, confirm=confirm)
    gap = f"sessions that begin in {found.cwd} still go where that folder leads: a marker there changes it"
    return replace(answer, gaps=(*answer.gaps, *([gap] if found.cwd else [])))


def relocate(
    memory: "Memory", snapshot: "Snapshot", plan: Plan, *, confirm: bool, conflict: OnConflict = "block"
) -> Relocated:
    """Look, tell, and do it if that was asked for and nothing is in the way."""
    look(snapshot, plan, conflict=conflict)
    relinked = tuple(map(address, sorted(plan.sources)))
    answer = Relocated("would_move", _rows(memory, plan), (), relinked)
    if plan.conflicts:
        return replace(answer, outcome="blocked", conflicts=tuple(map(address, sorted(plan.conflicts))))
    if not confirm:
        return answer
    done = carry_out(memory, plan)
    return replace(
        answer,
        outcome="moved",
        relinked=tuple(map(address, done.relinked)),
        commit=done.commit,
        gaps=tuple(done.gaps),
    )


def _known(memory: "Memory", snapshot: "Snapshot", workspace: str | None, name: str) -> Place:
    """The project of that name, or former name. Errors: NotFound; UsageFault for one that is kept for a purpose."""
    scope = resolve(memory, workspace, name, write=True, leaves=True, snapshot=snapshot)
    place = (scope.workspace, scope.project)
    if is_reserved_project(place[1]):
        raise UsageFault(f"{place[1]} is kept for its purpose", hint="move its pages: `ai-memory move`")
    if place not in {(one.workspace, one.name) for one in snapshot.projects()} and place not in _in_state(memory):
        raise NotFound(f"no project {'/'.join(place)}", hint="`ai-memory list-projects` lists them")
    return place


def _check_new(memory: "Memory", *, workspace: str | None = None, project: str | None = None) -> None:
    refuse_secrets(memory, new_workspace=workspace, new_name=project)
    if workspace is not None:
        check_name(workspace, what="workspace")
    if project is not None:
        check_name(project)
        if is_reserved_project(project):
            raise UsageFault(f"{echo(project)} is kept for its purpose", hint="choose another name")


def _refuse_taken(snapshot: "Snapshot", new: Place, *, but_for: Place) -> None:
    """Nothing, if no other project has that name, or had it: folders and links of that one lead by it."""
    for one in snapshot.projects():
        place = (one.workspace, one.name)
        if place == new:
            raise Conflict(
                f"there is a project {'/'.join(new)} already",
                hint=f"to join them: ai-memory move-project {'/'.join(but_for)} {'/'.join(new)}",
            )
        if place != but_for and one.was_called(*new):
            raise Conflict(
                f"{'/'.join(new)} is a former name of {'/'.join(place)}",
                hint="choose another name: that one leads there",
            )


def _in_state(memory: "Memory", workspace: str | None = None) -> set[Place]:
    """Projects that sessions or messages name, whether or not they have pages."""
    from ai_memory.store import state

    with memory.state_reading() as connection:
        found = state.places(connection) if connection is not None else set()
    return {place for place in found if workspace in (None, place[0])}


def _session(memory: "Memory", name: str) -> "Session":
    from ai_memory.store.state_sessions import find_session

    with memory.state_reading() as connection:
        if connection is None:
            raise no_session_yet(name)
        return find_session(connection, name)


def _rows(memory: "Memory", plan: Plan) -> tuple[MovedProject, ...]:
    from ai_memory.store import state

    pages = Counter((ref.workspace, ref.project) for ref in plan.pages)
    handoffs = Counter((ref.workspace, ref.project) for ref in plan.pages if ref.path.startswith("handoffs/"))
    rows = []
    with memory.state_reading() as connection:
        for old, new in sorted(plan.pairs.items()):
            only = [one for one, places in plan.sessions.items() if places == (old, new)]
            held = state.held(connection, old, only if old not in plan.projects else None)
            counts = (pages[old], held.sessions, held.observations, handoffs[old], held.messages)
            rows.append(MovedProject("/".join(old), "/".join(new), *counts))
    return tuple(rows)


def relocated_text(result: Relocated) -> str:
    """From where to where, how much, what is in the way."""
    if result.outcome == "unchanged":
        return "nothing to move"
    verb = {"moved": "moved", "would_move": "would move, with --confirm:", "blocked": "nothing was moved:"}
    lines = []
    for row in result.projects[:SHOWN]:
        lines.append(
            f"{verb.get(result.outcome, '')} {row.old} to {row.new} · {row.pages} pages ({row.handoffs} handoffs),"
            f" {row.sessions} sessions with {row.observations} observations, {row.messages} messages"
        )
    if len(result.projects) > SHOWN:
        lines.append(f"and {len(result.projects) - SHOWN} more projects: --json lists all")
    clashes = [label_from(one, None) for one in result.conflicts]
    lines += [f"another page lies at {clash}" for clash in clashes[:SHOWN]]
    if clashes:
        more = len(clashes) - SHOWN
        lines += [f"and {more} more"] if more > 0 else []
        lines.append("say what to do: --conflict overwrite or duplicate")
    if result.relinked:
        follow = "links follow in" if result.outcome == "moved" else "links would follow in up to"
        lines.append(f"{follow} {len(result.relinked)} other pages")
    if result.commit:
        lines.append(f"commit {result.commit[:VERSION_SHOWN]}")
    return "\n".join(lines)
