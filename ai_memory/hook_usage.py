"""One small file in `spool/usage/` for each call of a tool or command, and for what a start was told: the drain adds
them up. Written by the faces and by the hook once their answer is out. Stdlib only, light.

Crash: safe at any point. Counts are no memory: a file may get lost, and nothing is synced.
"""

# ruff: noqa: PTH102, PTH104, PTH110, PTH118, PTH208, SIM105 (pathlib, contextlib: not loaded in a hook)

import json
import os
import time

from ai_memory import hook_places, hook_spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = os.path.join("spool", "usage")
MOST_FILES = 5_000
"""Where no drain ever runs, nothing more is counted from there on."""
ASKS_DRAIN = 256
"""So many files ask for a drain, where no hook does."""


def put(data_dir: str, record: "Mapping[str, object]") -> bool:
    """Leave the record for the drain; False where that cannot be, which is no fault: nobody waits for a count.

    It makes no data dir, and adds nothing once `MOST_FILES` wait, which is looked at one time in 16.
    """
    if not hook_places.is_initialised(data_dir):
        return False
    folder = os.path.join(data_dir, FOLDER)
    full = os.path.join(folder, ".full")
    waiting = 0
    try:
        if os.urandom(1)[0] % hook_spool.LOOK_EVERY == 0:
            waiting = _look(folder, full)
        if os.path.exists(full):
            return False
        _write(folder, json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    except OSError:  # read-only, full, or taken away under us
        return False
    if waiting >= ASKS_DRAIN:
        hook_spool.kick(data_dir, "user-prompt", waiting, is_staying=True)
    return True


def _look(folder: str, full: str) -> int:
    """How many files wait; the mark that they are too many is set or taken back."""
    try:
        waiting = sum(name.endswith(".json") for name in os.listdir(folder))
    except FileNotFoundError:
        return 0
    if waiting < MOST_FILES:
        hook_spool.remove(full)
    elif not os.path.exists(full):
        os.close(os.open(full, os.O_WRONLY | os.O_CREAT, 0o600))
    return waiting


def _write(folder: str, content: bytes) -> None:
    stem = f"{time.time_ns():019d}-{os.getpid()}-{os.urandom(4).hex()}"
    temporary = os.path.join(folder, f".{stem}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(temporary, flags, 0o600)
    except FileNotFoundError:
        for each in (os.path.dirname(folder), folder):
            try:
                os.mkdir(each, 0o700)
            except FileExistsError:
                pass
        handle = os.open(temporary, flags, 0o600)
    try:
        try:
            os.write(handle, content)  # of one block: a short one is told by what cannot be read
        finally:
            os.close(handle)
        os.rename(temporary, os.path.join(folder, f"{stem}.json"))
    except OSError:
        hook_spool.remove(temporary)
        raise
