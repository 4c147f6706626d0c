"""Making an archive of a data dir while others write.

Order (docs/storage.md, "Backup"): the spool first, since what a drain applies meanwhile is then in both and applied
once; then, under the writer lock and in milliseconds, branch, git's small files and outbox, and the view of `state.db`;
then, without the lock, what never changes: objects, and that view copied.
"""

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from ai_memory import __version__
from ai_memory.clock import rfc3339
from ai_memory.errors import NotFound, StoreFault
from ai_memory.paths import DataDir
from ai_memory.plainfile import open_plain, read_plain
from ai_memory.store import born, driver, leftovers, state_schema
from ai_memory.store.addresses import folder_of, is_ours, is_utf8, meta_project, page_ref
from ai_memory.store.archive import Manifest, Packer, is_kept
from ai_memory.store.checkup import database_faults
from ai_memory.store.desk import Desk
from ai_memory.store.driver import Connection
from ai_memory.store.filesystem import make_folder, open_new, sync_folder
from ai_memory.store.gitindex import GitIndex
from ai_memory.store.head import read_head
from ai_memory.store.state_sessions import totals
from ai_memory.store.wiki import Wiki
from ai_memory.store.worktree import Look, WorkTree
from ai_memory.store.writing import writer_lock

PATTERN = re.compile(r"ai-memory-\d{8}T\d{6}Z(?:-\d+)?\.zip")
"""Names of archives that `backup` gives, and that `--keep` counts."""

