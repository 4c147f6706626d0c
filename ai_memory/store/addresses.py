"""What a path in the wiki's repository is the address of."""

from ai_memory.model import PageRef
from ai_memory.text.names import is_page_path

META_NAME = "_meta.md"


def page_ref(git_path: str) -> PageRef | None:
    """The page that stands at a path of the repository, or None when it is no page."""
    workspace, _, rest = git_path.partition("/")
    project, slash, path = rest.partition("/")
    if not slash or workspace.startswith(".") or project.startswith("."):
        return None
    return PageRef(workspace, project, path) if is_page_path(path) else None


def meta_project(git_path: str) -> tuple[str, str] | None:
    """Workspace and project whose `_meta.md` stands at that path, or None."""
    parts = git_path.split("/")
    return (parts[0], parts[1]) if len(parts) == 3 and parts[2] == META_NAME else None


def meta_path(workspace: str, project: str) -> str:
    return f"{workspace}/{project}/{META_NAME}"


def is_ours(git_path: str) -> bool:
    """Whether a file of that name is a page or a project's `_meta.md`."""
    return page_ref(git_path) is not None or meta_project(git_path) is not None


def folder_of(git_path: str) -> str:
    return git_path.rpartition("/")[0]
