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
        for project in self._projects:
            if project.workspace == workspace and name in (project.name, *project.aliases, *project.former_names):
                return project.identity or ""
        return None

    def learn(self, scope: Scope) -> None:
        """A project that the next commit makes: two new sessions of one drain must not give it two names."""
        if self.by_name(scope.workspace, scope.project) is None:
            made = Project("", scope.workspace, scope.project, scope.identity, aliases=scope.aliases)
            self._projects.append(made)
