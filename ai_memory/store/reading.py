"""How a reader comes to its view of the index: fresh if that costs little, honest about it if not."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from ai_memory.errors import LockBusy, StoreFault
from ai_memory.model import PageRef
from ai_memory.paths import DataDir
from ai_memory.plainfile import read_plain
from ai_memory.store import born, driver, index, state_schema
from ai_memory.store.blobs import blob_id
from ai_memory.store.desk import Desk
from ai_memory.store.driver import Connection
from ai_memory.store.head import read_head
from ai_memory.store.snapshot import Snapshot

SHORT_WAIT_S = 0.2
"""How long a reader waits for the writer that is just between its commit and its index."""

BRIDGE_PAGES = 1_000
"""A rebuild of more pages than this is done beside the bridge, which must answer within 2 s."""


def is_writable(folder: Path) -> bool:
    """Whether this process may write there. A sandbox often says no (decision A11)."""
    return os.access(folder, os.W_OK)


@contextmanager
def opened(desk: Desk, *, is_after_write: bool = False) -> Iterator[Snapshot]:
    """A read transaction on an index that is as fresh as can be had without waiting.

    `is_after_write` gives an empty one with a gap where there is none to be had: a write that is done has not failed.
    """
    gaps: list[str] = []
    with ExitStack() as stack:
        try:
            connection = _connection(desk, gaps, stack)
        except (OSError, StoreFault, driver.DatabaseError) as fault:
            if not is_after_write:
                raise
            gaps.append(f"the write is done, but the index could not be read: {fault}".replace("\n", " "))
            connection = _empty()
        stack.callback(connection.close)
        connection.execute("BEGIN")
        snapshot = Snapshot(connection, gaps)
        _ = snapshot.head  # the first read fixes the view
        yield snapshot


def _connection(desk: Desk, gaps: list[str], stack: ExitStack) -> Connection:
    data_dir = desk.data_dir
    head = read_head(data_dir.git)
    if head is None:
        lost = born.lost(data_dir, "wiki")
        if lost is not None:
            gaps.append(f"{lost.message} {lost.hint}")
        return _empty()
    if not is_writable(data_dir.root):
        return _read_only(data_dir, head, gaps, stack)
    fresh = _open_fresh(data_dir, head)
    if fresh is not None:
        return fresh
    _refresh(desk, head, gaps)
    return _open(data_dir) or _empty()


def _empty() -> Connection:
    connection = driver.in_memory()
    index.create(connection)
    return connection


def _open_fresh(data_dir: DataDir, head: str) -> Connection | None:
    """A reading connection to an index that holds `head` and lacks no change, or None."""
    connection = None if data_dir.pending.exists() else _open(data_dir)
    if connection is None:
        return None
    if index.head(connection) == head:
        return connection
    connection.close()
    return None


def _is_fresh(data_dir: DataDir, head: str) -> bool:
    connection = _open_fresh(data_dir, head)
    if connection is not None:
        connection.close()
    return connection is not None


def _open(data_dir: DataDir) -> Connection | None:
    """A reading connection to an index that has its tables, or None."""
    if not data_dir.index.exists():
        return None
    try:
        connection = driver.connect(data_dir.index, mode="ro")
        if index.is_ready(connection):
            return connection
        connection.close()
    except driver.OperationalError:
        return None
    except driver.DatabaseError as fault:
        damaged_index(data_dir, fault)
    return None


def damaged_index(data_dir: DataDir, fault: Exception) -> StoreFault:
    """Throw the damaged index away; the fault to raise where an answer was half made."""
    from ai_memory.store import indexing  # imports the git library, which readers do without

    indexing.discard(data_dir)
    return StoreFault(
        f"The search index was damaged ({fault}) and has been removed.",
        hint="Nothing is lost: run the command again, it builds a new one from the wiki.",
    )


def _refresh(desk: Desk, head: str, gaps: list[str]) -> None:
    """Catch up if nobody writes, else wait a moment for whoever does, else say what is missing."""
    from ai_memory.store.writing import Hindered, Writer, rebuild  # imports the git library

    hindrance = desk.hindrance()
    if hindrance is not None and desk.data_dir.pending.exists():
        gaps.append(f"{hindrance.message} A change that waits for it is not in this answer.")
    deadline = time.monotonic() + SHORT_WAIT_S
    while True:
        with Writer.opened_if_free(desk, for_index=hindrance is not None) as writer:
            if not isinstance(writer, Hindered):
                if writer.catch_up_index():
                    return
                break
            if not writer.is_busy:
                break
        if time.monotonic() > deadline or _is_fresh(desk.data_dir, head):
            break
        time.sleep(0.01)
    if _is_fresh(desk.data_dir, read_head(desk.data_dir.git) or head):
        return
    if isinstance(writer, Hindered):
        if writer.is_busy:
            gaps.append("another command is writing: its change may be missing here")
        else:
            gaps.append(f"{writer.reason} A change that waits for it is not in this answer.")
        return
    if desk.caller.face == "bridge" and _tracked_files(desk.data_dir) > BRIDGE_PAGES:
        _rebuild_beside(desk, gaps)
        return
    try:
        if rebuild(desk, lambda _done, _total: None) is None:
            _await_rebuild(desk, gaps)
    except LockBusy:
        gaps.append("another command is writing: the index could not be renewed")
    except StoreFault as fault:
        gaps.append(f"{fault.message} {fault.hint}")


def _rebuild_beside(desk: Desk, gaps: list[str]) -> None:
    from ai_memory.store import indexing

    done = indexing.built_pages(desk.data_dir)
    if done is None:
        desk.rebuild_beside()
    gaps.append(f"index rebuilding: {done or 0} of {_tracked_files(desk.data_dir)}")


def _await_rebuild(desk: Desk, gaps: list[str]) -> None:
    """Another process rebuilds: wait for it as long as for a lock, then answer from what is there."""
    from ai_memory.store import indexing

    deadline = time.monotonic() + desk.lock_timeout_s
    while time.monotonic() < deadline:
        if _is_fresh(desk.data_dir, read_head(desk.data_dir.git) or ""):
            return
        time.sleep(0.05)
    done = indexing.built_pages(desk.data_dir) or 0
    gaps.append(f"index rebuilding: {done} of {_tracked_files(desk.data_dir)}")


def _tracked_files(data_dir: DataDir) -> int:
    """Number of files that git's index lists: bytes 8 to 12 of its header."""
    try:
        with (data_dir.git / "index").open("rb") as file:
            return int.from_bytes(file.read(12)[8:12], "big")
    except OSError:
        return 0


