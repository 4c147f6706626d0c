"""Keeping the index file at the commit that the branch points to: step by step, or anew."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ai_memory.errors import StoreFault
from ai_memory.paths import DataDir
from ai_memory.store import driver, index
from ai_memory.store.addresses import is_ours
from ai_memory.store.blobs import blob_id
from ai_memory.store.cached_vectors import take_cached_vectors
from ai_memory.store.driver import Connection
from ai_memory.store.index import IndexedFile, files_to_index
from ai_memory.store.wiki import Wiki

Progress = Callable[[int, int], None]
Step = Callable[[str], None]
T = TypeVar("T")

STEPWISE_FILES = 400
"""A difference of more files than this is not applied under the writer lock but by a rebuild beside it."""

_BATCH = 500
_CACHE_KIB = 32 * 1024
"""Holds what a batch of a rebuild changes, so that nothing is written twice."""
_OLD_SCHEMA_S = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a rebuild made."""

    pages: int
    chunks: int
    seconds: float


def no_progress(done: int, total: int) -> None:
    """Tells nobody."""


def building_path(data_dir: DataDir) -> Path:
    return data_dir.index.with_suffix(".building.db")


def _open(data_dir: DataDir) -> Connection | None:
    """A writing connection to an index that has its tables, or None when there is none. Call under the writer lock."""
    if not data_dir.index.exists():
        return None
    connection = driver.connect(data_dir.index)
    try:
        if index.is_ready(connection):
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()  # first: the last one to close removes the log by its name, and that may be a new one's
    discard(data_dir)
    return None


def discard(data_dir: DataDir) -> None:
    """Remove a damaged index with its side files; the next command makes a new one. Call under the writer lock."""
    driver.remove(data_dir.index)


class WriterIndex:
    """The index as one writer uses it, opened when it is first asked for: each last connection that closes costs SQLite
    four syncs. One that turns out damaged, at whatever question, is thrown away. Call under the writer lock.
    """

    def __init__(self, data_dir: DataDir) -> None:
        self._data_dir = data_dir
        self._connection: Connection | None = None
        self._is_new = False

    def ask(self, question: Callable[[Connection], T], *, otherwise: T) -> T:
        """What the index answers; `otherwise` where there is none that can."""
        try:
            connection = self._present()
            return otherwise if connection is None else question(connection)
        except driver.FAULTS as fault:
            if driver.is_damage(fault):
                self._discard()
            return otherwise

    def change(self, work: Callable[[Connection], T]) -> T:
        """Do that work on the index; on an empty one that knows no commit where there was none, or a damaged one.

        Raises StoreFault when the disk refuses it.
        """
        try:
            return self._changed(work)
        except (OSError, driver.DatabaseError, UnicodeDecodeError) as fault:
            raise not_built(self._data_dir, fault) from fault

    def _changed(self, work: Callable[[Connection], T]) -> T:
        try:
            return self._worked(work)
        except driver.FAULTS as fault:
            if not driver.is_damage(fault):
                raise
            self._discard()
        return self._worked(work)

    def _worked(self, work: Callable[[Connection], T]) -> T:
        made = work(self._created())
        if self._is_new and self._connection is not None:
            self._is_new = False
            take_cached_vectors(self._connection, self._data_dir)
        return made

    def _present(self) -> Connection | None:
        if self._connection is None:
            self._connection = _open(self._data_dir)
        return self._connection

    def _created(self) -> Connection:
        if self._present() is None:
            self._connection = _create(self._data_dir.index)
            self._is_new = True
        assert self._connection is not None
        return self._connection

    def _discard(self) -> None:
        self.close()
        discard(self._data_dir)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def follow(
    connection: Connection, wiki: Wiki, *, old: str | None, new: str, changed: Mapping[str, bytes | None]
) -> bool:
    """Take one commit over `old` into the index; False when the index was elsewhere and could not catch up cheaply.

    Call under the writer lock. Crash: one transaction, its head moves with the rows.
    """
    if index.head(connection) != old:
        return catch_up(connection, wiki, new)
    at_us = wiki.note(new).at_us
    files = [
        IndexedFile(path, None if content is None else blob_id(content), content, at_us)
        for path, content in sorted(changed.items())
    ]
    with driver.transaction(connection):
        index.put_files(connection, files)
        index.set_head(connection, new)
    return True


def catch_up(connection: Connection, wiki: Wiki, head: str | None) -> bool:
    """Bring the index to `head` by what differs; False when a rebuild is the cheaper or the only way."""
    at = index.head(connection)
    if at == head:
        return True
    if head is None:
        return False
    if at is None:
        return fill(connection, wiki, head)
    if not _has_commit(wiki, at) or not wiki.is_ancestor(at, head):
        return False
    differing = {d.git_path: d.new for d in islice(wiki.differences(at, head), STEPWISE_FILES + 1)}
    if len(differing) > STEPWISE_FILES:
        return False
    times = wiki.changed_times(head, since=at)
    # A page changed and changed back differs in nothing but its time.
    touched = {path: wiki.blob_at(head, path) for path in times if path not in differing}
    if len(touched) > STEPWISE_FILES:
        return False
    files = files_to_index(sorted({**differing, **touched}.items()), read=wiki.blob, times=times)
    with driver.transaction(connection):
        index.put_files(connection, files)
        index.set_head(connection, head)
    return True


