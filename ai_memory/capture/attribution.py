"""Where a session belongs: its project, the branch it stands on, the directories its handoff is meant for."""

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ai_memory.capture.batches import Place
from ai_memory.capture.spooled import Event
from ai_memory.errors import MemoryFault
from ai_memory.model import Caller, ResolvedBy, Scope
from ai_memory.scope.known import KnownProjects
from ai_memory.scope.markers import nearest_markers
from ai_memory.scope.places import is_nameable
from ai_memory.scope.policy import policy_at
from ai_memory.scope.repository import MAX_POINTER_BYTES, Repository, find_repository, head_of, never_checkouts
from ai_memory.scope.resolve import resolve
from ai_memory.scope.smallfiles import text_of
from ai_memory.text.names import DEFAULT_WORKSPACE, SCRATCH_PROJECT, is_reserved_project
from ai_memory.text.sanitize import sanitize_line

LOOK_S = 5.0
"""How long a directory may take to be looked at."""
MAX_WORKTREES = 64
"""Linked worktrees that a handoff is entered for."""


class Attribution:
    """Answers for one drain; each directory is looked at once a batch. Reads markers and git files only."""

    def __init__(self, caller: Caller, projects: KnownProjects) -> None:
        self._caller = caller
        self._projects = projects
        self._places: dict[str, Place] = {}
        self._silent: set[str] = set()
        """Beginnings of paths below which a look never came back."""

    def forget(self) -> None:
        """Look again at branches and markers from now on."""
        self._places.clear()

    def place_of(self, event: Event) -> Place:
        """Project and branch of the directory in which an event happened; the project that the event names."""
        if not event.project:
            return self.place(event.cwd)
        scope = self._scope(event.cwd, event.workspace, event.project)
        here = self.place(event.cwd) if event.cwd else Place(scope)
        is_here = (here.scope.workspace, here.scope.project) == (scope.workspace, scope.project)
        return replace(here, scope=scope) if is_here else Place(scope)

    def place(self, cwd: str) -> Place:
        """Project and branch of a directory. A directory that cannot be resolved belongs to the scratch project."""
        known = self._places.get(cwd)
        if known is None:
            known = self._places[cwd] = self._look_in_time(cwd)
        return known

    def _look_in_time(self, cwd: str) -> Place:
        """As `_look`; the scratch project where the folder does not answer, as on a mount whose server is gone."""
        mount = _first_names(cwd)
        if mount in self._silent:
            return _nowhere(cwd)
        found: list[Place] = []
        if not within(LOOK_S, lambda: found.append(self._look(cwd))):
            self._silent.add(mount)
        return found[0] if found else _nowhere(cwd)

    def _look(self, cwd: str) -> Place:
        scope = self._scope(cwd)
        self._projects.learn(scope)
        repository = self.repository(cwd)
        if repository is None:
            return Place(scope)
        head = head_of(repository)
        return Place(scope, sanitize_line(head.branch or ""), sanitize_line(head.commit or ""))

    def _scope(self, cwd: str, workspace: str | None = None, project: str | None = None) -> Scope:
        caller = self._caller
        try:
            place = cwd if is_nameable(cwd, sys.platform) else None  # a relative one starts anywhere
            scope = resolve(
                cwd=place,
                home=caller.home,
                environ=caller.environ,
                workspace=workspace or None,
                project=project,
                catalogue=self._projects,
            )
        except (MemoryFault, OSError, ValueError) as fault:
            why = f"The directory could not be resolved: {fault}".replace("\n", " ")
            return Scope(DEFAULT_WORKSPACE, SCRATCH_PROJECT, ResolvedBy.FALLBACK, why=why)
        if any(sanitize_line(name) != name for name in (scope.workspace, scope.project)):
            why = "The name of the project holds what looks like a secret."
            return Scope(DEFAULT_WORKSPACE, SCRATCH_PROJECT, ResolvedBy.FALLBACK, why=why)
        if is_reserved_project(scope.project) and scope.project != SCRATCH_PROJECT:
            why = f"{scope.project} is kept for what people write there; capture never lands in it."
            return Scope(scope.workspace, SCRATCH_PROJECT, ResolvedBy.FALLBACK, why=why)
        return scope

    def repository(self, cwd: str) -> Repository | None:
        """The repository around a directory, None where there is none or the directory is gone."""
        if not is_nameable(cwd, sys.platform) or not os.path.isdir(cwd):  # noqa: PTH112 (Path raises for long names)
            return None
        try:
            return find_repository(cwd, never=never_checkouts(self._caller.home))
        except (OSError, ValueError):
            return None

    def makes_handoffs(self, cwd: str) -> bool:
        """Whether the nearest marker lets sessions of a directory leave handoffs by themselves; so it is where none
        says anything, or none can be read."""
        mount = _first_names(cwd)
        found: list[bool] = []
        if mount not in self._silent and not within(LOOK_S, lambda: found.append(self._nearest_wants_handoffs(cwd))):
            self._silent.add(mount)
        return found[0] if found else True

    def _nearest_wants_handoffs(self, cwd: str) -> bool:
        home = self._caller.environ.get("AI_MEMORY_HOME") or self._caller.home
        nearest = nearest_markers(cwd, home)[:1]
        return all(policy_at(source.path, home=home).create_handoff_on_session_end is not False for source in nearest)

    def handoff_directories(self, cwd: str) -> list[str]:
        """Directories whose sessions may take a handoff made in `cwd`: itself, the checkouts, the common git dir."""
        if not is_nameable(cwd, sys.platform):
            return []
        if _first_names(cwd) in self._silent:
            return [cwd]
        repository = self.repository(cwd)
        if repository is None:
            return [cwd]
        found = [cwd, repository.root, repository.main_root or "", repository.common_dir, *worktrees(repository)]
        return list(dict.fromkeys(filter(None, found)))


def within(seconds: float, work: Callable[[], None]) -> bool:
    """Whether the work came back in that time, else it is left to itself: for looks at folders that never answer."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()


def _first_names(path: str) -> str:
    """The first two names of a path: about where a mount begins."""
    return "/".join(path.replace("\\", "/").split("/")[:3])


def _nowhere(cwd: str) -> Place:
    why = f"The directory did not answer: {cwd}"
    return Place(Scope(DEFAULT_WORKSPACE, SCRATCH_PROJECT, ResolvedBy.FALLBACK, why=sanitize_line(why)))


def worktrees(repository: Repository) -> list[str]:
    """Roots of the linked worktrees that git has on record and that still exist, sorted."""
    folder = Path(repository.common_dir) / "worktrees"
    found = []
    try:
        records = sorted(folder.iterdir())[:MAX_WORKTREES]
    except OSError:
        return []
    for record in records:
        pointer = text_of(str(record / "gitdir"), MAX_POINTER_BYTES, errors="surrogateescape") or ""
        root = os.path.dirname(pointer.strip())
        if os.path.isabs(root) and os.path.isdir(root):  # noqa: PTH112, PTH117 (may hold any bytes)
            found.append(root)
    return found