_SCANS = 5
"""How often the folder of git's objects is read while somebody packs them."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Made:
    """An archive that was written; `left` names what could not be taken."""

    path: Path
    manifest: Manifest
    size_bytes: int
    left: tuple[str, ...] = ()


def make(desk: Desk, target: Path, progress: Progress) -> Made:
    """Write an archive of the data dir to `target`, whole or not at all; 0600.

    Crash: safe at any point, a dot-file may stay. Errors: NotFound, LockBusy, StoreFault.
    """
    data_dir = desk.data_dir
    _refuse_nothing(data_dir)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        make_folder(target.parent)
        leftovers.sweep_backups(target.parent)
        with os.fdopen(open_new(temporary), "wb") as out:
            with Packer(out) as packer:
                made = _Backup(desk, packer, temporary.with_suffix(".state")).run(progress)
            out.flush()
            os.fsync(out.fileno())
        desk.step("backup-written")
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as fault:
        why, remedy = driver.refusal(target.parent, fault)
        raise StoreFault(f"No backup was made: {why}", hint=f"{remedy} Or name another place with --output.") from fault
    finally:
        temporary.unlink(missing_ok=True)
    desk.step("backup-named")
    return Made(target, made.manifest, target.stat().st_size, tuple(made.left))


def _refuse_nothing(data_dir: DataDir) -> None:
    """An archive of an empty or half-lost data dir would pass for a backup."""
    if read_head(data_dir.git) is None:
        lost = born.lost(data_dir, "wiki")
        raise lost or NotFound(f"there is nothing to back up: no wiki in {data_dir.root}", hint="see --data-dir")
    if not data_dir.state.exists():
        lost = born.lost(data_dir, "state")
        if lost is not None:
            raise lost


class _Backup:
    """One archive on its way."""

    def __init__(self, desk: Desk, packer: Packer, state_copy: Path) -> None:
        self._desk = desk
        self._data_dir = desk.data_dir
        self._packer = packer
        self._state_copy = state_copy
        self.left: list[str] = []
        self.committed: dict[str, str] = {}
        """Files of the branch, with their blobs."""
        self.manifest = Manifest("", "", None, None)

    def run(self, progress: Progress) -> "_Backup":
        made_at = rfc3339(self._desk.clock())
        for path in self._below("spool"):
            self._add(path)
        self._desk.step("backup-spool")
        edited = self._edited_folders()
        with ExitStack() as stack:
            with writer_lock(self._desk).held(self._desk.lock_timeout_s):
                head = read_head(self._data_dir.git)
                small = list(self._small())
                look = self._tree().look_at(edited)
                state = self._pinned(stack)
            self._desk.step("backup-locked")
            for path, content in (*small, *self._edited(head, look)):
                self._packer.add(path, io.BytesIO(content))
            schema, counts = self._copy_state(state)
        self._desk.step("backup-state")
        self._add_objects(progress)
        self._add_others()
        counts |= {
            "pages": sum(page_ref(path) is not None for path in self.committed),
            "projects": sum(meta_project(path) is not None for path in self.committed),
        }
        self.manifest = Manifest(made_at, __version__, head, schema, counts, tuple(self._packer.members))
        self._packer.finish(self.manifest)
        return self

    def _below(self, folder: str) -> Iterator[str]:
        """Paths of what an archive keeps below a folder of the data dir."""
        root = self._data_dir.root
        for here, folders, names in os.walk(root / folder):
            folders.sort()
            if folder == "wiki/.git" and "objects" in folders:
                folders.remove("objects")
            for name in sorted(names):
                path = (Path(here) / name).relative_to(root).as_posix()
                if is_kept(path):
                    yield path

    def _small(self) -> Iterator[tuple[str, bytes]]:
        """What must fit together, with its bytes: read under the lock."""
        yield from self._contents(["config.toml", "born.json", "pending", "paused.json"])
        yield from self._contents(self._below("wiki/.git"))
        yield from self._contents(self._below("wiring"))
        # Hooks claim without the lock, by renaming: open ones are read first, so that each is found here or there.
        offered = [one for part in ("open", "provisional") for one in self._contents(self._below(f"outbox/{part}"))]
        claimed = list(self._contents(self._below("outbox/claimed")))
        taken = {_handoff_of(path) for path, _ in claimed}
        yield from ((path, content) for path, content in offered if _handoff_of(path) not in taken)
        yield from claimed
        yield from self._contents(self._below("outbox/by-dir"))

    def _tree(self) -> WorkTree:
        return WorkTree(self._data_dir.wiki, GitIndex.read(self._data_dir.git))

    def _edited_folders(self) -> set[str]:
        """Folders with pages that differ from the branch, before the lock: under it these alone are looked at.

        At 10,000 pages the whole look and the branch's files take 0.25 s of CPU (2026-11-30).
        """
        look = self._tree().look_everywhere()
        self.left += [f"{path or 'wiki'}: {reason}" for path, reason in sorted(look.skipped.items())]
        with closing(Wiki(self._data_dir.git)) as wiki:
            committed = dict(wiki.files(wiki.head()))
        return {folder_of(path) for path, blob in look.blobs.items() if committed.get(path) != blob}

    def _edited(self, head: str | None, look: Look) -> Iterator[tuple[str, bytes]]:
        """Pages that a person edited and nobody committed yet, as a look under the lock found them: writers edit too.

        One that git's index knows under another blob than the branch is an edit that a person staged: an object.
        """
        with closing(Wiki(self._data_dir.git)) as wiki:
            self.committed = dict(wiki.files(head))
            for path, blob in sorted(look.blobs.items()):
                if self.committed.get(path) != blob:
                    yield f"wiki/{path}", look.contents[path] if path in look.contents else wiki.blob(blob)

    def _contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Paths that are there, with their bytes."""
        for path in paths:
            with suppress(FileNotFoundError):
                yield path, read_plain(self._data_dir.root / path)

    def _add(self, path: str) -> bool:
        """False where it is gone by now."""
        try:
            with open_plain(self._data_dir.root / path) as source:
                self._packer.add(path, source)
        except FileNotFoundError:
            return False
        return True

    def _pinned(self, stack: ExitStack) -> Connection | None:
        """A view of `state.db` that no later transaction changes."""
        if not self._data_dir.state.exists():
            return None
        try:
            connection = stack.enter_context(closing(driver.connect(self._data_dir.state, mode="ro")))
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except driver.DatabaseError as fault:
            raise driver.unreadable(self._data_dir.state, fault) from fault
        return connection

    def _copy_state(self, state: Connection | None) -> tuple[int | None, dict[str, int]]:
        """Its schema and counts, once its copy is in the archive."""
        if state is None:
            return None, {"sessions": 0, "observations": 0}
        copy = self._state_copy
        try:
            with closing(driver.connect(copy)) as target:
                state.backup(target)
                faults = database_faults(target)
                if faults:
                    hint = "Keep the file; restore an older backup."
                    raise StoreFault(f"state.db is damaged: {faults[0]}", hint=hint)
                sessions, _, observations = totals(target)
                schema = state_schema.version(target)
            with copy.open("rb") as source:
                self._packer.add("state.db", source)
        except driver.DatabaseError as fault:
            raise driver.unreadable(self._data_dir.state, fault) from fault
        finally:
            driver.remove(copy)
        return schema, {"sessions": sessions, "observations": observations}

    def _add_objects(self, progress: Progress) -> None:
        """All objects that are there. One that was packed while we read is in a pack that another look finds."""
        added: set[str] = set()
        objects = self._data_dir.git / "objects"
        for _ in range(_SCANS):
            found = sorted(path for path in _objects_in(objects) if path not in added)
            gone = [
                path for number, path in enumerate(found) if not self._add_object(path, progress, number, len(found))
            ]
            added |= set(found) - set(gone)
            if not gone:
                return
        raise StoreFault("Git packed the wiki's objects again and again.", hint="Wait until no git runs there.")

    def _add_object(self, path: str, progress: Progress, number: int, total: int) -> bool:
        progress(number + 1, total)
        return self._add(f"wiki/.git/objects/{path}")

    def _add_others(self) -> None:
        """Files of the wiki folder that are no pages and maybe in no commit: attachments, settings of an editor."""
        wiki = self._data_dir.wiki
        for here, folders, names in os.walk(wiki):
            own = [name for name in folders if is_kept(f"wiki/{name}/x")]
            odd = [name for name in folders if (Path(here) / name).is_symlink() or name not in own]
            folders[:] = sorted(set(own) - set(odd))
            for name in sorted([*names, *(one for one in odd if (here, one) != (str(wiki), ".git"))]):
                path = (Path(here) / name).relative_to(wiki).as_posix()
                if not is_ours(path):
                    self._add_other(path)

    def _add_other(self, path: str) -> None:
        file = self._data_dir.wiki / path
        if not is_utf8(path) or not is_kept(f"wiki/{path}"):
            self.left.append(f"{os.fsencode(path).decode('utf-8', 'replace')}: no backup keeps such a name")
        elif file.is_symlink() or not file.is_file():
            if path not in (reason.partition(": ")[0] for reason in self.left):
                self.left.append(f"{path}: a link or no regular file")
        else:
            try:
                self._add(f"wiki/{path}")
            except OSError as fault:
                self.left.append(f"{path}: {fault.strerror}")


def _handoff_of(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _objects_in(objects: Path) -> Iterator[str]:
    for folder in objects.iterdir():
        if folder.is_dir():
            for file in folder.iterdir():
                path = f"{folder.name}/{file.name}"
                if is_kept(f"wiki/.git/objects/{path}"):
                    yield path


# --- which there are ---


def archives(folder: Path) -> list[Path]:
    """Archives in the folder that `backup` named, newest first."""
    try:
        found = [path for path in folder.iterdir() if PATTERN.fullmatch(path.name) and path.is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.name, reverse=True)


def new_name(folder: Path, *, at_us: int, stem: str = "ai-memory") -> Path:
    """A name for an archive made now that no file in the folder has."""
    stamp = rfc3339(at_us)[:19].replace(":", "").replace("-", "")
    path = folder / f"{stem}-{stamp}Z.zip"
    number = 2
    while path.exists():
        path = folder / f"{stem}-{stamp}Z-{number}.zip"
        number += 1
    return path


def remove_old(made: Path, *, keep: int) -> list[Path]:
    """Remove all but the `keep` newest archives beside the one just made, which always stays; what went."""
    others = [path for path in archives(made.parent) if path != made]
    gone = others[max(0, keep - 1) :]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone
