"""Upkeep: every duty that is due, each in its own interval. For cron, and for whoever wants it done now."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.config_table import Config
from ai_memory.errors import MemoryFault, UsageFault
from ai_memory.operations.configured import configured
from ai_memory.operations.duties import DUTIES, Duty, Progress, due_at_us
from ai_memory.operations.field import Field
from ai_memory.operations.setup import no_progress

if TYPE_CHECKING:
    from ai_memory.operations.timer import Timer
    from ai_memory.store.memory import Memory
    from ai_memory.store.upkeep import Turn

Outcome = Literal["done", "failed", "due", "not-due", "off"]
DutyName = Literal["drain", "sources", "vectors", "sweep", "lint", "tidy", "backup"]


@dataclass(frozen=True, slots=True)
class DutyRow:
    """One duty and what became of it; `due` is for a dry run, `off` says that no setting asks for it."""

    duty: str
    outcome: Outcome
    said: str
    """What it did, what kept it from being done, or what it is for."""
    done_at: str | None
    """When it last went well."""
    due_at: str | None
    """When its next turn comes; None: with each run, or never."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Maintained:
    duties: tuple[DutyRow, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0
    timer: "Timer | None" = None
    """What becomes of the scheduler's entry, where that was asked for; no duty is done then."""

    @property
    def exit_code(self) -> int:
        if self.timer is not None:
            return self.timer.exit_code
        return 1 if any(row.outcome == "failed" for row in self.duties) else 0


def maintain(
    memory: "Memory",
    *,
    only: Annotated[tuple[DutyName, ...] | None, Field("only these duties")] = None,
    force: Annotated[bool, Field("also what is not due yet")] = False,
    dry_run: Annotated[bool, Field("only show what is due")] = False,
    install_timer: Annotated[
        Literal["cron", "systemd", "launchd"] | None, Field("instead: let that start it every ten minutes")
    ] = None,
    remove_timer: Annotated[bool, Field("instead: take such timers away again")] = False,
    apply: Annotated[bool, Field("with one of these: do it, not only show it")] = False,
    progress: Progress = no_progress,
) -> Maintained:
    """Do what is due: apply what waits, end silent sessions, make vectors, look for rot, tidy up, keep a backup.
    For cron, as often as you like: each duty remembers its last turn. One that fails stops no other.
    """
    if install_timer or remove_timer:
        if install_timer and remove_timer:
            raise UsageFault("a timer is installed or removed, not both", hint="leave one of them out")
        if only or force or dry_run:
            raise UsageFault("no duty is done while a timer is installed or removed", hint="leave the other flags out")
        from ai_memory.operations import timer  # what is run every ten minutes needs nothing of this

        made = timer.install(memory, install_timer, apply=apply) if install_timer else timer.remove(memory, apply=apply)
        return Maintained((), made.gaps, timer=replace(made, gaps=()))
    if apply:
        raise UsageFault("--apply goes with --install-timer or --remove-timer", hint="leave it out")
    config = configured(memory) or Config()
    chosen = [duty for duty in DUTIES if only is None or duty.name in only]
    if not memory.exists and not memory.data_dir.spool.is_dir():
        return Maintained((), ("there is no memory yet: nothing to do",))
    if dry_run:
        turns = _turns(memory)
        return Maintained(tuple(_looked_at(memory, duty, config, turns.get(duty.name), force=force) for duty in chosen))
    with memory.maintaining_alone() as is_mine:
        if not is_mine:
            return Maintained((), ("another maintain is at work: it does what is due",))
        turns = _turns(memory)
        rows = []
        for duty in chosen:
            row = _looked_at(memory, duty, config, turns.get(duty.name), force=force)
            rows.append(_done(memory, duty, config, row, progress) if row.outcome == "due" else row)
    return Maintained(tuple(rows))


def _turns(memory: "Memory") -> "Mapping[str, Turn]":
    from ai_memory.store.upkeep import turns

    with memory.state_reading() as connection:
        return turns(connection) if connection is not None else {}


def _looked_at(memory: "Memory", duty: Duty, config: Config, turn: "Turn | None", *, force: bool) -> DutyRow:
    due_us = due_at_us(duty, config, turn.at_us if turn else None, failed=bool(turn and turn.fault))
    done_at = rfc3339(turn.done_at_us) if turn and turn.done_at_us is not None else None
    if due_us is None:
        return DutyRow(duty.name, "off", duty.what, done_at, None)
    now_us = memory.clock()
    is_set_back = turn is not None and turn.at_us > now_us
    outcome: Outcome = "due" if force or is_set_back or due_us <= now_us else "not-due"
    return DutyRow(duty.name, outcome, duty.what, done_at, rfc3339(due_us) if outcome == "not-due" else None)


def _done(memory: "Memory", duty: Duty, config: Config, row: DutyRow, progress: Progress) -> DutyRow:
    """Give the duty its turn and remember it. What is no fault of ours but a bug is not hidden."""
    from ai_memory.store.driver import DatabaseError
    from ai_memory.store.upkeep import note_turn

    begun, fault, said = time.monotonic(), "", ""
    try:
        said = duty.do(memory, config, progress)
    except (MemoryFault, DatabaseError, OSError) as raised:
        fault = " ".join(str(raised).split()) or type(raised).__name__
    now_us = memory.clock()
    try:
        with memory.state_transaction() as connection:
            note_turn(connection, duty.name, at_us=now_us, fault=fault)
    except (MemoryFault, DatabaseError, OSError) as raised:
        fault = fault or f"{said}; but when it was done could not be kept: {' '.join(str(raised).split())}"
    due_us = due_at_us(duty, config, now_us, failed=bool(fault))
    return DutyRow(
        duty.name,
        "failed" if fault else "done",
        fault or said,
        row.done_at if fault else rfc3339(now_us),
        rfc3339(due_us) if due_us and due_us > now_us else None,
        round(time.monotonic() - begun, 3),
    )


def maintained_text(result: Maintained) -> str:
    """One line: what was done, what failed, what is due; where there is nothing of it, what comes next."""
    if result.timer is not None:
        from ai_memory.operations.timer import timer_text  # as above

        return timer_text(result.timer)
    heads = {"done": "", "due": "is due: ", "failed": "FAILED: "}
    told = [f"{row.duty} {heads[row.outcome]}{row.said}" for row in result.duties if row.outcome in heads]
    coming = [f"{row.duty} at {row.due_at}" for row in result.duties if row.outcome == "not-due"]
    return "; ".join(told or ["nothing is due", *coming])
