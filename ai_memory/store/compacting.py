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
    sizes = {name: sum(_room_of(Path(f"{path}{tail}")) for tail in ("", "-wal")) for name, path in databases.items()}
    return {**sizes, "wiki/.git": sum(map(_room_of, purge.entries_below(data_dir.git)))}


def _room_of(path: "Path | os.DirEntry[str]") -> int:
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
    program = shutil.which("git")
    if program is None:
        return False
    # No hook and no helper that the repository's own settings name is started: it may come from an archive.
    command = [program, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "--git-dir", str(git_dir)]
    environment = {key: word for key, word in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            [*command, "repack", "-A", "-d", "-q"],
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            timeout=GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise StoreFault(f"git repack failed: {fault}", hint="nothing is lost: run it again") from fault
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise StoreFault(f"git repack failed: {said}", hint="look with `ai-memory doctor`, then run it again")
    return True


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
