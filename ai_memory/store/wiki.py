"""The wiki's git repository, through dulwich's object API: blobs, trees, commits, the branch.

Nothing here looks at the work tree or at git's index. Trees are edited as objects: staging cost 160 ms at 2,000 pages
where this costs 11 (2026-11-30).
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path

from dulwich.config import ConfigFile, StackedConfig
from dulwich.object_store import DiskObjectStore
from dulwich.objects import Blob, Commit, ObjectID, Tree, parse_tree
from dulwich.repo import Repo

from ai_memory.clock import within_calendar
from ai_memory.errors import StoreFault
from ai_memory.model import MACHINE, Author, Sanitized
from ai_memory.store import gitlock
from ai_memory.store.filesystem import sync_below, sync_folder, sync_together
from ai_memory.store.head import BRANCH, OWN_BRANCH_LOCK, read_head
from ai_memory.store.objects import ObjectWriter, TreeRow, clear_temporary, loose_object, spliced_tree
from ai_memory.store.packing import pack_loose
from ai_memory.text.sanitize import sanitize_line

PACK_ABOVE = 2_000
"""Loose objects above which `pack` is worth its while (decision A7)."""

_KINDS = {b"blob": Blob.type_num, b"tree": Tree.type_num, b"commit": Commit.type_num}
_REGULAR = stat.S_IFREG | 0o644
_TREE_CACHE = 4_096
_COMMIT_CACHE = 16
_ROWS_CACHE = 64
_FEW = 4
"""So many entries of a tree are sought without an index of all the others: that costs 8 ms for 10,000."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between two commits; `old` or `new` is None where the file is not there."""

    git_path: str
    old: str | None
    new: str | None


