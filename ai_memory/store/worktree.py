"""The files of the wiki as people see them: what lies there, and how a page is put there without harming an edit.

*Source*: decision A4.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ai_memory.errors import StoreFault
from ai_memory.store.addresses import PageFolder, folder_of, is_utf8
from ai_memory.store.blobs import blob_id
from ai_memory.store.filesystem import make_folder, name_whole, write_beside, write_whole
from ai_memory.store.gitindex import Entry, GitIndex, regular_status
from ai_memory.store.stamps import Stamps
from ai_memory.text.merge import merge_lines
from ai_memory.text.sync_copies import stands_for

LARGEST_FILE_BYTES = 16 * 1_048_576
"""A file by hand above this is left alone: no page is that long, and its text would pass through the redo log."""

_MACOS_DATALESS = 0x4000_0000
"""SF_DATALESS of `sys/stat.h`."""
_WINDOWS_ELSEWHERE = 0x0000_1000 | 0x0004_0000 | 0x0040_0000
"""FILE_ATTRIBUTE_OFFLINE, RECALL_ON_OPEN, RECALL_ON_DATA_ACCESS."""


@dataclass(slots=True)
class Look:
    """What a look at some folders found. Contents are kept only where git's index did not know the file."""

    blobs: dict[str, str] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    """Folders that were read, as paths in the repository."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Files and folders that could not be taken, with the reason."""
    placeholders: set[str] = field(default_factory=set)
    """Files and folders that a sync client says it holds elsewhere."""


