"""The versions of one page, out of the commits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ai_memory.errors import NotFound, echo
from ai_memory.model import PageRef
from ai_memory.store.addresses import MOVED_PROJECTS, page_ref
from ai_memory.store.commits import PREFIX
from ai_memory.store.undoing import named
from ai_memory.store.wiki import CommitNote, Wiki
from ai_memory.text.times import parse_moment

ChangeKind = Literal["created", "changed", "deleted", "moved"]


@dataclass(frozen=True, slots=True)
class PageVersion:
    """One commit that changed the page. `version` is None where it was deleted; `path` is its path at that time."""

    version: str | None
    commit: str
    at_us: int
    author: str
    message: str
    path: PageRef
    change: ChangeKind
    trailers: dict[str, str]


def versions(wiki: Wiki, ref: PageRef) -> Iterator[PageVersion]:
    """Newest first, over first parents, followed through moves that kept the text."""
    git_path = ref.git_path
    for commit in wiki.first_parents(wiki.head()):
        parent = wiki.parent(commit)
        new, old = wiki.blob_at(commit, git_path), wiki.blob_at(parent, git_path)
        if new == old:
            continue
        note = wiki.note(commit)
        address = page_ref(git_path) or ref
        if new is None:
            yield _version(note, None, address, "deleted")
        elif old is not None:
            yield _version(note, new, address, "changed")
        else:
            origin = _moved_from(wiki, parent, note, git_path, new)
            yield _version(note, new, address, "moved" if origin else "created")
            git_path = origin or git_path


def version_at(wiki: Wiki, ref: PageRef, name: str, *, now_us: int) -> PageVersion:
    """The version that a commit or version (from 7 digits), or a time names: as the page stood then.

    Errors: NotFound; MemoryFault for what is neither.
    """
    is_id = PREFIX.fullmatch(name) is not None
    found = list(versions(wiki, ref))
    if is_id:
        for one in found:
            if one.commit.startswith(name) or (one.version or "").startswith(name):
                return one
        stood = _stood_at(wiki, found, named(wiki, name))
    else:
        until_us = parse_moment(name, now_us=now_us)
        stood = next((one for one in found if one.at_us <= until_us), None)
    if stood is None:
        raise NotFound(f"{ref} was not there yet at {echo(name)}", hint="`ai-memory history` lists its versions")
    return stood


def _stood_at(wiki: Wiki, found: list[PageVersion], commit: str) -> PageVersion | None:
    """The newest of these versions that is not later than the commit."""
    by_commit = {one.commit: one for one in found}
    older = (by_commit[one] for one in wiki.first_parents(commit) if one in by_commit)
    return next(older, None)


def _moved_from(wiki: Wiki, parent: str | None, note: CommitNote, git_path: str, blob: str) -> str | None:
    """Path of the page that this commit moved here: named by its trailer, or the one that held the same text."""
    if parent is None:
        return None
    gone = [d for d in wiki.differences(parent, note.id) if d.new is None and page_ref(d.git_path) is not None]
    named = (note.trailers.get("Moved-From"), _in_former_project(git_path, note))
    for difference in gone:
        if difference.git_path in named:
            return difference.git_path
    return next((difference.git_path for difference in gone if difference.old == blob), None)


def _in_former_project(git_path: str, note: CommitNote) -> str:
    """The path that the file had before this commit moved its project; empty for one that did not."""
    for pair in note.trailers.get(MOVED_PROJECTS, "").split(", "):
        old, _, new = pair.partition(" to ")
        if old and new and git_path.startswith(f"{new}/"):
            return old + git_path.removeprefix(new)
    return ""


def _version(note: CommitNote, version: str | None, path: PageRef, change: ChangeKind) -> PageVersion:
    return PageVersion(version, note.id, note.at_us, note.author, note.message, path, change, dict(note.trailers))
