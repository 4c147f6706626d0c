"""The one table of checks, in the order in which a person reads what they find, and running it."""

from collections.abc import Iterator
from dataclasses import dataclass

from ai_memory.diagnosis import (
    by_hand,
    codex_trust,
    configured,
    contents,
    place,
    read_again,
    sessions,
    switches,
    waiting,
    wiring_state,
)
from ai_memory.diagnosis.finding import Check, Finding, Severity
from ai_memory.diagnosis.ground import Ground
from ai_memory.errors import MemoryFault
from ai_memory.store import driver

CHECKS: tuple[Check, ...] = (
    Check(
        "data-dir",
        "the data dir",
        place.presence,
        ("no-memory", "data-dir-unreadable", "part-lost"),
    ),
    Check(
        "rights",
        "owner and rights",
        place.rights,
        ("data-dir-read-only", "data-dir-owner", "data-dir-open"),
    ),
    Check("disk", "the disk", place.disk, ("network-disk", "synced-disk", "disk-full", "disk-low")),
    Check("config", "settings", configured.settings, ("config-invalid", "variable-unknown")),
    Check("markers", "markers of this folder", configured.markers, ("marker-invalid", "marker-ignored")),
    Check(
        "spool",
        "what waits",
        waiting.spool,
        ("spool-waits", "spool-old", "spool-full", "spool-dropped"),
    ),
    Check("quarantine", "what could not be applied", waiting.quarantine, ("quarantine",)),
    Check("drain", "the last drain", waiting.last_drain, ("drain-failed",)),
    Check("upkeep", "the duties of maintain", waiting.upkeep, ("upkeep-failed",)),
    Check(
        "sources", "sources that are read again", read_again.sources, ("source-gone", "source-failed", "source-late")
    ),
    Check("capture", "whether capture is on", configured.left_out, ("capture-off", "capture-owner", "paused")),
    Check("wiki", "the wiki's repository", contents.wiki, ("wiki-blocked", "wiki-damaged")),
    Check(
        "by-hand",
        "files in the wiki folder",
        by_hand.edits,
        ("conflict-copy", "conflict-markers", "pages-gone", "file-left", "held-elsewhere"),
    ),
    Check("state", "state.db", contents.state, ("state-damaged", "state-large")),
    Check("backup", "the last backup", contents.backup, ("backup-none", "backup-old")),
    Check("index", "the index", contents.index, ("index-behind", "pages-faulty")),
    # after the index: looking at it finishes a change that a killed command left, where that can be done
    Check("lock", "who writes", waiting.lock, ("lock-held", "change-unfinished")),
    Check("sqlite", "SQLite", contents.sqlite, ("sqlite-extension",)),
    Check(
        "embedder",
        "vectors",
        contents.embedder,
        ("embedder-unusable", "vectors-missing", "vectors-former"),
    ),
    Check("leftovers", "half-written files", place.half_written, ("leftovers",)),
    Check(
        "files",
        "hooks and MCP entries",
        wiring_state.files,
        (
            "agent-unwired",
            "wiring-gone",
            "wiring-stale",
            "wiring-elsewhere",
            "wiring-drifted",
            "wiring-refused",
        ),
    ),
    Check("texts", "instructions and skills", wiring_state.texts, ("texts-old",)),
    Check("data-dirs", "named data dirs", wiring_state.data_dirs, ("data-dirs-several",)),
    Check("answers", "written commands, run once", wiring_state.answers, ("no-answer",)),
    Check(
        "trust",
        "approval of hooks in Codex",
        codex_trust.trust,
        ("codex-untrusted", "codex-changed", "codex-off"),
    ),
    Check("switches", "switches of agents", switches.switched_off, ("hooks-switched-off", "must-list")),
    Check(
        "doubles",
        "events told twice",
        switches.doubles,
        ("hooks-twice", "plugin-and-hooks", "runs-others-hooks"),
    ),
    Check(
        "sessions",
        "sessions of agents",
        sessions.captured,
        ("sessions-uncaptured", "sessions-missing", "records-unread"),
    ),
)
"""A row for each look. Who adds one, adds what it finds to `docs/doctor.md`."""

UNCHECKED = "not-checked"
"""Code of what could not be looked at, whichever check it was."""
HINDRANCES: tuple[type[Exception], ...] = (MemoryFault, OSError, ValueError, *driver.FAULTS)
"""What may keep a check from looking."""


@dataclass(frozen=True, slots=True)
class Looked:
    """One check, and what it found."""

    check: Check
    findings: tuple[Finding, ...]


def diagnose(ground: Ground) -> Iterator[Looked]:
    """Every check. One that cannot be done says why, and the others go on."""
    for check in CHECKS:
        yield Looked(check, _looked(check, ground))


def _looked(check: Check, ground: Ground) -> tuple[Finding, ...]:
    found: list[Finding] = []
    try:
        found.extend(check.look(ground))
    except HINDRANCES as fault:
        found.append(_unchecked(check, fault))
    return tuple(found)


def _unchecked(check: Check, fault: Exception) -> Finding:
    why, hint = (fault.message.rstrip("."), fault.hint) if isinstance(fault, MemoryFault) else (str(fault), "")
    return Finding(UNCHECKED, Severity.UNCHECKED, f"{check.title} could not be checked: {why}", hint)
