"""Where sessions would belong today, by their folders: moving them there, and telling what lies in another project."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ai_memory.capture.batches import scope_of
from ai_memory.errors import MemoryFault
from ai_memory.model import Project, Scope
from ai_memory.operations.relocating import Place, Plan, pages_by_session
from ai_memory.operations.relocation import Confirm, ConflictFlag, Relocated, relocate, relocated_text
from ai_memory.scope.known import KnownProjects
from ai_memory.scope.resolve import resolve as resolve_scope
from ai_memory.text.names import is_reserved_project

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot
    from ai_memory.store.state_sessions import Session

Kind = Literal["session-elsewhere", "page-elsewhere", "drawn-from-elsewhere", "twins"]


@dataclass(frozen=True, slots=True)
class ContaminationRow:
    """Something that lies in one project and seems to belong to another."""

    kind: Kind
    workspace: str
    project: str
    subject: str
    """A session's id, a page's path, or the identity that two projects share."""
    belongs_to: str
    """`workspace/project`."""


@dataclass(frozen=True, slots=True)
class Contamination:
    findings: tuple[ContaminationRow, ...]
    sessions: int
    """Sessions that were looked at."""
    gone: int
    """Of them, those whose folder is not there any more: nothing can be said of these."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def reorg(memory: "Memory", *, conflict: ConflictFlag = "block", confirm: Confirm = False) -> Relocated:
    """Find each session's project anew from its folder, after remotes or markers changed, and move what lies elsewhere.
    A project whose folders all lead to one other moves whole. Shows what would change; `--confirm` does it.
    """
    memory.adopt()
    with memory.reading() as snapshot:
        derived = _Derived(memory, snapshot)
        plan = Plan("reorg projects by the folders of their sessions")
        gaps = list(derived.gaps)
        for place, sessions in derived.by_place().items():
            _plan_place(derived, plan, place, sessions, gaps)
        if not (plan.projects or plan.sessions or plan.identities):
            return Relocated("unchanged", (), (), (), gaps=tuple(gaps))
        answer = relocate(memory, snapshot, plan, conflict=conflict, confirm=confirm)
    gaps += [f"{'/'.join(place)} is of {told[0]} now" for place, told in sorted(plan.identities.items())]
    return replace(answer, gaps=(*answer.gaps, *gaps))


def audit_contamination(memory: "Memory") -> Contamination:
    """List what lies in one project and belongs to another: sessions, their pages and handoffs, pages drawn from them.
    Changes nothing. `reorg` and `move-session` mend what it finds.
    """
    with memory.reading() as snapshot:
        derived = _Derived(memory, snapshot)
        rows = [
            ContaminationRow("session-elsewhere", *place, session.id, "/".join(target))
            for place, sessions in derived.by_place().items()
            for session in sessions
            if (target := derived.target(session)) is not None and target != place
        ]
        rows += _pages_elsewhere(memory, snapshot, derived)
        rows += _twins(snapshot.projects())
        gaps = (*snapshot.gaps, *derived.gaps)
    rows.sort(key=lambda row: (row.workspace, row.project, row.kind, row.subject))
    return Contamination(tuple(rows), len(derived.sessions), derived.gone, gaps)


class _Derived:
    """Each session's project as its folder tells it today. Every folder is looked at once."""

    def __init__(self, memory: "Memory", snapshot: "Snapshot") -> None:
        from ai_memory.store import session_lookup

        self._memory = memory
        self.projects = {(one.workspace, one.name): one for one in snapshot.projects()}
        with memory.state_reading() as connection:
            found = session_lookup.sessions(connection, limit=-1) if connection is not None else []
        self.sessions: list[Session] = found
        self._scopes: dict[tuple[str, Place], Scope | None] = {}
        self.gaps: list[str] = []
        self.gone = sum(1 for session in found if not os.path.isdir(session.cwd))  # noqa: PTH112 (any bytes)

    def by_place(self) -> dict[Place, list["Session"]]:
        places: dict[Place, list[Session]] = {}
        for session in self.sessions:
            places.setdefault((str(session.workspace), str(session.project)), []).append(session)
        return dict(sorted(places.items()))

    def scope(self, session: "Session") -> Scope | None:
        """None where the folder is gone or tells nothing sure."""
        key = (str(session.cwd), (str(session.workspace), str(session.project)))
        if key not in self._scopes:
            self._scopes[key] = self._derive(*key)
        return self._scopes[key]

    def target(self, session: "Session") -> Place | None:
        scope = self.scope(session)
        return None if scope is None else (scope.workspace, scope.project)

    def _derive(self, cwd: str, place: Place) -> Scope | None:
        if not os.path.isabs(cwd) or not os.path.isdir(cwd):  # noqa: PTH112, PTH117 (any bytes)
            return None
        scope = self._resolved(cwd, but_for=None)
        if scope is not None and (scope.workspace, scope.project) not in (place, *self.projects):
            scope = self._resolved(cwd, but_for=place)  # its own name must not keep the new one from being that
        if scope is None or scope.is_guess or is_reserved_project(scope.project):
            return None
        return scope

    def _resolved(self, cwd: str, *, but_for: Place | None) -> Scope | None:
        caller = self._memory.caller
        known = KnownProjects(one for place, one in self.projects.items() if place != but_for)
        try:
            return resolve_scope(cwd=cwd, home=caller.home, environ=caller.environ, catalogue=known)
        except (MemoryFault, OSError, ValueError) as fault:
            self.gaps.append(f"{cwd} could not be looked at: {fault}".replace("\n", " "))
            return None


