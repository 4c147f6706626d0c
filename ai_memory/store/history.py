"""The versions of one page, out of the commits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ai_memory.model import PageRef
from ai_memory.store.addresses import page_ref
from ai_memory.store.wiki import CommitNote, Wiki

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
            origin = _moved_from(wiki, parent, commit, note, new)
            yield _version(note, new, address, "moved" if origin else "created")
            git_path = origin or git_path


def _moved_from(wiki: Wiki, parent: str | None, commit: str, note: CommitNote, blob: str) -> str | None:
    """Path of the page that this commit moved here: named by its trailer, or the one that held the same text."""
    if parent is None:
        return None
    gone = [d for d in wiki.differences(parent, commit) if d.new is None and page_ref(d.git_path) is not None]
    named = note.trailers.get("Moved-From")
    for difference in gone:
        if difference.git_path == named or difference.old == blob:
            return difference.git_path
    return None


def _version(note: CommitNote, version: str | None, path: PageRef, change: ChangeKind) -> PageVersion:
    return PageVersion(version, note.id, note.at_us, note.author, note.message, path, change, dict(note.trailers))
