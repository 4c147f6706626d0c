"""The repairs that `doctor --fix` makes by itself. None of them loses anything, and each may be repeated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.diagnosis.finding import Finding, Repair
from ai_memory.errors import MemoryFault
from ai_memory.operations.setup import reindex
from ai_memory.operations.wiring import install
from ai_memory.store import leftovers

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done, what a person does for it to count, and what could not be done: a sentence each."""

    done: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    def __add__(self, other: "Repaired") -> "Repaired":
        return Repaired(self.done + other.done, self.restart + other.restart, self.gaps + other.gaps)


def repair(memory: "Memory", findings: Sequence[Finding]) -> Repaired:
    """Do what these findings ask for, each kind once, in the order of `Repair`. One that fails stops no other."""
    whole = Repaired()
    for kind in Repair:
        asking = [one for one in findings if one.repair is kind]
        if not asking:
            continue
        try:
            whole += _MAKE[kind](memory, asking)
        except (MemoryFault, OSError) as fault:
            whole += Repaired(gaps=(f"could not {kind.value}: {fault}".replace("\n", " "),))
    return whole


def _drain(memory: "Memory", _: Sequence[Finding]) -> Repaired:
    from ai_memory.capture.drain import Outcome, drain_all  # the writing side, only where something waits
    from ai_memory.capture.finalizing import as_drain

    outcome = Outcome()
    drain_all(memory.data_dir, outcome, patience_s=memory.lock_timeout_s, memory=as_drain(memory))
    return Repaired((f"{outcome.applied} events were applied",), gaps=tuple(outcome.gaps))


def _rebuild(memory: "Memory", _: Sequence[Finding]) -> Repaired:
    made = reindex(memory)
    return Repaired((f"the index was rebuilt, {made.pages} pages",), gaps=made.gaps)


def _rewire(memory: "Memory", asking: Sequence[Finding]) -> Repaired:
    whole = Repaired()
    for what in dict.fromkeys(what for one in asking for what in one.whats):
        agents = list(dict.fromkeys(one.agent for one in asking if what in one.whats))
        made = install(memory, (what,), agents, "user", is_applied=True)
        done = tuple(f"{row.path} was written anew" for row in made.files if row.state in ("create", "change"))
        refused = tuple(f"{row.path}: {row.reason}" for row in made.files if row.reason)
        whole += Repaired(done, made.restart, (*refused, *made.gaps))
    return whole


def _sweep(memory: "Memory", _: Sequence[Finding]) -> Repaired:
    return Repaired((f"{leftovers.sweep(memory.data_dir)} half-written files were removed",))


_MAKE: dict[Repair, Callable[["Memory", Sequence[Finding]], Repaired]] = {
    Repair.DRAIN: _drain,
    Repair.REBUILD: _rebuild,
    Repair.REWIRE: _rewire,
    Repair.SWEEP: _sweep,
}