class Places:
    """Git paths by the folders that they lie in: a walk takes those ways only."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._names: dict[str, set[bytes]] = {}
        for path in paths:
            self.add(path)

    def add(self, git_path: str) -> None:
        prefix = ""
        for name in git_path.split("/"):
            self._names.setdefault(prefix, set()).add(name.encode("utf-8", "surrogateescape"))
            prefix += f"{name}/"

    def names_in(self, prefix: str) -> set[bytes]:
        """Of files and folders; the prefix is empty or ends with a slash."""
        return self._names.get(prefix, set())


@dataclass(frozen=True, slots=True)
class CommitNote:
    """What a commit says of itself."""

    id: str
    at_us: int
    author: str
    message: str
    """First line."""
    trailers: Mapping[str, str] = field(default_factory=dict)


class Wiki:
    """One repository. Open one a command; close it at the end."""

    def __init__(self, git: Path) -> None:
        self._git = git
        self._store = DiskObjectStore(git / "objects")  # a `Repo` parses the settings first: 1 ms a write
        self._unsynced: list[Path] = []
        """Folders with names of new objects, until the branch is to lead there."""
        self._tree = lru_cache(_TREE_CACHE)(self._read_tree)
        self._rows = lru_cache(_ROWS_CACHE)(self._read_rows)
        self._entry = lru_cache(_TREE_CACHE)(self._find_entry)
        self._commit = lru_cache(_COMMIT_CACHE)(self._read_commit)

    @classmethod
    def create(cls, folder: Path) -> None:
        """Make an empty repository at `folder` whose HEAD is `main`.

        Crash: it is made beside and renamed into place, so a half one is never found; run again.
        """
        if (folder / ".git").exists():
            return
        cradle = folder / ".birth"
        shutil.rmtree(cradle, ignore_errors=True)
        cradle.mkdir(mode=0o700)
        repo = Repo.init(str(cradle), default_branch=b"main")
        config = repo.get_config()
        config.set((b"core",), b"autocrlf", b"false")
        config.set((b"core",), b"quotepath", b"false")
        config.set((b"gc",), b"auto", b"0")  # packing is ours: git's would run beside our writers
        config.write_to_path()
        repo.close()
        sync_below(cradle)
        (cradle / ".git").rename(folder / ".git")
        cradle.rmdir()
        sync_folder(folder)

    def close(self) -> None:
        self._store.close()

    def clear_temporary(self) -> None:
        """Remove objects that a killed writer left half written. Call under the writer lock."""
        clear_temporary(self._git / "objects")

    # --- reading ---

    def head(self) -> str | None:
        return read_head(self._git)

    def blob(self, blob: str) -> bytes:
        """Content of a blob. Raises StoreFault when the object is missing or damaged."""
        kind, content = self._raw(blob)
        if kind != Blob.type_num:
            raise StoreFault(f"{blob} is not a file.")
        return content

    def blob_at(self, commit: str | None, git_path: str) -> str | None:
        """Blob id of a regular file at `commit`, or None."""
        found = self.entry_at(commit, git_path)
        return found[1] if found is not None and stat.S_ISREG(found[0]) else None

    def entry_at(self, commit: str | None, git_path: str) -> tuple[int, str] | None:
        """Mode and id of whatever stands at the path, or None."""
        if commit is None:
            return None
        *folders, name = git_path.encode("utf-8", "surrogateescape").split(b"/")
        tree = self.tree_of(commit)
        for folder in folders:
            entry = self._entry(tree, folder)
            if entry is None or not stat.S_ISDIR(entry[0]):
                return None
            tree = entry[1]
        return self._entry(tree, name)

    def folder(self, commit: str | None, folder: str) -> Mapping[bytes, tuple[int, str]]:
        """Names in a folder with their mode and id; empty when it is not there. "" is the root."""
        if commit is None:
            return {}
        if not folder:
            return self._tree(self.tree_of(commit))
        entry = self.entry_at(commit, folder)
        return self._tree(entry[1]) if entry is not None and stat.S_ISDIR(entry[0]) else {}

    def folder_rows(self, commit: str | None, folder: str) -> list[TreeRow]:
        """The same in the tree's own order, without an index of the names."""
        if not folder:
            return self._rows(self.tree_of(commit))[1] if commit is not None else []
        entry = self.entry_at(commit, folder)
        return self._rows(entry[1])[1] if entry is not None and stat.S_ISDIR(entry[0]) else []

    def raw_tree(self, tree: str) -> tuple[bytes, list[TreeRow]]:
        """The bytes of a tree and its entries, by its own id."""
        return self._rows(tree)

    def files(self, commit: str | None) -> Iterator[tuple[str, str]]:
        """All regular files of a commit as (git path, blob), in the order of the trees."""
        if commit is None:
            return
        for difference in self._walk("", None, self.tree_of(commit)):
            if difference.new is not None:
                yield difference.git_path, difference.new

    def files_below(self, commit: str | None, folder: str) -> Iterator[str]:
        """Git paths of all regular files below a folder."""
        entry = self.entry_at(commit, folder)
        if entry is not None and stat.S_ISDIR(entry[0]):
            for difference in self._walk(f"{folder}/", None, entry[1]):
                yield difference.git_path

    def differences(self, old: str | None, new: str | None) -> Iterator[Difference]:
        """Regular files that differ between two commits; reads only the trees that differ."""
        return self._walk("", self.tree_of(old) if old else None, self.tree_of(new) if new else None)

    def differences_at(self, places: Places, old: str | None, new: str | None) -> Iterator[Difference]:
        """The same at these places alone; reads only folders on the way to them that differ."""
        return self._walk("", self.tree_of(old) if old else None, self.tree_of(new) if new else None, places)

    def has(self, object_id: str) -> bool:
        return ObjectID(object_id.encode()) in self._store

    def tree_of(self, commit: str) -> str:
        tree: str = self._commit(commit).tree.decode()
        return tree

    def note(self, commit: str) -> CommitNote:
        return _note(commit, self._commit(commit))

    def first_parents(self, commit: str | None) -> Iterator[str]:
        """`commit` and its first parents, back to the beginning."""
        while commit is not None:
            yield commit
            parents = self._commit(commit).parents
            commit = parents[0].decode() if parents else None

    def parent(self, commit: str) -> str | None:
        return next(iter(self.parents(commit)), None)

    def parents(self, commit: str) -> list[str]:
        """All parents, of a merge more than one."""
        return [parent.decode() for parent in self._commit(commit).parents]

    def is_ancestor(self, old: str, new: str, *, limit: int = 10_000) -> bool:
        """Whether `old` is among the last `limit` first parents of `new`."""
        return any(commit == old for commit, _ in zip(self.first_parents(new), range(limit), strict=False))

    def changed_times(self, head: str | None, *, since: str | None = None, wanted: int | None = None) -> dict[str, int]:
        """Per path the time (µs) of the newest commit that touched it, over first parents from `head` back to `since`.

        Stops early once `wanted` paths that live at `head` were seen.
        """
        times: dict[str, int] = {}
        missing = wanted if wanted is not None else -1
        for commit in self.first_parents(head):
            if commit == since or missing == 0:
                break
            at_us = within_calendar(int(self._commit(commit).commit_time) * 1_000_000)
            for difference in self.differences(self.parent(commit), commit):
                if difference.git_path not in times:
                    times[difference.git_path] = at_us
                    missing -= difference.new is not None
        return times

    # --- writing ---

    def write_commit(
        self,
        parent: str | None,
        changes: Mapping[str, bytes | None],
        *,
        message: str,
        author: Author,
        at_us: int,
        beside: Iterable[Path] = (),
    ) -> str:
        """Store blobs, trees and a commit; the branch stays. Same input, same id.

        Their bytes are synced, together with the files and folders `beside`; their names are by `swap_branch`.
        Crash: safe at any point, objects that nothing points to are left.
        """
        writer = ObjectWriter(self._git / "objects", is_stored=self._is_loose)
        edits: dict[bytes, tuple[int, str] | None] = {
            path.encode(): None if content is None else (_REGULAR, writer.add(b"blob", content))
            for path, content in changes.items()
        }
        tree = self._edited_tree(self.tree_of(parent) if parent else None, edits, writer) or writer.add(b"tree", b"")
        commit = Commit()
        commit.tree = ObjectID(tree.encode())
        commit.parents = [ObjectID(parent.encode())] if parent else []
        commit.author = f"{author.name} <{author.email}>".encode()
        commit.committer = f"{MACHINE.name} <{MACHINE.email}>".encode()
        commit.author_time = commit.commit_time = at_us // 1_000_000
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = message.encode()
        made = writer.add(b"commit", commit.as_raw_string())
        self._unsynced += writer.name(beside=beside)
        return made

    def commit_bytes(self, object_id: str) -> bytes | None:
        """The whole text of a commit; None for another kind of object."""
        kind, content = self._raw(object_id)
        return content if kind == Commit.type_num else None

    @property
    def store(self) -> DiskObjectStore:
        """Where objects lie, for packing them."""
        return self._store

    def swap_branch(self, old: str | None, new: str) -> bool:
        """Move `main` from `old` to `new`; False when it points elsewhere by now.

        Durable once `branch_folder` is synced.
        """
        with self.branch_held() as swap:
            return swap(old, new)

    @contextmanager
    def branch_held(self) -> Iterator[Callable[[str | None, str], bool]]:
        """Nobody else moves `main` within the block, which gets what `swap_branch` does.

        Not by dulwich: a writer killed there left a `main.lock` that stopped every later one.
        """
        branch = self._git / BRANCH
        branch.parent.mkdir(parents=True, exist_ok=True)

        def written(lock: Path) -> None:
            sync_together([lock, *self._unsynced])  # no branch leads to what a power cut may take
            self._unsynced.clear()

        with gitlock.locked(branch, self._git / OWN_BRANCH_LOCK, written=written) as put:

            def swap(old: str | None, new: str) -> bool:
                if self.head() != old:
                    return False
                put(f"{new}\n".encode())
                return True

            yield swap

    @property
    def branch_folder(self) -> Path:
        """Where the branch's file lies: sync it after `swap_branch`."""
        return (self._git / BRANCH).parent

    def loose_objects(self) -> int:
        """About how many loose objects there are: one of the 256 folders is counted, as git does."""
        try:
            return len(os.listdir(self._git / "objects" / "17")) * 256  # noqa: PTH208
        except OSError:
            return 0

    def pack(self) -> int:
        """Put all loose objects into one pack; gives their number. Call under the lock; safe to kill."""
        return pack_loose(self._store, self._git / "objects")

    def person(self) -> Author | None:
        """The git identity that this machine's person configured, or None. Raises StoreFault for broken settings."""
        try:
            files = StackedConfig.default_backends()
            with suppress(FileNotFoundError):
                files.insert(0, ConfigFile.from_path(self._git / "config"))
        except ValueError as fault:
            raise StoreFault(
                f"Git's settings cannot be read: {fault}.", hint="`git config --list --show-origin` names the line."
            ) from fault
        config = StackedConfig(files)
        try:
            name, email = config.get((b"user",), b"name"), config.get((b"user",), b"email")
        except KeyError:
            return None
        return Author(_clean(name), _clean(email))

    # --- inside ---

    def _is_loose(self, object_id: str) -> bool:
        """One that lies in a pack alone is written again: every write asks for six, and nearly all are new."""
        return os.path.exists(f"{self._git}/objects/{object_id[:2]}/{object_id[2:]}")  # noqa: PTH110 (as above)

    def _raw(self, object_id: str) -> tuple[int, bytes]:
        loose = loose_object(self._git, object_id)
        if loose is not None and loose[0] in _KINDS:
            return _KINDS[loose[0]], loose[1]
        try:
            kind, content = self._store.get_raw(ObjectID(object_id.encode()))
        # No list holds: for packs damaged at random dulwich let zlib.error, struct.error, AssertionError, KeyError,
        # ValueError, TypeError, OverflowError and a kind of its own through, which have no other base (2026-11-30).
        except Exception as fault:
            raise StoreFault(
                f"Object {object_id} of the wiki is missing or damaged.",
                hint=f"Run `git -C {self._git.parent} fsck`, then fetch it from a clone or restore a backup.",
            ) from fault
        return int(kind), bytes(content)

    def _read_tree(self, tree: str) -> Mapping[bytes, tuple[int, str]]:
        return {name: (mode, made.decode()) for name, mode, made in self._rows(tree)[1]}

    def _read_rows(self, tree: str) -> tuple[bytes, list[TreeRow]]:
        """The bytes of a tree and its entries in their order. Raises StoreFault for what is no tree."""
        kind, content = self._raw(tree)
        if kind != Tree.type_num:
            raise StoreFault(f"{tree} is not a folder.")
        return content, list(parse_tree(content, 20))

    def _find_entry(self, tree: str, wanted: bytes) -> tuple[int, str] | None:
        """One entry of a tree, without an index of all the others."""
        return next(((mode, made.decode()) for name, mode, made in self._rows(tree)[1] if name == wanted), None)

    def _read_commit(self, commit: str) -> Commit:
        kind, content = self._raw(commit)
        found = Commit.from_raw_string(kind, content)
        if not isinstance(found, Commit):
            raise StoreFault(f"{commit} is not a commit.")
        return found

    def _edited_tree(
        self, tree: str | None, edits: Mapping[bytes, tuple[int, str] | None], writer: ObjectWriter
    ) -> str | None:
        """The tree with entries set or taken out (None), written; None when nothing is left in it.

        Only the trees on the way are read and written, each once.
        """
        raw, rows = self._rows(tree) if tree else (b"", [])
        changes: dict[bytes, tuple[int, str] | None] = {}
        below: dict[bytes, dict[bytes, tuple[int, str] | None]] = {}
        for path, entry in edits.items():
            name, slash, rest = path.partition(b"/")
            if slash:
                below.setdefault(name, {})[rest] = entry
            else:
                changes[name] = entry
        for name, inner in below.items():
            mode, child = changes.get(name) or (self._entry(tree, name) if tree else None) or (0, "")
            kept = self._edited_tree(child if stat.S_ISDIR(mode) else None, inner, writer)
            if kept is not None:
                changes[name] = (stat.S_IFDIR, kept)
            elif stat.S_ISDIR(mode):
                changes[name] = None
        edited = spliced_tree(raw, rows, changes)
        return writer.add(b"tree", edited) if edited else None

    def _walk(
        self, prefix: str, old: str | None, new: str | None, places: Places | None = None
    ) -> Iterator[Difference]:
        if old == new:
            return
        if places is None:
            names = {name for tree in (old, new) if tree for name in self._tree(tree)}
        else:
            names = places.names_in(prefix)
        was_of, now_of = self._finder(old, len(names)), self._finder(new, len(names))
        for name in sorted(names):
            was, now = was_of(name), now_of(name)
            if was == now:
                continue
            path = prefix + name.decode("utf-8", "surrogateescape")
            old_tree = was[1] if was and stat.S_ISDIR(was[0]) else None
            new_tree = now[1] if now and stat.S_ISDIR(now[0]) else None
            if old_tree or new_tree:
                yield from self._walk(path + "/", old_tree, new_tree, places)
            old_blob = was[1] if was and stat.S_ISREG(was[0]) else None
            new_blob = now[1] if now and stat.S_ISREG(now[0]) else None
            if old_blob != new_blob:
                yield Difference(path, old_blob, new_blob)

    def _finder(self, tree: str | None, wanted: int) -> Callable[[bytes], tuple[int, str] | None]:
        """Entries of a tree by their names, for someone who wants so many."""
        if tree is None:
            return lambda _: None
        return partial(self._entry, tree) if wanted <= _FEW else self._tree(tree).get


def _clean(value: bytes) -> str:
    """A configured name without what would break a commit's header."""
    text = value.decode("utf-8", "replace")
    return "".join(c for c in text if c not in "<>\n\r\0").strip() or "unknown"


def compose_message(subject: str, trailers: Mapping[str, str]) -> Sanitized:
    """A commit message: one subject line, then `Key: value` trailers. The only maker of one; it sanitises each part."""
    lines = [sanitize_line(subject)[:200] or "Change pages", ""]
    lines += [f"{key}: {line}" for key, value in trailers.items() if (line := sanitize_line(value))]
    return Sanitized("\n".join(lines) + "\n")


def _note(commit_id: str, commit: Commit) -> CommitNote:
    text = commit.message.decode("utf-8", "replace")
    trailers: dict[str, str] = {}
    for line in reversed(text.rstrip("\n").split("\n")[1:]):
        key, colon, value = line.partition(": ")
        if not colon or not key or not key.replace("-", "").isalnum():
            break
        trailers[key] = value
    author = commit.author.decode("utf-8", "replace")
    at_us = within_calendar(int(commit.commit_time) * 1_000_000)
    return CommitNote(commit_id, at_us, author, text.split("\n", 1)[0], trailers)
