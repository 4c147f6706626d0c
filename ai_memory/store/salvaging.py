"""A damaged `state.db` gives way to a new one with all that could be read of it; the damaged file is kept.

1. File and log are copied, twice: one copy is kept, from the other one rows are read.
2. The new file is written beside.
3. The kept copy goes to `backups/` by one rename.
4. The new one is swapped in by the log of a restore: whoever comes next ends it.
"""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ai_memory.clock import rfc3339
from ai_memory.errors import LockBusy
from ai_memory.paths import DataDir
from ai_memory.store import audit, born, driver, remains, state_schema
from ai_memory.store.audit import Mutation
from ai_memory.store.desk import Desk
from ai_memory.store.filesystem import aside, make_folder, sync_below, sync_folder
from ai_memory.store.remains import Remains
from ai_memory.store.restore import replace_state

KEPT = "state-damaged-"
"""How the folder in `backups/` begins that holds the damaged file as it was."""

_FAULTS = "PRAGMA quick_check(1)"
_FULL_TEXT = "INSERT INTO observations_fts (observations_fts, rank) VALUES ('integrity-check', 1)"


@dataclass(frozen=True, slots=True)
class Salvaged:
    is_damaged: bool
    remains: Remains
    kept: Path | None = None
    """Where the damaged file lies; None: nothing was changed."""


def salvage(desk: Desk, told: Mutation | None) -> Salvaged:
    """What can be read of `state.db`; with the audit row `told`, that in its place. Call under both locks.

    Crash: before the log of the swap is written nothing changed, though a copy may lie in `backups/`; after it the next
    command finishes. Errors: StoreFault where the file is gone, or a newer program wrote it.
    """
    data_dir = desk.data_dir
    if not data_dir.state.exists():
        lost = born.lost(data_dir, "state")
        if lost is not None:
            raise lost
        return Salvaged(is_damaged=False, remains=Remains())
    folder = aside(data_dir.root)
    make_folder(folder / "new")
    try:
        with _writers_out(data_dir.state):
            _copy(data_dir.state, folder / "damaged")
            _copy(data_dir.state, folder / "read")
            desk.step("salvage-copied")
            copy = folder / "read" / data_dir.state.name
            if not _is_damaged(copy):
                return Salvaged(is_damaged=False, remains=Remains())
            found = remains.read_into(folder / "new" / data_dir.state.name, copy)
            shutil.rmtree(folder / "read")
            desk.step("salvage-read")
            if told is None:
                return Salvaged(is_damaged=True, remains=found)
            with closing(driver.connect(folder / "new" / data_dir.state.name, durable=True)) as new:
                audit.put(new, told)
            kept = _keep(folder / "damaged", data_dir.backups, told.at_us)
            desk.step("salvage-kept")
        replace_state(data_dir, folder, step=desk.step)
        return Salvaged(is_damaged=True, remains=found, kept=kept)
    finally:
        if not data_dir.restoring.exists():
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _writers_out(path: Path) -> Iterator[None]:
    """Nobody writes into the file within the block, as far as SQLite can still see to that."""
    connection = None
    try:
        connection = driver.connect(path)
        connection.execute("BEGIN IMMEDIATE")
    except driver.FAULTS as fault:
        if "locked" in str(fault):
            raise LockBusy("Another process works with state.db.", hint="Try again when it is done.") from fault
    try:
        yield
    finally:
        if connection is not None:
            connection.close()  # takes back what was begun: nothing


def _copy(path: Path, folder: Path) -> None:
    """File and log, byte for byte, synced. The log comes last: what moves out of it meanwhile is then in both."""
    make_folder(folder)
    for tail in ("", "-wal", "-journal"):
        source = Path(f"{path}{tail}")
        if source.exists():
            shutil.copyfile(source, folder / source.name)
            (folder / source.name).chmod(0o600)
    sync_below(folder)


def _is_damaged(copy: Path) -> bool:
    """Whether SQLite, or its full text, finds faults. *Errors*: StoreFault when a newer program wrote it."""
    try:
        with closing(driver.connect(copy)) as connection:
            if [row[0] for row in connection.execute(_FAULTS)] != ["ok"]:
                return True
            state_schema.refuse_newer(connection)
            connection.execute(_FULL_TEXT)
        return False
    except driver.FAULTS:
        return True


def _keep(folder: Path, backups: Path, at_us: int) -> Path:
    make_folder(backups)
    target = backups / f"{KEPT}{rfc3339(at_us)[:19].replace('-', '').replace(':', '')}Z"
    while target.exists():
        target = target.with_name(f"{target.name}-1")
    folder.rename(target)
    sync_folder(backups)
    return target


def salvaged_from(data_dir: DataDir) -> list[Path]:
    """Folders with damaged files that were kept."""
    return sorted(data_dir.backups.glob(f"{KEPT}*"))
