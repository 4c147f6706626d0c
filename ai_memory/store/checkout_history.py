"""What became of files in a person's checkout since a day, read through git's files. Nothing there is written, no
program is run.

Bounded: so many commits, so much time, so large a file. What a bound cut off is told as "at least".
"""

import heapq
import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.repo import Repo

from ai_memory.store.objects import loose_object

MOST_COMMITS = 2_000
LARGEST_FILE = 512 << 10
_TREES = 1_024
_ENTRIES = 8_192
_KINDS = {one.type_num: one.type_name for one in (Blob, Commit, Tree)}
_COMMITTER = re.compile(rb"^committer .*> (-?\d{1,12}) [+-]\d{4}$", re.MULTILINE)


class Since(NamedTuple):
    """One file, and the instant from which on it is looked at."""

    path: str
    at_us: int


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of one file."""

    commits: int
    is_exact: bool
    """Else there are at least so many: the look was cut short, or the clone is."""
    is_gone: bool
    """It was in the repository, and HEAD has it no longer."""
    before: bytes = b""
    """Its content then, where it changed since; empty where it cannot be told or is long."""


@dataclass(frozen=True, slots=True)
class Past:
    """What the commits since the earliest of those instants tell."""

    files: Mapping[Since, Changes]
    reverted: Mapping[str, str]
    """Commit id → the one that took it back, as its message says."""


class _Entry(NamedTuple):
    is_folder: bool
    id: ObjectID


class _Commit(NamedTuple):
    """What a walk must know of a commit."""

    id: ObjectID
    tree: ObjectID
    parents: tuple[ObjectID, ...]
    at_s: int
    message: bytes


def past_of(
    root: str,
    wanted: Collection[Since],
    *,
    within_s: float,
    most_commits: int = MOST_COMMITS,
    monotonic: Callable[[], float] = time.monotonic,
) -> Past:
    """What became of each file. Empty where no repository can be read. Never fails."""
    try:
        with Repo(str(Path(root))) as repo:
            return _Walk(repo, wanted, deadline=monotonic() + within_s, monotonic=monotonic).run(most_commits)
    except Exception:  # noqa: BLE001 (as in `checkout`)
        return Past({}, {})


class _Walk:
    """HEAD's history, newest commit first, back to the earliest instant that is asked for."""

    def __init__(
        self, repo: Repo, wanted: Collection[Since], *, deadline: float, monotonic: Callable[[], float]
    ) -> None:
        self._store = repo.object_store
        self._objects = Path(repo.commondir())
        self._head = repo.head()
        self._shallow = repo.get_shallow()
        self._deadline, self._monotonic = deadline, monotonic
        self._tree = lru_cache(_TREES)(self._read_tree)
        self._entry = lru_cache(_ENTRIES)(self._find_entry)
        self._open = sorted(set(wanted), key=lambda since: -since.at_us)
        self._counts = dict.fromkeys(self._open, 0)
        self._before: dict[Since, _Entry | None] = {}
        self._seen: dict[Since, _Entry] = {}
        """An earlier state of each that the walk met, the oldest last."""
        self._reverted: dict[str, str] = {}

    def run(self, most_commits: int) -> Past:
        start = self._commit(self._head)
        queue = [(-start.at_s, start.id)]
        met, is_whole = {start.id}, True
        while queue and self._open and is_whole:
            _, name = heapq.heappop(queue)
            commit = self._commit(name)
            self._settle(commit)
            if not self._open:
                break
            parents = [] if name in self._shallow else [self._commit(parent) for parent in commit.parents]
            is_whole = name not in self._shallow and self._monotonic() < self._deadline and len(met) < most_commits
            if name not in self._shallow:
                self._count(commit, parents)
            for parent in parents:
                if parent.id not in met:
                    met.add(parent.id)
                    heapq.heappush(queue, (-parent.at_s, parent.id))
        if is_whole:  # the beginning of the history: nothing was there before
            self._before |= dict.fromkeys(self._open)
        return Past({since: self._told(since, start) for since in self._counts}, self._reverted)

    def _settle(self, commit: _Commit) -> None:
        """Of those whose instant this commit does not follow, this is how they were."""
        at_us = commit.at_s * 1_000_000
        while self._open and at_us <= self._open[0].at_us:
            since = self._open.pop(0)
            self._before[since] = self._entry(commit.tree, since.path)

    def _count(self, commit: _Commit, parents: list[_Commit]) -> None:
        for since in self._open:
            own = self._entry(commit.tree, since.path)
            others = [self._entry(parent.tree, since.path) for parent in parents]
            if own not in (others or [None]):
                self._counts[since] += 1
            self._seen.update((since, other) for other in others if other is not None)
        _, told, rest = commit.message.partition(b"This reverts commit ")
        if told:
            self._reverted[rest[:40].decode("ascii", "replace").lower()] = commit.id.decode()

    def _told(self, since: Since, head: _Commit) -> Changes:
        is_exact = since in self._before
        before = self._before[since] if is_exact else self._seen.get(since)
        count = self._counts[since]
        is_gone = before is not None and self._entry(head.tree, since.path) is None
        return Changes(count, is_exact, is_gone, self._content(before) if count and is_exact else b"")

    def _content(self, entry: _Entry | None) -> bytes:
        kind, content = (b"", b"") if entry is None else self._raw(entry.id)
        return content if kind == Blob.type_name and len(content) <= LARGEST_FILE else b""

    def _raw(self, name: ObjectID) -> tuple[bytes, bytes]:
        loose = loose_object(self._objects, name.decode())
        if loose is not None:
            return loose
        number, content = self._store.get_raw(name)
        return _KINDS.get(number, b""), bytes(content)

    def _find_entry(self, tree: ObjectID, path: str) -> _Entry | None:
        """What stands at that path of a tree. Found in its bytes: entries made of all the others took half a walk."""
        *folders, name = path.encode("utf-8", "surrogateescape").split(b"/")
        for folder in folders:
            entry = _named(self._tree(tree), folder)
            if entry is None or not entry.is_folder:
                return None
            tree = entry.id
        return _named(self._tree(tree), name)

    def _read_tree(self, tree: ObjectID) -> bytes:
        kind, content = self._raw(tree)
        if kind != Tree.type_name:
            raise KeyError(tree)
        return content

    def _commit(self, name: ObjectID) -> _Commit:
        kind, content = self._raw(name)
        head, _, message = content.partition(b"\n\n")
        lines = [line.partition(b" ") for line in head.split(b"\n")]
        at = _COMMITTER.search(head)
        if kind != Commit.type_name or lines[0][0] != b"tree" or at is None:
            raise KeyError(name)
        parents = tuple(ObjectID(value) for key, _, value in lines if key == b"parent")
        return _Commit(name, ObjectID(lines[0][2]), parents, int(at[1]), message)


def _named(tree: bytes, name: bytes) -> _Entry | None:
    """The entry of that name: `MODE NAME\\0` and 20 bytes. What looks so inside of an id is passed by."""
    sought, at = b" %s\0" % name, -1
    while (at := tree.find(sought, at + 1)) >= 0:
        for mode, is_folder in ((b"100644", False), (b"40000", True), (b"100755", False), (b"120000", False)):
            if tree[max(0, at - len(mode)) : at] == mode:
                start = at + len(sought)
                return _Entry(is_folder, ObjectID(tree[start : start + 20].hex().encode()))
    return None
