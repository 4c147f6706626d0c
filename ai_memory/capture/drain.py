"""The drain's front door: `ai-memory drain [--wait] [--json] [--data-dir DIR]`. Started detached by hooks, or by hand.

Its first act is a try of its own OS lock with nothing but the standard library: most drains that hooks start find
another one at work and leave. Leaving, it removes the beat, lets go of the lock, and looks once more: what a hook wrote
in between is nobody else's to apply.
"""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from ai_memory.errors import LockBusy, MemoryFault, StoreFault, UsageFault
from ai_memory.paths import DataDir, find_data_dir
from ai_memory.store.drain_lock import DrainLock
from ai_memory.text.printable import shown

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

WAIT_S = 600.0
"""How long `--wait` stands in line behind another drain."""

JSON_FORMAT = 1
"""That of every command's JSON: a test compares it with `operations/answer.py`, which stands above this room."""


@dataclass(slots=True)
class Outcome:
    """What one call of the drain did, over all its rounds."""

    applied: int = 0
    repeated: int = 0
    quarantined: int = 0
    pages: int = 0
    handoffs: int = 0
    left: int = 0
    """Events that wait still."""
    gaps: list[str] = field(default_factory=list)
    fault: MemoryFault | None = None

    @property
    def exit_code(self) -> int:
        return self.fault.exit_code if self.fault is not None else 0


def nothing_more(_: DataDir) -> None:
    """Nothing follows the drain."""


