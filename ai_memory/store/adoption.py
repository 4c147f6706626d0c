"""What people changed in the wiki by hand, taken as a commit of their own (decision A6).

An unreadable file or folder is never taken for a deleted one, a file that is missing once may come back, and a mass
disappearance asks first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from enum import Enum, auto

from ai_memory.errors import MemoryFault
from ai_memory.model import PageRef
from ai_memory.paths import DataDir
from ai_memory.store import driver, state
from ai_memory.store.addresses import META_NAME, PageFolder, folder_of, is_ours, is_utf8, page_ref
from ai_memory.store.gitindex import GitIndex
from ai_memory.store.pending import PathChange
from ai_memory.store.wiki import Wiki
from ai_memory.store.worktree import Look, WorkTree, has_conflict_markers
from ai_memory.text import names
from ai_memory.text.sync_copies import copied_from, is_nearly_the_same, is_temporary, numbered_from

SECOND_LOOK_US = 5_000_000
"""A file counts as deleted when it was missing in two looks this far apart."""

MASS_PAGES = 10
MASS_SHARE = 0.2
"""More missing pages than the larger of the two are not believed without asking."""

NAMED = 5
"""Copies, or files with conflict markers, that are named; of more only the number is told."""


class Kind(Enum):
    """What a person must decide about."""

    COPY = auto()
    MARKERS = auto()
    GONE = auto()


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that a person must decide: what was found, and what to do about it."""

    kind: Kind
    found: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.found}: {self.remedy}"


@dataclass(frozen=True, slots=True)
class Edits:
    """What a look at the work tree found to differ from the branch."""

    paths: Mapping[str, PathChange] = field(default_factory=dict)
    vanished: Mapping[str, int] = field(default_factory=dict)
    """Files missing for the first time, with the time of that look."""
    questions: tuple[Question, ...] = ()
    skipped: tuple[str, ...] = ()
    """What was left alone, with the reason."""
    elsewhere: int = 0
    """Files and folders that a sync program holds elsewhere: their pages stay as they were."""

    @property
    def asked(self) -> tuple[str, ...]:
        """What a person must decide, one sentence each."""
        return tuple(map(str, self.questions))

    @property
    def left(self) -> tuple[str, ...]:
        """What was left alone, and how much could not be seen."""
        if not self.elsewhere:
            return self.skipped
        files = "1 file" if self.elsewhere == 1 else f"{self.elsewhere} files"
        return (*self.skipped, f"{files} of the wiki lie elsewhere, with a sync program: their pages stay as they were")


@dataclass(frozen=True, slots=True)
class Adopted:
    """What was taken as a commit of its own. `commit` is None when nobody had changed anything."""

    commit: str | None = None
    created: tuple[PageRef, ...] = ()
    changed: tuple[PageRef, ...] = ()
    deleted: tuple[PageRef, ...] = ()
    asked: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    waiting: int = 0
    """Missing files that a second look shall confirm."""
    is_overtaken: bool = False
    """A file was saved once more since the look."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left that another look would find."""
        return not (self.asked or self.skipped or self.waiting or self.is_overtaken)


