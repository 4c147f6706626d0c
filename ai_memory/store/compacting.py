"""Giving room back to the disk, and beginning anew. Both are asked for by a person, under the writer lock."""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ai_memory.errors import LockBusy, StoreFault
from ai_memory.paths import DataDir
from ai_memory.store import driver, purge, state
from ai_memory.store.filesystem import aside

GIT_TIMEOUT_S = 1800

_CONTENT = ("born.json", "pending", "restoring", "spool", "outbox", "wiki", "state.db", "cache.db", "index-", "raw")
"""What a memory holds, in the order of going: without `born.json` nothing of the rest counts as lost."""


@dataclass(frozen=True, slots=True)
class Room:
    """One part of the data dir before and after."""

    path: str
    before_bytes: int
    after_bytes: int


def parts(data_dir: DataDir) -> dict[str, int]:
    """Bytes on the disk of what can be made smaller: a small file takes a whole block."""
    databases = {"state.db": data_dir.state, "cache.db": data_dir.cache, data_dir.index.name: data_dir.index}
    sizes = {name: sum(room_of(Path(f"{path}{tail}")) for tail in ("", "-wal")) for name, path in databases.items()}
    return {**sizes, "wiki/.git": sum(map(room_of, purge.entries_below(data_dir.git)))}


def room_of(path: "Path | os.DirEntry[str]") -> int:
    """Bytes that the file takes on the disk: whole blocks; 0 where there is none."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return 0
    blocks: int | None = getattr(status, "st_blocks", None)  # none on Windows
    return status.st_size if blocks is None else blocks * 512


def vacuum_state(data_dir: DataDir, *, at_us: int) -> None:
    """Write `state.db` anew without what was deleted in it. Needs as much room on the disk as it has."""
    if data_dir.state.exists():
        with closing(state.open_state(data_dir, at_us=at_us)) as connection:
            connection.execute("INSERT INTO observations_fts (observations_fts) VALUES ('optimize')")
            vacuum(connection)


def vacuum_cache(data_dir: DataDir) -> None:
    """The same for `cache.db`, of which nothing must be kept."""
    if data_dir.cache.exists():
        with closing(driver.connect(data_dir.cache)) as connection:
            vacuum(connection)


def vacuum(connection: driver.Connection) -> None:
    """Crash: safe, SQLite goes back to what was. Errors: LockBusy, StoreFault as on a full disk."""
    try:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except driver.DatabaseError as fault:
        if "locked" in str(fault):
            raise LockBusy("Another process works with a database.", hint="Try again when it is done.") from fault
        raise StoreFault(
            f"A database was left as it is: {fault}", hint="It takes as much free room as it has."
        ) from fault


def repack_with_git(git_dir: Path) -> bool:
    """Let git put all objects into one pack, those that nothing leads to aside; False where there is no git.

    Crash: safe, git removes a pack only when its successor is on the disk. Errors: StoreFault with git's words.
    """
    command = _git(git_dir)
    if command is None:
        return False
    try:
        done = subprocess.run(
            [*command, "repack", "-A", "-d", "-q"],
            capture_output=True,
            text=True,
            errors="replace",
            env=_environment(),
            timeout=GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise StoreFault(f"git repack failed: {fault}", hint="nothing is lost: run it again") from fault
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise StoreFault(f"git repack failed: {said}", hint="look with `ai-memory doctor`, then run it again")
    return True


def _git(git_dir: Path) -> list[str] | None:
    """The beginning of a command line for that repository; None where there is no git.

    No hook and no helper that the repository's own settings name is started: it may come from an archive.
    """
    program = shutil.which("git")
    if program is None:
        return None
    return [program, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "--git-dir", str(git_dir)]


def _environment() -> dict[str, str]:
    return {key: word for key, word in os.environ.items() if not key.startswith("GIT_")}


@dataclass(frozen=True, slots=True)
class PackSize:
    """All reachable objects in one pack that nobody keeps."""

    size_bytes: int
    objects: int
    unreachable_bytes: int
    """Loose objects that nothing leads to: they stay."""


def repacked(git_dir: Path) -> PackSize | None:
    """What `repack_with_git` would make, measured by letting git write the pack to nowhere; None where it cannot."""
    command = _git(git_dir)
    if command is None or not git_dir.is_dir():
        return None
    size_bytes, head = 0, b""
    try:
        names = subprocess.run(
            [*command, "rev-list", "--objects", "--all"],
            capture_output=True,
            env=_environment(),
            timeout=GIT_TIMEOUT_S,
            check=True,
        ).stdout
        with subprocess.Popen(
            [*command, "pack-objects", "--all", "--stdout", "-q"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        ) as packing:
            assert packing.stdout is not None
            while block := packing.stdout.read(1 << 20):
                head = head or block[:12]
                size_bytes += len(block)
    except (OSError, subprocess.SubprocessError):
        return None
    if packing.returncode or head[:4] != b"PACK" or len(head) < 12:
        return None
    reachable = {line[:40].decode("ascii", "replace") for line in names.splitlines()}
    return PackSize(size_bytes, int.from_bytes(head[8:12], "big"), _unreachable_bytes(git_dir / "objects", reachable))


def _unreachable_bytes(objects: Path, reachable: set[str]) -> int:
    found = (path for path in objects.glob("??/*") if f"{path.parent.name}{path.name}" not in reachable)
    return sum(map(room_of, found))


def content(data_dir: DataDir) -> list[purge.Entry]:
    """What `empty` takes away, in its order: pages, sessions and all that was made of them."""
    found = purge.contents(data_dir)
    return [one for name in _CONTENT for one in found if _is(one.path.name, name)]


def empty(data_dir: DataDir, *, step: Callable[[str], None]) -> None:
    """Take all content away; settings, backups, models, logs and what was wired stay. Call under the writer lock.

    Crash: each part is there whole or gone; say it again for the rest.
    """
    away = aside(data_dir.root)
    away.mkdir(mode=0o700)
    for one in content(data_dir):
        one.path.rename(away / one.path.name)
        step("reset-part")
    shutil.rmtree(away)


def _is(found: str, name: str) -> bool:
    return found == name or (name.endswith((".db", "-")) and found.startswith(name))
