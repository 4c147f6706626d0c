"""The one scope function: which workspace and project a call belongs to, and why.

Order: flags → nearest marker with a scope → home routes → remote → git root → MCP roots → folder → fallback.
(A session's own scope stands between flags and marker; whoever knows the session decides that before asking here.)
*Source*: decisions C1, C2.
"""

# Paths stay strings here: they are compared and shown as strings.
# ruff: noqa: PTH112

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ai_memory.errors import MemoryFault, UsageFault, echo
from ai_memory.model import ResolvedBy, Scope
from ai_memory.scope import naming, places
from ai_memory.scope.markers import TRUTHY, Marker, marker_paths, read_marker
from ai_memory.scope.naming import Catalogue, NoProjects
from ai_memory.scope.policy import CapturePolicy, capture_policy
from ai_memory.scope.repository import Remote, Repository, find_repository, never_checkouts, remote_of
from ai_memory.scope.routes import Route, choose_route
from ai_memory.text.names import DEFAULT_WORKSPACE, SCRATCH_PROJECT, check_name

__all__ = ["DEFAULT_WORKSPACE", "SCRATCH_PROJECT", "Catalogue", "NoProjects", "resolve"]

_SILENT = CapturePolicy()
"""What a folder without a word of `[recall]` goes by."""
MAX_ROOTS = 32
"""Folders of an MCP client that are looked at."""


def resolve(
    *,
    cwd: str | None,
    home: str,
    environ: Mapping[str, str],
    workspace: str | None = None,
    project: str | None = None,
    catalogue: Catalogue,
    roots: tuple[str, ...] = (),
) -> Scope:
    """The scope of a call from `cwd`. Reads markers and git files, starts nothing, writes nothing.

    `project` may be a label `workspace/project`. *Errors*: UsageFault for a bad flag, MarkerFault for a marker that
    cannot be read, AmbiguousRoute.
    """
    asked_workspace, asked_project = _flags(workspace, project)
    if asked_workspace and asked_project:
        name = naming.current_name(asked_workspace, asked_project, catalogue)
        named = Scope(asked_workspace, name, ResolvedBy.FLAG, why="The call names workspace and project.")
        return _where_it_is_now(named, catalogue)
    here = _look(cwd, home, environ)
    if asked_project:
        return _where_it_is_now(_by_project_flag(here, asked_project, catalogue), catalogue)
    scope = _scope_of(here, asked_workspace, catalogue)
    if scope.resolved_by is ResolvedBy.FALLBACK and roots:
        scope = _by_roots(roots, scope, home=home, environ=environ, workspace=asked_workspace, catalogue=catalogue)
    if asked_workspace:
        scope = replace(scope, why=f"{scope.why} The call names the workspace.")
    return replace(scope, warnings=tuple(dict.fromkeys(here.warnings + scope.warnings)))


@dataclass(frozen=True, slots=True)
class _Here:
    """Everything that was read from disk around one folder."""

    cwd: str | None
    """Real path; None when there is no such folder."""
    named_cwd: str | None
    """As the caller gave it, when it names something that could be a folder."""
    home: str
    is_nowhere: bool
    """No folder, a root, or the home folder or one above it: no project lies there."""
    repository: Repository | None = None
    remote: Remote | None = None
    marker: Marker | None = None
    """The nearest that has a scope, never the home marker."""
    home_marker: Marker | None = None
    warnings: tuple[str, ...] = ()
    recall: CapturePolicy = _SILENT
    """The nearest marker that says anything of `[recall]`."""

    @property
    def workspace(self) -> str:
        """The workspace of what names none."""
        return (self.home_marker and self.home_marker.workspace) or DEFAULT_WORKSPACE


