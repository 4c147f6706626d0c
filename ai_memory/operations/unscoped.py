"""Scope for calls that have an answer without one: they only say which project they were called from."""

from typing import TYPE_CHECKING

from ai_memory.model import Scope
from ai_memory.operations.scoping import resolve
from ai_memory.scope.markers import MarkerFault
from ai_memory.scope.routes import AmbiguousRoute

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot


def resolve_if_told(
    memory: "Memory", workspace: str | None, project: str | None, *, snapshot: "Snapshot"
) -> tuple[Scope | None, tuple[str, ...]]:
    """The scope; or None, and the sentence that says which file hides it. Errors: UsageFault for words of the call."""
    try:
        return resolve(memory, workspace, project, write=False, snapshot=snapshot), ()
    except (MarkerFault, AmbiguousRoute) as fault:
        return None, (f"the project of this folder cannot be told: {fault.message}",)


def is_global(scope: Scope | None, workspace: str | None, project: str | None) -> bool:
    """Whether a marker lets a call that names no project look over all of them; not from a private one."""
    return scope is not None and scope.default_global and not (scope.private or workspace or project)


def resolve_for(
    memory: "Memory", workspace: str | None, project: str | None, *, everywhere: bool, snapshot: "Snapshot"
) -> tuple[Scope | None, tuple[str, ...]]:
    """The scope, which a call over all projects does without. Errors: as `resolve` for one project."""
    if everywhere:
        return resolve_if_told(memory, workspace, project, snapshot=snapshot)
    return resolve(memory, workspace, project, write=False, snapshot=snapshot), ()
