"""The one door to a data dir: lock, git, files, state and index, composed. Nothing else composes them."""

import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ai_memory import hook_usage
from ai_memory.clock import Clock, now_us
from ai_memory.errors import GivenUp, MemoryFault, StoreFault
from ai_memory.model import Author, Caller, PageRef
from ai_memory.paths import DataDir
from ai_memory.store import born, driver, reading
from ai_memory.store.driver import Connection
from ai_memory.store.head import read_head, unfinished
from ai_memory.store.snapshot import Snapshot

if TYPE_CHECKING:
    from ai_memory.store.adoption import Adopted
    from ai_memory.store.audit import Mutation
    from ai_memory.store.change import Change
    from ai_memory.store.history import PageVersion
    from ai_memory.store.indexing import Progress, Reindexed
    from ai_memory.store.lock import Holder
    from ai_memory.store.rewriting import Rewritten
    from ai_memory.store.salvaging import Salvaged
    from ai_memory.store.wiki import Wiki
T = TypeVar("T")

# The writing side (dulwich 81 ms, filelock 75 ms CPU, 2026-11-30) is imported where a write begins: a search that finds
# its index fresh needs none of it.


def no_step(_: str) -> None:
    """Named instants of a write, for tests that kill there."""


class Memory:
    """One data dir as one caller sees it. Opening touches no disk; no connection outlives a call."""

    def __init__(
        self,
        data_dir: DataDir,
        *,
        caller: Caller,
        clock: Clock = now_us,
        lock_timeout_s: float = 10.0,
        command: str = "",
        step: Callable[[str], None] = no_step,
    ) -> None:
        self.data_dir = data_dir
        self.caller = caller
        self.clock = clock
        self.lock_timeout_s = lock_timeout_s
        self.command = command
        self.step = step

    @classmethod
    def open(
        cls,
        data_dir: DataDir,
        *,
        caller: Caller,
        clock: Clock = now_us,
        lock_timeout_s: float = 10.0,
        command: str = "",
        step: Callable[[str], None] = no_step,
    ) -> "Memory":
        """A memory over `data_dir`, which need not exist."""
        return cls(data_dir, caller=caller, clock=clock, lock_timeout_s=lock_timeout_s, command=command, step=step)

    @property
    def exists(self) -> bool:
        """Whether the data dir holds a wiki."""
        return read_head(self.data_dir.git) is not None

    # --- writing ---

    def create(self, *, allow_synced: bool = False) -> bool:
        """Make the data dir if it is not there; True if this call made it. Safe for several processes at once."""
        from ai_memory.store import birth
        from ai_memory.store.writing import writer_lock

        self._finish_restore()
        if self.exists:
            if not self.data_dir.born.exists():
                born.record(self.data_dir, "wiki", at_us=self.clock())
            return False
        lost = born.lost(self.data_dir, "wiki")
        if lost is not None:
            raise lost
        birth.refuse_bad_place(self.data_dir, allow_synced=allow_synced)
        birth.make_root(self.data_dir)
        lock = writer_lock(self)
        with lock.held(self.lock_timeout_s):
            if self.exists:
                return False
            birth.give_birth(self.data_dir, lock, at_us=self.clock(), step=self.step)
            born.record(self.data_dir, "wiki", at_us=self.clock())
        return True

    @contextmanager
    def writing(
        self, message: str, *, author: Author | None = None, trailers: Mapping[str, str] | None = None
    ) -> "Iterator[Change]":
        """A change to fill in, under the writer lock; committed whole at the end of the block.

        An exception inside writes nothing. Without `author` a person at the command line signs with their git
        identity, everything else as ai-memory. Raises LockBusy, Conflict, StoreFault, Recorded.
        """
        from ai_memory.store.writing import Writer

        self._refuse_place()
        self.create()
        with Writer.opened(self) as writer:
            change = writer.change()
            yield change
            writer.commit(change, message, author=author, trailers=trailers or {})

    def adopt(self) -> "Adopted":
        """Take what people changed in the wiki by hand as a commit of its own; looks at the whole tree.

        Does not wait: when another command writes, the place is read-only or the disk full, it says so in `skipped`.
        """
        from ai_memory.store.adoption import Adopted
        from ai_memory.store.writing import Hindered, Writer

        self._finish_restore()
        if not self.exists:
            return Adopted()
        if not reading.is_writable(self.data_dir.root):
            return Adopted(skipped=("the data dir is read-only here: edits by hand were not taken",))
        with Writer.opened_if_free(self) as writer:
            if isinstance(writer, Hindered):
                return Adopted(skipped=(f"{writer.reason} Edits by hand were not looked for.",))
            try:
                return writer.adopt_everywhere()
            except (StoreFault, OSError) as fault:
                return Adopted(skipped=(f"Edits by hand could not be taken: {fault}".replace("\n", " "),))

    def commit_by_hand(self, message: str) -> "Adopted":
        """What people changed in the wiki by hand as one commit with that message; waits for the lock.

        Raises LockBusy, StoreFault.
        """
        from ai_memory.store.adoption import Adopted
        from ai_memory.store.writing import Writer

        self._finish_restore()
        if not self.exists:
            return Adopted()
        self._refuse_place()
        with Writer.opened(self) as writer:
            return writer.adopt_everywhere(message)

    def reindex(self, progress: "Progress | None" = None) -> "Reindexed":
        """Build the index anew from the wiki. Readers go on with the old one meanwhile."""
        from ai_memory.store import indexing
        from ai_memory.store.writing import rebuild

        self._refuse_place()
        if not self.exists:
            return indexing.Reindexed(0, 0, 0.0)
        indexing.remove_old_schemas(self.data_dir)
        made = rebuild(self, progress or indexing.no_progress)
        if made is None:
            raise StoreFault("Another command is rebuilding the index.", hint="Wait for it, then look again.")
        return made

    def change_index(self, work: Callable[[Connection], T]) -> T:
        """Do that work in one transaction of the index, under the writer lock. For what was computed without it.

        Raises LockBusy; StoreFault where the disk refuses it or nothing may be written here.
        """
        from ai_memory.store.indexing import WriterIndex
        from ai_memory.store.writing import writer_lock

        def worked(connection: Connection) -> T:
            with driver.transaction(connection):
                return work(connection)

        self._refuse_place()
        with writer_lock(self).held(self.lock_timeout_s), closing(WriterIndex(self.data_dir)) as index:
            return index.change(worked)

    @contextmanager
    def embedding_alone(self) -> Iterator[bool]:
        """True inside the block for the one drain that makes vectors; the others leave it to that one."""
        with self._alone("embed.lock") as is_ours:
            yield is_ours

    @contextmanager
    def maintaining_alone(self) -> Iterator[bool]:
        """True inside the block for the one `maintain` at work."""
        with self._alone("maintain.lock") as is_ours:
            yield is_ours

    @contextmanager
    def reading_records_alone(self) -> Iterator[bool]:
        """True inside the block for the one process that reads folders of records; others wait as for the lock.

        Where there is no memory yet, nobody waits: the second of two that begin it meets a conflict.
        """
        if not self.exists:
            yield True
            return
        with self._alone("records.lock", wait_s=self.lock_timeout_s) as is_ours:
            yield is_ours

    @contextmanager
    def _alone(self, name: str, *, wait_s: float = 0.0) -> Iterator[bool]:
        from ai_memory.store.lock import alone

        self._refuse_place()  # the lock is a file, too
        with alone(self.data_dir.locks / name, wait_s=wait_s) as is_ours:
            yield is_ours

    def erase(
        self,
        paths: Iterable[str],
        sessions: Sequence[str],
        *,
        with_history: bool,
        shared: Mapping[str, Collection[str]] | None = None,
    ) -> "Rewritten | None":
        """Get what was deleted off the disk: events, rows, index, vectors; with the history, old versions, too.

        `shared`: paths that another page has now, each with the blobs of what goes that stood there.
        Crash: say it again. Raises LockBusy, StoreFault.
        """
        from ai_memory.store import erasing, rewriting, usage_spool
        from ai_memory.store.writing import Writer

        with Writer.opened(self), driver.refusals_told(self.data_dir.root):
            erasing.remove_events(self.data_dir, erasing.events_of(self.data_dir, sessions))
            usage_spool.clear(self.data_dir)
            erasing.scrub_outbox(self.data_dir, sessions)
            self.step("erase-files")
            erasing.scrub_databases(self.data_dir, at_us=self.clock())
            self.step("erase-databases")
            if not with_history:
                return None
            return rewriting.rewrite(self.data_dir.git, paths, shared=shared or {}, step=self.step)

    def forget_versions(self, versions: Mapping[str, Collection[str]]) -> "Rewritten":
        """Take versions of pages out of git's history: paths of the wiki, each with its blobs. What stands now stays.

        Crash: say it again. Raises LockBusy, StoreFault.
        """
        from ai_memory.store.writing import Writer

        self._refuse_place()
        with Writer.opened(self) as writer, driver.refusals_told(self.data_dir.root):
            return writer.forget_versions(versions)

    def tidy(self) -> int:
        """Pack git's loose objects when there are many; gives how many were packed. For the drain and `maintain`."""
        from ai_memory.store.writing import Hindered, Writer

        with Writer.opened_if_free(self) as writer:
            return 0 if isinstance(writer, Hindered) else writer.pack()

    def compact(self) -> bool:
        """Write the databases anew and pack git's objects; False where git could not be asked. Raises StoreFault."""
        from ai_memory.store import compacting
        from ai_memory.store.drain_lock import no_drain
        from ai_memory.store.writing import Writer

        self._refuse_place()
        told = driver.refusals_told(self.data_dir.root)
        with no_drain(self.data_dir.locks, timeout_s=self.lock_timeout_s), Writer.opened(self) as writer, told:
            compacting.vacuum_state(self.data_dir, at_us=self.clock())
            self.step("compact-state")
            compacting.vacuum_cache(self.data_dir)
            writer.compact()
            self.step("compact-index")
            return compacting.repack_with_git(self.data_dir.git)

    def salvage(self, *, confirm: bool) -> "Salvaged":
        """Read a damaged `state.db` as far as that goes; to confirm puts a new one with what was read in its place.

        Raises LockBusy, StoreFault.
        """
        from ai_memory.store.drain_lock import no_drain
        from ai_memory.store.salvaging import salvage
        from ai_memory.store.writing import writer_lock

        self._finish_restore()
        self._refuse_place()
        locks = self.data_dir.locks
        with no_drain(locks, timeout_s=self.lock_timeout_s), writer_lock(self).held(self.lock_timeout_s):
            return salvage(self, self.mutation("salvage") if confirm else None)

    def reset(self) -> None:
        """Take all content away, for good. Raises LockBusy, StoreFault."""
        from ai_memory.store import compacting
        from ai_memory.store.drain_lock import no_drain
        from ai_memory.store.writing import writer_lock

        self._refuse_place()
        locks = self.data_dir.locks
        with no_drain(locks, timeout_s=self.lock_timeout_s), writer_lock(self).held(self.lock_timeout_s):
            compacting.empty(self.data_dir, step=self.step)

    @contextmanager
    def state_transaction(self) -> Iterator[Connection]:
        """`state.db` inside `BEGIN IMMEDIATE`, committed at the end of the block; made and migrated when missing.

        Raises StoreFault when it is damaged or the disk refuses it; GivenUp.
        """
        from ai_memory.store import state

        self._refuse_place()
        self.create()
        path = self.data_dir.state
        try:
            with closing(state.open_state(self.data_dir, at_us=self.clock())) as opened, driver.transaction(opened):
                if self.caller.is_given_up():
                    raise GivenUp
                yield opened
        except driver.DatabaseError as fault:
            if driver.is_damage(fault) or driver.is_refused(fault):
                raise driver.unreadable(path, fault) from fault
            raise

    def mutation(self, verb: str, *, subject: str = "", count: int = 1, session: str = "") -> "Mutation":
        """What this caller does now, for `audit.put` in the transaction that does it."""
        from ai_memory.store import audit
        from ai_memory.store.change_ids import new_change_id

        now = self.clock()
        by = audit.begun(self.caller, verb, change_id=new_change_id(now), at_us=now)
        return replace(by, subject=subject, count=count, session=session or by.session)

    def tell(self, verb: str, *, subject: str = "", count: int = 1, session: str = "") -> tuple[str, ...]:
        """Put down what was done to files that no transaction covers, right after it.

        Gives a sentence where `state.db` does not take it: what was done stays done. Crash: the row may be missing.
        """
        from ai_memory.store import audit

        try:
            with self.state_transaction() as connection:
                audit.put(connection, self.mutation(verb, subject=subject, count=count, session=session))
        except (MemoryFault, driver.DatabaseError, OSError) as fault:
            return (f"it is done, but the log does not tell of it: {str(fault).partition(chr(10))[0]}",)
        return ()

    # --- reading ---

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """One consistent view of the pages. Takes no lock; catches the index up when it is behind and nobody writes."""
        self._finish_restore()
        with reading.opened(self) as snapshot:
            yield snapshot

    @contextmanager
    def reading_as_known(self, at_us: int | None) -> Iterator[Snapshot]:
        """`reading`, but of the pages as they were at that instant; None is now."""
        with self.reading() as snapshot:
            if at_us is None:
                yield snapshot
                return
            from ai_memory.store.known_at import as_known  # git: few ask what was known earlier

            with as_known(self.data_dir, snapshot, at_us) as then:
                yield then

    def after_write(self, question: Callable[[Snapshot], T], *, otherwise: T) -> tuple[T, tuple[str, ...]]:
        """What the question finds in the pages once a write is done, and gaps. What fails here is a gap, too."""
        return reading.after_write(self, question, otherwise=otherwise)

    @contextmanager
    def state_reading(self) -> Iterator[Connection | None]:
        """`state.db` for reading, or None when there is none."""
        self._finish_restore()
        with reading.state_opened(self.data_dir) as connection:
            yield connection

    def log_failure(self, what: str) -> None:
        """A line in the log of what a face could not do. Without a data dir there is none, and none is made."""
        from ai_memory.store.log import Log  # only where something failed

        if self.data_dir.root.is_dir():
            Log(self.data_dir.logs, self.caller.face, self.clock).error(what.replace("\n", " "))

    def note_use(self, record: Mapping[str, object]) -> None:
        """Leave word of one call for the drain, which counts them. Never fails; makes no data dir."""
        hook_usage.put(str(self.data_dir.root), record)

    def fresh(self, ref: PageRef) -> tuple[str, ...]:
        """Take an edit by hand of this one page, if there is one and nobody writes. For whoever reads one page.

        Gives what a person must decide about its folder, a sentence each.
        """
        if not reading.differs_from_file(self, ref):
            return ()
        from ai_memory.store.writing import Hindered, Writer

        with Writer.opened_if_free(self) as writer:
            if isinstance(writer, Hindered):
                return ()
            try:
                return writer.adopt_folder(ref.git_path.rpartition("/")[0]).asked
            except (StoreFault, OSError) as fault:
                return (f"Edits by hand could not be taken: {fault}".replace("\n", " "),)

    def history(self, ref: PageRef, limit: int = 50, offset: int = 0) -> "list[PageVersion]":
        """Versions of the page, newest first, deleted and moved ones too."""
        from itertools import islice

        from ai_memory.store.history import versions

        with self.past() as wiki:
            return [] if wiki is None else list(islice(versions(wiki, ref), offset, offset + limit))

    @contextmanager
    def past(self) -> "Iterator[Wiki | None]":
        """The wiki's commits for reading, or None where there is no wiki."""
        from ai_memory.store.wiki import Wiki

        self._finish_restore()
        if not self.exists:
            yield None
            return
        with closing(Wiki(self.data_dir.git)) as wiki:
            yield wiki

    # --- telling ---

    def holder(self) -> "Holder | None":
        """Who writes right now, or None."""
        from ai_memory.store.writing import writer_lock

        return writer_lock(self).holder()

    def has_waiters(self) -> bool:
        """Whether a command waits for the lock. Batch writers ask between two batches and pause `COURTESY_S`."""
        from ai_memory.store.writing import writer_lock

        return writer_lock(self).has_waiters()

    def give_way(self) -> None:
        """Pause when someone waits (decision A12)."""
        from ai_memory.store.lock import COURTESY_S

        if self.has_waiters():
            time.sleep(COURTESY_S)

    def hindrance(self) -> MemoryFault | None:
        """What keeps every writer out of the wiki right now (a merge, a detached HEAD, a lost branch), or None."""
        if not self.exists:
            return born.lost(self.data_dir, "wiki")
        state = unfinished(self.data_dir.git)
        return None if state is None or state.is_passing else state.fault()

    def _finish_restore(self) -> None:
        """End a restore whose process died. Raises LockBusy while another process restores."""
        if not self.data_dir.restoring.exists() or not reading.is_writable(self.data_dir.root):
            return
        from ai_memory.store import restore
        from ai_memory.store.writing import writer_lock

        with writer_lock(self).held(self.lock_timeout_s):
            restore.finish(self.data_dir, step=self.step)

    def _refuse_place(self) -> None:
        from ai_memory.store import birth

        root = self.data_dir.root
        birth.refuse_open_to_all(self.data_dir)
        if root.exists() and not reading.is_writable(root):
            is_tool = self.caller.face == "bridge"
            outside = "use the MCP tool memory_write_page, or write outside the sandbox"
            started = "the person has to let this MCP server write there"
            raise StoreFault(
                f"The data dir {root} is read-only here.",
                hint=f"An agent's sandbox does that: {started if is_tool else outside}.",
            )

    def rebuild_beside(self) -> None:
        """Start a rebuild in a process of its own that outlives this one (for the bridge, which must not wait)."""
        command = [sys.executable, "-m", "ai_memory", "--data-dir", str(self.data_dir.root), "reindex", "--json"]
        environment = {**self.caller.environ, "AI_MEMORY_CAPTURE": "off"}
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
            cwd=str(Path(self.data_dir.root)),
        )
