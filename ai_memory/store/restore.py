"""Putting an archive in place of a data dir: unpacked beside and proven, then swapped in by a log.

Whoever comes next finishes what the log says (docs/storage.md, "Restore").
"""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ai_memory.errors import Conflict, StoreFault
from ai_memory.paths import DataDir
from ai_memory.plainfile import read_plain
from ai_memory.store import audit, birth, driver, indexing, state_schema
from ai_memory.store.audit import Mutation
from ai_memory.store.desk import Desk
from ai_memory.store.drain_lock import no_drain
from ai_memory.store.filesystem import ASIDE, aside, make_folder, sync_below, sync_folder, write_whole
from ai_memory.store.unpacking import Progress, Unpacked, unpack
from ai_memory.store.writing import writer_lock

FORMAT = 1

_SWAPPED = ("config.toml", "paused.json", "wiring", "outbox", "pending", "wiki", "born.json")
"""What is renamed into place, in this order."""

_KEPT = frozenset({"paused.json", "wiring"})
"""What tells of this machine and moment: an older one never takes its place."""

_LEFT_IF_MISSING = frozenset({"config.toml"})
"""What stays where the archive has none. All else belongs to the pages that go."""

Step = Callable[[str], None]
Mend = Callable[[DataDir], Sequence[str]]
"""Takes away from an unpacked memory what must not come with it; gives what is to be told of that."""


def restore(
    desk: Desk, archive: Path, told: Mutation, *, is_forced: bool, progress: Progress, mend: Mend = lambda _: ()
) -> Unpacked:
    """Let the data dir be what the archive holds, and `mend` left of it; the audit row `told` is in it.

    Crash: before the log is written nothing changed; after it the next command finishes. Events that wait in the spool
    stay. Errors: BadArchive, Conflict over data unless forced, LockBusy, StoreFault.
    """
    data_dir = desk.data_dir
    birth.refuse_bad_place(data_dir, allow_synced=is_forced)
    birth.make_root(data_dir)
    birth.refuse_open_to_all(data_dir)
    _refuse_data(data_dir, is_forced=is_forced)
    folder = aside(data_dir.root)
    make_folder(folder / "new")
    try:
        unpacked = unpack(archive, folder / "new", progress)
        desk.step("restore-proven")
        timeout_s = desk.lock_timeout_s
        told_of = driver.refusals_told(data_dir.root)
        with no_drain(data_dir.locks, timeout_s=timeout_s), writer_lock(desk).held(timeout_s), told_of:
            _refuse_data(data_dir, is_forced=is_forced)
            gaps = [*_carry_over(data_dir, unpacked, told), *mend(unpacked.data_dir)]
            desk.step("restore-mended")
            _begin(data_dir, folder, desk.step)
            finish(data_dir, step=desk.step)
    finally:
        if not data_dir.restoring.exists():
            shutil.rmtree(folder, ignore_errors=True)
    birth.make_folders(data_dir)
    return replace(unpacked, gaps=(*unpacked.gaps, *gaps))


def _refuse_data(data_dir: DataDir, *, is_forced: bool) -> None:
    there = [path.name for path in (data_dir.wiki, data_dir.state, data_dir.pending) if os.path.lexists(path)]
    if there and not is_forced:
        raise Conflict(
            f"There is a memory in {data_dir.root} ({', '.join(there)}); nothing was touched.",
            hint="`ai-memory backup` it first. --force replaces it; --data-dir DIR restores elsewhere.",
        )


def _carry_over(data_dir: DataDir, unpacked: Unpacked, told: Mutation) -> tuple[str, ...]:
    """Tell the restore in the state that comes, with all that was purged since. Gives what of it is back."""
    gaps: list[str] = []
    purged = _purged(data_dir, gaps)
    if not purged and not unpacked.data_dir.state.exists():
        return ()
    with closing(driver.connect(unpacked.data_dir.state, durable=True)) as connection:
        state_schema.migrate(connection)
        with driver.transaction(connection):
            known = {row[0] for row in connection.execute("SELECT id FROM purged")}
            connection.executemany("INSERT OR IGNORE INTO purged (id, kind, at_us) VALUES (?, ?, ?)", purged)
            audit.put(connection, told)
    back = sorted({(kind, name) for name, kind, _ in purged if name not in known})
    if back:
        names = ", ".join(_named(back))
        gaps.append(f"purged since this backup was made, and held by it: {names}")
    return tuple(gaps)


def _named(back: list[tuple[str, str]]) -> Iterator[str]:
    """Sessions by their ids; of pages and projects nothing but the number is known."""
    yield from [f"session {name}" for kind, name in back if kind == "session"][:5]
    numbers = Counter(kind for kind, _ in back)
    for kind, noun, whose in (("page", "version", " of pages"), ("project", "project", "")):
        if numbers[kind]:
            yield f"{numbers[kind]} {noun}{'s' if numbers[kind] > 1 else ''}{whose}"


def _purged(data_dir: DataDir, gaps: list[str]) -> list[tuple[str, str, int]]:
    if not data_dir.state.exists():
        return []
    try:
        with closing(driver.connect(data_dir.state, mode="ro")) as connection:
            return [tuple(row) for row in connection.execute("SELECT id, kind, at_us FROM purged ORDER BY id")]
    except driver.FAULTS as fault:
        gaps.append(f"what was purged here could not be read: {fault}")
        return []


