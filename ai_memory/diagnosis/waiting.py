"""What hooks left for the drain: how much waits since when, what was lost or not applied; and who writes."""

import os
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.config_table import Config
from ai_memory.diagnosis.finding import Finding, Repair, Severity
from ai_memory.hook_process import is_running
from ai_memory.store import state
from ai_memory.store.spool import SpoolCounts
from ai_memory.store.upkeep import turns
from ai_memory.text.times import DAY_US

if TYPE_CHECKING:
    from ai_memory.diagnosis.ground import Ground

LONG_US = 7 * DAY_US
LATE_US = 600_000_000
"""An event that waits longer than ten minutes was forgotten by the drain: hooks start one every few seconds."""
LONG_WRITE_US = 60_000_000
"""Writers hold the lock for tenths of a second; only a restore, a purge or a reorganisation takes longer."""
_BROKEN, _WARNING, _NOTE = Severity.BROKEN, Severity.WARNING, Severity.NOTE
_DRAIN = "ai-memory drain"


def spool(ground: "Ground") -> Iterator[Finding]:
    """What waits, and what was given up for want of room."""
    yield from waiting(ground.spool, ground.config, now_us=ground.now_us)
    if ground.spool.dropped:
        sentence = f"{ground.spool.dropped} tool events were given up, ever, because the spool was full"
        fix = "ai-memory config set hook_spool.max_mib 1024, if it happens again"
        yield Finding("spool-dropped", _NOTE, sentence, fix)


def waiting(counts: SpoolCounts, config: Config, *, now_us: int) -> Iterator[Finding]:
    """Events that wait too long, or too many."""
    oldest_us, bounds = counts.oldest_at_us, config.hook_spool
    if oldest_us is not None and oldest_us < now_us - LONG_US:
        sentence = (
            f"{counts.files} events wait, the oldest since {rfc3339(oldest_us)}, more than a week: no drain could apply"
            " them. Nothing is thrown away for its age"
        )
        yield Finding("spool-old", _BROKEN, sentence, _DRAIN, repair=Repair.DRAIN)
    elif oldest_us is not None and oldest_us < now_us - LATE_US:
        sentence = f"{counts.files} events wait since {rfc3339(oldest_us)}"
        yield Finding("spool-waits", _WARNING, sentence, _DRAIN, repair=Repair.DRAIN)
    if counts.files >= bounds.max_files or counts.size_bytes >= bounds.max_mib << 20:
        sentence = (
            f"the spool is full ({counts.files} of {bounds.max_files} events, {counts.size_bytes >> 20} of"
            f" {bounds.max_mib} MiB): new tool events are dropped until a drain has made room"
        )
        yield Finding("spool-full", _BROKEN, sentence, _DRAIN, repair=Repair.DRAIN)


def quarantine(ground: "Ground") -> Iterator[Finding]:
    """Events that could not be applied."""
    aside = ground.spool.quarantined
    if aside:
        yield Finding("quarantine", _WARNING, f"{aside} events could not be applied", "ai-memory quarantine list")


def last_drain(ground: "Ground") -> Iterator[Finding]:
    """Whether the last one ended well."""
    with ground.memory.state_reading() as connection:
        drain = state.last_drain(connection) if connection is not None else None
    if drain is not None and drain.fault:
        sentence = f"the last drain failed: {drain.fault}"
        yield Finding("drain-failed", _WARNING, sentence, _DRAIN, repair=Repair.DRAIN)


def lock(ground: "Ground") -> Iterator[Finding]:
    """Who writes, and whether a killed command left a change that is not finished."""
    memory = ground.memory
    holder = memory.holder() if memory.data_dir.locks.is_dir() else None
    is_here = holder is not None and holder.host == socket.gethostname()
    is_alive = holder is not None and (not is_here or is_running(holder.pid)) and holder.pid != os.getpid()
    if holder is not None and is_alive:
        age_us = ground.now_us - holder.since_us
        severity = _WARNING if age_us > LONG_WRITE_US else _NOTE
        end = f"kill {holder.pid}, if it hangs: nothing is lost by it" if is_here else f"look at {holder.host}"
        yield Finding("lock-held", severity, f"a command is writing: {holder}", f"wait for it; {end}")
        return
    if memory.data_dir.pending.exists():
        sentence = "a killed command left a change that is recorded and could not be finished"
        yield Finding("change-unfinished", _WARNING, sentence, "mend what is told of the wiki, then ai-memory status")


def upkeep(ground: "Ground") -> Iterator[Finding]:
    """Whether a duty of `maintain` was tried and has not gone well for a week."""
    with ground.memory.state_reading() as connection:
        last = turns(connection) if connection is not None else {}
    for duty, turn in last.items():
        if turn.fault and (turn.done_at_us is None or turn.done_at_us < ground.now_us - LONG_US):
            since = f"since {rfc3339(turn.done_at_us)}" if turn.done_at_us is not None else "ever"
            sentence = f"{duty} of `ai-memory maintain` has not gone well {since}: {turn.fault}"
            yield Finding("upkeep-failed", _WARNING, sentence, f"ai-memory maintain --only {duty} --force")
