"""What killed processes leave beside their work: half-written files under names of their own, notes that they wait."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from ai_memory.hook_process import id_of, is_running
from ai_memory.paths import DataDir
from ai_memory.store.filesystem import ASIDE

OLD_S = 3_600.0
"""A process id is used again, so age counts too: nothing here is being written for an hour."""

UNPACKED_S = 86_400.0
"""What a restore unpacks is given a day: it is not touched again before all is there."""

_HALF_WRITTEN = re.compile(r"\..+\.(\d+)\.tmp")
"""As `filesystem.write_whole` names them."""
_SPOOLED = re.compile(r"\.\d{19}-(\d+)-[0-9a-f]{8}\.(?:tmp|json)")
"""As hooks name an event that they are writing."""
_SEAT = re.compile(r"\d{19}-(\d+)-[0-9a-f]{8}")
"""As `lock.WriterLock` names the seat of who waits."""
_ARCHIVE = r"\.ai-memory-\d{8}T\d{6}Z(?:-\d+)?\.zip"
_PACKED = re.compile(_ARCHIVE + r"\.(\d+)\.(?:tmp|state)")
_TRIAL = re.compile(_ARCHIVE + r"\.trial")
"""As `backup` names what it writes, and what it restores on trial."""


def sweep(data_dir: DataDir) -> int:
    """Remove what processes left that are gone, once it is an hour old; the number removed. Safe to kill, to repeat."""
    return sum(_remove(path) for path in found(data_dir)) + _sweep_restores(data_dir) + sweep_backups(data_dir.backups)


def found(data_dir: DataDir) -> Iterator[Path]:
    """What `sweep` would remove."""
    oldest = time.time() - OLD_S
    for folder, name in _places(data_dir):
        for entry in _names(folder):
            if _is_left(name, entry) and _is_older(folder / entry, oldest):
                yield folder / entry


def sweep_backups(folder: Path) -> int:
    """Remove archives and trials in a folder whose `backup` was killed; the number removed."""
    oldest_file, oldest_folder = time.time() - OLD_S, time.time() - UNPACKED_S
    removed = 0
    for name in _names(folder):
        if _is_left(_PACKED, name) and _is_older(folder / name, oldest_file):
            removed += _remove(folder / name)
        elif _TRIAL.fullmatch(name) and _is_older(folder / name, oldest_folder):
            shutil.rmtree(folder / name, ignore_errors=True)
            removed += 1
    return removed


def _sweep_restores(data_dir: DataDir) -> int:
    """Folders of restores that died before they began: with a log beside them they are finished, not removed."""
    if data_dir.restoring.exists():
        return 0
    oldest = time.time() - UNPACKED_S
    left = [data_dir.root / name for name in _names(data_dir.root) if ASIDE.fullmatch(name)]
    gone = [folder for folder in left if folder.lstat().st_mtime < oldest]
    for folder in gone:
        shutil.rmtree(folder, ignore_errors=True)
    return len(gone)


def _places(data_dir: DataDir) -> Iterator[tuple[Path, re.Pattern[str]]]:
    """The folders in which we write, and what is half done there. Never inside `.git`: that is git's to tidy."""
    for folder in (data_dir.root, data_dir.locks, data_dir.spool, data_dir.quarantine, data_dir.usage):
        yield folder, _HALF_WRITTEN
    for top in (data_dir.outbox, data_dir.wiki):
        for here, below, _ in os.walk(top):
            below[:] = [name for name in below if name != ".git"]
            yield Path(here), _HALF_WRITTEN
    yield data_dir.spool, _SPOOLED
    yield data_dir.usage, _SPOOLED
    yield data_dir.locks / "waiting", _SEAT


def _is_left(form: re.Pattern[str], name: str) -> bool:
    found = form.fullmatch(name)
    if found is None:
        return False
    number = int(found[1][:19])
    return number != id_of(number) or not is_running(number)  # no process has a number that large


def _is_older(path: Path, oldest: float) -> bool:
    try:
        return path.lstat().st_mtime < oldest
    except OSError:
        return False


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
