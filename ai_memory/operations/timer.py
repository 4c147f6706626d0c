"""Letting a scheduler start `maintain`, and taking that away again. Shown first, done with --apply."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ai_memory.errors import StoreFault
from ai_memory.harnesses.edits import FileEdit
from ai_memory.operations.wiring import changed_agents
from ai_memory.operations.wiring_rows import FileRow, Wiring, done_rows, exit_code_of, file_row, wiring_text
from ai_memory.store import wired
from ai_memory.store.wired import Owner
from ai_memory.wiring import crontab, timers
from ai_memory.wiring.apply import Done
from ai_memory.wiring.apply import apply as write_files
from ai_memory.wiring.here import launch_here, machine_here
from ai_memory.wiring.plan import Book, FilePlan, State, plan_install, plan_uninstall

if TYPE_CHECKING:
    from ai_memory.harnesses.machine import Machine
    from ai_memory.store.memory import Memory

Kind = Literal["cron", "systemd", "launchd"]
OF_FILES = ("systemd", "launchd")
COMMAND_TIMEOUT_S = 30
_CHANGES = (State.CREATE, State.CHANGE, State.DELETE)


@dataclass(frozen=True, slots=True)
class CommandRow:
    """What the scheduler is told by its own program."""

    command: str
    outcome: Literal["would_run", "ran", "failed", "not_here"]
    said: str = ""


@dataclass(frozen=True, slots=True)
class Timer:
    """What becomes of the timers."""

    outcome: Literal["installed", "removed", "would_install", "would_remove", "unchanged"]
    files: tuple[FileRow, ...]
    commands: tuple[CommandRow, ...]
    gaps: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        return exit_code_of(self.files) or int(any(row.outcome == "failed" for row in self.commands))


def install(memory: "Memory", kind: Kind, *, apply: bool) -> Timer:
    """Let that scheduler start `maintain`. *Errors*: UsageFault where there is none of it, StoreFault, LockBusy."""
    machine = machine_here(memory.caller)
    timers.refuse_elsewhere(kind, machine)
    told = timers.commands(kind, machine, uid=_uid())
    if not apply:
        plans, gaps = _to_install(memory, kind, machine)
        is_news = _news(plans)
        rows = _would_run(told.after_writing if is_news else ())
        return Timer("would_install" if is_news else "unchanged", tuple(map(file_row, plans)), rows, gaps)
    memory.create()
    with wired.wiring_lock(memory.data_dir, timeout_s=memory.lock_timeout_s):
        plans, gaps = _to_install(memory, kind, machine)
        done = _written(memory, plans)
        is_whole = exit_code_of(done_rows(done)) == 0
        rows = _run(memory, told.after_writing, may_fail=told.may_fail) if is_whole else ()
    if changed_agents(done):
        gaps += memory.tell("install-timer", subject=kind)
    return Timer("installed" if changed_agents(done) else "unchanged", done_rows(done), rows, gaps)


def remove(memory: "Memory", *, apply: bool) -> Timer:
    """Take every timer of ours away. *Errors*: StoreFault, LockBusy."""
    machine = machine_here(memory.caller)
    if not apply:
        plans, gaps = _to_remove(memory, machine)
        kinds = _kinds(plans)
        before = [row for kind in kinds for row in timers.commands(kind, machine, uid=_uid()).before_removing]
        after = [row for kind in kinds for row in timers.commands(kind, machine, uid=_uid()).after_removing]
        outcome: Literal["would_remove", "unchanged"] = "would_remove" if _news(plans) else "unchanged"
        return Timer(outcome, tuple(map(file_row, plans)), _would_run([*before, *after]), gaps)
    has_data = memory.data_dir.root.is_dir()  # a memory that was purged may have left a timer
    lock = wired.wiring_lock(memory.data_dir, timeout_s=memory.lock_timeout_s) if has_data else nullcontext()
    rows: tuple[CommandRow, ...] = ()
    with lock:
        plans, gaps = _to_remove(memory, machine)
        for kind in _kinds(plans):
            told = timers.commands(kind, machine, uid=_uid())
            rows += _run(memory, told.before_removing, may_fail=told.may_fail)
        done = _written(memory, plans, is_removal=True)
        for kind in _kinds(plans):
            rows += _run(memory, timers.commands(kind, machine, uid=_uid()).after_removing)
    kinds_gone = tuple(dict.fromkeys(owner.what for one in done for owner in one.plan.owners))
    if changed_agents(done) and memory.exists:
        gaps += memory.tell("remove-timer", subject=", ".join(kinds_gone))
    return Timer("removed" if changed_agents(done) else "unchanged", done_rows(done), rows, gaps)


# --- planning ---


def _to_install(memory: "Memory", kind: Kind, machine: "Machine") -> tuple[list[FilePlan], tuple[str, ...]]:
    records, gaps = wired.all_wired(memory.data_dir)
    book, launch = Book(tuple(records)), launch_here(memory.data_dir.root)
    if kind == "cron":
        return [crontab.plan_line(_crontab(memory), timers.cron_line(launch), book)], gaps
    wanted = timers.wishes(kind, launch, machine)
    return plan_install(wanted, book, lambda owner: _edits_of(memory, machine, owner)), gaps


def _to_remove(memory: "Memory", machine: "Machine") -> tuple[list[FilePlan], tuple[str, ...]]:
    """Plans for what records tell, and for what stands where it would be written; the rest is no news."""
    records, gaps = wired.all_wired(memory.data_dir)
    book, launch = Book(tuple(records)), launch_here(memory.data_dir.root)
    gone = [owner for record in records for owner in record.owners if owner.agent == timers.AGENT]
    files = [owner for owner in gone if owner.what in OF_FILES]
    wanted = [wish for kind in OF_FILES for wish in timers.wishes(kind, launch, machine)]
    plans = plan_uninstall(wanted, files, book, lambda owner: _edits_of(memory, machine, owner))
    if crontab.OWNER in gone or (not machine.is_windows and _crontab(memory).program is not None):
        try:
            plans.append(crontab.plan_without(_crontab(memory), book))
        except StoreFault as fault:
            if crontab.OWNER in gone:
                raise
            gaps += (f"whether a line of ours is in it is not known: {fault.message}",)
    return [plan for plan in plans if plan.state is not State.SAME or plan.former is not None], gaps


def _edits_of(memory: "Memory", machine: "Machine", owner: Owner) -> Sequence[FileEdit]:
    return [one.edit for one in timers.wishes(owner.what, launch_here(memory.data_dir.root), machine)]


def _crontab(memory: "Memory") -> crontab.Crontab:
    return crontab.Crontab(memory.caller.environ)


def _kinds(plans: Sequence[FilePlan]) -> list[str]:
    """Schedulers of which files would go."""
    return list(dict.fromkeys(owner.what for plan in plans if plan.state in _CHANGES for owner in plan.owners))


def _news(plans: Sequence[FilePlan]) -> bool:
    return any(plan.state in _CHANGES for plan in plans)


# --- doing ---


def _written(memory: "Memory", plans: Sequence[FilePlan], *, is_removal: bool = False) -> list[Done]:
    lines = [plan for plan in plans if plan.path == crontab.NAME]
    files = [plan for plan in plans if plan.path != crontab.NAME]
    clock, step = memory.clock, memory.step
    done = write_files(files, memory.data_dir, clock=clock, step=step, is_removal=is_removal)
    return done + [crontab.write(plan, _crontab(memory), memory.data_dir, clock=clock, step=step) for plan in lines]


def _would_run(commands: Iterable[Sequence[str]]) -> tuple[CommandRow, ...]:
    return tuple(CommandRow(shlex.join(words), "would_run") for words in commands)


def _run(
    memory: "Memory", commands: Iterable[Sequence[str]], *, may_fail: Sequence[Sequence[str]] = ()
) -> tuple[CommandRow, ...]:
    """Each in its order; one that may fail says nothing where it does."""
    rows: list[CommandRow] = []
    for words in commands:
        line = shlex.join(words)
        program = shutil.which(words[0], path=memory.caller.environ.get("PATH", ""))
        if program is None:
            rows.append(CommandRow(line, "not_here", f"there is no {words[0]} here"))
            continue
        try:
            done = subprocess.run(
                [program, *words[1:]],
                capture_output=True,
                text=True,
                errors="replace",
                env=dict(memory.caller.environ),
                timeout=COMMAND_TIMEOUT_S,
                check=False,
            )
            said, is_well = " ".join(done.stderr.split())[:300], done.returncode == 0
        except (OSError, subprocess.TimeoutExpired) as fault:
            said, is_well = str(fault), False
        if is_well:
            rows.append(CommandRow(line, "ran"))
        elif words not in may_fail:
            rows.append(CommandRow(line, "failed", said))
    return tuple(rows)


def _uid() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


# --- telling ---


def timer_text(result: Timer) -> str:
    """A diff of each file, what is run or is to be run."""
    if not result.files and not result.commands:
        return "no timer of ours is there"
    is_applied = result.outcome not in ("would_install", "would_remove")
    lines = [wiring_text(Wiring(result.files, (), (timers.AGENT,), applied=is_applied))]
    heads = {"would_run": "would run: ", "ran": "ran: ", "failed": "FAILED: ", "not_here": "run it yourself: "}
    for row in result.commands:
        lines.append(f"{heads[row.outcome]}{row.command}{f' ({row.said})' if row.said else ''}")
    left = [row for row in result.commands if row.outcome in ("failed", "not_here")]
    if left:
        lines.append("the files are as they should be: what was not run is left to you")
    elif result.outcome == "installed":
        lines.append(f"maintain begins every {timers.EVERY_MINUTES} minutes; --remove-timer takes it away")
    return "\n".join(lines)
