"""Taking what is ours out of agents' files again, and the memory itself if a person wants that."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.diagnosis.ground import Ground
from ai_memory.diagnosis.wiring_state import named_data_dirs
from ai_memory.errors import UsageFault
from ai_memory.harnesses import registry
from ai_memory.operations.field import Field
from ai_memory.operations.wiring import Apply, changed_agents
from ai_memory.operations.wiring_rows import FileRow, Wiring, done_rows, exit_code_of, file_row, wiring_text
from ai_memory.store import purge, wired
from ai_memory.store.wired import Owner
from ai_memory.store.writing import writer_lock
from ai_memory.wiring.agents import CHECKOUT, Desk
from ai_memory.wiring.apply import apply as write
from ai_memory.wiring.here import checkout_here
from ai_memory.wiring.plan import Book, FilePlan, State, plan_uninstall
from ai_memory.wiring.timers import AGENT as TIMER
from ai_memory.wiring.wishes import WHATS, Wish

if TYPE_CHECKING:
    from ai_memory.harnesses.record import Harness
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class DataRow:
    """One file or folder of the data dir."""

    path: str
    size_bytes: int
    goes: bool
    """Whether it is removed, or would be."""


@dataclass(frozen=True, slots=True)
class Uninstalled:
    files: tuple[FileRow, ...]
    data_dir: str
    data: tuple[DataRow, ...]
    """What lies in the data dir."""
    agents: tuple[str, ...]
    applied: bool
    purged: bool = False
    remaining: tuple[DataRow, ...] = ()
    """With --purge-data: what stays on the disk all the same, other data dirs that commands name among it."""
    needs_confirm: bool = False
    """--purge-data was given without --confirm: the memory stays."""
    restart: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def exit_code(self) -> int:
        return exit_code_of(self.files)


def uninstall(
    memory: "Memory",
    *,
    only: Annotated[
        tuple[Literal["hooks", "mcp", "instructions", "skills"], ...], Field("only that; repeatable [all]")
    ] = (),
    agent: Annotated[tuple[str, ...], Field("only that agent's; repeatable [all]", flags=("--agent",))] = (),
    purge_data: Annotated[bool, Field("also remove the memory itself; needs --confirm")] = False,
    confirm: Annotated[bool, Field("yes, remove the memory for good")] = False,
    apply: Apply = False,
) -> Uninstalled:
    """Take what is ours out of agents' files; one that nobody changed since gets back the bytes it had.
    Shows the plan; `--apply` does it. Your memory stays unless --purge-data --confirm.
    """
    if purge_data and (only or agent):
        raise UsageFault("--purge-data removes everything, so it takes no --only and no --agent", hint="leave them out")
    whats = only or WHATS
    desk = Desk(memory.caller, memory.data_dir.root, wired.without_prompts(memory.data_dir))
    chosen = desk.chosen(agent) if agent else list(registry.HARNESSES)
    goes = purge_data and confirm
    remaining = _remaining(memory) if purge_data else ()
    if not apply:
        plans, gaps = _planned(memory, desk, chosen, whats, is_everyone=not agent)
        rows = tuple(file_row(plan) for plan in plans)
        answer = _answer(memory, rows, goes=goes, is_applied=False, gaps=gaps)
        return replace(answer, remaining=remaining, needs_confirm=purge_data and not confirm)
    has_data = memory.data_dir.root.is_dir()
    lock = wired.wiring_lock(memory.data_dir, timeout_s=memory.lock_timeout_s) if has_data else nullcontext()
    with lock:
        plans, gaps = _planned(memory, desk, chosen, whats, is_everyone=not agent)
        done = write(plans, memory.data_dir, clock=memory.clock, step=memory.step, is_removal=True)
    written = changed_agents(done)
    answer = _answer(memory, done_rows(done), goes=goes, is_applied=True, gaps=gaps, written=written)
    answer = replace(answer, remaining=remaining, needs_confirm=purge_data and not confirm)
    if goes and answer.exit_code == 0 and memory.exists:
        with writer_lock(memory).held(memory.lock_timeout_s):
            purge.purge(memory.data_dir)
    elif written and memory.exists:
        gaps += memory.tell("uninstall", subject=", ".join(written), count=len(written))
        return replace(answer, gaps=gaps)
    return answer


def _remaining(memory: "Memory") -> tuple[DataRow, ...]:
    """What removing the memory leaves: files in its folder that are not ours, and data dirs that others name."""
    own = [
        DataRow(str(one.path), one.size_bytes, goes=False) for one in purge.contents(memory.data_dir) if not one.is_ours
    ]
    _, *others = named_data_dirs(Ground(memory, days=1))
    found = [Path(one) for one in others if Path(one).is_dir()]
    return (*own, *(DataRow(str(one), purge.size_of(one), goes=False) for one in found))


def _planned(
    memory: "Memory", desk: Desk, chosen: "Sequence[Harness]", whats: Sequence[str], *, is_everyone: bool
) -> tuple[list[FilePlan], tuple[str, ...]]:
    """Plans for what records tell, and for what stands where these agents look; files without ours are left out."""
    records, gaps = wired.all_wired(memory.data_dir)
    ids = {one.id for one in chosen} | ({CHECKOUT} if is_everyone else set())
    gone: list[Owner] = []
    for record in records:
        gone += [one for one in record.owners if one.what in whats and (is_everyone or one.agent in ids)]
    wishes: list[Wish] = []
    for checkout in dict.fromkeys(("", checkout_here(memory.caller))):
        for what in whats:
            wishes += desk.wishes(chosen, what, checkout=checkout)[0]
    plans = plan_uninstall(wishes, gone, Book(tuple(records)), desk.edits_of)
    if is_everyone and any(owner.agent == TIMER for record in records for owner in record.owners):
        gaps += ("a scheduler starts maintain: `ai-memory maintain --remove-timer --apply` takes that away",)
    return [one for one in plans if _matters(one)], gaps


def _matters(plan: FilePlan) -> bool:
    """A file that holds nothing of ours is no news; one that cannot be read is only if we wrote to it."""
    if plan.state is State.REFUSED:
        return plan.former is not None or plan.may_hold_ours
    return plan.state is not State.SAME or plan.former is not None


def _answer(
    memory: "Memory",
    rows: tuple[FileRow, ...],
    *,
    goes: bool,
    is_applied: bool,
    gaps: tuple[str, ...],
    written: tuple[str, ...] = (),
) -> Uninstalled:
    data = tuple(
        DataRow(str(one.path), one.size_bytes, goes and one.is_ours) for one in purge.contents(memory.data_dir)
    )
    return Uninstalled(
        files=rows,
        data_dir=str(memory.data_dir.root),
        data=data,
        agents=tuple(dict.fromkeys(agent for row in rows for agent in row.agents)),
        applied=is_applied,
        purged=goes and is_applied and all(row.state not in ("refused", "failed") for row in rows),
        restart=tuple(
            f"{one.title}: sessions that run keep what they have until they end"
            for one in registry.HARNESSES
            if one.id in written and one.restart
        ),
        gaps=gaps,
    )


def uninstalled_text(result: Uninstalled) -> str:
    """The files, then what becomes of the data dir."""
    as_wiring = Wiring(result.files, (), result.agents, applied=result.applied, restart=result.restart)
    told = wiring_text(as_wiring) if result.files else "no agent holds anything of ours"
    lines = [told]
    if result.data:
        going = [row for row in result.data if row.goes]
        verb = "removed" if result.purged else "would be removed" if going else "stays"
        whole = sum(row.size_bytes for row in going or result.data)
        lines.append(f"your memory {verb}: {result.data_dir} ({_size(whole)})")
        lines += [f"  {_size(row.size_bytes):>10}  {row.path}{'' if row.goes else '  stays'}" for row in result.data]
    if result.needs_confirm:
        lines.append("--confirm removes it for good")
    if result.remaining:
        lines.append(f"what {'remains' if result.purged else 'would remain'}, since it is not of this memory:")
        lines += [f"  {_size(row.size_bytes):>10}  {row.path}" for row in result.remaining]
    return "\n".join(lines)


def _size(size_bytes: int) -> str:
    size, unit = float(size_bytes), "B"
    for larger in ("KB", "MB", "GB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
