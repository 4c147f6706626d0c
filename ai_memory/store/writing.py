"""What happens under the writer lock."""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ai_memory.errors import LockBusy, NotWritten, StoreFault
from ai_memory.model import MACHINE, Author, PageRef
from ai_memory.store import audit, compacting, gitindex, index, indexing, pending, rewriting, state
from ai_memory.store.addresses import META_NAME, folder_of, page_ref
from ai_memory.store.adoption import Adopted, Edits, find_edits, purged_blobs, unnamed_projects
from ai_memory.store.audit import Mutation, Touched
from ai_memory.store.blobs import blob_id
from ai_memory.store.change import Change, Committed, StateValue
from ai_memory.store.change_ids import new_change_id
from ai_memory.store.desk import Desk
from ai_memory.store.driver import Connection, transaction
from ai_memory.store.gitindex import GitIndex
from ai_memory.store.gitlock import WAIT_S
from ai_memory.store.head import read_head, settled, unfinished
from ai_memory.store.indexing import Progress, Reindexed, WriterIndex
from ai_memory.store.lock import WriterLock
from ai_memory.store.looks import Looks
from ai_memory.store.outbox import Outbox
from ai_memory.store.pending import OutboxChange, PathChange, Pending
from ai_memory.store.rewriting import Rewritten
from ai_memory.store.rollforward import Applied, Obstacle, RollForward
from ai_memory.store.stamps import Stamps
from ai_memory.store.wiki import PACK_ABOVE, Wiki, compose_message
from ai_memory.store.worktree import LARGEST_FILE_BYTES, Look, WorkTree

LARGE_FOLDER = 500
"""Files above which a folder that nobody changed is not looked through at each write: 5 ms for so many."""


def writer_lock(desk: Desk) -> WriterLock:
    return WriterLock(desk.data_dir.locks, command=desk.command, clock=desk.clock, is_given_up=desk.caller.is_given_up)


@dataclass(frozen=True, slots=True)
class Hindered:
    """Why no writer could be had at once, as a sentence."""

    reason: str
    is_busy: bool
    """Another process holds the lock: it will go by."""


