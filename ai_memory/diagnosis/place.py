"""The data dir itself: is it there, whose is it, on which disk does it lie, and is there room."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from ai_memory.diagnosis.finding import Finding, Repair, Severity
from ai_memory.errors import MemoryFault
from ai_memory.paths import DataDir
from ai_memory.store import born, filesystem, leftovers
from ai_memory.store.reading import is_writable

if TYPE_CHECKING:
    from ai_memory.diagnosis.ground import Ground

LEAST_FREE_BYTES = 1 << 20
"""Below this not even an event of a few KiB is sure to be kept."""
LITTLE_FREE_BYTES = 64 << 20
"""Below this, and twice the index besides, a rebuild of it may not find room."""
_BROKEN, _WARNING, _NOTE = Severity.BROKEN, Severity.WARNING, Severity.NOTE


def presence(ground: "Ground") -> Iterator[Finding]:
    """Whether there is a memory, and what of it is gone."""
    data_dir = ground.memory.data_dir
    root = data_dir.root
    if not root.exists():
        yield Finding("no-memory", _WARNING, f"there is no memory yet at {root}", "ai-memory setup")
        return
    if not os.access(root, os.R_OK | os.X_OK):
        fix = f"chmod u+rwx {quote(str(root))}" if _is_mine(root) else f"give yourself the right to read {root}"
        yield Finding("data-dir-unreadable", _BROKEN, f"{root} cannot be read by you", fix)
        return
    lost = [one for part in ("wiki", "state") if (one := _lost(ground, data_dir, part)) is not None]
    yield from (Finding("part-lost", _BROKEN, one.message.rstrip("."), one.hint) for one in lost)
    if not lost and not ground.memory.exists:
        yield Finding("no-memory", _WARNING, f"{root} holds no memory yet", "ai-memory init")


def _lost(ground: "Ground", data_dir: DataDir, part: born.Part) -> MemoryFault | None:
    is_there = ground.memory.exists if part == "wiki" else data_dir.state.exists()
    return None if is_there else born.lost(data_dir, part)


def rights(ground: "Ground") -> Iterator[Finding]:
    """Who owns it, who else may read it, and whether it can be written."""
    root = ground.memory.data_dir.root
    if not root.exists():
        return
    yield from unwritable(ground.memory.data_dir)
    if os.name != "posix":
        return
    if not _is_mine(root):
        fix = f"sudo chown -R {os.geteuid()} {quote(str(root))}"
        yield Finding("data-dir-owner", _WARNING, f"{root} belongs to somebody else (uid {root.stat().st_uid})", fix)
    open_ones = [path for path in (root, *_top(root)) if _is_open(path)]
    if open_ones:
        names = ", ".join(path.name if path != root else str(root) for path in open_ones[:5])
        more = f" and {len(open_ones) - 5} more" if len(open_ones) > 5 else ""
        sentence = f"others on this machine may read {names}{more}"
        yield Finding("data-dir-open", _WARNING, sentence, f"chmod -R go-rwx {quote(str(root))}")


def unwritable(data_dir: DataDir) -> Iterator[Finding]:
    """What keeps hooks from writing: they stay silent for the agent's sake, so this is where it is told."""
    blocked = next((one for one in (data_dir.root, data_dir.spool) if one.is_dir() and not is_writable(one)), None)
    if blocked is not None:
        sentence = f"{blocked} cannot be written here: hooks keep nothing"
        yield Finding("data-dir-read-only", _BROKEN, sentence, "check its owner and permissions")


def disk(ground: "Ground") -> Iterator[Finding]:
    """On what it lies, and how much room there is."""
    data_dir = ground.memory.data_dir
    root = data_dir.root
    is_there = root.exists()
    move = "move it to a local disk, and name it by AI_MEMORY_DATA_DIR or --data-dir"
    if filesystem.is_network(filesystem.nearest_folder(root)):
        sentence = (
            f"{root} lies on a network disk: its locks may not hold between machines, so two writers can harm"
            " each other's databases"
        )
        yield Finding("network-disk", _WARNING, sentence, move)
    synced = filesystem.synced_folder(root)
    if synced is not None:
        sentence = (
            f"{root} lies in a folder that {synced} synchronises: it replaces files while they are open, which breaks"
            " databases and locks"
        )
        yield Finding("synced-disk", _WARNING, sentence, move)
    if is_there:
        yield from room(data_dir)


def room(data_dir: DataDir) -> Iterator[Finding]:
    """Whether the disk has room."""
    root = data_dir.root
    try:
        free = shutil.disk_usage(root).free
        index = data_dir.index.stat().st_size if data_dir.index.exists() else 0
    except OSError:
        return  # another check tells that the place cannot be read
    if free < LEAST_FREE_BYTES:
        sentence = f"the disk of {root} is full ({free >> 10} KiB free): hooks keep nothing"
        yield Finding("disk-full", _BROKEN, sentence, "free some space")
    elif free < LITTLE_FREE_BYTES + 2 * index:
        sentence = f"the disk of {root} has only {free >> 20} MiB left: a rebuild of the index may not find room"
        yield Finding("disk-low", _WARNING, sentence, "free some space")


def half_written(ground: "Ground") -> Iterator[Finding]:
    """What killed commands left."""
    left = sum(1 for _ in leftovers.found(ground.memory.data_dir))
    if left:
        sentence = f"killed commands left {left} half-written files; nothing reads them"
        yield Finding("leftovers", _NOTE, sentence, "ai-memory doctor --fix", repair=Repair.SWEEP)


def _is_mine(path: Path) -> bool:
    return os.name != "posix" or path.stat().st_uid == os.geteuid()


def _top(root: Path) -> list[Path]:
    return sorted(one for one in root.iterdir() if not one.is_symlink())


def _is_open(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
