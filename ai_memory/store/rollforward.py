"""Finishing a change whose redo log is written. Every step may run twice (decision A3).

The numbers of the steps are those of `docs/storage.md`.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ai_memory.errors import NotWritten, Recorded, StoreFault
from ai_memory.paths import DataDir
from ai_memory.store import gitindex, indexing, pending, state
from ai_memory.store.addresses import folder_of
from ai_memory.store.blobs import blob_id
from ai_memory.store.driver import DatabaseError, refusal, transaction
from ai_memory.store.filesystem import nearest_folder, sync_together, synced_meanwhile
from ai_memory.store.gitindex import GitIndex, regular_status
from ai_memory.store.indexing import WriterIndex
from ai_memory.store.outbox import Outbox
from ai_memory.store.pending import PathChange, Pending
from ai_memory.store.stamps import Stamps
from ai_memory.store.wiki import Wiki
from ai_memory.store.worktree import WorkTree, join, read_regular

_SWAP_TRIES = 5
"""How often the branch may move under us, each time as a person's git finished a commit in between. Then the next one
is made with the branch's lock in hand, for which git waits 100 ms: beside a script that committed all the time on a
busy machine 20 tries were not enough (2026-11-30)."""

_LANDED_WITHIN = 10_000
"""How many commits back from the head a killed writer's commit is looked for."""

_FILES_AT_ONCE = 500
"""Files of the work tree that are written and synced together: so many are read and compared twice, and lie there
twice for a moment."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a change that is recorded is not finished yet, and what a person does about it; a sentence each."""

    why: str
    remedy: str
    cause: Exception

    @classmethod
    def of(cls, fault: Exception, root: Path) -> "Obstacle":
        if isinstance(fault, StoreFault):
            return cls(fault.message, fault.hint, fault)
        return cls(*refusal(root, fault), fault)

    def recorded(self) -> Recorded:
        """The fault for whoever made the change."""
        return Recorded(
            f"The change is recorded but could not be finished: {self.why}",
            hint=f"{self.remedy} The next command finishes it.",
        )

    def not_written(self) -> NotWritten:
        """The fault for whoever would make another one: its log is the only copy of what is left to do."""
        return NotWritten(self.why, self.remedy)


@dataclass(frozen=True, slots=True)
class Applied:
    """A change as far as it could be brought. `folders` hold edits that a person made meanwhile: look there again."""

    commit: str | None = None
    paths: Mapping[str, bytes | None] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    is_done: bool = True
    """Branch and state hold it: the command succeeded."""
    obstacle: Obstacle | None = None
    """Why something does not follow yet. The log still stands: no other change may be begun."""