def _look(cwd: str | None, home: str, environ: Mapping[str, str]) -> _Here:
    operator_home = os.path.realpath(environ.get("AI_MEMORY_HOME") or home or os.sep)
    homes = (operator_home, os.path.realpath(home or os.sep))
    named = places.clean(cwd, sys.platform) if cwd and "\0" not in cwd else None
    folder = os.path.realpath(named) if named and os.path.isdir(named) else None
    is_nowhere = folder is None or any(places.is_within(one, folder, sys.platform) for one in homes)
    is_nowhere = is_nowhere or places.is_root(folder or "/", sys.platform)
    repository = find_repository(folder, never=never_checkouts(*homes)) if folder else None
    here = _Here(
        cwd=folder,
        named_cwd=named,
        home=operator_home,
        is_nowhere=is_nowhere and repository is None,
        repository=repository,
        remote=remote_of(repository) if repository else None,
    )
    return here if _ignores_markers(environ) else _with_markers(here)


def _ignores_markers(environ: Mapping[str, str]) -> bool:
    return environ.get("AI_MEMORY_IGNORE_MARKER", "").strip().lower() in TRUTHY


def _with_markers(here: _Here) -> _Here:
    """Nearest marker with a scope, and the home marker, whose routes and workspace count only when none is nearer."""
    *near, at_home = marker_paths(here.cwd or here.home, here.home, repository=here.repository)
    warnings: list[str] = []
    nearest: Marker | None = None
    recall: CapturePolicy | None = None
    for path in near if here.cwd else ():
        marker = read_marker(path, home=here.home)
        warnings += marker.warnings if marker else ()
        if marker and recall is None and "recall" in (marker.tables or {}):
            recall = capture_policy(marker)
        if marker and marker.has_scope:
            nearest = marker
            break
    home_marker = read_marker(at_home, home=here.home)
    if home_marker:
        warnings += [one for one in home_marker.warnings if not one.endswith("names no workspace")]
        if home_marker.project or home_marker.identity:
            # everything below the home folder would be one project
            warnings.append(f"{at_home}: project and identity are ignored in the home folder's marker; write routes")
    found = replace(here, marker=nearest, home_marker=home_marker, warnings=tuple(warnings))
    return found if recall is None else replace(found, recall=recall)


def _where_it_is_now(scope: Scope, catalogue: Catalogue) -> Scope:
    """The same project under the name and in the workspace that it was moved to."""
    found = None if scope.is_guess else catalogue.moved_to(scope.workspace, scope.project, scope.identity)
    if found is None:
        return scope
    why = f"{scope.why} {scope.workspace}/{scope.project} was moved to {'/'.join(found)}."
    return replace(scope, workspace=found[0], project=found[1], why=why.strip())


def _scope_of(here: _Here, asked_workspace: str | None, catalogue: Catalogue) -> Scope:
    scope = _where_it_is_now(_named_scope(here, asked_workspace, catalogue), catalogue)
    if scope.is_guess:
        return scope
    recall = here.recall
    return replace(scope, private=recall.private_recall, default_global=recall.default_global_recall is True)


def _named_scope(here: _Here, asked_workspace: str | None, catalogue: Catalogue) -> Scope:
    if here.marker:
        return _by_marker(here, here.marker, asked_workspace, catalogue)
    route = _route(here)
    if route:
        return _by_route(here, route, asked_workspace, catalogue)
    workspace = asked_workspace or here.workspace
    if here.repository:
        return _of_repository(here.repository, here.remote, workspace, catalogue)
    if here.is_nowhere or here.cwd is None:
        return _fallback(here, workspace)
    return _of_folder(here.cwd, workspace, catalogue)


def _flags(workspace: str | None, project: str | None) -> tuple[str | None, str | None]:
    """Both flags, checked, a label split."""
    if project and "/" in project:
        labelled, _, project = project.partition("/")
        if workspace and workspace != labelled:
            raise UsageFault(
                f"the project names workspace {echo(labelled)}, the call names {echo(workspace)}",
                hint="give one of them",
            )
        workspace = labelled
    for what, name in (("workspace", workspace), ("project", project)):
        if name is not None:
            _check_flag(what, name)
    return workspace, project