def fill(connection: Connection, wiki: Wiki, head: str) -> bool:
    """Fill an empty index, if the wiki is small enough to do it while somebody waits."""
    present = list(islice(wiki.files(head), STEPWISE_FILES + 1))
    if len(present) > STEPWISE_FILES:
        return False
    times = wiki.changed_times(head, wanted=len(present))
    with driver.transaction(connection):
        index.put_files(connection, files_to_index(present, read=wiki.blob, times=times))
        index.set_head(connection, head)
    return True


def _has_commit(wiki: Wiki, commit: str) -> bool:
    try:
        wiki.tree_of(commit)
    except StoreFault:
        return False
    return True


def _create(path: Path) -> Connection:
    connection = driver.connect(path)
    try:
        index.create(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def build(data_dir: DataDir, wiki: Wiki, head: str | None, *, progress: Progress, step: Step) -> Reindexed:
    """A new index of `head` in the building file. Needs no writer lock; call under the rebuild lock.

    Raises StoreFault when the disk is full. Crash: the building file is thrown away by the next build.
    """
    try:
        return _build(data_dir, wiki, head, progress=progress, step=step)
    except (OSError, driver.DatabaseError) as fault:
        driver.remove(building_path(data_dir))  # the little room that there is belongs to others
        raise not_built(data_dir, fault) from fault


def not_built(data_dir: DataDir, fault: Exception) -> StoreFault:
    """The fault to raise where the disk refuses an index."""
    why, remedy = driver.refusal(data_dir.root, fault)
    return StoreFault(f"The index could not be built: {why}", hint=f"The pages are safe. {remedy} Then try again.")


def _build(data_dir: DataDir, wiki: Wiki, head: str | None, *, progress: Progress, step: Step) -> Reindexed:
    started = time.monotonic()
    path = building_path(data_dir)
    driver.remove(path)
    step("rebuild-started")
    files = list(wiki.files(head))
    times = wiki.changed_times(head, wanted=len(files))

    blobs = [(git_path, blob) for git_path, blob in files if is_ours(git_path)]
    connection = _create_building(path)
    try:
        pages = 0
        for batch in _batches(blobs):
            with driver.transaction(connection):
                pages += index.put_files(connection, files_to_index(batch, read=wiki.blob, times=times), is_empty=True)
            progress(min(pages, len(blobs)), len(blobs))
            step("rebuild-batch")
        with driver.transaction(connection):
            index.set_head(connection, head)
            connection.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')")
        take_cached_vectors(connection, data_dir)
        chunks = int(connection.execute("SELECT count(*) FROM chunks").fetchone()[0])
    finally:
        connection.close()
    step("rebuild-built")
    return Reindexed(pages, chunks, time.monotonic() - started)


def _create_building(path: Path) -> Connection:
    """A new index that nobody reads yet: after a crash it is thrown away, so it needs no log and no sync."""
    connection = driver.connect(path)
    connection.execute("PRAGMA journal_mode=MEMORY")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
    index.create(connection)
    return connection


def _batches(blobs: list[tuple[str, str]]) -> Iterator[list[tuple[str, str | None]]]:
    for start in range(0, len(blobs), _BATCH):
        yield list(blobs[start : start + _BATCH])


def install(data_dir: DataDir, opened: WriterIndex, *, step: Step) -> None:
    """Copy the building file over the index through SQLite, whatever stood there. Call under the writer lock.

    A rename over an open file would leave readers on old rows (decision A8); the backup interface does not.
    """
    path = building_path(data_dir)
    vanished: dict[str, int] = opened.ask(index.vanished, otherwise={})
    try:
        source = driver.connect(path)
        try:
            opened.change(lambda target: _copy(source, target, vanished))
        finally:
            source.close()
    except BaseException:
        driver.remove(path)
        raise
    step("rebuild-installed")
    driver.remove(path)


def _copy(source: Connection, target: Connection, vanished: Mapping[str, int]) -> None:
    source.backup(target)
    if vanished:
        index.write_vanished(target, vanished)


def remove_old_schemas(data_dir: DataDir) -> None:
    """Drop index files of other schema numbers that nobody wrote for 7 days."""
    oldest = time.time() - _OLD_SCHEMA_S
    for path in data_dir.root.glob("index-*.db"):
        if path != data_dir.index and path != building_path(data_dir) and path.stat().st_mtime < oldest:
            driver.remove(path)


def built_pages(data_dir: DataDir) -> int | None:
    """How many pages the rebuild that runs right now has, or None when none runs."""
    path = building_path(data_dir)
    if not path.exists():
        return None
    try:
        connection = driver.connect(path, mode="ro")
        try:
            return int(connection.execute("SELECT count(*) FROM pages").fetchone()[0])
        finally:
            connection.close()
    except driver.FAULTS:
        return 0


@contextmanager
def rebuild_lock(data_dir: DataDir) -> Iterator[bool]:
    """True inside the block for the one process that rebuilds."""
    from ai_memory.store.lock import alone  # brings filelock, which readers of a fresh index never need

    with alone(data_dir.locks / "rebuild.lock") as is_ours:
        yield is_ours
