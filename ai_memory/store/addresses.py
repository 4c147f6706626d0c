"""What a path in the wiki's repository is the address of."""

import re

from ai_memory.model import PageRef, Project
from ai_memory.text.names import LINT_FOLDER, is_page_path

META_NAME = "_meta.md"
MOVED_PROJECTS = "Moved-Projects"
"""Trailer of a commit that moved pages between projects: `ws/old to ws/new`, comma and space between two."""
NO_REPORT = f"substr(p.path, 1, {len(LINT_FOLDER)}) <> '{LINT_FOLDER}'"
"""Over `pages AS p`: it is no report of ours on other pages."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def page_ref(git_path: str) -> PageRef | None:
    """The page that stands at a path of the repository, or None when it is no page.

    A name that is not UTF-8 is none: no row of the index could hold it, and no call could name it.
    """
    workspace, _, rest = git_path.partition("/")
    project, slash, path = rest.partition("/")
    if not slash or workspace.startswith(".") or project.startswith(".") or not is_utf8(git_path):
        return None
    return PageRef(workspace, project, path) if is_page_path(path) else None


def meta_project(git_path: str) -> tuple[str, str] | None:
    """Workspace and project whose `_meta.md` stands at that path, or None."""
    parts = git_path.split("/")
    is_meta = len(parts) == 3 and parts[2] == META_NAME and is_utf8(git_path)
    return (parts[0], parts[1]) if is_meta else None


def is_utf8(git_path: str) -> bool:
    """Whether the bytes of the path were UTF-8: others arrive as lone surrogates."""
    return git_path.isascii() or git_path.isprintable() or _SURROGATE.search(git_path) is None


def meta_path(workspace: str, project: str) -> str:
    return f"{workspace}/{project}/{META_NAME}"


def former_names(known: Project | None, old: tuple[str, str], new: tuple[str, str]) -> list[str]:
    """The names that a project had, once it is called `new`: of another workspace as `workspace/name`."""
    labels = [f"{old[0]}/{name}" if "/" not in name else name for name in (known.former_names if known else ())]
    labels += [] if "/".join(old) in labels else ["/".join(old)]
    here = f"{new[0]}/"
    return [label.removeprefix(here) for label in labels if label != "/".join(new)]


def is_ours(git_path: str) -> bool:
    """Whether a file of that name is a page or a project's `_meta.md`."""
    return page_ref(git_path) is not None or meta_project(git_path) is not None


class PageFolder:
    """Which file names of one folder are ours, decided once: a look asks for each of 10,000 names."""

    def __init__(self, folder: str) -> None:
        segments = folder.split("/")
        self._is_project = len(segments) == 2
        self._holds_pages = (
            len(segments) >= 2
            and not any(segment.startswith(".") or not segment for segment in segments)
            and segments[2:3] != ["_pending"]
        )

    def takes(self, name: str) -> bool:
        """The same as `is_ours` of the whole path."""
        if not self._holds_pages or not name.endswith(".md") or name.startswith("."):
            return False
        return not self._is_project or name != "bootstrap.md"


def folder_of(git_path: str) -> str:
    return git_path.rpartition("/")[0]
