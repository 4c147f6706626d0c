"""What is amiss, how bad it is and what mends it; with `--fix`, the safe part of that done."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory import __version__
from ai_memory.clock import rfc3339
from ai_memory.diagnosis.finding import Finding, Severity
from ai_memory.diagnosis.ground import Ground
from ai_memory.diagnosis.recorded import Compared
from ai_memory.diagnosis.table import CHECKS, HINDRANCES, Looked, diagnose
from ai_memory.diagnosis.wiring_state import Standing, named_data_dirs, worst
from ai_memory.harnesses.record import Harness
from ai_memory.operations.field import Field
from ai_memory.operations.repair import Repaired, repair
from ai_memory.operations.setup import no_progress
from ai_memory.wiring.agents import Desk

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

_EXIT = {Severity.BROKEN: 7, Severity.WARNING: 1, Severity.UNCHECKED: 1, Severity.NOTE: 0}
"""Decision C3."""
_ORDER = (Severity.BROKEN, Severity.WARNING, Severity.UNCHECKED, Severity.NOTE)


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One thing that is not as it should be."""

    severity: str
    """broken, warning, unchecked, note."""
    agent: str | None
    """The harness it is about."""
    check: str
    code: str
    """Its name in docs/doctor.md."""
    sentence: str
    fix: str
    """The command that mends it, else what a person does."""


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent."""

    agent: str
    title: str
    hooks: str
    """How its hooks stand: wired, not wired, drifted, stale path, …; empty where it takes none."""
    mcp: str
    local_sessions: int | None
    """Of these days, by its own records; null where these cannot be read."""
    captured_sessions: int | None
    """Of these, how many are here."""
    sessions: int
    """Here, with an event in these days."""
    last_event_at: str | None


@dataclass(frozen=True, slots=True)
class CheckRow:
    check: str
    about: str
    outcome: str
    """fine, or the worst of what it found."""


@dataclass(frozen=True, slots=True)
class DataDirRow:
    path: str
    named_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    version: str
    data_dir: str
    days: int
    findings: tuple[FindingRow, ...]
    """The worst first."""
    agents: tuple[AgentRow, ...]
    checks: tuple[CheckRow, ...]
    data_dirs: tuple[DataDirRow, ...]
    """Every one that a command of ours names, this command's first."""
    repaired: tuple[str, ...] = ()
    """What `--fix` did, a sentence each."""
    restart: tuple[str, ...] = ()
    """What a person does for what was written to count."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def exit_code(self) -> int:
        """0 fine, 1 warnings, 7 broken."""
        return max((_EXIT[Severity(row.severity)] for row in self.findings), default=0)


def doctor(
    memory: "Memory",
    *,
    agent: Annotated[tuple[str, ...], Field("only this agent, by id or alias; repeatable", flags=("--agent",))] = (),
    days: Annotated[int, Field("days for which sessions are counted", ge=1, le=365)] = 7,
    fix: Annotated[bool, Field("also mend what can be mended without losing anything")] = False,
    progress: Callable[[int, int], None] = no_progress,
) -> Diagnosis:
    """Look at the memory and at every agent's wiring, and say what is amiss and what mends it. Uses no network.
    Exit code 0: fine; 1: warnings; 7: something is broken. Changes nothing without --fix.
    """
    named = tuple(Desk(memory.caller, memory.data_dir.root).chosen(agent))
    ground = Ground(memory, days, named)
    looked = _looked(ground, progress)
    done = Repaired()
    if fix:
        done = repair(memory, _findings(looked))
        if done.done:
            ground = Ground(memory, days, named)
            looked = _looked(ground, progress)
    return _diagnosis(ground, looked, done)


def _looked(ground: Ground, progress: Callable[[int, int], None]) -> list[Looked]:
    looked = []
    for number, one in enumerate(diagnose(ground), 1):
        progress(number, len(CHECKS))
        looked.append(one)
    return looked


def _findings(looked: Iterable[Looked]) -> list[Finding]:
    return [finding for one in looked for finding in one.findings]


def _diagnosis(ground: Ground, looked: Sequence[Looked], done: Repaired) -> Diagnosis:
    rows = [_finding_row(one.check.name, found) for one in looked for found in one.findings]
    rows.sort(key=lambda row: _ORDER.index(Severity(row.severity)))
    seen = _compared(ground)
    return Diagnosis(
        version=__version__,
        data_dir=str(ground.memory.data_dir.root),
        days=ground.days,
        findings=tuple(rows),
        agents=tuple(_agent_row(one, ground, seen) for one in ground.harnesses),
        checks=tuple(CheckRow(one.check.name, one.check.title, _outcome(one)) for one in looked),
        data_dirs=tuple(DataDirRow(path, tuple(who)) for path, who in named_data_dirs(ground).items()),
        repaired=done.done,
        restart=done.restart,
        gaps=done.gaps,
    )


def _finding_row(check: str, found: Finding) -> FindingRow:
    return FindingRow(found.severity.value, found.agent or None, check, found.code, found.sentence, found.fix)


def _compared(ground: Ground) -> Compared:
    """Nothing where it cannot be had: the check of sessions says why."""
    try:
        return ground.compared
    except HINDRANCES:
        return Compared()


def _agent_row(harness: Harness, ground: Ground, seen: Compared) -> AgentRow:
    local, here = seen.local.get(harness.id), seen.here.get(harness.id)
    return AgentRow(
        agent=harness.id,
        title=harness.title,
        hooks=_standing(ground, harness, "hooks") if harness.hooks else "",
        mcp=_standing(ground, harness, "mcp") if harness.mcp else "",
        local_sessions=local.sessions if local else None,
        captured_sessions=local.captured if local else None,
        sessions=here.sessions if here else 0,
        last_event_at=rfc3339(here.last_at_us) if here else None,
    )


def _standing(ground: Ground, harness: Harness, what: str) -> str:
    return worst(ground.entries_for(harness, what), ground.launch) or Standing.ABSENT.value


def _outcome(one: Looked) -> str:
    found = {finding.severity for finding in one.findings}
    return next((severity.value for severity in _ORDER if severity in found), "fine")


def doctor_text(result: Diagnosis) -> str:
    """What was mended, each finding with its fix, the agents that take part; little where all is well."""
    lines = [f"mended: {one}" for one in result.repaired] + list(result.restart)
    for row in result.findings:
        about = f"{row.agent}: " if row.agent else ""
        lines.append(f"{row.severity:<9} {about}{row.sentence}")
        lines += [f"{'':<9} fix: {row.fix}"] if row.fix else []
    return "\n".join([*lines, *_agent_lines(result), _verdict(result)])


def _agent_lines(result: Diagnosis) -> list[str]:
    """A table of those that are wired or were seen; the others by name."""
    taking = [row for row in result.agents if row.last_event_at or {row.hooks, row.mcp} - {"", Standing.ABSENT.value}]
    rows = [("agent", "hooks", "mcp", f"here, {result.days} days", "last event"), *map(_cells, taking)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    others = [row.agent for row in result.agents if row not in taking]
    return [*(lines if taking else []), *([f"not wired: {', '.join(others)}"] if others else [])]


def _cells(row: AgentRow) -> tuple[str, ...]:
    local = row.local_sessions
    here = f"{row.captured_sessions} of {local} sessions" if local else f"{row.sessions} sessions"
    return row.agent, row.hooks or "none", row.mcp or "none", here, row.last_event_at or "none yet"


def _verdict(result: Diagnosis) -> str:
    counts = {one: sum(row.severity == one for row in result.findings) for one in _ORDER}
    told = [f"{number} {_noun(one, number)}" for one, number in counts.items() if number]
    if not result.exit_code:
        notes = f", {told[0]}" if told else ""
        return f"all is well: {len(result.checks)} checks of {result.data_dir}{notes}"
    return f"{', '.join(told)} in {len(result.checks)} checks; docs/doctor.md says what each means"


def _noun(severity: Severity, number: int) -> str:
    is_counted = severity in (Severity.WARNING, Severity.NOTE)
    return f"{severity.value}s" if is_counted and number != 1 else severity.value