def _check_flag(what: str, name: str) -> None:
    try:
        check_name(name, what=what)
    except MemoryFault as fault:
        fitted = naming.fit_name(name)
        raise UsageFault(fault.message, hint=f"write {fitted}" if fitted and fitted != name else fault.hint) from fault


def _by_project_flag(here: _Here, project: str, catalogue: Catalogue) -> Scope:
    """A named project in the workspace that marker, route or home marker give."""
    route = None if here.marker else _route(here)
    told = (here.marker and here.marker.workspace) or (route and route.workspace)
    workspace = told or here.workspace
    return Scope(
        workspace,
        naming.current_name(workspace, project, catalogue),
        ResolvedBy.FLAG,
        why=f"The call names the project; workspace {workspace} is {'named here' if told else 'the usual one'}.",
        warnings=here.warnings,
    )


def _by_marker(here: _Here, marker: Marker, asked_workspace: str | None, catalogue: Catalogue) -> Scope:
    """A marker's own project, or the project of the place in the marker's workspace."""
    workspace = asked_workspace or marker.workspace or here.workspace
    scope = _marked(here, marker, workspace, catalogue)
    renamed = _of_aliases(workspace, scope, marker.aliases, catalogue)
    if renamed:
        scope = replace(scope, project=renamed)
    told = [f"{what} {name}" for what, name in (("workspace", marker.workspace), ("project", marker.project)) if name]
    why = f"The marker {marker.path} names {' and '.join(told) or 'how its project is found'}"
    if scope.why:
        why += f"; {scope.why[0].lower()}{scope.why[1:].removesuffix('.')}"
    if marker.project not in (None, scope.project):
        why += f"; the project is kept as {scope.project}"
    return replace(
        scope,
        resolved_by=ResolvedBy.MARKER,
        aliases=marker.aliases,
        root=here.repository.root if here.repository else marker.folder,
        why=why + ".",
    )


def _marked(here: _Here, marker: Marker, workspace: str, catalogue: Catalogue) -> Scope:
    identity = marker.identity and naming.kept_identity(marker.identity)
    if marker.project:
        # No identity of the checkout goes with it: several repositories may share a project that is named outright.
        if not identity:
            name = naming.current_name(workspace, marker.project, catalogue)
            return Scope(workspace, name, ResolvedBy.MARKER)
        name = naming.settle_name(workspace, marker.project, identity, catalogue)
        return Scope(workspace, name, ResolvedBy.MARKER, identity=identity, identity_source="marker")
    if identity:
        wanted = naming.name_of_remote(identity, with_host=marker.identity_style == "host_path")
        name = naming.settle_name(workspace, wanted, identity, catalogue)
        why = f"its identity is {identity}."
        return Scope(workspace, name, ResolvedBy.MARKER, identity=identity, identity_source="marker", why=why)
    if here.repository and marker.project_strategy != "basename":
        by_folder = marker.project_strategy == "repo-root"
        style = marker.identity_style
        return _of_repository(here.repository, here.remote, workspace, catalogue, by_folder=by_folder, style=style)
    return _of_folder(here.cwd or marker.folder, workspace, catalogue)


def _of_aliases(workspace: str, scope: Scope, aliases: tuple[str, ...], catalogue: Catalogue) -> str | None:
    """The project that one of the former names leads to, when the name itself is not known yet."""
    if catalogue.by_name(workspace, scope.project) is not None:
        return None
    for alias in aliases:
        if catalogue.by_name(workspace, alias) is not None:
            return naming.current_name(workspace, alias, catalogue)
    return None


def _route(here: _Here) -> Route | None:
    if not here.home_marker or not here.home_marker.routes:
        return None
    folders = [folder for folder in (here.cwd, here.named_cwd) if folder]
    if here.repository and here.repository.is_linked:
        folders.append(here.repository.place)
    return choose_route(
        here.home_marker.routes,
        identity=here.remote.identity if here.remote else None,
        folders=folders,
        home=here.home,
        platform=sys.platform,
    )


