"""Which projects there are, and which one a folder belongs to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.clock import rfc3339
from ai_memory.model import Scope
from ai_memory.operations.answer import scope_line
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.scoping import resolve
from ai_memory.text.names import check_name

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class ProjectRow:
    workspace: str
    project: str
    id: str
    identity: str | None
    aliases: tuple[str, ...]
    former_names: tuple[str, ...]
    pages: int
    updated_at: str | None
    private: bool
    """It answers nobody outside it."""


@dataclass(frozen=True, slots=True)
class ListedProjects:
    projects: tuple[ProjectRow, ...]
    gaps: tuple[str, ...]
    omitted: int = 0


def list_projects(
    memory: "Memory",
    *,
    workspace: Annotated[str | None, Field("only this workspace")] = None,
) -> ListedProjects:
    """List every project, with its number of pages and the last change.
    Use it to find the name that --project takes.
    """
    if workspace is not None:
        check_name(workspace, what="workspace")
    with memory.reading() as snapshot:
        rows = []
        for project in snapshot.projects(workspace):
            newest = snapshot.pages(workspace=project.workspace, project=project.name, sort="-updated", limit=1)
            rows.append(
                ProjectRow(
                    project.workspace,
                    project.name,
                    project.id,
                    project.identity,
                    project.aliases,
                    project.former_names,
                    newest.total,
                    rfc3339(newest.pages[0].updated_at_us) if newest.pages else None,
                    project.private,
                )
            )
        gaps = tuple(snapshot.gaps)
    return ListedProjects(tuple(rows), gaps)


def list_projects_text(result: ListedProjects) -> str:
    """One line a project."""
    if not result.projects:
        return "no projects"
    return "\n".join(
        f"- {row.workspace}/{row.project} · {row.pages} pages"
        + (f" · {row.identity}" if row.identity else "")
        + (" · private" if row.private else "")
        for row in result.projects
    )


@dataclass(frozen=True, slots=True)
class Where:
    scope: Scope
    why: str
    identity: str | None
    identity_source: str | None
    root: str | None
    is_guess: bool
    is_known: bool
    """Whether the project holds anything yet."""
    data_dir: str
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def where(memory: "Memory", *, workspace: Workspace = None, project: ProjectName = None) -> Where:
    """Say which workspace and project this folder belongs to, and why.
    Use it when pages land in, or come from, another project than you expect.
    """
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        is_known = any(known.name == scope.project for known in snapshot.projects(scope.workspace))
        gaps = tuple(snapshot.gaps)
    return Where(
        scope,
        scope.why,
        scope.identity,
        scope.identity_source,
        scope.root,
        scope.is_guess,
        is_known,
        str(memory.data_dir.root),
        gaps,
    )


def where_text(result: Where) -> str:
    """The scope, why it is that one, and where its pages lie."""
    lines = [scope_line(result.scope), *([result.why] if result.why else [])]
    if result.identity:
        lines.append(f"identity {result.identity} ({result.identity_source or 'named'})")
    if result.root:
        lines.append(f"root {result.root}")
    if result.is_guess:
        lines.append("a guess: writes and deletes need --project NAME")
    if not result.is_known:
        lines.append("no pages yet")
    return "\n".join([*lines, f"data dir {result.data_dir}"])
