"""How a reader comes to its view of the index: fresh if that costs little, honest about it if not."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

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

if TYPE_CHECKING:
    from ai_memory.store.writing import Writer

T = TypeVar("T")
_FileId = tuple[int, int] | None

SHORT_WAIT_S = 0.2
"""How long a reader waits for the writer that is just between its commit and its index."""

BRIDGE_PAGES = 1_000
"""A rebuild of more pages than this is done beside the bridge, which must answer within 2 s."""


def file_id(data_dir: DataDir) -> _FileId:
    """Which file the index is right now."""
    try:
        status = os.stat(data_dir.index)  # noqa: PTH116 (each reader asks)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def is_writable(folder: Path) -> bool:
    """Whether this process may write there. A sandbox often says no (decision A11)."""
    return os.access(folder, os.W_OK)


@contextmanager
def opened(desk: Desk) -> Iterator[Snapshot]:
    """A read transaction on an index that is as fresh as can be had without waiting.

    Raises StoreFault where the index turns out damaged (it is thrown away) or the disk refuses it.
    """
    gaps: list[str] = []
    with ExitStack() as stack:
        file = None
        try:
            connection = _connection(desk, gaps, stack)
            stack.callback(connection.close)
            file = file_id(desk.data_dir)
            connection.execute("BEGIN")
            snapshot = Snapshot(connection, gaps)
            _ = snapshot.head  # the first read fixes the view
            yield snapshot
        except driver.FAULTS as fault:
            raise _told(desk, fault, file) from fault


def after_write(desk: Desk, question: Callable[[Snapshot], T], *, otherwise: T) -> tuple[T, tuple[str, ...]]:
    """What the question finds once a write is done, and gaps. The write has not failed because this does."""
    try:
        try:
            return _asked(desk, question)
        except DamagedIndex:
            return _asked(desk, question)
    except (OSError, StoreFault) as fault:
        return otherwise, (f"the write is done, but the index could not be read: {fault}".replace("\n", " "),)


def _asked(desk: Desk, question: Callable[[Snapshot], T]) -> tuple[T, tuple[str, ...]]:
    with opened(desk) as snapshot:
        return question(snapshot), tuple(snapshot.gaps)


class DamagedIndex(StoreFault):
    """The index held nonsense and was thrown away: the next who asks gets a new one."""


def _told(desk: Desk, fault: Exception, file: _FileId) -> Exception:
    """The fault to raise for what SQLite said of the index in the middle of an answer."""
    if driver.is_damage(fault):
        if _throw_away(desk, file):
            return DamagedIndex(
                f"The search index was damaged ({fault}) and has been removed.",
                hint="Nothing is lost: run the command again, it builds a new one from the wiki.",
            )
        return StoreFault(
            f"The search index is damaged ({fault}).",
            hint="Nothing is lost: it is built anew by `ai-memory reindex` where the data dir may be written.",
        )
    if driver.is_refused(fault):
        return driver.unusable(desk.data_dir.index, fault)
    return fault


def _throw_away(desk: Desk, file: _FileId) -> bool:
    """Remove the damaged index, unless somebody put another one there already. False where nobody may."""
    from ai_memory.store import indexing  # imports the git library, which readers do without
    from ai_memory.store.writing import writer_lock

    if not is_writable(desk.data_dir.root):
        return False
    try:
        with writer_lock(desk).held(desk.lock_timeout_s):  # a writer that has it open must not lose it
            if file is None or file_id(desk.data_dir) == file:
                indexing.discard(desk.data_dir)
    except (LockBusy, OSError):
        return False
    return True


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
    fresh = _open_fresh(desk, head)
    if fresh is not None:
        return fresh
    _refresh(desk, head, gaps)
    return _open(desk) or _from_wiki(data_dir, head, gaps)


def _empty() -> Connection:
    connection = driver.in_memory()
    index.create(connection)
    return connection


def _open_fresh(desk: Desk, head: str) -> Connection | None:
    """A reading connection to an index that holds `head` and lacks no change, or None."""
    connection = None if desk.data_dir.pending.exists() else _open(desk)
    if connection is None:
        return None
    if index.head(connection) == head:
        return connection
    connection.close()
    return None


def _is_fresh(desk: Desk, head: str) -> bool:
    connection = _open_fresh(desk, head)
    if connection is not None:
        connection.close()
    return connection is not None


def _open(desk: Desk) -> Connection | None:
    """A reading connection to an index that has its tables and tells its commit, or None. A damaged one is removed."""
    path = desk.data_dir.index
    if not path.exists():
        return None
    file, connection = file_id(desk.data_dir), None
    try:
        connection = driver.connect(path, mode="ro")
        if index.is_ready(connection):
            index.head(connection)
            return connection
    except driver.FAULTS as fault:
        if driver.is_damage(fault):
            _throw_away(desk, file)
    if connection is not None:
        connection.close()
    return None


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
                if _is_caught_up(writer, gaps):
                    return
                break
            if not writer.is_busy:
                break
        if time.monotonic() > deadline or _is_fresh(desk, head):
            break
        time.sleep(0.01)
    if _is_fresh(desk, read_head(desk.data_dir.git) or head):
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
    except (StoreFault, OSError) as fault:
        gaps.append(f"{fault}".replace("\n", " "))


def _is_caught_up(writer: "Writer", gaps: list[str]) -> bool:
    """Whether nothing is left to try: the index is at the branch, or the disk refuses it."""
    try:
        return writer.catch_up_index()
    except StoreFault as fault:
        gaps.append(f"{fault.message} {fault.hint}")
        return True


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
    while time.monotonic() < deadline and not desk.caller.is_given_up():
        if _is_fresh(desk, read_head(desk.data_dir.git) or ""):
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
    try:
        connection = _as_it_is(data_dir, stack)
        at = index.head(connection)
    except driver.FAULTS as fault:
        gaps.append(f"the search index cannot be used ({fault})")
        return _from_wiki(data_dir, head, gaps)
    if at != head:
        gaps.append("the search index is behind the wiki")
    return connection


def _as_it_is(data_dir: DataDir, stack: ExitStack) -> Connection:
    log = Path(f"{data_dir.index}-wal")
    if not log.exists() or not log.stat().st_size:
        return driver.connect(data_dir.index, mode="immutable")
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ai-memory-")))
    for source in (data_dir.index, log):
        shutil.copyfile(source, folder / source.name)
    return driver.connect(folder / data_dir.index.name)


def _from_wiki(data_dir: DataDir, head: str, gaps: list[str]) -> Connection:
    """An index in memory where none on the disk can be used and none can be put there."""
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
        try:
            yield connection
        except driver.FAULTS as fault:
            if driver.is_damage(fault):
                raise driver.unreadable(data_dir.state, fault) from fault
            raise


def _state(data_dir: DataDir) -> Connection | None:
    """None for a file without tables: its maker was killed, or somebody emptied it."""
    mode: driver.Mode = "ro" if is_writable(data_dir.root) else "immutable"
    try:
        connection = driver.connect(data_dir.state, mode=mode)
        if state_schema.refuse_newer(connection):
            return connection
        connection.close()
    except driver.FAULTS as fault:
        raise driver.unreadable(data_dir.state, fault) from fault
    return None


def differs_from_file(desk: Desk, ref: PageRef) -> bool:
    """Whether the page's file holds other bytes than the index knows. One file is read, no folder is walked."""
    data_dir = desk.data_dir
    path = data_dir.wiki / ref.git_path
    if not is_writable(data_dir.root):
        return False
    try:
        content = read_plain(path)
    except (OSError, ValueError):
        content = None
    connection = _open(desk)
    if connection is None:
        return True
    sql = "SELECT version FROM pages WHERE workspace = ? AND project = ? AND path = ?"
    with closing(connection):
        try:
            row = connection.execute(sql, (ref.workspace, ref.project, ref.path)).fetchone()
        except driver.FAULTS:
            return True  # who asks next is told of the damage
    return (row[0] if row else None) != (blob_id(content) if content is not None else None)