def _by_route(here: _Here, route: Route, asked_workspace: str | None, catalogue: Catalogue) -> Scope:
    workspace = asked_workspace or route.workspace or here.workspace
    why = f"The home marker routes {route.written} here."
    if route.project:
        name = naming.current_name(workspace, route.project, catalogue)
        root = here.repository.root if here.repository else here.cwd
        return Scope(workspace, name, ResolvedBy.ROUTE, root=root, why=why)
    if here.repository:
        found = _of_repository(here.repository, here.remote, workspace, catalogue)
    elif here.cwd and not here.is_nowhere:
        found = _of_folder(here.cwd, workspace, catalogue)
    else:
        return _fallback(here, workspace)
    return replace(found, resolved_by=ResolvedBy.ROUTE, why=f"{why} {found.why}")


def _of_repository(
    repository: Repository,
    remote: Remote | None,
    workspace: str,
    catalogue: Catalogue,
    *,
    by_folder: bool = False,
    style: str = "path",
) -> Scope:
    """The project of a checkout: by its remote, else by the path of its main checkout.

    A project that was known by path before the checkout had a remote stays that project.
    """
    path_identity = naming.kept_identity(places.key(repository.place, sys.platform))
    identity = naming.kept_identity(remote.identity) if remote else path_identity
    wanted = (
        naming.name_of_remote(remote.identity, with_host=style == "host_path") if remote and not by_folder else None
    )
    known = catalogue.by_identity(workspace, identity) or catalogue.by_identity(workspace, path_identity)
    name = known or naming.settle_name(
        workspace, wanted or naming.fit_name(repository.folder_name), identity, catalogue
    )
    why = (
        f"The remote {remote.name} of {repository.root} is {remote.identity}."
        if remote
        else f"The repository {repository.place} has no remote; it goes by its folder."
    )
    return Scope(
        workspace,
        name,
        ResolvedBy.REMOTE if remote else ResolvedBy.GIT_ROOT,
        identity=identity,
        identity_source=remote.name if remote else "git-root",
        root=repository.root,
        why=why,
    )


def _of_folder(folder: str, workspace: str, catalogue: Catalogue) -> Scope:
    identity = naming.kept_identity(places.key(folder, sys.platform))
    wanted = naming.fit_name(places.folder_name(folder, sys.platform))
    name = naming.settle_name(workspace, wanted, identity, catalogue)
    why = f"The folder {folder} lies in no repository; it is a project of its own."
    return Scope(workspace, name, ResolvedBy.DIRECTORY, identity, "directory", root=folder, why=why)


def _fallback(here: _Here, workspace: str) -> Scope:
    if here.cwd is None:
        why = f"There is no folder {here.named_cwd}." if here.named_cwd else "No folder is known."
    else:
        why = f"{here.cwd} is no project: it is the home folder, one above it, or a root."
    return Scope(workspace, SCRATCH_PROJECT, ResolvedBy.FALLBACK, why=why)


def _by_roots(
    roots: tuple[str, ...],
    fallback: Scope,
    *,
    home: str,
    environ: Mapping[str, str],
    workspace: str | None,
    catalogue: Catalogue,
) -> Scope:
    """The project that all offered folders belong to; a guess when there are several."""
    folders = [folder for root in roots[:MAX_ROOTS] if (folder := places.from_uri(root, sys.platform))]
    found = [_scope_of(_look(folder, home, environ), workspace, catalogue) for folder in folders]
    sure = [scope for scope in found if not scope.is_guess]
    labels = sorted({f"{scope.workspace}/{scope.project}" for scope in sure})
    if not labels:
        return fallback
    if len(labels) == 1:
        return replace(sure[0], resolved_by=ResolvedBy.ROOTS, why=f"The client offers one project. {sure[0].why}")
    why = f"The client offers folders of {len(labels)} projects: {', '.join(labels)}."
    return replace(fallback, resolved_by=ResolvedBy.ROOTS_AMBIGUOUS, why=why)