def _plan_place(derived: _Derived, plan: Plan, place: Place, sessions: list["Session"], gaps: list[str]) -> None:
    """What becomes of one project's sessions: all of it moves, some of them do, or it is of another repository now."""
    if is_reserved_project(place[1]):
        return
    told = [(session, scope) for session in sessions if (scope := derived.scope(session)) is not None]
    targets = {(scope.workspace, scope.project) for _, scope in told}
    project = derived.projects.get(place)
    if project is not None and len(targets) == 1 and _is_of(project, [session for session, _ in told]):
        [target], scope = targets, told[0][1]
        if scope.identity is not None and scope.identity != project.identity:
            plan.identities[place] = (scope.identity, scope.identity_source or "")
        if target != place:
            plan.projects[place] = target
        return
    for session, scope in told:
        target = (scope.workspace, scope.project)
        if target == place:
            continue
        if session.is_open:
            gaps.append(f"session {session.id[:8]} has not ended: it stays in {'/'.join(place)}")
        else:
            plan.sessions[session.id] = (place, target)


def _is_of(project: Project, sessions: list["Session"]) -> bool:
    """Whether the project is that of the repository in which the sessions ran, rather than one they were put into."""
    then = {scope_of(session).identity for session in sessions}
    return then == {project.identity} and project.identity is not None


def _pages_elsewhere(memory: "Memory", snapshot: "Snapshot", derived: _Derived) -> Iterator[ContaminationRow]:
    """Pages of a session outside its project, and pages that say to be drawn from a session of another one."""
    from ai_memory.store import state

    owned = pages_by_session(snapshot)
    for session in derived.sessions:
        place = (str(session.workspace), str(session.project))
        own = {page.ref for page in owned.get(session.id, ())}
        with memory.state_reading() as connection:
            drawn = {one.page for one in state.pages_of_session(connection, session.id)} if connection else set()
        for ref in sorted(own | drawn):
            if (ref.workspace, ref.project) != place and snapshot.page(ref) is not None:
                kind: Kind = "page-elsewhere" if ref in own else "drawn-from-elsewhere"
                yield ContaminationRow(kind, ref.workspace, ref.project, ref.path, "/".join(place))


def _twins(projects: list[Project]) -> Iterator[ContaminationRow]:
    """Projects of one workspace with one identity: captures go to the first of them."""
    first: dict[tuple[str, str], Project] = {}
    for one in projects:
        if one.identity is not None:
            other = first.setdefault((one.workspace, one.identity), one)
            if other is not one:
                yield ContaminationRow(
                    "twins", one.workspace, one.name, one.identity, f"{other.workspace}/{other.name}"
                )


reorg_text = relocated_text

_SAID = {
    "session-elsewhere": "session {subject} lies in {place}, its folder belongs to {to}: ai-memory move-session",
    "page-elsewhere": "{place}:{subject} is of a session of {to}: ai-memory move",
    "drawn-from-elsewhere": "{place}:{subject} was drawn from a session of {to}",
    "twins": "{place} and {to} are both of {subject}: ai-memory move-project {place} {to}",
}


def contamination_text(result: Contamination) -> str:
    """A line a finding."""
    gone = f"; of {result.gone} the folder is gone" if result.gone else ""
    lines = [
        _SAID[row.kind].format(subject=row.subject, place=f"{row.workspace}/{row.project}", to=row.belongs_to)
        for row in result.findings
    ]
    return "\n".join([*lines, f"{len(lines)} findings in {result.sessions} sessions{gone}"])
