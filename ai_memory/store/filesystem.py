"""What lies under the data dir: durable writes, and disks that cannot be trusted with locks."""

import errno
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

NETWORK_FILESYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph", "vboxsf"}
    | {"virtiofs", "fuse.grpcfuse", "fakeowner"}  # what a virtual machine, or Docker's on macOS, sees of its host
)
"""Types on which WAL's shared memory or POSIX locks do not hold between hosts (decision A10)."""

SYNCED_FOLDERS = ("Dropbox", "OneDrive", "Google Drive", "GoogleDrive", "Mobile Documents", "iCloud Drive", "pCloud")
"""Folder names under which a sync client rewrites files behind our back."""

ASIDE = re.compile(r"\.restore-[0-9a-f]{8}")
"""Names that `aside` gives."""


def is_network(folder: Path) -> bool:
    """Whether `folder` lies on a network or 9p filesystem. Linux only; elsewhere False."""
    if sys.platform != "linux":
        return False
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    return mount_type(os.path.realpath(folder), mounts) in NETWORK_FILESYSTEMS


def mount_type(folder: str, mountinfo: str) -> str:
    """Type of the mount that holds `folder`, from the text of `/proc/self/mountinfo` (source: proc(5))."""
    best, found = "", ""
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        point = fields[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        is_under = folder == point or folder.startswith(point.rstrip("/") + "/")
        if is_under and len(point) >= len(best):
            best, found = point, right.split(" ")[0]
    return found


def synced_folder(folder: Path) -> str | None:
    """Name of the sync client's folder that `folder` lies in, or None."""
    for part in folder.parts:
        for name in SYNCED_FOLDERS:
            if part == name or part.startswith((f"{name} ", f"{name}-")):
                return name
    return None


def largest_file_bytes() -> int | None:
    """How large a file may grow by the limit of the user's shell (`ulimit -f`), or None."""
    if sys.platform == "win32":
        return None
    import resource  # POSIX alone has it

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def is_too_large(cause: Exception) -> bool:
    """Whether a file would have grown past that limit, or past what the disk can hold."""
    return isinstance(cause, OSError) and cause.errno == errno.EFBIG


def make_folder(folder: Path) -> None:
    """Create `folder` and what is missing above it, each 0700. Their names survive a power cut."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and new names in `folder` survive a power cut. Windows has no such call: skipped there."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _wait_for(descriptor)
    finally:
        os.close(descriptor)


_SYNCS_AT_ONCE = 8

_SLOW_SYNC_S = 0.002
"""From here on a wait costs more than the threads that share it."""


class _Pace:
    """How long this process waited for a disk last. It only tells whether threads are worth their while."""

    last_s = 0.0


def _wait_for(descriptor: int) -> None:
    begun = time.monotonic()
    os.fsync(descriptor)
    _Pace.last_s = time.monotonic() - begun


def sync_together(paths: Iterable[Path]) -> None:
    """Make files and names in folders survive a power cut. On a slow disk all at once: its journal joins the waits.

    Six small files in a row took 33 ms, together 5 (ext4, 2026-11-30); a disk that answers fast is asked in a row.
    Raises the first OSError.
    """
    waiting = list(dict.fromkeys(paths))
    while waiting and _Pace.last_s < _SLOW_SYNC_S:
        _sync(waiting.pop())
    faults: list[OSError] = []

    def sync_some() -> None:
        while waiting:
            try:
                _sync(waiting.pop())
            except IndexError:
                return  # another thread took the last one
            except OSError as fault:
                faults.append(fault)

    threads = [threading.Thread(target=sync_some) for _ in range(min(_SYNCS_AT_ONCE, len(waiting)) - 1)]
    for thread in threads:
        thread.start()
    sync_some()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


@contextmanager
def synced_meanwhile(paths: Iterable[Path]) -> Iterator[None]:
    """The same, on a slow disk beside the work of the block. It is done once the block has ended. Raises OSError."""
    if _Pace.last_s < _SLOW_SYNC_S:
        yield
        sync_together(paths)
        return
    faults: list[OSError] = []

    def sync_all() -> None:
        try:
            sync_together(paths)
        except OSError as fault:
            faults.append(fault)

    thread = threading.Thread(target=sync_all)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    if faults:
        raise faults[0]


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        return  # as in `sync_folder`
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        _wait_for(descriptor)
    finally:
        os.close(descriptor)


def nearest_folder(path: Path) -> Path:
    """`path` if it is a folder, else the first one above it that is."""
    return path if path.is_dir() else nearest_folder(path.parent)


def sync_below(folder: Path) -> None:
    """Make all that lies below `folder` survive a power cut: for what a library wrote without syncing."""
    sync_together(Path(here) / name for here, _, names in os.walk(folder) for name in (*names, ""))


def aside(root: Path) -> Path:
    """A new name in the data dir for a folder of what comes or goes in one piece, as `ASIDE` knows it."""
    return root / f".restore-{os.urandom(4).hex()}"


def open_new(path: Path) -> int:
    """A descriptor for writing a file that is not there yet, 0600. *Errors*: FileExistsError."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)


def write_whole(
    path: Path,
    content: bytes,
    *,
    sync: bool = True,
    sync_name: bool = True,
    touching: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Replace `path` by `content`, whole or not at all; 0600. Safe to kill at any point (a dot-file may stay).

    Without `sync_name` the bytes survive a power cut, but which of the two versions stands there is left to the
    caller, who syncs the folder later. `touching` is held around each call that changes a name in the folder.
    """
    temporary = write_beside(path, content, sync=sync, touching=touching)
    name_whole(temporary, path, touching=touching)
    if sync and sync_name:
        sync_folder(path.parent)


def write_beside(
    path: Path,
    content: bytes,
    *,
    sync: bool,
    touching: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Path:
    """Write what shall stand at `path` into a dot-file beside it, 0600, and give its name; after a fault there is none.

    Without `sync` sync it before it gets its name: a power cut could leave an empty file there.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    with touching():
        descriptor = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
            if sync:
                out.flush()
                _wait_for(out.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def name_whole(
    temporary: Path, path: Path, *, touching: Callable[[], AbstractContextManager[None]] = nullcontext
) -> None:
    """Let what `write_beside` wrote stand at `path`; where that fails, neither is changed and the dot-file goes."""
    try:
        with touching():
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