class Writer:
    """Holds the lock, with the wiki open and every earlier change finished."""

    def __init__(self, desk: Desk, wiki: Wiki) -> None:
        self._desk = desk
        self._data_dir = desk.data_dir
        self._wiki = wiki
        self._index = WriterIndex(desk.data_dir)
        self._looks = Looks(desk.data_dir, self._index)
        self._read_index: tuple[tuple[int, int, int] | None, GitIndex | None] | None = None
        self._obstacle: Obstacle | None = None
        self._asked: dict[str, None] = {}
        """What a person must decide about the folders that were looked at for the change."""

    @classmethod
    @contextmanager
    def opened(cls, desk: Desk, *, for_index: bool = False) -> "Iterator[Writer]":
        """Waits for the lock, and for git. Raises LockBusy, and StoreFault when a person's git work is not finished.

        `for_index`: only the search index will be written, so nothing is finished first and a merge may go on.
        """
        with writer_lock(desk).held(desk.lock_timeout_s):
            desk.step("locked")
            with closing(Wiki(desk.data_dir.git)) as wiki:
                writer = cls(desk, wiki)
                with closing(writer._looks):
                    if not for_index:
                        writer._begin(wait_s=WAIT_S)
                    yield writer

    @classmethod
    @contextmanager
    def opened_if_free(cls, desk: Desk, *, for_index: bool = False) -> "Iterator[Writer | Hindered]":
        """Never waits: tells why when another command writes, a person's git work is not finished, or a disk fails."""
        with ExitStack() as stack:
            try:
                writer = cls._at_once(desk, stack, for_index=for_index)
            except LockBusy as fault:
                writer = Hindered(str(fault).replace("\n", " "), is_busy=True)
            except NotWritten as fault:
                writer = Hindered(fault.earlier, is_busy=False)
            except (StoreFault, OSError) as fault:
                writer = Hindered(str(fault).replace("\n", " "), is_busy=False)
            yield writer

    @classmethod
    def _at_once(cls, desk: Desk, stack: ExitStack, *, for_index: bool) -> "Writer | Hindered":
        if not stack.enter_context(writer_lock(desk).if_free()):
            return Hindered("Another command is writing.", is_busy=True)
        wiki = stack.enter_context(closing(Wiki(desk.data_dir.git)))
        writer = cls(desk, wiki)
        stack.enter_context(closing(writer._looks))
        if not for_index:
            writer._begin(wait_s=0)
        return writer

    def _begin(self, *, wait_s: float) -> None:
        gitindex.clear_own_locks(self._data_dir.git)
        begun = settled(self._data_dir.git, wait_s=wait_s)
        if begun is not None:
            raise begun.fault()
        left = pending.load(self._data_dir.pending)
        if left is not None:
            self._wiki.clear_temporary()
            self._finish(left)
            self._refuse_unfinished()
            self._desk.step("recovered")

    def _refuse_unfinished(self) -> None:
        """No change begins over an unfinished one: its log would be lost, and its old files taken for edits."""
        if self._obstacle is not None:
            raise self._obstacle.not_written() from self._obstacle.cause

    # --- a change ---

    def change(self) -> Change:
        return Change(self._wiki, look_at=self._look_at, now_us=self._desk.clock())

    def commit(self, change: Change, message: str, *, author: Author | None, trailers: Mapping[str, str]) -> None:
        """Pass the commit point and roll forward; the result stands in `change.committed`."""
        head = self._wiki.head()
        paths = change.paths(head)
        if not paths and not change.state_rows and not change.outbox:
            change.committed = Committed(change.change_id, None, asked=tuple(self._asked))
            return
        WorkTree(self._data_dir.wiki, None).refuse_blocked(paths)
        author = author or self._signature()
        by = audit.begun(
            self._desk.caller, audit.verb_of(message, trailers), change_id=change.change_id, at_us=change.now_us
        )
        told = {"Change-Id": change.change_id, **audit.trailers_of(by), **trailers}
        applied = self._apply(
            Pending(
                change_id=change.change_id,
                parent=head,
                author=author,
                at_us=change.now_us,
                message=compose_message(message, told),
                paths=paths,
                state=self._state_rows(change, audit.with_trailers(by, told, author), paths, told),
                outbox=change.outbox,
            )
        )
        written = {ref: content for path, content in applied.paths.items() if (ref := page_ref(path)) is not None}
        change.committed = Committed(
            change.change_id,
            applied.commit,
            tuple(sorted(written)),
            {ref: blob_id(content) for ref, content in written.items() if content is not None},
            tuple(self._asked),
        )

    def _state_rows(
        self, change: Change, by: Mutation, paths: Mapping[str, PathChange], trailers: Mapping[str, str]
    ) -> tuple[tuple[str, Mapping[str, StateValue]], ...]:
        """What the change writes into `state.db`: its rows, and who made it, unless its commit alone shall tell that.

        What `state.db` refuses must be known before the commit point; a change that has no row of its own goes on
        without. Errors: StoreFault.
        """
        rows = change.state_rows
        if not rows and paths and "Pass" not in trailers:
            return rows  # a page written on purpose: it costs no look at state.db (decision A15)
        try:
            state.open_state(self._data_dir, at_us=change.now_us).close()
        except StoreFault:
            if rows:
                raise
            return rows
        touched = [Touched(path, row.old is not None, row.content is not None) for path, row in paths.items()]
        by = audit.with_paths(by, touched, moved_from=trailers.get("Moved-From", ""))
        return (*rows, ("audit", audit.parameters(audit.with_rows(by, (values for _, values in rows)))))

    def _apply(self, change: Pending) -> Applied:
        self._refuse_unfinished()
        change = self._with_outdated_briefs(change)
        self._desk.step("before-pending")
        self._save(change)  # the commit point
        self._desk.step("pending")
        applied = self._finish(change)
        if applied.obstacle is not None and not applied.is_done:
            raise applied.obstacle.recorded() from applied.obstacle.cause
        return applied

    def _save(self, change: Pending) -> None:
        """Raises StoreFault when nothing was written."""
        try:
            pending.save(self._data_dir.pending, change)
        except OSError as fault:
            obstacle = Obstacle.of(fault, self._data_dir.root)
            raise StoreFault(
                f"Nothing was written: {obstacle.why}", hint=f"{obstacle.remedy} Then try again."
            ) from fault

    def _with_outdated_briefs(self, change: Pending) -> Pending:
        """The same change, which also takes away the briefs that hold a text which it replaces or deletes."""
        outdated = Outbox(self._data_dir).texts_that_show(change.paths)
        return replace(change, outbox=(*change.outbox, *(OutboxChange(name, None) for name in outdated)))

    def _finish(self, change: Pending) -> Applied:
        stamps = self._looks.stamps({folder_of(path) for path in change.paths})
        applied = self._roll_forward(change, stamps)
        for folder in sorted(applied.folders):
            self._look_again(folder)
        if self._obstacle is None:
            for path, changed_ns in stamps.times.items():
                folder = path.relative_to(self._data_dir.wiki).as_posix()
                if folder not in applied.folders:
                    self._looks.found_in_order(folder, changed_ns)
        return applied

    def _look_again(self, folder: str) -> None:
        """Take edits that came during a change. What fails is left to the next look: the change itself is done."""
        if self._obstacle is None:
            with suppress(StoreFault, OSError):
                self.adopt_folder(folder)

    def _roll_forward(self, change: Pending, stamps: Stamps) -> Applied:
        applied = RollForward(self._data_dir, self._wiki, self._index, stamps, self._desk.step).finish(change)
        self._obstacle = applied.obstacle
        return applied

    def _signature(self) -> Author:
        if self._desk.caller.face != "cli":
            return MACHINE
        return self._wiki.person() or MACHINE

    # --- edits by hand ---

    def _look_at(self, git_path: str) -> bool:
        """Take an edit of this file, and of its neighbours if their folder changed; True when all were looked at.

        Every write asks for the project's `_meta.md`: its neighbours are looked at when one of them is written.
        """
        folder, head = folder_of(git_path), self._wiki.head()
        if git_path.endswith(f"/{META_NAME}") and self._is_as_committed(git_path, head):
            return False
        is_large = len(self._wiki.folder_rows(head, folder)) > LARGE_FOLDER
        if is_large and self._looks.is_unchanged(folder) and self._is_as_committed(git_path, head):
            return False
        self._asked.update(dict.fromkeys(self.adopt_folder(folder).asked))
        self._refuse_unfinished()
        return True

    def _is_as_committed(self, git_path: str, head: str | None) -> bool:
        path = self._data_dir.wiki / git_path
        committed = self._wiki.blob_at(head, git_path)
        status = gitindex.regular_status(path)
        if status is None:
            return committed is None and not os.path.lexists(path)
        return status.st_size <= LARGEST_FILE_BYTES and blob_id(path.read_bytes()) == committed

    def adopt_folder(self, folder: str) -> Adopted:
        """Take edits among the files that lie directly in one folder of the wiki."""
        tree = self._tree()
        changed_ns = self._looks.begin(folder)  # before the look: what comes during it is found by the next
        adopted = self._adopt(tree, tree.look_at([folder]), is_everything=False)
        if self._obstacle is None and adopted.is_complete:
            self._looks.found_in_order(folder, changed_ns)
        return adopted

    def adopt_everywhere(self, message: str = "") -> Adopted:
        """Take edits in the whole wiki. With a message they are a commit that somebody asked for."""
        tree = self._tree()
        return self._adopt(tree, tree.look_everywhere(), is_everything=True, message=message)

    def _tree(self) -> WorkTree:
        return WorkTree(self._data_dir.wiki, self._git_index())

    def _git_index(self) -> GitIndex | None:
        """git's index, read anew when its file is another one: a change of many folders asks for each of them."""
        stamp = _stamp(self._data_dir.git / "index")
        if stamp is None or self._read_index is None or self._read_index[0] != stamp:
            self._read_index = (stamp, GitIndex.read(self._data_dir.git))
        return self._read_index[1]

    def _adopt(self, tree: WorkTree, look: Look, *, is_everything: bool, message: str = "") -> Adopted:
        now_us = self._desk.clock()
        missing = self._looks.vanished()
        edits = find_edits(
            self._wiki,
            self._wiki.head(),
            look,
            read=tree.read,
            seen_missing=missing,
            now_us=now_us,
            is_everything=is_everything,
            purged=lambda blobs: purged_blobs(self._data_dir, blobs),
        )
        self._remember_missing(missing, look, edits, is_everything=is_everything)
        metas = self._missing_metas(edits, look, is_everything=is_everything)
        if not edits.paths and not metas:
            return Adopted(asked=edits.asked, skipped=edits.left, waiting=len(edits.vanished))
        change_id = new_change_id(now_us)
        told = {"Change-Id": change_id, "Pass": "adopt"}
        if message:
            by = audit.begun(self._desk.caller, "commit", change_id=change_id, at_us=now_us)
            told |= {"Pass": by.verb, **audit.trailers_of(by)}
        change = Pending(
            change_id=change_id,
            parent=self._wiki.head(),
            author=self._wiki.person() or MACHINE,
            at_us=now_us,
            message=compose_message(message or _edit_subject(edits), told),
            paths={**edits.paths, **metas},
        )
        self._refuse_unfinished()
        change = self._with_outdated_briefs(change)
        self._desk.step("before-adopt")
        self._save(change)
        self._desk.step("adopt-pending")
        applied = self._roll_forward(change, Stamps({}))
        return _adopted(edits, applied)

    def _missing_metas(self, edits: Edits, look: Look, *, is_everything: bool) -> dict[str, PathChange]:
        """A project that a person began with `mkdir`, or brought with git, gets its `_meta.md`."""
        head = self._wiki.head()
        draft = Change(self._wiki, look_at=lambda _: True, now_us=self._desk.clock())
        for git_path, change in edits.paths.items():
            ref = page_ref(git_path)
            if ref is not None and change.content is not None:
                draft.ensure_project_named(ref.workspace, ref.project)
        for workspace, project in unnamed_projects(self._wiki, head) if is_everything else ():
            draft.ensure_project_named(workspace, project)
        taken = {*edits.paths, *edits.vanished, *look.skipped, *look.placeholders}
        return {path: row for path, row in draft.paths(head).items() if path not in taken}

    def _remember_missing(self, before: Mapping[str, int], look: Look, edits: Edits, *, is_everything: bool) -> None:
        kept = {} if is_everything else {p: t for p, t in before.items() if folder_of(p) not in look.folders}
        after = {**kept, **edits.vanished}
        if after != before:
            self._looks.set_vanished(after)

    # --- upkeep ---

    def catch_up_index(self) -> bool:
        """Bring the search index to the branch; False when that takes a rebuild. Raises StoreFault on a full disk."""
        head = self._wiki.head()
        return self._index.change(lambda connection: indexing.catch_up(connection, self._wiki, head))

    def install_index(self) -> bool:
        """Take over what `indexing.build` made, and what was committed meanwhile."""
        indexing.install(self._data_dir, self._index, step=self._desk.step)
        return self.catch_up_index()

    def pack(self) -> int:
        return self._wiki.pack() if self._wiki.loose_objects() > PACK_ABOVE else 0

    def forget_versions(self, versions: Mapping[str, Collection[str]]) -> Rewritten:
        """Write the history without those blobs at those paths. The index follows: what stands now is the same."""
        head = self._wiki.head()
        old = {
            path: {one for one in blobs if one != self._wiki.blob_at(head, path)} for path, blobs in versions.items()
        }
        done = rewriting.rewrite(self._data_dir.git, (), shared=old, step=self._desk.step)
        after = read_head(self._data_dir.git)

        def follow(connection: Connection) -> None:
            with transaction(connection):
                if after is not None and index.head(connection) == head:
                    index.set_head(connection, after)

        self._index.change(follow)
        return done

    def compact(self) -> None:
        """Write the index anew, and pack loose objects however few they are."""
        self._index.change(compacting.vacuum)
        self._wiki.pack()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells a file from the one that stood there before; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def rebuild(desk: Desk, progress: Progress) -> Reindexed | None:
    """Build the index without the writer lock, then install it under it; None when another process rebuilds."""
    with indexing.rebuild_lock(desk.data_dir) as is_mine:
        if not is_mine:
            return None
        with closing(Wiki(desk.data_dir.git)) as wiki:
            made = indexing.build(desk.data_dir, wiki, wiki.head(), progress=progress, step=desk.step)
        with Writer.opened(desk, for_index=unfinished(desk.data_dir.git) is not None) as writer:
            writer.install_index()
        return made


def _edit_subject(edits: Edits) -> str:
    if not edits.paths:
        return "Begin what came with git"
    pages = sorted(path for path in edits.paths if not path.endswith("/" + META_NAME)) or sorted(edits.paths)
    more = f" and {len(pages) - 1} more" if len(pages) > 1 else ""
    return f"Edit {pages[0]}{more} by hand"


def _adopted(edits: Edits, applied: Applied) -> Adopted:
    def refs(*, was: bool, now: bool) -> tuple[PageRef, ...]:
        return tuple(
            ref
            for path, change in sorted(edits.paths.items())
            if (ref := page_ref(path)) is not None
            and (change.old is not None) == was
            and (change.content is not None) == now
        )

    left = () if applied.obstacle is None else (f"{applied.obstacle.recorded()}".replace("\n", " "),)
    return Adopted(
        commit=applied.commit,
        created=refs(was=False, now=True),
        changed=refs(was=True, now=True),
        deleted=refs(was=True, now=False),
        asked=edits.asked,
        skipped=(*edits.left, *left),
        waiting=len(edits.vanished),
        is_overtaken=bool(applied.folders),
    )
