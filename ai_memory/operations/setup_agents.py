"""`setup` in its steps: what is here, everything an agent can be given, and whether it answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.errors import MemoryFault
from ai_memory.operations.backfill import Backfilled, backfill, fillable
from ai_memory.operations.configured import configured
from ai_memory.operations.settings import config_set
from ai_memory.operations.setup import no_progress
from ai_memory.operations.wiring import install
from ai_memory.operations.wiring_rows import FileRow, Wiring
from ai_memory.store import wired
from ai_memory.transcripts.sources import BY_AGENT
from ai_memory.wiring.agents import Desk
from ai_memory.wiring.selfcheck import check_bridge, check_hook
from ai_memory.wiring.wishes import WHATS

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One command that was written, run once."""

    agent: str
    what: str
    """hooks or mcp."""
    fault: str
    """Empty where it answered."""


@dataclass(frozen=True, slots=True)
class SetUp:
    """What `setup` did, or would do."""

    wiring: Wiring
    data_dir: str
    created: bool
    """Whether the data dir is new."""
    checks: tuple[CheckRow, ...] = ()
    backfill: str = ""
    """`12 sessions found`: what could be brought in of sessions that were before; empty where there is nothing."""
    brought_in: int | None = None
    """Sessions that were; null where nobody agreed to it."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def exit_code(self) -> int:
        """1 where a file was refused or a command does not answer."""
        return 1 if self.wiring.exit_code or any(one.fault for one in self.checks) else 0


def set_up(
    memory: "Memory",
    agents: Sequence[str],
    *,
    capture_prompts: bool | None = None,
    is_applied: bool = False,
    offer: str = "",
) -> SetUp:
    """Everything for these agents, or for all that are found here; applied, it is run once, too.

    `offer`: what `backfill_offer` said.
    """
    was_there = memory.exists
    done = install(memory, WHATS, agents, "user", capture_prompts=capture_prompts, is_applied=is_applied)
    checks = self_check(memory, done) if is_applied else ()
    return SetUp(
        wiring=done,
        data_dir=str(memory.data_dir.root),
        created=is_applied and not was_there,
        checks=checks,
        backfill=offer,
        gaps=done.gaps,
    )


def self_check(memory: "Memory", done: Wiring) -> tuple[CheckRow, ...]:
    """The commands that stand in agents' files now, each run once; they keep nothing of it."""
    desk = Desk(memory.caller, memory.data_dir.root, wired.without_prompts(memory.data_dir))
    rows = []
    standing = [row for row in done.files if row.state not in ("refused", "failed", "left out")]
    for agent in done.agents:
        whats = {what for row in standing if agent in row.agents for what in row.what}
        if "hooks" in whats:
            rows.append(CheckRow(agent, "hooks", check_hook(desk.launch(agent), agent)))
        if "mcp" in whats:
            rows.append(CheckRow(agent, "mcp", check_bridge(desk.launch(agent), agent)))
    return tuple(rows)


def backfill_offer(memory: "Memory", agents: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """`12 sessions found` of this folder, by the records of these agents or of all; and what kept from looking.

    Empty where there is nothing new, and where a person said no before.
    """
    readable = _readable(memory, agents)
    if agents and not readable:
        return "", ()
    try:
        config = configured(memory)
        is_declined = config is not None and not config.capture.backfill_on_start
        return ("" if is_declined else fillable(memory, agents=readable).words), ()
    except MemoryFault as fault:
        return "", (f"earlier sessions were not looked for: {fault.message}",)


def bring_in(
    memory: "Memory", agents: Sequence[str], *, progress: Callable[[int, int], None] = no_progress
) -> Backfilled:
    """What was offered. *Errors*: MemoryFault."""
    return backfill(memory, agents=_readable(memory, agents), progress=progress)


def decline(memory: "Memory") -> None:
    """Remember that nothing is to be brought in by itself. *Errors*: MemoryFault."""
    config_set(memory, key="capture.backfill_on_start", value="false")


def _readable(memory: "Memory", agents: Sequence[str]) -> tuple[str, ...]:
    """Ids of those of these agents whose records can be read."""
    desk = Desk(memory.caller, memory.data_dir.root)
    return tuple(one.id for one in desk.chosen(agents) if one.id in BY_AGENT)


def set_up_text(result: SetUp) -> str:
    """What was done for each agent, one line; what is wrong; what a person does next."""
    wiring = result.wiring
    if not wiring.agents:
        return "no agent was found here; name one with --agent"
    verb = "wired" if wiring.applied else "would be wired"
    lines = [f"data dir: {result.data_dir}{' (new)' if result.created else ''}"]
    for agent in wiring.agents:
        rows = [row for row in wiring.files if agent in row.agents]
        changed = dict.fromkeys(what for row in rows if row.state in ("create", "change") for what in row.what)
        same = dict.fromkeys(what for row in rows if row.state == "no change" for what in row.what)
        told = [f"{verb}: {', '.join(changed)}"] if changed else []
        told += (
            [f"there already: {', '.join(one for one in same if one not in changed)}"]
            if set(same) - set(changed)
            else []
        )
        told += _hindered(rows)
        told += [f"no {note.what}: {note.note}" for note in wiring.notes if note.agent == agent and not note.snippet]
        told += [
            f"to paste: {note.what} into {note.path}" for note in wiring.notes if note.agent == agent and note.snippet
        ]
        lines.append(f"{agent}: {'; '.join(told) or 'nothing to do'}")
    lines += [f"self-check of {one.agent}, {one.what}: {one.fault or 'it answers'}" for one in result.checks]
    lines += list(wiring.restart)
    lines += [f"earlier {result.backfill}: ai-memory backfill"] if result.backfill and result.brought_in is None else []
    lines += [f"earlier sessions that came in: {result.brought_in}"] if result.brought_in is not None else []
    if wiring.applied and not wiring.changes and not result.exit_code:
        lines.append("nothing to change")
    return "\n".join(lines)


def _hindered(rows: Sequence[FileRow]) -> list[str]:
    """Why files were not written: those that share a reason, such as the skills, in one clause."""
    files: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.reason:
            files.setdefault((row.state, f"{row.reason}{_place(row.line, row.column)}"), []).append(row.path)
    return [
        f"{state}: {paths[0] if len(paths) == 1 else f'{len(paths)} files'}: {why}"
        for (state, why), paths in files.items()
    ]


def _place(line: int | None, column: int | None) -> str:
    return f", line {line}, column {column}" if line and column else ""
