"""Whether each agent's files still say what we wrote, and whether what they start is still there."""

import os
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from shlex import quote

from ai_memory.diagnosis.entries import Entry
from ai_memory.diagnosis.finding import Finding, Repair, Severity
from ai_memory.diagnosis.ground import Ground
from ai_memory.diagnosis.written import Written
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.record import Harness
from ai_memory.wiring.plan import State, compared
from ai_memory.wiring.selfcheck import check_bridge, check_hook

_WORDS = {"hooks": "hooks", "mcp": "MCP settings"}
"""What an entry is called in a sentence."""
NAMED = 3
"""Of who names a data dir."""
_WARNING, _NOTE = Severity.WARNING, Severity.NOTE


class Standing(StrEnum):
    """How one entry stands."""

    WIRED = "wired"
    PASTED = "pasted"
    """A person put it there; it is not compared."""
    ABSENT = "not wired"
    GONE = "taken out"
    """We wrote it, and it stands there no more."""
    DRIFTED = "drifted"
    STALE = "stale path"
    """What it starts is not there any more."""
    ELSEWHERE = "another installation"
    OTHER_DATA = "another data dir"
    REFUSED = "unusable"
    """Its file is broken, read-only, a folder, or holds something else under our name."""


def standing(entry: Entry, launch: Launch) -> Standing:
    """The worst that can be said of it."""
    if entry.refused:
        return Standing.REFUSED
    if not entry.commands:
        return Standing.GONE if entry.was_written else Standing.ABSENT
    if any(missing_of(one) for one in entry.commands):
        return Standing.STALE
    if not all(_is_ours(one, launch) for one in entry.commands):
        return Standing.ELSEWHERE
    if not all(is_same_place(one.data_dir, launch.data_dir) for one in entry.commands if one.data_dir):
        return Standing.OTHER_DATA
    if entry.is_as_written:
        return Standing.WIRED
    return Standing.PASTED if entry.is_pasted else Standing.DRIFTED


def missing_of(command: Written) -> str:
    """The program or file of a command that is not there; empty where both are. A bare name is looked up on PATH."""
    if Path(command.program).is_absolute() and not os.access(command.program, os.X_OK):
        return command.program
    return command.file if command.file and not os.access(command.file, os.R_OK) else ""


def _is_ours(command: Written, launch: Launch) -> bool:
    folder = os.path.dirname(command.file) if command.file else launch.package
    return is_same_place(folder, launch.package) and (not command.file or is_same_place(command.program, launch.python))


def is_same_place(one: str, other: str) -> bool:
    """Whether two paths lead to one file or folder."""
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def files(ground: Ground) -> Iterator[Finding]:
    """Each agent's hooks and MCP entry against what would be written now."""
    for entry in ground.entries:
        yield from _findings(entry, standing(entry, ground.launch))


def _findings(entry: Entry, found: Standing) -> Iterator[Finding]:
    agent, what, where = entry.harness.id, _WORDS[entry.what], ", ".join(entry.paths)
    fix = _install(entry)
    match found:
        case Standing.WIRED | Standing.PASTED | Standing.OTHER_DATA:
            return  # data dirs are told of together
        case Standing.ABSENT:
            if entry.what == "hooks":
                how = fix if entry.is_pasted else f"ai-memory setup --agent {agent}"
                yield Finding("agent-unwired", _NOTE, "it is here and not wired", how, agent)
        case Standing.GONE:
            sentence = f"its {what} were written to {where} and are not there any more"
            yield Finding(
                "wiring-gone", _WARNING, sentence, f"{fix}, or ai-memory uninstall --agent {agent} --apply", agent
            )
        case Standing.STALE:
            gone = next(filter(None, map(missing_of, entry.commands)))
            sentence = f"its {what} start {gone}, which is not there any more: nothing of it reaches memory"
            yield Finding("wiring-stale", Severity.BROKEN, sentence, fix, agent, _rewire(entry), (entry.what,))
        case Standing.ELSEWHERE:
            programs = ", ".join(dict.fromkeys(one.file or one.program for one in entry.commands))
            sentence = f"its {what} start another installation: {programs}"
            yield Finding("wiring-elsewhere", _WARNING, sentence, f"{fix}, if this one is to be used", agent)
        case Standing.DRIFTED:
            sentence = f"its {what} in {where} are not as they would be written now"
            yield Finding("wiring-drifted", _WARNING, sentence, fix, agent, _rewire(entry), (entry.what,))
        case Standing.REFUSED:
            for plan in entry.refused:
                place = f", line {plan.line}" if plan.line else ""
                sentence = f"{plan.path} cannot be used for its {what}: {plan.reason}{place}"
                severity = _WARNING if entry.was_written or entry.commands else _NOTE
                yield Finding("wiring-refused", severity, sentence, plan.hint or f"correct it, then {fix}", agent)


