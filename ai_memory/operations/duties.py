"""What a memory needs done now and then: one row a duty, with how often and what does it.

A duty is safe to kill and to repeat, and gives back a few words on what it did. The order is that of a run: what
waits first, the copy of it all last.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.config_table import Config
from ai_memory.errors import LockBusy, MemoryFault
from ai_memory.text.times import SECOND_US

if TYPE_CHECKING:
    from ai_memory.operations.aftersweep import Erasing
    from ai_memory.store.memory import Memory

HOUR_S = 3_600
DAY_S = 24 * HOUR_S
RETRY_S = 600
"""One that failed is tried again after so long, or after its interval where that is shorter."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Duty:
    """`every_s` gives seconds between two turns under a configuration; 0 each time, None never."""

    name: str
    what: str
    every_s: Callable[[Config], int | None]
    do: "Callable[[Memory, Config, Progress], str]"


def _drain(memory: "Memory", _: Config, __: Progress) -> str:
    """Apply the spool, end silent sessions with page and handoff, take edits by hand."""
    from ai_memory.capture.drain import Outcome, drain_all  # the writing side, as in the other duties
    from ai_memory.capture.finalizing import as_drain

    outcome, last, ended = Outcome(), _last_told(memory), 0
    while True:
        drain_all(memory.data_dir, outcome, patience_s=memory.lock_timeout_s, memory=as_drain(memory))
        before, ended = ended, _ended_since(memory, last)
        if ended == before:  # a drain ends only some of many
            break
    counts = (
        (outcome.applied, "event", "applied"),
        (outcome.pages, "page", "written"),
        (outcome.handoffs, "handoff", "opened"),
        (ended, "silent session", "ended"),
        (outcome.quarantined, "event", "set aside"),
    )
    told = [f"{count} {noun if count == 1 else noun + 's'} {verb}" for count, noun, verb in counts if count]
    return ", ".join(told) or "nothing waited"


def _last_told(memory: "Memory") -> int:
    from ai_memory.store import audit

    with memory.state_reading() as connection:
        return audit.last_seq(connection) if connection is not None else 0


def _ended_since(memory: "Memory", last: int) -> int:
    from ai_memory.store import audit

    with memory.state_reading() as connection:
        return audit.count_since(connection, last, audit.IDLE_END) if connection is not None else 0


def _sources(memory: "Memory", _: Config, progress: Progress) -> str:
    """Read the sources whose interval is over. Errors: MemoryFault naming those that could not be read whole."""
    from ai_memory.operations.sources import due, synced

    try:
        rows = [synced(memory, one, progress) for one in due(memory)]
    except LockBusy as fault:
        return fault.message
    failed = [f"{row.name}: {row.fault}" for row in rows if row.fault]
    if failed:
        raise MemoryFault("; ".join(failed))
    return "; ".join(f"{row.name} {row.said}" for row in rows) or "none is due"


def _vectors(memory: "Memory", config: Config, progress: Progress) -> str:
    """Make vectors that are missing. Nothing is fetched: what nobody watches must not cost a download."""
    from ai_memory.providers.choose import How, choose
    from ai_memory.search.backfill import Wanted, backfill

    choice = choose(config)
    if choice is None:
        return "no encoder"
    with memory.embedding_alone() as is_mine:
        if not is_mine:
            return "another process makes them"
        how = How(memory.data_dir.models, memory.caller.environ)
        made = backfill(memory, choice, how, Wanted(), progress=progress)
    refused = f", {made.failed} refused by the model" if made.failed else ""
    return f"{made.embedded} made, {made.cached} known{refused}"


def _lint(memory: "Memory", _: Config, progress: Progress) -> str:
    """Look for rot in all projects, and write a report in each that has news."""
    from ai_memory.operations.lint import written

    if not memory.exists:
        return "no pages"
    done = written(memory, progress)
    new = len(done.findings)
    reports = len(done.reports)
    told = (
        f"{new} new finding{'' if new == 1 else 's'}, {reports} report{'' if reports == 1 else 's'}"
        if new
        else "nothing new"
    )
    return "; ".join((told, *done.gaps))


def _tidy(memory: "Memory", _: Config, __: Progress) -> str:
    """Pack git's loose objects, remove what killed processes left."""
    from ai_memory.store.leftovers import sweep

    packed, removed = memory.tidy(), sweep(memory.data_dir)
    return f"{packed} objects packed, {removed} leftovers removed"


def _sweep(memory: "Memory", config: Config, progress: Progress) -> str:
    """Let go of what is over or cold. Errors: as of a write.

    Only `maintain` writes git's history anew for it: others wait meanwhile, four minutes among 100,000 pages.
    """
    from ai_memory.operations.forget_sweep import swept, swept_words  # the writing side

    erasing: Erasing = "never" if memory.caller.face == "drain" else "monthly"
    done = swept(memory, None, config, erasing=erasing, progress=progress)
    return "; ".join((swept_words(done), *done.gaps))


def _backup(memory: "Memory", config: Config, progress: Progress) -> str:
    """Keep an archive, restored on trial, and remove the oldest above the number that is kept."""
    from ai_memory.operations.backup import backup

    folder, keep = config.backup.folder or None, config.backup.keep
    done = backup(memory, output=folder, verify=True, keep=keep, progress=progress)
    left = f", {len(done.removed)} older removed" if done.removed else ""
    return f"{done.archive}{left}"


def _when_named(config: Config) -> int | None:
    """Only by a provider that is named: what nobody watches must not cost money unasked."""
    return None if config.embed.provider in (None, "none") else HOUR_S


def _swept_every(config: Config) -> int | None:
    return config.maintenance.forget_sweep_interval_secs or None if config.maintenance.enabled else None


def _lint_every_s(config: Config) -> int | None:
    return config.maintenance.lint_interval_secs or None if config.maintenance.enabled else None


DUTIES: tuple[Duty, ...] = (
    Duty("drain", "apply what waits, end silent sessions", lambda _: 0, _drain),
    Duty("sources", "read the sources whose interval is over", lambda _: 0, _sources),
    Duty("vectors", "make the vectors that are missing ([embed] provider)", _when_named, _vectors),
    Duty("sweep", "let old pages go ([maintenance] forget_sweep_interval_secs)", _swept_every, _sweep),
    Duty("lint", "look for rot in the pages ([maintenance] lint_interval_secs)", _lint_every_s, _lint),
    Duty("tidy", "pack git's objects, remove leftovers", lambda _: DAY_S, _tidy),
    Duty(
        "backup",
        "keep an archive, restored on trial ([backup] every_days)",
        lambda config: config.backup.every_days * DAY_S or None,
        _backup,
    ),
)
BY_NAME = {duty.name: duty for duty in DUTIES}
NAMES = tuple(BY_NAME)


def due_at_us(duty: Duty, config: Config, at_us: int | None, *, failed: bool) -> int | None:
    """From when on it is due, in µs; 0: at once, None: never. A last turn of the future was a clock set back."""
    every_s = duty.every_s(config)
    if every_s is None:
        return None
    if at_us is None:
        return 0
    return at_us + (min(every_s, RETRY_S) if failed else every_s) * SECOND_US
