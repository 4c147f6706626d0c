"""Files of other programs: looked at through links, replaced whole or not at all, given back as they were."""

import glob
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ai_memory.plainfile import read_plain
from ai_memory.store.filesystem import sync_folder
from ai_memory.wiring.documents import Refused

MAX_LINKS = 40
"""As many links in a row as Linux follows."""
LARGEST_BYTES = 32 << 20
"""No settings are that large; reading more would only cost memory."""
LEFTOVER_S = 60
"""A temporary file older than this belongs to nobody who still writes."""
Step = Callable[[str], None]


def no_step(_: str) -> None:
    """Named instants of a write, for tests that kill there."""


class Changed(Exception):
    """The file is not any more what was read."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One file at the moment of a look."""

    path: Path
    """As it is named."""
    target: Path
    """Where the links lead; the file itself, which need not exist."""
    content: bytes | None
    """None: there is none."""
    mode: int = 0o600
    uid: int = -1
    gid: int = -1
    hindrance: str = ""
    """Why it cannot be written."""

    @property
    def text(self) -> str:
        """Its text, byte order mark and line ends as they stand; empty without a file. *Errors*: Refused."""
        try:
            return (self.content or b"").decode("utf-8")
        except UnicodeDecodeError as fault:
            content = self.content or b""
            line = content.count(b"\n", 0, fault.start) + 1
            column = fault.start - (content.rfind(b"\n", 0, fault.start) + 1) + 1
            raise Refused("it is no UTF-8 text", line=line, column=column) from fault


def look(path: Path) -> Seen:
    """The file behind a path. *Errors*: Refused where something else stands there or it cannot be read."""
    target = follow(path)
    try:
        found = target.lstat()
    except FileNotFoundError:
        return Seen(path, target, None, hindrance=_hindrance_above(target))
    except OSError as fault:
        raise Refused(f"it cannot be looked at: {fault.strerror}") from fault
    if not stat.S_ISREG(found.st_mode):
        raise Refused("a folder is in its place" if stat.S_ISDIR(found.st_mode) else "it is no regular file")
    if found.st_size > LARGEST_BYTES:
        raise Refused(f"it has {found.st_size:,} bytes, more than the {LARGEST_BYTES:,} that are read")
    try:
        content = read_plain(target)
    except OSError as fault:
        raise Refused(f"it cannot be read: {fault.strerror}") from fault
    hindrance = _hindrance_above(target)
    if not found.st_mode & 0o222 or not os.access(target, os.W_OK):
        hindrance = "it is read-only"
    elif hasattr(os, "geteuid") and found.st_uid != os.geteuid() != 0:
        hindrance = "it belongs to somebody else"
    return Seen(path, target, content, stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, hindrance)


def follow(path: Path) -> Path:
    """Where the links lead; the last of them may lead to nothing. *Errors*: Refused where they lead in a circle."""
    here = Path(os.path.abspath(path))
    for _ in range(MAX_LINKS + 1):
        here = Path(os.path.realpath(here.parent)) / here.name
        if not here.is_symlink():
            return here
        here = Path(os.path.abspath(here.parent / here.readlink()))
    raise Refused(f"over {MAX_LINKS} links lead to each other")


def _hindrance_above(target: Path) -> str:
    """Why no file can be made there, or empty."""
    folder = target.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is no folder"
    return "" if os.access(folder, os.W_OK) else f"{folder} is read-only"


def replace(seen: Seen, content: bytes, *, is_executable: bool = False, step: Step = no_step) -> tuple[Path, ...]:
    """Let the file hold `content`, whole or not at all; links, mode and owner stay. Gives the folders that it made.

    *Crash*: before the rename the old file stands, after it the new one; a temporary file may stay.
    *Errors*: Changed if the file is not what was seen; OSError.
    """
    made = _make_folders(seen.target.parent)
    _drop_leftovers(seen.target)
    temporary = seen.target.with_name(f".{seen.target.name}.ai-memory-{os.getpid()}-{time.time_ns()}.tmp")
    mode = seen.mode if seen.content is not None else 0o600
    if is_executable:
        mode |= 0o100
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
            out.flush()
            _keep_owner(out.fileno(), seen)
            if hasattr(os, "fchmod"):
                os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
        step("temporary")
        _refuse_changed(seen)
        temporary.replace(seen.target)
        step("renamed")
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        drop_folders(made)
        raise
    sync_folder(seen.target.parent)
    return made


def delete(seen: Seen, folders: tuple[Path, ...] = (), *, step: Step = no_step) -> None:
    """Remove the file that was seen, and those of the folders that hold nothing. *Errors*: Changed, OSError."""
    _refuse_changed(seen)
    seen.target.unlink()
    step("deleted")
    sync_folder(seen.target.parent)
    drop_folders(folders)


def _refuse_changed(seen: Seen) -> None:
    try:
        present: bytes | None = read_plain(seen.target)
    except FileNotFoundError:
        present = None
    if present != seen.content:
        raise Changed


def _keep_owner(descriptor: int, seen: Seen) -> None:
    """Only root replaces files of others, and sudo must not take a person's own file away."""
    if seen.uid >= 0 and hasattr(os, "fchown"):
        made = os.fstat(descriptor)
        if made.st_uid != seen.uid:
            os.fchown(descriptor, seen.uid, seen.gid)
        elif made.st_gid != seen.gid:
            with suppress(PermissionError):  # a group that its owner has left
                os.fchown(descriptor, -1, seen.gid)


def _make_folders(folder: Path) -> tuple[Path, ...]:
    """Folders that were missing, the deepest first."""
    made: list[Path] = []
    try:
        for one in reversed(missing_folders(folder)):
            with suppress(FileExistsError):  # somebody else made it a moment ago
                one.mkdir(mode=0o700)
                made.insert(0, one)
    except OSError:
        drop_folders(tuple(made))
        raise
    return tuple(made)


def missing_folders(folder: Path) -> tuple[Path, ...]:
    """The folders that a file in `folder` needs and that are not there, the deepest first."""
    missing = []
    while not folder.exists() and folder != folder.parent:
        missing.append(folder)
        folder = folder.parent
    return tuple(missing)


def _drop_leftovers(target: Path) -> None:
    """Remove what killed installers left beside the file."""
    oldest = time.time() - LEFTOVER_S
    for one in target.parent.glob(f".{glob.escape(target.name)}.ai-memory-*.tmp"):
        with suppress(OSError):
            if one.stat().st_mtime < oldest:
                one.unlink()


def drop_folders(folders: tuple[Path, ...]) -> None:
    """Remove those of the folders that hold nothing."""
    for folder in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()