def texts(ground: Ground) -> Iterator[Finding]:
    """Instructions and skills that we wrote, and that say something else than this version would."""
    for harness in ground.harnesses:
        written = {owner.what for record in ground.records for owner in record.owners if owner.agent == harness.id}
        old = [
            what for what in ("instructions", "skills") if what in written and not _is_current(ground, harness, what)
        ]
        if old:
            sentence = f"its {' and '.join(old)} are not those that would be written now"
            yield Finding("texts-old", _NOTE, sentence, f"ai-memory setup --agent {harness.id} --yes", harness.id)


def _is_current(ground: Ground, harness: Harness, what: str) -> bool:
    wishes, _ = ground.desk.wishes([harness], what)
    return all(plan.state is State.SAME for plan in compared(wishes))


def _rewire(entry: Entry) -> Repair | None:
    """Nothing is written by itself into a checkout, nor over what a person put there, nor where it is refused."""
    is_safe = not entry.checkout and not entry.is_pasted and not entry.refused
    return Repair.REWIRE if is_safe else None


def _install(entry: Entry) -> str:
    verb = "install-hooks" if entry.what == "hooks" else "install-mcp"
    if entry.is_pasted:
        return f"ai-memory {verb} --agent {entry.harness.id} --print"
    if entry.checkout:
        return f"(cd {quote(entry.checkout)} && ai-memory {verb} --agent {entry.harness.id} --scope project --apply)"
    return f"ai-memory {verb} --agent {entry.harness.id} --apply"


def data_dirs(ground: Ground) -> Iterator[Finding]:
    """Every data dir that anything names. With several, agents do not remember the same."""
    named = named_data_dirs(ground)
    if len(named) < 2:
        return
    own = str(ground.memory.data_dir.root)
    told = "; ".join(f"{path} ({_few(who)})" for path, who in named.items())
    agents = dict.fromkeys(one for path, who in named.items() if path != own for one in who)
    fix = f"ai-memory setup --agent {','.join(agents)} --yes, if {own} is the one that is meant"
    yield Finding("data-dirs-several", _WARNING, f"commands name {len(named)} data dirs: {told}", fix)


def _few(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= NAMED else f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"


def named_data_dirs(ground: Ground) -> dict[str, list[str]]:
    """Data dir → who names it, ours first."""
    own = str(ground.memory.data_dir.root)
    named: dict[str, list[str]] = {own: ["this command"]}
    for entry in ground.everywhere:
        for command in entry.commands:
            path = command.data_dir
            if not path:
                continue
            path = own if is_same_place(path, own) else path
            if entry.harness.id not in named.setdefault(path, []):
                named[path].append(entry.harness.id)
    return named


def answers(ground: Ground) -> Iterator[Finding]:
    """The commands that were written, each distinct one run once; they keep nothing."""
    whole = [entry for entry in ground.entries if entry.commands and not _is_known_bad(entry, ground.launch)]
    for what in ("hooks", "mcp"):
        entry = next((one for one in whole if one.what == what), None)
        if entry is None:
            continue
        launch = ground.desk.launch(entry.harness.id)
        check = check_hook if what == "hooks" else check_bridge
        fault = check(launch, entry.harness.id)
        if fault:
            users = sorted({one.harness.id for one in whole if one.what == what})
            sentence = f"what was written for {', '.join(users)} does not answer: {fault}"
            yield Finding(
                "no-answer", Severity.BROKEN, sentence, "sh install.sh in the program's folder, then run this again"
            )


def _is_known_bad(entry: Entry, launch: Launch) -> bool:
    return standing(entry, launch) not in (Standing.WIRED, Standing.PASTED, Standing.DRIFTED)


def worst(entries: Iterable[Entry], launch: Launch) -> str:
    """What a table says of an agent's hooks, or of its MCP entry."""
    order = list(Standing)
    found = [standing(one, launch) for one in entries]
    return max(found, key=order.index).value if found else ""
