"""Whether what cannot be rebuilt can be read: objects of the wiki, pages of `state.db`. Looks only."""

import stat
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ai_memory.errors import StoreFault
from ai_memory.store.blobs import blob_id
from ai_memory.store.driver import Connection
from ai_memory.store.wiki import Wiki


@dataclass(frozen=True, slots=True)
class Objects:
    """What a look at the newest commit found."""

    files: int
    faults: tuple[str, ...]
    is_whole: bool
    """False: there were more files than were to be read."""


def read_objects(git: Path, *, most: int) -> Objects:
    """Read the branch's commit, its folders, and at most so many of its files. *Errors*: StoreFault."""
    faults: list[str] = []
    files = 0
    with closing(Wiki(git)) as wiki:
        head = wiki.head()
        if head is None:
            return Objects(0, (), is_whole=True)
        wiki.note(head)  # raises where the commit itself cannot be read
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                rows = wiki.folder_rows(head, folder)
            except StoreFault as fault:
                faults.append(f"the folder {folder or 'of all'}: {fault.message}")
                continue
            for name, mode, made in rows:
                path = f"{folder}/{name.decode('utf-8', 'replace')}".lstrip("/")
                if stat.S_ISDIR(mode):
                    folders.append(f"{folder}/{name.decode('utf-8', 'surrogateescape')}".lstrip("/"))
                elif files == most:
                    return Objects(files, tuple(faults), is_whole=False)
                else:
                    files += 1
                    faults += _file_faults(wiki, path, made.decode())
    return Objects(files, tuple(faults), is_whole=True)


def _file_faults(wiki: Wiki, path: str, made: str) -> list[str]:
    try:
        content = wiki.blob(made)
    except StoreFault as fault:
        return [f"{path}: {fault.message}"]
    return [] if blob_id(content) == made else [f"{path}: object {made} holds other bytes than its name says."]


_QUICK_CHECK = "PRAGMA quick_check(3)"


def database_faults(connection: Connection) -> list[str]:
    """What SQLite finds wrong in the pages of a database. Reads all of it."""
    return [text for (text,) in connection.execute(_QUICK_CHECK) if text != "ok"]