def find_edits(
    wiki: Wiki,
    head: str | None,
    look: Look,
    *,
    read: Callable[[str], bytes],
    seen_missing: Mapping[str, int],
    now_us: int,
    is_everything: bool,
    purged: Callable[[Iterable[str]], set[str]],
) -> Edits:
    """Compare what was looked at with `head`. `read` gives the bytes of a file that git's index knew, `purged` those
    of some blobs that a purged page held."""
    committed = _committed(wiki, head, look, is_everything=is_everything)
    skipped = dict(look.skipped)
    taken = _changed(look, committed, skipped, read)
    changes = taken.changes
    _leave_purged(changes, look, committed, skipped, purged)
    held = look.placeholders | set(taken.copies.values())
    missing = [path for path in committed if path not in look.blobs]
    unseen = {path for path in missing if not _is_believable(path, look, held)}
    missing = [path for path in missing if path not in unseen]
    arrived = {look.blobs[path] for path in changes if path not in committed}
    gone = [path for path in missing if committed[path] not in arrived]
    questions = [*_about_copies(taken.copies), *_about_markers(taken.marked)]
    vanished: dict[str, int] = {}
    if len(gone) >= max(MASS_PAGES, MASS_SHARE * (len(committed) - len(unseen))):
        questions.insert(0, _about_gone(len(gone), len(committed)))
        missing = [path for path in missing if committed[path] in arrived]
    for path in missing:
        first_us = seen_missing.get(path)
        is_second_look = first_us is not None and now_us - first_us >= SECOND_LOOK_US
        if is_second_look or committed[path] in arrived:
            changes[path] = PathChange(committed[path], None, is_adopted=True)
        else:
            vanished[path] = first_us if first_us is not None and first_us <= now_us else now_us
    reasons = tuple(f"{path or 'wiki'}: {reason}" for path, reason in sorted(skipped.items()))
    return Edits(changes, vanished, tuple(questions), reasons, len(look.placeholders))


def unnamed_projects(wiki: Wiki, head: str | None) -> Iterator[tuple[str, str]]:
    """Workspace and name of what has pages on the branch and no `_meta.md`, as a person's git commits or pulls it.

    Without one no list shows it, and nothing can give it another name.
    """
    for workspace in wiki.folder(head, ""):
        for project in wiki.folder(head, workspace.decode("utf-8", "surrogateescape")):
            place = b"/".join((workspace, project)).decode("utf-8", "surrogateescape")
            if wiki.blob_at(head, f"{place}/{META_NAME}") is not None:
                continue
            pages = (ref for path in wiki.files_below(head, place) if (ref := page_ref(path)) is not None)
            first = next(pages, None)
            if first is not None and not _refusal(first.git_path):
                yield first.workspace, first.project


def edits_now(data_dir: DataDir, wiki: Wiki, *, now_us: int) -> Edits:
    """What the whole work tree holds that the branch does not, for telling it: nothing is taken, no lock needed."""
    tree = WorkTree(data_dir.wiki, GitIndex.read(data_dir.git))
    return find_edits(
        wiki,
        wiki.head(),
        tree.look_everywhere(),
        read=tree.read,
        seen_missing={},
        now_us=now_us,
        is_everything=True,
        purged=lambda blobs: purged_blobs(data_dir, blobs),
    )


def purged_blobs(data_dir: DataDir, blobs: Iterable[str]) -> set[str]:
    """Those that a purged page held; none where `state.db` cannot be read: pages can be written all the same."""
    path = data_dir.state
    if path.exists():
        with suppress(*driver.FAULTS), closing(driver.connect(path, mode="ro")) as connection:
            return state.purged_pages(connection, blobs)
    return set()


def _about_gone(gone: int, pages: int) -> Question:
    return Question(
        Kind.GONE,
        f"{gone} of {pages} pages are gone from the wiki folder. Nothing was deleted",
        "if you meant it, commit it yourself with git; if not, `git checkout -- .` in the wiki brings them back",
    )


def _about_copies(copies: Mapping[str, str]) -> list[Question]:
    remedy = "take over what its original lacks, then remove it; under another name it becomes a page"
    return _named(
        Kind.COPY,
        [f"{copy} is what a sync program kept beside {original} and no page" for copy, original in copies.items()],
        f"{len(copies)} files or folders are what a sync program kept beside their originals and no pages",
        remedy,
    )


def _about_markers(paths: Iterable[str]) -> list[Question]:
    marked = list(paths)
    return _named(
        Kind.MARKERS,
        [f"{path} was not taken, since git left conflict markers in it" for path in marked],
        f"{len(marked)} files were not taken, since git left conflict markers in them",
        "solve them",
    )


def _named(kind: Kind, each: list[str], all_of_them: str, remedy: str) -> list[Question]:
    """A question for each, or one for so many that nobody reads them all."""
    found = each if len(each) <= NAMED else [f"{all_of_them}, the first: {each[0]}"]
    return [Question(kind, one, remedy) for one in found]


