"""Making a data dir: by the first write, by several processes at once, on a disk that can be trusted."""

import os
import shlex
import stat
from collections.abc import Callable

from ai_memory.errors import StoreFault
from ai_memory.model import MACHINE
from ai_memory.paths import DataDir
from ai_memory.store import filesystem, gitindex
from ai_memory.store.blobs import blob_id
from ai_memory.store.filesystem import make_folder, sync_folder, write_whole
from ai_memory.store.lock import WriterLock
from ai_memory.store.wiki import Wiki

FIRST_FILES = {
    ".gitattributes": b"# Pages are kept byte for byte.\n* -text\n",
    ".gitignore": b"# Only pages are kept here.\n.*\n!.gitattributes\n!.gitignore\n*.tmp\n",
}
"""What the first commit holds. `.obsidian/` and the like stay out of `git status`."""


def refuse_bad_place(data_dir: DataDir, *, allow_synced: bool) -> None:
    """Raise StoreFault for a folder that a sync client rewrites."""
    name = filesystem.synced_folder(data_dir.root)
    if name is not None and not allow_synced:
        raise StoreFault(
            f"{data_dir.root} lies in a folder that {name} synchronises.",
            hint="Choose another with --data-dir. A sync client can break databases and locks; `init --allow-synced`"
            " insists.",
        )


def refuse_open_to_all(data_dir: DataDir) -> None:
    """Raise StoreFault for a data dir in which every user of this machine may write: what lies there may be theirs.

    Disks of another system tell no rights that hold, so nothing is said of them.
    """
    root = data_dir.root
    if os.name == "nt" or not root.is_dir():
        return
    if root.stat().st_mode & stat.S_IWOTH and not filesystem.is_network(root):
        raise StoreFault(
            f"Every user of this machine may write in the data dir {root}.",
            hint=f"Take that right away: chmod 700 {shlex.quote(str(root))}. Then look through what lies there.",
        )


def make_root(data_dir: DataDir) -> None:
    """The data dir itself. Raises StoreFault where none can be."""
    try:
        make_folder(data_dir.root)
    except OSError as fault:
        raise StoreFault(
            f"The data dir {data_dir.root} cannot be made: {fault.strerror}.",
            hint="Choose another with --data-dir or AI_MEMORY_DATA_DIR.",
        ) from fault


def make_folders(data_dir: DataDir) -> None:
    """All folders of a data dir, 0700."""
    for folder in (
        data_dir.root,
        data_dir.wiki,
        data_dir.quarantine,
        data_dir.locks,
        data_dir.logs,
        *(data_dir.outbox / name for name in ("open", "by-dir", "claimed", "starts", "provisional", "recaps")),
    ):
        make_folder(folder)


def give_birth(data_dir: DataDir, lock: WriterLock, *, at_us: int, step: Callable[[str], None]) -> None:
    """The wiki with its first commit. Call under the lock, after a second look. Crash: run again."""
    _test_lock(lock, data_dir)
    make_folders(data_dir)
    step("birth-folders")
    Wiki.create(data_dir.wiki)
    step("birth-repository")
    wiki = Wiki(data_dir.git)
    try:
        wiki.clear_temporary()  # a birth that died wrote another commit than this one
        commit = wiki.write_commit(None, FIRST_FILES, message="Begin the wiki\n", author=MACHINE, at_us=at_us)
        step("birth-objects")
        entries = {}
        for name, content in FIRST_FILES.items():
            path = data_dir.wiki / name
            write_whole(path, content)
            entries[name.encode()] = gitindex.pack(name.encode(), blob_id(content), path.lstat())
        write_whole(data_dir.git / "index", gitindex.fresh(entries))
        step("birth-files")
        wiki.swap_branch(None, commit)
        sync_folder(wiki.branch_folder)
        step("birth-ref")
    finally:
        wiki.close()


def _test_lock(lock: WriterLock, data_dir: DataDir) -> None:
    """Refuse a disk on which a second lock on the same file succeeds (decision A10)."""
    with lock.if_free() as is_free:
        if is_free:
            raise StoreFault(
                f"File locks do not hold on the disk of {data_dir.root}.",
                hint="Choose a folder on a local disk with --data-dir; some network file systems know no locks.",
            )
