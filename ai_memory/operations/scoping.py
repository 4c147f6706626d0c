"""Which workspace, project and page a call means: the one place where operations ask `scope/`."""

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from ai_memory.errors import MemoryFault, RefusedScope, UsageFault, echo
from ai_memory.model import PageRef, ResolvedBy, Scope
from ai_memory.operations.cleaning import refuse_secrets
from ai_memory.scope.known import KnownProjects
from ai_memory.scope.resolve import resolve as resolve_scope
from ai_memory.text.names import DEFAULT_WORKSPACE, GLOBAL_PROJECT, check_name, check_page_path, check_read_path

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot


def resolve(
    memory: "Memory",
    workspace: str | None = None,
    project: str | None = None,
    *,
    write: bool,
    leaves: bool = False,
    snapshot: "Snapshot | None" = None,
) -> Scope:
    """The scope of the call. `leaves`: what is written only takes away, so that names are not looked at.

    Errors: RefusedScope when a write would land in a scope that was only guessed; MemoryFault for a secret as a name.
    """
    caller = memory.caller
    if write and not leaves:
        refuse_secrets(memory, workspace=workspace, project=project)
    running = None if workspace or project else _of_session(memory)
    with nullcontext(snapshot) if snapshot is not None else memory.reading() as known:
        scope = running or resolve_scope(
            cwd=caller.cwd,
            home=caller.home,
            environ=caller.environ,
            workspace=workspace,
            project=project,
            catalogue=KnownProjects(known.projects()),
            roots=caller.roots,
        )
    if write and not leaves:
        refuse_secrets(memory, name_of_the_workspace=scope.workspace, name_of_the_project=scope.project)
    if write and scope.is_guess:
        raise RefusedScope(
            f"the project is only a guess ({scope.workspace}/{scope.project}): {scope.why or scope.resolved_by.value}",
            hint="name it: --project NAME" if caller.face == "cli" else "name it: pass project",
        )
    return scope


def _of_session(memory: "Memory") -> Scope | None:
    """The project in which the caller's session began, when it is known and was no guess.

    Only a bridge asks: it may be started anywhere, while hooks were told the session's folder. A command has a folder
    of its own.
    """
    caller = memory.caller
    if caller.face != "bridge" or not caller.session_id:
        return None
    from ai_memory.capture.batches import scope_of  # few callers stand in a session
    from ai_memory.store.state_sessions import session

    with memory.state_reading() as connection:
        found = session(connection, caller.session_id) if connection is not None else None
    scope = scope_of(found) if found else None
    if scope is None or scope.is_guess:
        return None
    return replace(scope, resolved_by=ResolvedBy.SESSION, why=f"The session began there. {scope.why}", warnings=())


def locate(
    memory: "Memory",
    path: str,
    workspace: str | None,
    project: str | None,
    *,
    write: bool,
    leaves: bool = False,
    snapshot: "Snapshot | None" = None,
) -> tuple[Scope, PageRef]:
    """The scope and the page that `path`, `project:path` or `workspace/project:path` means from here.

    `leaves`: the page goes away from there. Errors: as `resolve`, for the path too.
    """
    if write and not leaves:
        refuse_secrets(memory, page_path=path)
    named_workspace, named_project, bare = split_address(path)
    workspace = _agree("workspace", named_workspace, workspace)
    project = _agree("project", named_project, project)
    if named_project == GLOBAL_PROJECT and workspace is None:
        workspace = DEFAULT_WORKSPACE
    checked = check_page_path(bare) if write else check_read_path(bare)
    scope = resolve(memory, workspace, project, write=write, leaves=leaves, snapshot=snapshot)
    if write and not leaves:
        refuse_unknown_address(memory, path, scope)
    return scope, PageRef(scope.workspace, scope.project, checked)


def split_address(address: str) -> tuple[str | None, str | None, str]:
    """`workspace/project:path` in its three parts; the first two may be missing. What names could not be is a path."""
    head, colon, path = address.partition(":")
    if not colon:
        return None, None, address
    workspace, slash, project = head.rpartition("/")
    if not project or not path or (slash and not workspace):
        raise UsageFault(f"{echo(address)} names no page", hint="write path, project:path or workspace/project:path")
    if slash and not (_is_name(workspace, "workspace") and _is_name(project, "project")):
        return None, None, address
    return workspace or None, project, path


def refuse_unknown_address(memory: "Memory", address: str, scope: Scope) -> None:
    """Nothing, unless the address alone would begin a project: `notes/x:y.md` may be a slip for a path in `notes/`.

    Errors: UsageFault naming both readings.
    """
    workspace, project, path = split_address(address)
    if workspace is None or project is None or project == GLOBAL_PROJECT:
        return
    with memory.reading() as known:
        if KnownProjects(known.projects()).by_name(scope.workspace, scope.project) is not None:
            return
    flags = ("--workspace", "--project") if memory.caller.face == "cli" else ("workspace", "project")
    raise UsageFault(
        f"there is no project {workspace}/{project}, which {echo(address)} names",
        hint=f"to begin that project, pass path {echo(path)} with {flags[0]} {workspace} {flags[1]} {project};"
        " if the ':' belongs to the path, leave it out: no page is written under such a name",
    )


def _is_name(word: str, what: str) -> bool:
    try:
        check_name(word, what=what)
    except MemoryFault:
        return False
    return True


def _agree(word: str, named: str | None, flag: str | None) -> str | None:
    if named and flag and named != flag:
        raise UsageFault(f"the path names {word} {echo(named)}, the call names {echo(flag)}", hint="give one of them")
    return named or flag
