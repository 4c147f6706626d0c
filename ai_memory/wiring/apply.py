"""Doing what a plan says, one file after the other, each whole or not at all.

Order, for a file: (1) what stands there is kept as a backup; (2) the record, with the fingerprints of both versions;
(3) the file, by rename; (4) the record with that of the new one alone. Killed before 3, the next run finds the old file
and a record that knows it; after 3, the new file and a record that knows that one, too.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ai_memory.clock import Clock
from ai_memory.paths import DataDir
from ai_memory.store import wired
from ai_memory.wiring import files
from ai_memory.wiring.plan import FilePlan, State


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one plan."""

    plan: FilePlan
    fault: str = ""
    """Why it was not written, although it could be; empty where it was."""


def apply(
    plans: Sequence[FilePlan],
    data_dir: DataDir,
    *,
    clock: Clock,
    step: files.Step = files.no_step,
    is_removal: bool = False,
) -> list[Done]:
    """Write what is planned. Of an agent with a refused file nothing is written; the others go on.

    A removal takes out whatever can be taken out.

    *Crash*: safe between any two steps; the next run finishes. Call under `wiring_lock` where a data dir exists.
    """
    blocking = [] if is_removal else [plan for plan in plans if plan.state is State.REFUSED]
    refused = {owner.agent for plan in blocking for owner in plan.owners}
    done = []
    for plan in plans:
        agents = {owner.agent for owner in plan.owners}
        if plan.state is State.REFUSED or plan.state is State.LEFT_OUT:
            done.append(Done(plan))
        elif agents <= refused:
            held = plan.state is not State.SAME
            done.append(Done(plan, "left as it is, since another file of that agent is refused" if held else ""))
        else:
            done.append(Done(plan, _written(plan, data_dir, clock, step)))
    if is_removal:
        _drop_folders([one.plan for one in done if not one.fault], data_dir)
    return done


def _drop_folders(plans: Sequence[FilePlan], data_dir: DataDir) -> None:
    """Folders that we made and that hold nothing any more; of others, whoever still has a file in them is told."""
    forgotten = [plan.former for plan in plans if plan.former is not None and plan.record is None]
    folders = {Path(folder) for record in forgotten for folder in record.folders}
    files.drop_folders(tuple(folders))
    left = [folder for folder in folders if folder.is_dir()]
    for record in wired.all_wired(data_dir)[0] if left else ():
        above = [str(one) for one in left if Path(record.target).is_relative_to(one) and str(one) not in record.folders]
        if above:
            wired.put(data_dir, replace(record, folders=(*record.folders, *above)))


def _written(plan: FilePlan, data_dir: DataDir, clock: Clock, step: files.Step) -> str:
    """Why it could not be written; empty where it was."""
    try:
        if plan.state is State.SAME:
            _remember(plan, data_dir)
            return ""
        _write(plan, data_dir, clock, step)
    except files.Changed:
        return "somebody changed it a moment ago: run this again"
    except OSError as fault:
        return fault.strerror or str(fault)
    return ""


def _write(plan: FilePlan, data_dir: DataDir, clock: Clock, step: files.Step) -> None:
    assert plan.seen is not None
    is_known = plan.former is not None and plan.former.is_as_left(plan.before)
    if plan.before is not None and not is_known and data_dir.root.is_dir():
        wired.keep_backup(data_dir, plan.seen.target, plan.before, at_us=clock())
        step("backup")
    record = (plan.record or plan.former) if plan.is_recorded else None
    if record is not None:
        both = (wired.fingerprint(plan.before), wired.fingerprint(plan.after))
        wired.put(data_dir, replace(record, left=both))
        step("recorded")
    if plan.after is None:
        folders = tuple(Path(one) for one in record.folders) if record else _bare_folders(plan)
        files.delete(plan.seen, folders, step=step)
    else:
        files.replace(plan.seen, plan.after, is_executable=plan.is_executable, step=step)
    _remember(plan, data_dir)
    step("remembered")


def _bare_folders(plan: FilePlan) -> tuple[Path, ...]:
    """Without a record: the folder of a file that bore our name in it, as a skill's does."""
    assert plan.seen is not None
    folder = plan.seen.target.parent
    return (folder,) if folder.name.startswith("ai-memory") else ()


def _remember(plan: FilePlan, data_dir: DataDir) -> None:
    if not plan.is_recorded:
        return
    if plan.record is not None:
        if plan.record != plan.former:
            wired.put(data_dir, plan.record)
    elif plan.former is not None:
        with suppress(FileNotFoundError):
            wired.drop(data_dir, plan.former)