class RollForward:
    """Applies one redo log. Call under the writer lock."""

    def __init__(
        self, data_dir: DataDir, wiki: Wiki, index: WriterIndex, stamps: Stamps, step: Callable[[str], None]
    ) -> None:
        self._data_dir = data_dir
        self._wiki = wiki
        self._index = index
        self._tree = WorkTree(data_dir.wiki, None, stamps)
        self._step = step
        self._waiting: list[Path] = []
        """What must be synced before anything that can be seen changes: the log's name, files beside those of pages."""

    def finish(self, change: Pending) -> Applied:
        """Bring everything to what the log says, then remove it. What fails is told: the next command goes on there."""
        try:
            return self._finish(change)
        finally:
            self._drop_staged()

    def _finish(self, change: Pending) -> Applied:
        try:
            self._waiting = [self._data_dir.root, *self._staged(change)]
            commit, paths = self._commit(change)  # 5.1 objects, 5.2 ref
            self._sync_waiting()
            self._apply_state(change)  # 5.3
        except (OSError, DatabaseError, StoreFault) as fault:
            return Applied(is_done=False, obstacle=Obstacle.of(fault, self._data_dir.root))
        try:
            folders = self._write_files(change, commit, paths)  # 5.4
            self._splice_git_index(commit, paths)  # 5.5
            with synced_meanwhile(self._names(paths)):  # 5.8
                self._follow_index(commit, paths)  # 5.6
            self._step("names")
            self._write_outbox(change)  # 5.7
        except (OSError, DatabaseError, StoreFault) as fault:
            return Applied(commit, paths, obstacle=Obstacle.of(fault, self._data_dir.root))
        self._step("before-clear")
        pending.clear(self._data_dir.pending, is_harmless=not change.outbox)  # 6
        self._step("cleared")
        return Applied(commit, paths, folders)

    def _staged(self, change: Pending) -> list[Path]:
        """Files beside those of the first pages: synced with the objects, they need no wait of their own later.

        What fails here is told by 5.4, since the change is done without it.
        """
        mine = ((path, row.content) for path, row in sorted(change.paths.items()) if not row.is_adopted)
        try:
            return self._tree.stage(islice(mine, _FILES_AT_ONCE))
        except OSError:
            self._drop_staged()
            return []

    def _drop_staged(self) -> None:
        with suppress(OSError):  # a dot-file that stays is removed with other leftovers
            self._tree.drop_staged()

    def _sync_waiting(self) -> None:
        """Where no object had to be written."""
        sync_together(self._waiting)
        self._waiting = []

    def _commit(self, change: Pending) -> tuple[str | None, Mapping[str, bytes | None]]:
        """Commit and contents per path, after the branch holds the change."""
        if not change.paths:
            return None, {}
        for _ in range(_SWAP_TRIES):
            done = self._commit_on(change, self._wiki.head(), self._wiki.swap_branch)
            if done is not None:
                return done
        with self._wiki.branch_held() as swap:
            done = self._commit_on(change, self._wiki.head(), swap)
        assert done is not None  # nobody else moves a branch that we hold
        return done

    def _commit_on(
        self, change: Pending, head: str | None, swap: Callable[[str | None, str], bool]
    ) -> tuple[str | None, Mapping[str, bytes | None]] | None:
        """None when the branch had moved from `head` by the time the commit was made."""
        landed = self._landed(change, head)
        if landed is not None:
            kept, missing = self._kept_and_missing(landed, head)
            if not missing:
                return landed, kept
        else:
            kept, missing = {}, self._wanted(change, head)
            if not missing:
                return head, {path: row.content for path, row in change.paths.items()}
        commit = self._write(change, head, missing)
        self._step("objects")
        if not swap(head, commit):
            return None
        self._step("ref")
        return commit, {**kept, **missing}

    def _landed(self, change: Pending, head: str | None) -> str | None:
        """The commit with which a killed writer put this change on the branch, or None.

        Told by its change id: on a branch that someone moved the commit is another than the log alone would give.
        """
        if head == change.parent:
            return None
        for commit in islice(self._wiki.first_parents(head), _LANDED_WITHIN):
            if commit == change.parent:
                return None
            if self._wiki.note(commit).trailers.get("Change-Id") == change.change_id:
                return commit
        return None

    def _kept_and_missing(
        self, landed: str, head: str | None
    ) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
        """Of the paths that `landed` changed: those that stand at `head`, and those that a later commit took back.

        Git's index still lagged behind when the writer died, so whatever a person then commits takes our paths back
        without a word. A path with a third content was changed on purpose: it is left alone.
        """
        kept: dict[str, bytes | None] = {}
        missing: dict[str, bytes | None] = {}
        for change in list(self._wiki.differences(self._wiki.parent(landed), landed)):
            content = self._wiki.blob(change.new) if change.new is not None else None
            present = self._wiki.blob_at(head, change.git_path)
            if present == change.new:
                kept[change.git_path] = content
            elif present == change.old:
                missing[change.git_path] = content
        return kept, missing

    def _write(self, change: Pending, parent: str | None, contents: Mapping[str, bytes | None]) -> str:
        made = self._wiki.write_commit(
            parent,
            contents,
            message=change.message,
            author=change.author,
            at_us=change.at_us,
            beside=self._waiting,
        )
        self._waiting = []
        return made

    def _wanted(self, change: Pending, head: str | None) -> dict[str, bytes | None]:
        """What the change makes of `head`: joined where someone moved the branch and both sides changed a page."""
        made: dict[str, bytes | None] = {}
        for path, row in change.paths.items():
            theirs = self._wiki.blob_at(head, path)
            ours = blob_id(row.content) if row.content is not None else None
            if theirs == ours:
                continue
            if theirs == row.old or theirs is None:
                made[path] = row.content
                continue
            made.update(self._joined(path, row, theirs))
        return made

    def _joined(self, path: str, row: PathChange, theirs: str) -> dict[str, bytes | None]:
        """Both sides of one page. A real conflict keeps theirs beside, named by its content."""
        present = self._wiki.blob(theirs)
        if row.content is not None and row.old is not None:
            joined = join(self._wiki.blob(row.old), row.content, present)
            if joined is not None:
                return {path: joined}
        return {path: row.content, f"{path.removesuffix('.md')}.conflict-{theirs[:8]}.md": present}

    def _apply_state(self, change: Pending) -> None:
        if not change.state:
            return
        connection = state.open_state(self._data_dir, at_us=change.at_us)
        try:
            with transaction(connection):
                if not state.is_change_applied(connection, change.change_id):
                    for name, parameters in change.state:
                        connection.execute(state.STATEMENTS[name], dict(parameters))
                    marks = {"change_id": change.change_id, "at_us": change.at_us}
                    connection.execute(state.STATEMENTS["change-applied"], marks)
                self._step("state-open")
            self._step("state")
        finally:
            connection.close()

    def _write_files(self, change: Pending, commit: str | None, paths: Mapping[str, bytes | None]) -> frozenset[str]:
        """Gives the folders in which a person's edit was found: it is kept."""
        before = self._wiki.parent(commit) if commit is not None else None
        edited = set()
        waiting = iter(sorted(paths.items()))
        while some := list(islice(waiting, _FILES_AT_ONCE)):
            sync_together(self._tree.stage(some))
            for path, content in some:
                if self._is_edited(change.paths.get(path), before, path, content):
                    edited.add(folder_of(path))
                self._step("file")
            self._drop_staged()
        return frozenset(edited)

    def _is_edited(self, row: PathChange | None, before: str | None, path: str, content: bytes | None) -> bool:
        if row is not None and row.is_adopted:
            return self._tree.follow(path, taken=row.content, new=content)
        committed = [self._wiki.blob_at(before, path), row.old if row is not None else None]
        known = [self._wiki.blob(blob) for blob in dict.fromkeys(filter(None, committed))]
        return self._tree.replace(path, known=known, new=content)

    def _splice_git_index(self, commit: str | None, paths: Mapping[str, bytes | None]) -> None:
        if not paths:
            return
        git = self._data_dir.git
        entries = {path.encode(): self._entry(path, content) for path, content in paths.items()}
        with gitindex.index_lock(git, self._step) as put:
            present = GitIndex.read(git)
            put(present.spliced(entries) if present is not None else self._fresh(commit))

    def _entry(self, path: str, content: bytes | None) -> bytes | None:
        if content is None:
            return None
        return self._packed(path, blob_id(content))

    def _packed(self, path: str, blob: str) -> bytes:
        """An entry whose stat figures are the file's, if the file holds that blob; else git shall look for itself."""
        file = self._data_dir.wiki / path
        status = regular_status(file)
        is_same = status is not None and blob_id(read_regular(file) or b"") == blob
        return gitindex.pack(path.encode(), blob, status if is_same else None)

    def _fresh(self, commit: str | None) -> bytes:
        return gitindex.fresh({path.encode(): self._packed(path, blob) for path, blob in self._wiki.files(commit)})

    def _follow_index(self, commit: str | None, paths: Mapping[str, bytes | None]) -> None:
        """Never a reason to keep the log: an index that lags is brought up by the next reader, a lost one rebuilt."""
        if commit is None or self._wiki.head() != commit:
            return  # someone committed on top
        with suppress(StoreFault):
            before = self._wiki.parent(commit)
            self._index.change(
                lambda connection: indexing.follow(connection, self._wiki, old=before, new=commit, changed=paths)
            )
        self._step("search-index")

    def _names(self, paths: Mapping[str, bytes | None]) -> list[Path]:
        """Git's index and what holds the renames of 5.2 and 5.4: one wait, and the log stands so long."""
        if not paths:
            return []
        wiki = self._data_dir.wiki
        folders = {nearest_folder(wiki / folder_of(path)) for path in paths}
        git = self._data_dir.git
        return [self._wiki.branch_folder, git / "index", git, *sorted(folders)]

    def _write_outbox(self, change: Pending) -> None:
        outbox = Outbox(self._data_dir)
        for entry in change.outbox:
            if entry.text is None:
                outbox.remove(entry.name)
            else:
                outbox.put(entry.name, entry.text)
            self._step("outbox")