def _committed(wiki: Wiki, head: str | None, look: Look, *, is_everything: bool) -> dict[str, str]:
    """Blobs of our files at `head`, in the folders that the look covers."""
    if is_everything:
        return {path: blob for path, blob in wiki.files(head) if is_ours(path)}
    found: dict[str, str] = {}
    for folder in look.folders:
        ours = PageFolder(folder)
        for entry, (mode, blob) in wiki.folder(head, folder).items():
            name = entry.decode("utf-8", "surrogateescape")
            if mode & 0o170000 == 0o100000 and ours.takes(name) and is_utf8(name):
                found[f"{folder}/{name}"] = blob
    return found


@dataclass(slots=True)
class _Taken:
    """Files that differ from the branch: what is taken, and what a person must look at first."""

    changes: dict[str, PathChange] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    """Copies after a conflict, with what each is a copy of."""
    marked: list[str] = field(default_factory=list)
    """Files with git's conflict markers."""


def _changed(look: Look, committed: Mapping[str, str], skipped: dict[str, str], read: Callable[[str], bytes]) -> _Taken:
    taken = _Taken()
    keys: dict[str, str] | None = None
    for path, blob in sorted(look.blobs.items()):
        if committed.get(path) == blob:
            continue
        if path not in committed and is_temporary(path.rpartition("/")[2]):
            continue
        content = look.contents[path] if path in look.contents else read(path)
        copy = None if path in committed else _copy(path, content, look, read)
        if copy is not None:
            taken.copies[copy[0]] = copy[1]
            continue
        if has_conflict_markers(content):
            taken.marked.append(path)
            continue
        keys = keys if keys is not None else {names.path_key(known): known for known in committed}
        reason = _refusal(path) or _collision(path, keys, committed)
        if reason:
            skipped[path] = reason
            continue
        keys[names.path_key(path)] = path
        taken.changes[path] = PathChange(committed.get(path), content, is_adopted=True)
    return taken


def _copy(path: str, content: bytes, look: Look, read: Callable[[str], bytes]) -> tuple[str, str] | None:
    """What of a new file's path is a copy that a sync program made, and of what; None: the file is a person's own."""
    copied = copied_from(path)
    if copied is not None:
        return copied
    original = numbered_from(path)
    if original is None or original not in look.blobs:
        return None
    beside = look.contents[original] if original in look.contents else read(original)
    return (path, original) if is_nearly_the_same(content, beside) else None


def _leave_purged(
    changes: dict[str, PathChange],
    look: Look,
    committed: Mapping[str, str],
    skipped: dict[str, str],
    purged: Callable[[Iterable[str]], set[str]],
) -> None:
    """Take out files that came back from an old copy of the wiki: what was purged is written again only on purpose."""
    kept = set(committed.values())
    arrived = {path: look.blobs[path] for path in changes if path not in committed and look.blobs[path] not in kept}
    back = purged(arrived.values()) if arrived else set()
    for path, blob in arrived.items():
        if blob in back:
            del changes[path]
            skipped[path] = "it holds a page that was purged; remove it, or write it anew with `ai-memory write-page`"


def _refusal(path: str) -> str:
    """Why a file of that path is left alone, or ""."""
    workspace, project, rest = path.split("/", 2)
    try:
        names.check_name(workspace, what="workspace")
        names.check_name(project)
        if rest != META_NAME and page_ref(path) is not None:
            names.check_page_path(rest)
    except MemoryFault as fault:
        return fault.message
    return ""


def _collision(path: str, keys: Mapping[str, str], committed: Mapping[str, str]) -> str:
    other = keys.get(names.path_key(path))
    if other is None or other == path or path in committed:
        return ""
    return f"differs from {other} only by case or Unicode form; rename one of them"


def _is_believable(path: str, look: Look, held: set[str]) -> bool:
    """Whether a missing file may be a deleted one: its folders were readable and no sync client holds it."""
    if path in look.skipped or path in held:
        return False
    folder = folder_of(path)
    while folder:
        if folder in look.skipped or folder in held:
            return False
        folder = folder_of(folder)
    return "" not in look.skipped
