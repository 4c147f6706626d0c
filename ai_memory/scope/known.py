"""The projects of a wiki, as scope resolution asks for them."""

from collections.abc import Iterable

from ai_memory.model import Project, Scope


class KnownProjects:
    """A catalogue over a list of projects. Both faces and the drain resolve through it."""

    def __init__(self, projects: Iterable[Project]) -> None:
        self._projects = list(projects)

    def by_identity(self, workspace: str, identity: str) -> str | None:
        """Name of the first project with that identity."""
        for project in self._projects:
            if project.workspace == workspace and project.identity == identity:
                return project.name
        return None

    def by_name(self, workspace: str, name: str) -> str | None:
        """Identity of the project that holds the name, a former one or an alias; empty without one, None if unknown."""
        here = [project for project in self._projects if project.workspace == workspace]
        now = [project for project in here if project.name == name]
        for project in now or here:
            if project.name == name or project.was_called(workspace, name):
                return project.identity or ""
        return None

    def moved_to(self, workspace: str, name: str, identity: str | None) -> tuple[str, str] | None:
        """Where the project is today that had this name once, or, with that identity, lay in this workspace.

        None where a project has the name now, or none ever had it.
        """
        if any((one.workspace, one.name) == (workspace, name) for one in self._projects):
            return None
        for one in self._projects:
            left_here = any(former.startswith(f"{workspace}/") for former in one.former_names)
            is_same = identity is not None and one.identity == identity
            if one.was_called(workspace, name) or (left_here and is_same):
                return one.workspace, one.name
        return None

    def learn(self, scope: Scope) -> None:
        """A project that the next commit makes: two new sessions of one drain must not give it two names."""
        if self.by_name(scope.workspace, scope.project) is None:
            made = Project("", scope.workspace, scope.project, scope.identity, aliases=scope.aliases)
            self._projects.append(made)