class WorkTree:
    """The folder `wiki/`."""

    def __init__(self, root: Path, index: GitIndex | None, stamps: Stamps | None = None) -> None:
        self._root = root
        self._index = index
        self._stamps = stamps or Stamps({})
        self._entries: Mapping[bytes, Entry] = {}
        self._staged: dict[Path, tuple[Path, bytes]] = {}
        """Per file the one beside it that holds what shall stand there, and its bytes."""

    def look_at(self, folders: Iterable[str]) -> Look:
        """The files that lie directly in `folders`."""
        look = Look()
        wanted = sorted(set(folders))
        self._entries = self._index.entries({os.fsencode(folder) for folder in wanted}) if self._index else {}
        for folder in wanted:
            link = self._link_on_the_way(folder)
            if link is not None:
                look.skipped[link] = "a symbolic link"
                continue
            for _ in self._read_folder(folder, look):
                pass
        return look

    def look_everywhere(self) -> Look:
        """All pages of all projects. What it costs stands in docs/benchmarks.md, "look at 10,000 pages"."""
        look = Look()
        self._entries = self._index.entries() if self._index else {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            waiting += self._read_folder(folder, look)
        return look

    def _read_folder(self, folder: str, look: Look) -> Iterator[str]:
        path = self._root / folder
        try:
            found = sorted(os.scandir(path), key=lambda entry: entry.name)
        except FileNotFoundError:
            look.folders.add(folder)
            return
        except OSError as fault:
            look.skipped[folder] = f"folder cannot be read: {fault.strerror}"
            return
        look.folders.add(folder)
        ours = PageFolder(folder)
        for entry in found:
            name = f"{folder}/{entry.name}" if folder else entry.name
            absent = stands_for(entry.name)
            if absent is not None:
                look.placeholders.add(f"{folder}/{absent}" if folder else absent)
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if _is_folder_elsewhere(entry):
                    look.placeholders.add(name)  # to list it is to fetch it
                else:
                    yield name
            elif ours.takes(entry.name):
                self._take(name, entry, look)
            elif entry.is_symlink() and entry.is_dir():
                look.skipped[name] = "a symbolic link"  # what lies below is neither ours nor deleted

    def _take(self, name: str, entry: "os.DirEntry[str]", look: Look) -> None:
        if not is_utf8(name):  # first: git may have it all the same
            look.skipped[os.fsencode(name).decode("utf-8", "replace")] = "its name is not UTF-8"
            return
        try:
            status = entry.stat(follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                look.skipped[name] = "not a regular file"
                return
            known = self._entries.get(os.fsencode(name))
            if known is not None and known.matches(status) and self._index and not self._index.is_racy(known):
                look.blobs[name] = known.blob
                return
            if is_elsewhere(status):
                look.placeholders.add(name)  # to read it is to fetch it
                return
            if status.st_size > LARGEST_FILE_BYTES:
                look.skipped[name] = f"{status.st_size:,} bytes are more than a page may hold ({LARGEST_FILE_BYTES:,})"
                return
            content = (self._root / name).read_bytes()
        except OSError as fault:
            look.skipped[name] = f"cannot be read: {fault.strerror}"
            return
        look.blobs[name] = blob_id(content)
        look.contents[name] = content

    def read(self, git_path: str) -> bytes:
        return (self._root / git_path).read_bytes()

    # --- writing ---

    def refuse_blocked(self, git_paths: Iterable[str]) -> None:
        """Raises StoreFault when a link, a folder or some other file stands where one of the pages shall be.

        Ask before the commit point: afterwards the change is recorded, and no file can follow it.
        """
        paths = list(git_paths)
        for folder in dict.fromkeys(map(folder_of, paths)):
            self._refuse_links(folder)
        for git_path in paths:
            read_status(self._root / git_path)

    def stage(self, contents: Iterable[tuple[str, bytes | None]]) -> list[Path]:
        """Write what shall stand in files beside them; gives the new files, for the caller to sync.

        `replace` and `follow` give them their names. 500 small files took 0.6 to 0.9 s one after the other, 0.26
        synced together (ext4, 2026-12-01). Crash: dot-files may stay, as of `write_whole`.
        """
        made = []
        for git_path, content in contents:
            path = self._root / git_path
            if content is None or self._staged.get(path, (path, None))[1] == content:
                continue
            if self._lacks(git_path, content):
                made.append(self._stage(path, content))
        return made

    def drop_staged(self) -> None:
        """Remove those that got no name. Raises OSError; then a dot-file stays."""
        while self._staged:
            path, (temporary, _) = self._staged.popitem()
            with self._stamps.own(path.parent):
                temporary.unlink(missing_ok=True)

    def _lacks(self, git_path: str, content: bytes) -> bool:
        """Whether another content, or nothing, stands at the path; what blocks the way there is told by `replace`."""
        try:
            self._refuse_links(folder_of(git_path))
            return read_regular(self._root / git_path) != content
        except StoreFault:
            return False

    def _stage(self, path: Path, content: bytes) -> Path:
        make_folder(path.parent)
        temporary = write_beside(path, content, sync=False, touching=lambda: self._stamps.own(path.parent))
        self._staged[path] = (temporary, content)
        return temporary

    def replace(self, git_path: str, *, known: Sequence[bytes], new: bytes | None) -> bool:
        """Let `new` stand at the path; True when a person's edit was found there and kept.

        Only a `known` version, or `new` itself, is replaced. An edit is joined with `new` where the two touch other
        lines, else it is kept beside as `<page>.conflict-<8 hex>.md`. Crash: idempotent. The names survive a power
        cut once the folders are synced.
        """
        path = self._root / git_path
        self._refuse_links(folder_of(git_path))
        present = read_regular(path)
        if present == new:
            return False
        if present is None or present in known:
            self._put(path, new)
            return False
        joined = join(known[0], new, present) if known and new is not None else None
        if joined is None:
            write_whole(conflict_path(path, present), present)
        self._put(path, new if joined is None else joined)
        return True

    def follow(self, git_path: str, *, taken: bytes | None, new: bytes | None) -> bool:
        """Let `new` stand where `taken` was found by a look; True when something newer stands there, left as it is.

        What a person saved since the look, even an older text again, is an edit for the next look: never taken back.
        """
        path = self._root / git_path
        self._refuse_links(folder_of(git_path))
        present = read_regular(path)
        if present == new:
            return False
        if present != taken:
            return True
        self._put(path, new)
        return False

    def _put(self, path: Path, content: bytes | None) -> None:
        temporary, staged = self._staged.get(path, (path, None))
        if content is not None and content == staged:
            del self._staged[path]
            name_whole(temporary, path, touching=lambda: self._stamps.own(path.parent))
            return
        if content is not None:
            make_folder(path.parent)
            write_whole(path, content, sync_name=False, touching=lambda: self._stamps.own(path.parent))
            return
        with self._stamps.own(path.parent):
            path.unlink(missing_ok=True)
        self._prune(path.parent)

    def _prune(self, folder: Path) -> None:
        """Remove folders that the last page left empty, as git does."""
        while folder != self._root:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _refuse_links(self, folder: str) -> None:
        link = self._link_on_the_way(folder)
        if link is not None:
            raise StoreFault(
                f"{link} in the wiki is a symbolic link.",
                hint="Replace it by a real folder; pages are never written through links.",
            )
        for part in _ways(folder):
            mode = self._mode(part)
            if mode is not None and not stat.S_ISDIR(mode):
                raise StoreFault(
                    f"{part} in the wiki is a file, not a folder.", hint="Move it away, or choose another path."
                )

    def _link_on_the_way(self, folder: str) -> str | None:
        """The first part of the way to `folder` that is a link, or None."""
        return next((part for part in _ways(folder) if stat.S_ISLNK(self._mode(part) or 0)), None)

    def _mode(self, git_path: str) -> int | None:
        """What stands there, links not followed; None for nothing. Asked for each part of each page's way: as text."""
        try:
            return os.lstat(f"{self._root}/{git_path}").st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None


def is_elsewhere(status: os.stat_result) -> bool:
    """Whether a sync client shows a file or folder whose content it holds elsewhere, and would fetch now."""
    flags: int = getattr(status, "st_flags", 0)
    attributes: int = getattr(status, "st_file_attributes", 0)
    return bool(flags & _MACOS_DATALESS or attributes & _WINDOWS_ELSEWHERE)


def _is_folder_elsewhere(entry: "os.DirEntry[str]") -> bool:
    try:
        return is_elsewhere(entry.stat(follow_symlinks=False))
    except OSError:
        return False  # reading it tells what is wrong


def _ways(folder: str) -> Iterator[str]:
    """`a`, `a/b`, `a/b/c` for `a/b/c`."""
    end = folder.find("/")
    while end >= 0:
        yield folder[:end]
        end = folder.find("/", end + 1)
    if folder:
        yield folder


def read_status(path: Path) -> os.stat_result | None:
    """Stat figures of a regular file, None when nothing stands there. Anything else, a link too, is refused."""
    status = regular_status(path)
    if status is None and os.path.lexists(path):
        raise StoreFault(
            f"{path.name} in the wiki is not a regular file.", hint=f"Move {path} away; pages are plain files."
        )
    return status


def read_regular(path: Path) -> bytes | None:
    """Content of a regular file, None when nothing stands there. A link counts as an edit of its own: refused."""
    return None if read_status(path) is None else path.read_bytes()


def conflict_path(path: Path, content: bytes) -> Path:
    """Where the losing side of a conflict is kept: named by its content, so that a second try finds it there."""
    return path.with_name(f"{path.stem}.conflict-{blob_id(content)[:8]}.md")


def join(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Three-way merge of texts; None for a conflict or for what is not UTF-8."""
    try:
        merged = merge_lines(base.decode("utf-8"), ours.decode("utf-8"), theirs.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    return None if merged is None else merged.encode("utf-8")


def has_conflict_markers(content: bytes) -> bool:
    """Whether git left an unsolved merge in the text."""
    lines = content.split(b"\n")
    return any(line.startswith(b"<<<<<<< ") for line in lines) and any(line.startswith(b">>>>>>> ") for line in lines)