def _read_only(data_dir: DataDir, head: str, gaps: list[str], stack: ExitStack) -> Connection:
    """The index where nothing may be written: as it is, or a copy when its log holds more (decision A11)."""
    gaps.append("the data dir is read-only here: edits and events that wait are not in this answer")
    if not data_dir.index.exists():
        return _from_wiki(data_dir, head, gaps)
    log = Path(f"{data_dir.index}-wal")
    if log.exists() and log.stat().st_size:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ai-memory-")))
        for source in (data_dir.index, log):
            shutil.copyfile(source, folder / source.name)
        connection = driver.connect(folder / data_dir.index.name)
    else:
        connection = driver.connect(data_dir.index, mode="immutable")
    if index.head(connection) != head:
        gaps.append("the search index is behind the wiki")
    return connection


def _from_wiki(data_dir: DataDir, head: str, gaps: list[str]) -> Connection:
    """An index in memory where none lies on the disk and none can be put there."""
    from ai_memory.store import indexing  # imports the git library
    from ai_memory.store.wiki import Wiki

    connection = _empty()
    with closing(Wiki(data_dir.git)) as wiki:
        if indexing.fill(connection, wiki, head):
            gaps.append("there is no search index, and none can be made here: the pages were read for this answer")
        else:
            gaps.append("there is no search index, and none can be made here: pages are not found")
    return connection


@contextmanager
def state_opened(data_dir: DataDir) -> Iterator[Connection | None]:
    """`state.db` for reading, or None before the first event. Raises StoreFault when a newer program wrote it, it is
    damaged or gone.
    """
    connection = _state(data_dir) if data_dir.state.exists() else None
    if connection is None:
        lost = born.lost(data_dir, "state")
        if lost is not None:
            raise lost
        yield None
        return
    with closing(connection):
        yield connection


def _state(data_dir: DataDir) -> Connection | None:
    """None for a file without tables: its maker was killed, or somebody emptied it."""
    mode: driver.Mode = "ro" if is_writable(data_dir.root) else "immutable"
    try:
        connection = driver.connect(data_dir.state, mode=mode)
        if state_schema.refuse_newer(connection):
            return connection
        connection.close()
    except driver.DatabaseError as fault:
        raise driver.unreadable(data_dir.state, fault) from fault
    return None


def differs_from_file(data_dir: DataDir, ref: PageRef) -> bool:
    """Whether the page's file holds other bytes than the index knows. One file is read, no folder is walked."""
    path = data_dir.wiki / ref.git_path
    if not is_writable(data_dir.root):
        return False
    try:
        content = read_plain(path)
    except (OSError, ValueError):
        content = None
    connection = _open(data_dir)
    if connection is None:
        return True
    with closing(connection):
        row = connection.execute(
            "SELECT version FROM pages WHERE workspace = ? AND project = ? AND path = ?",
            (ref.workspace, ref.project, ref.path),
        ).fetchone()
    return (row[0] if row else None) != (blob_id(content) if content is not None else None)