def main(argv: Sequence[str] | None = None, *, then: Callable[[DataDir], object] = nothing_more) -> int:
    """Apply what waits in the spool; 0 also when another drain does it. `--wait` returns when the spool was applied.

    `then` is called last of all, where events were applied: its work must not keep a handoff waiting.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    outcome = Outcome()
    try:
        arguments = _parser().parse_args(words)
        data_dir = find_data_dir(arguments.data_dir, os.environ)
        if data_dir.spool.is_dir():
            try:
                drain_all(data_dir, outcome, patience_s=WAIT_S if arguments.wait else None)
            finally:
                outcome.left = len(_waiting(data_dir))
    except MemoryFault as fault:
        outcome.fault = fault
    except OSError as fault:
        outcome.fault = StoreFault(f"The drain cannot work: {fault}")
    except Exception as bug:  # noqa: BLE001 the top handler of this door
        outcome.fault = _told_as_bug(bug)
    if "--json" in words:
        print(_json(outcome))
    elif outcome.fault is not None:
        print(shown(str(outcome.fault)), file=sys.stderr)
    else:
        print("\n".join([_sentence(outcome), *outcome.gaps]), file=sys.stderr)  # no answer: its work is done
    if outcome.fault is None and outcome.applied:
        sys.stdout.flush()
        then(data_dir)
    return outcome.exit_code


class Bug(MemoryFault):
    """What nobody foresaw: exit 70, as from every command."""

    code = "internal"
    exit_code = 70


def _told_as_bug(bug: Exception) -> MemoryFault:
    """SQLite's refusals are the disk's; of anything else the kind, and its trace on stderr where a log catches it."""
    from ai_memory.store import driver  # only now: most drains never open a database

    if isinstance(bug, driver.DatabaseError):
        return StoreFault(f"The drain cannot work: {bug}", hint="What waits is kept; the next drain goes on.")
    traceback.print_exc(file=sys.stderr)
    return Bug(f"this is a bug: {type(bug).__name__}: {' '.join(str(bug).split())[:200]}", hint="What waits is kept.")


def drain_all(data_dir: DataDir, outcome: Outcome, *, patience_s: float | None, memory: "Memory | None" = None) -> None:
    """Round after round until nothing came while the last one left.

    Another drain at work is waited for up to `patience_s`, and left alone with None. Without `memory` one is opened.
    Errors: MemoryFault; what was done is counted.
    """
    lock = DrainLock(data_dir.locks)
    while True:
        try:
            is_ours = lock.try_acquire() if patience_s is None else lock.acquire(timeout_s=patience_s)
        except OSError as fault:
            raise StoreFault(f"The drain cannot lock {data_dir.locks}: {fault}") from fault
        if not is_ours:
            if patience_s is not None:
                raise LockBusy("Another drain is at work.", hint=f"Waited {patience_s:g} s. Try again later.")
            outcome.gaps.append("another drain is at work: it applies what waits")
            return
        before = _waiting(data_dir)
        try:
            _drain(data_dir, outcome, memory)
        finally:
            lock.release()
        if not _waiting(data_dir) - before:
            break
    if outcome.pages:
        from ai_memory.capture.embedding import embed_after_drain  # only where a page was written

        embed_after_drain(memory or _memory(data_dir))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageFault(message, hint=f"see {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="ai-memory drain", description="Apply the events that hooks left in the spool.", allow_abbrev=False
    )
    parser.add_argument("--wait", action="store_true", help="wait for another drain to end, then apply what is left")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout: what was done, what is left")
    parser.add_argument("--data-dir", metavar="DIR", help="the data dir (default: AI_MEMORY_DATA_DIR, else the user's)")
    return parser


def _drain(data_dir: DataDir, outcome: Outcome, memory: "Memory | None") -> None:
    from ai_memory.capture.draining import Drainer  # git, locks and SQLite: only for the drain that has work

    drain = Drainer(memory or _memory(data_dir)).run()
    outcome.applied += drain.applied
    outcome.repeated += drain.repeated
    outcome.quarantined += drain.quarantined
    outcome.pages += drain.pages
    outcome.handoffs += drain.handoffs
    if drain.fault:
        raise StoreFault(f"The drain stopped early: {drain.fault}", hint="What waits is kept; the next drain goes on.")


def _memory(data_dir: DataDir) -> "Memory":
    from ai_memory.model import Caller  # as above
    from ai_memory.store.memory import Memory

    caller = Caller(cwd=None, environ=dict(os.environ), home=os.path.expanduser("~"), face="drain")
    return Memory.open(data_dir, caller=caller, command="drain")


def _sentence(outcome: Outcome) -> str:
    """What was done, for whoever ran it by hand; a hook's drain speaks to nobody."""
    parts = [
        f"{count} {word if count == 1 else word + 's'}"
        for count, word in (
            (outcome.applied, "event"),
            (outcome.pages, "page"),
            (outcome.handoffs, "handoff"),
        )
        if count
    ]
    told = [f"applied {', '.join(parts)}"] if parts else []
    told += [f"{outcome.repeated} known already"] if outcome.repeated else []
    told += [f"{outcome.quarantined} set aside: see `ai-memory quarantine list`"] if outcome.quarantined else []
    told += [f"{outcome.left} wait still"] if outcome.left else []
    return "; ".join(told) or "nothing waits"


def _json(outcome: Outcome) -> str:
    """The answer as every command gives it; a fault does not hide what was done before it."""
    done = {
        "applied": outcome.applied,
        "repeated": outcome.repeated,
        "quarantined": outcome.quarantined,
        "pages": outcome.pages,
        "handoffs": outcome.handoffs,
        "left": outcome.left,
    }
    fault = outcome.fault
    if fault is None:
        return json.dumps({"v": JSON_FORMAT, "ok": True, **done, "gaps": outcome.gaps})
    error = {"code": fault.code, "message": fault.message, "hint": fault.hint}
    return json.dumps({"v": JSON_FORMAT, "ok": False, "error": error, **done})


def _waiting(data_dir: DataDir) -> frozenset[str]:
    """Names of the events that wait; those that a drain could not apply stay and start no other round."""
    try:
        names = os.listdir(data_dir.spool)  # noqa: PTH208 (no Path for each of 10,000 names)
    except OSError:
        return frozenset()
    return frozenset(name for name in names if name.endswith(".json") and not name.startswith("."))


if __name__ == "__main__":
    sys.exit(main())
