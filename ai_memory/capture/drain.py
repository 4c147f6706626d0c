"""The drain's front door: `ai-memory drain [--wait] [--data-dir DIR]`. Started detached by hooks, or by hand.

Its first act is a try of its own OS lock with nothing but the standard library: most drains that hooks start find
another one at work and leave. Leaving, it removes the beat, lets go of the lock, and looks once more: what a hook wrote
in between is nobody else's to apply.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from ai_memory.paths import DataDir, find_data_dir
from ai_memory.store.drain_lock import DrainLock

WAIT_S = 600.0
"""How long `--wait` stands in line behind another drain."""


def main(argv: Sequence[str] | None = None) -> int:
    """Apply what waits in the spool; 0 also when another drain does it. `--wait` returns when the spool was applied."""
    arguments = _parser().parse_args(argv)
    data_dir = find_data_dir(arguments.data_dir, os.environ)
    if not data_dir.spool.is_dir():
        return 0
    lock = DrainLock(data_dir.locks)
    code = 0
    while True:
        try:
            is_ours = lock.acquire(timeout_s=WAIT_S) if arguments.wait else lock.try_acquire()
        except OSError as fault:
            print(f"The drain cannot lock {data_dir.locks}: {fault}", file=sys.stderr)
            return 1
        if not is_ours:
            return 4 if arguments.wait else code
        before = _waiting(data_dir)
        try:
            code = _drain(data_dir)
        finally:
            lock.release()
        after = _waiting(data_dir)
        if code or not after - before:
            return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ai-memory drain", description="Apply the events that hooks left in the spool."
    )
    parser.add_argument("--wait", action="store_true", help="wait for another drain to end, then apply what is left")
    parser.add_argument("--data-dir", metavar="DIR", help="the data dir (default: AI_MEMORY_DATA_DIR, else the user's)")
    return parser


def _drain(data_dir: DataDir) -> int:
    from ai_memory.capture.draining import Drainer  # git, locks and SQLite: only for the drain that has work
    from ai_memory.errors import MemoryFault
    from ai_memory.model import Caller
    from ai_memory.store.memory import Memory

    caller = Caller(cwd=None, environ=dict(os.environ), home=os.path.expanduser("~"), face="drain")
    try:
        drain = Drainer(Memory.open(data_dir, caller=caller, command="drain")).run()
    except MemoryFault as fault:
        print(fault, file=sys.stderr)
        return fault.exit_code
    if drain.fault:
        print(f"The drain stopped early: {drain.fault}", file=sys.stderr)
        return 1
    return 0


def _waiting(data_dir: DataDir) -> frozenset[str]:
    """Names of the events that wait; those that a drain could not apply stay and start no other round."""
    try:
        names = os.listdir(data_dir.spool)  # noqa: PTH208 (no Path for each of 10,000 names)
    except OSError:
        return frozenset()
    return frozenset(name for name in names if name.endswith(".json") and not name.startswith("."))


if __name__ == "__main__":
    sys.exit(main())
