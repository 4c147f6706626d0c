"""The versions of one page, out of the commits."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ai_memory.errors import NotFound, echo
from ai_memory.model import PageRef
from ai_memory.store.addresses import MOVED_PROJECTS, meta_path, page_ref
from ai_memory.store.commits import PREFIX
from ai_memory.store.undoing import named
from ai_memory.store.wiki import CommitNote, Places, Wiki
from ai_memory.text.times import parse_moment

Place = tuple[str, str]
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
    return histories(wiki, [ref])


def histories(wiki: Wiki, refs: Iterable[PageRef]) -> Iterator[PageVersion]:
    """The versions of all these pages, newest first. Commits are walked once, however many pages there are."""
    pages: dict[str, list[PageRef]] = {}
    """Those that stood at each path: of two that were moved to and fro, both."""
    for ref in refs:
        pages.setdefault(ref.git_path, []).append(ref)
    places = Places(pages)
    for commit in wiki.first_parents(wiki.head()):
        parent = wiki.parent(commit)
        note: CommitNote | None = None
        gone: _Gone | None = None
        moved: list[tuple[str, str]] = []
        for difference in wiki.differences_at(places, parent, commit):
            here = pages.get(difference.git_path)
            if not here:
                continue  # a page that was moved here came from elsewhere
            note = note or wiki.note(commit)
            address = page_ref(difference.git_path) or here[0]
            origin = None
            if difference.new is None:
                change: ChangeKind = "deleted"
            elif difference.old is not None:
                change = "changed"
            else:
                gone = gone or _Gone(wiki, parent, note)
                origin = gone.moved_to(difference.git_path, difference.new)
                change = "moved" if origin else "created"
            if origin:
                moved.append((difference.git_path, origin))
            for _ in here:
                yield _version(note, difference.new, address, change)
        arriving = [(origin, pages.pop(path)) for path, origin in moved]
        for origin, here in arriving:
            pages.setdefault(origin, []).extend(here)
            places.add(origin)


def taken_away(wiki: Wiki, versions_of: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """Where in the wiki versions stood that some changes took away, and all that stood there of these pages before.

    `versions_of`: change id → blobs that the change took away. Another page at such a path, before or since, is none
    of them; where the project had another name then, the path is the one of then. Commits are walked once.
    """
    found: dict[str, set[str]] = {}
    followed: set[str] = set()
    places = Places(())
    for commit in wiki.first_parents(wiki.head()):
        parent, note = wiki.parent(commit), wiki.note(commit)
        for one in list(wiki.differences_at(places, parent, commit)) if followed else ():
            if one.git_path not in followed:
                continue
            if one.new is not None:
                found.setdefault(one.git_path, set()).add(one.new)
            if one.old is None:
                followed.discard(one.git_path)
                origin = _Gone(wiki, parent, note).moved_to(one.git_path, one.new) if one.new is not None else None
                if origin is not None:
                    followed.add(origin)
                    places.add(origin)
        wanted = versions_of.get(note.trailers.get("Change-Id", ""))
        for one in wiki.differences(parent, commit) if wanted else ():
            if wanted and one.old in wanted and one.old is not None:
                found.setdefault(one.git_path, set()).add(one.old)
                followed.add(one.git_path)
                places.add(one.git_path)
    return found


def deleted(wiki: Wiki, folder: str = "") -> dict[PageRef, str]:
    """Pages below a folder that were deleted and are not there again, each with the blob that it held last.

    Those that were moved elsewhere are none of them.
    """
    head, prefix = wiki.head(), f"{folder}/" if folder else ""
    found: dict[PageRef, str] = {}
    for commit in wiki.first_parents(head):
        parent = wiki.parent(commit)
        if parent is None or (folder and wiki.entry_at(parent, folder) == wiki.entry_at(commit, folder)):
            continue
        differences = list(wiki.differences(parent, commit))
        below = {one.git_path: one.old for one in differences if one.git_path.startswith(prefix) and one.new is None}
        if not below:
            continue
        gone = _Gone(wiki, parent, wiki.note(commit))
        moved = {gone.moved_to(one.git_path, one.new) for one in differences if one.old is None and one.new is not None}
        for path, blob in below.items():
            ref = page_ref(path)
            if ref is not None and blob is not None and path not in moved and wiki.blob_at(head, path) is None:
                found.setdefault(ref, blob)
    return found


def former_places(wiki: Wiki, workspace: str, project: str) -> set[Place]:
    """The project's names and workspaces, those of before too, and those of projects that were joined with it."""
    head = wiki.head()
    found = {(workspace, project)}
    for commit in wiki.first_parents(head):
        for old, new in _moves(wiki.note(commit)):
            # Where it is there after that, sessions alone were moved; where it is there now, it is another one.
            if new in found and not any(wiki.blob_at(one, meta_path(*old)) for one in (commit, head)):
                found.add(old)
    return found


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


class _Gone:
    """Pages that a commit took away, looked for once."""

    def __init__(self, wiki: Wiki, parent: str | None, note: CommitNote) -> None:
        self._note = note
        self._paths: set[str] = set()
        self._by_blob: dict[str, str] = {}
        for one in wiki.differences(parent, note.id) if parent is not None else ():
            if one.new is None and one.old is not None and page_ref(one.git_path) is not None:
                self._paths.add(one.git_path)
                self._by_blob.setdefault(one.old, one.git_path)

    def moved_to(self, git_path: str, blob: str) -> str | None:
        """Path of the page that this commit moved there: named by its trailer, or the one that held the same text."""
        for origin in (_in_former_project(git_path, self._note), self._note.trailers.get("Moved-From")):
            if origin in self._paths:
                return origin
        return self._by_blob.get(blob)


def _in_former_project(git_path: str, note: CommitNote) -> str:
    """The path that the file had before this commit moved its project; empty for one that did not."""
    for old, new in _moves(note):
        folder = f"{'/'.join(new)}/"
        if git_path.startswith(folder):
            return f"{'/'.join(old)}/{git_path.removeprefix(folder)}"
    return ""


def _moves(note: CommitNote) -> Iterator[tuple[Place, Place]]:
    """From which project to which one a commit moved pages."""
    for pair in note.trailers.get(MOVED_PROJECTS, "").split(", "):
        old, _, new = (tuple(label.split("/")) for label in pair.partition(" to "))
        if len(old) == len(new) == 2:
            yield (old[0], old[1]), (new[0], new[1])


def _version(note: CommitNote, version: str | None, path: PageRef, change: ChangeKind) -> PageVersion:
    return PageVersion(version, note.id, note.at_us, note.author, note.message, path, change, dict(note.trailers))