@dataclass(frozen=True, slots=True)
class _Log:
    """A restore that passed its commit point. `replaced`: what stood there when it did."""

    folder: Path
    replaced: frozenset[str]


def replace_state(data_dir: DataDir, folder: Path, *, step: Step) -> None:
    """Put `new/state.db` of that folder in place of the one that is there. Call under drain's and writer lock.

    Crash: as a restore. The index is made again.
    """
    _begin(data_dir, folder, step, names=("state.db",))
    finish(data_dir, step=step)


def _begin(data_dir: DataDir, folder: Path, step: Step, *, names: Sequence[str] = (*_SWAPPED, "state.db")) -> None:
    """Pass the commit point: from here on the restore is finished, by this process or by the next one."""
    sync_below(folder)
    step("restore-unpacked")
    there = [name for name in names if os.path.lexists(data_dir.root / name)]
    log = {"format": FORMAT, "folder": folder.name, "replaced": there}
    write_whole(data_dir.restoring, json.dumps(log).encode("ascii"))
    step("restore-log")


def finish(data_dir: DataDir, *, step: Step) -> None:
    """Bring a restore that was begun to its end; each step may run again. Call under the writer lock.

    What stood there is kept beside until all is in place. Errors: StoreFault, OSError: the log stays.
    """
    log = _load(data_dir)
    if log is None:
        return
    new, old = log.folder / "new", log.folder / "old"
    make_folder(old)
    indexing.discard(data_dir)
    step("restore-index")
    for name in _SWAPPED:
        _swap(data_dir.root / name, new / name, old / name, step, is_replaced=name in log.replaced)
    _swap_state(data_dir, new / "state.db", old, step, is_replaced="state.db" in log.replaced)
    _add_events(data_dir, new / "spool", step)
    sync_folder(data_dir.root)
    step("restore-in-place")
    data_dir.restoring.unlink()
    sync_folder(data_dir.root)
    step("restore-done")
    shutil.rmtree(log.folder, ignore_errors=True)


def _load(data_dir: DataDir) -> _Log | None:
    try:
        record = json.loads(read_plain(data_dir.restoring))
        name, replaced = str(record["folder"]), frozenset(map(str, record["replaced"]))
        is_ours = record["format"] == FORMAT and ASIDE.fullmatch(name) is not None
        folder = data_dir.root / name
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        is_ours = False
    if not is_ours or not (folder / "new").is_dir():
        raise StoreFault(
            f"The log of a restore, {data_dir.restoring}, cannot be followed.",
            hint="Look for folders .restore-* beside it: `old` in them is what was there. Then remove the log.",
        )
    return _Log(folder, replaced)


def _swap(live: Path, new: Path, old: Path, step: Step, *, is_replaced: bool) -> None:
    is_coming = os.path.lexists(new)
    stays = live.name in _KEPT or (live.name in _LEFT_IF_MISSING and not is_coming)
    if is_replaced and not stays and not os.path.lexists(old):
        live.rename(old)
        step(f"restore-aside {live.name}")
    if is_coming and not os.path.lexists(live):
        new.rename(live)
        step(f"restore-in {live.name}")


def _swap_state(data_dir: DataDir, new: Path, old: Path, step: Step, *, is_replaced: bool) -> None:
    """Copied in by SQLite, since other processes may have the file open; a damaged one is renamed away."""
    is_coming = new.exists()
    if is_replaced and not (old / "state.db").exists():
        if is_coming:
            _keep_state(data_dir, old)
        else:
            _move_state_aside(data_dir, old)
        step("restore-aside state.db")
    if not is_coming:
        return
    if data_dir.state.exists():
        with closing(driver.connect(new)) as source, closing(driver.connect(data_dir.state, durable=True)) as target:
            source.backup(target)
        step("restore-copied state.db")
        new.unlink()
    else:
        new.rename(data_dir.state)
    step("restore-in state.db")


def _keep_state(data_dir: DataDir, old: Path) -> None:
    """A copy of what is there, whole; the file itself where SQLite cannot read it."""
    copy = old / "state.db.copy"
    copy.unlink(missing_ok=True)
    try:
        with closing(driver.connect(data_dir.state)) as source, closing(driver.connect(copy)) as target:
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            source.backup(target)
        copy.rename(old / "state.db")
    except driver.FAULTS as fault:
        if not driver.is_damage(fault):
            raise driver.unusable(data_dir.state, fault) from fault
        _move_state_aside(data_dir, old)


def _move_state_aside(data_dir: DataDir, old: Path) -> None:
    for suffix in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            Path(f"{data_dir.state}{suffix}").rename(old / f"state.db{suffix}")


def _add_events(data_dir: DataDir, spool: Path, step: Step) -> None:
    """Events that waited join those that wait here: an event is applied once, by its name."""
    for file in sorted(spool.rglob("*.json")):
        target = data_dir.spool / file.relative_to(spool)
        make_folder(target.parent)
        if target.exists():
            file.unlink()
        else:
            file.rename(target)
        step("restore-event")
