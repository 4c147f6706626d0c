"""What people changed in the wiki by hand, taken as a commit of their own (decision A6).

An unreadable file or folder is never taken for a deleted one, a file that is missing once may come back, and a mass
disappearance asks first.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ai_memory.errors import MemoryFault
from ai_memory.model import PageRef
from ai_memory.store.addresses import META_NAME, PageFolder, folder_of, is_ours, is_utf8, page_ref
from ai_memory.store.pending import PathChange
from ai_memory.store.wiki import Wiki
from ai_memory.store.worktree import Look, has_conflict_markers
from ai_memory.text import names

SECOND_LOOK_US = 5_000_000
"""A file counts as deleted when it was missing in two looks this far apart."""

MASS_PAGES = 10
MASS_SHARE = 0.2
"""More missing pages than the larger of the two are not believed without asking."""


@dataclass(frozen=True, slots=True)
class Edits:
    """What a look at the work tree found to differ from the branch."""

    paths: Mapping[str, PathChange] = field(default_factory=dict)
    vanished: Mapping[str, int] = field(default_factory=dict)
    """Files missing for the first time, with the time of that look."""
    asked: tuple[str, ...] = ()
    """What a person must decide, one sentence each."""
    skipped: tuple[str, ...] = ()
    """What was left alone, with the reason."""


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
    changes = _changed(look, committed, skipped, read)
    _leave_purged(changes, look, committed, skipped, purged)
    missing = [path for path in committed if path not in look.blobs and _is_believable(path, look)]
    arrived = {look.blobs[path] for path in changes if path not in committed}
    gone = [path for path in missing if committed[path] not in arrived]
    asked: list[str] = []
    vanished: dict[str, int] = {}
    if len(gone) >= max(MASS_PAGES, MASS_SHARE * len(committed)):
        asked.append(
            f"{len(gone)} of {len(committed)} pages are gone from the wiki folder. Nothing was deleted. If you meant"
            " it, commit it yourself with git; if not, `git checkout -- .` in the wiki brings them back."
        )
        missing = [path for path in missing if committed[path] in arrived]
    for path in missing:
        first_us = seen_missing.get(path)
        is_second_look = first_us is not None and now_us - first_us >= SECOND_LOOK_US
        if is_second_look or committed[path] in arrived:
            changes[path] = PathChange(committed[path], None, is_adopted=True)
        else:
            vanished[path] = first_us if first_us is not None and first_us <= now_us else now_us
    reasons = tuple(f"{path or 'wiki'}: {reason}" for path, reason in sorted(skipped.items()))
    return Edits(changes, vanished, tuple(asked), reasons)


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


def _changed(
    look: Look, committed: Mapping[str, str], skipped: dict[str, str], read: Callable[[str], bytes]
) -> dict[str, PathChange]:
    changes: dict[str, PathChange] = {}
    keys: dict[str, str] | None = None
    for path, blob in sorted(look.blobs.items()):
        if committed.get(path) == blob:
            continue
        content = look.contents[path] if path in look.contents else read(path)
        keys = keys if keys is not None else {names.path_key(known): known for known in committed}
        reason = _refusal(path, content) or _collision(path, keys, committed)
        if reason:
            skipped[path] = reason
            continue
        keys[names.path_key(path)] = path
        changes[path] = PathChange(committed.get(path), content, is_adopted=True)
    return changes


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


def _refusal(path: str, content: bytes) -> str:
    """Why a file by hand is left alone, or ""."""
    if has_conflict_markers(content):
        return "git left conflict markers in it; solve them"
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


def _is_believable(path: str, look: Look) -> bool:
    """Whether a missing file may be a deleted one: its folders were readable and no sync client holds it."""
    if path in look.skipped or path in look.placeholders:
        return False
    folder = folder_of(path)
    while folder:
        if folder in look.skipped:
            return False
        folder = folder_of(folder)
    return "" not in look.skipped
