"""The one table of checks, in the order in which a person reads what they find, and running it."""

from collections.abc import Collection, Iterator

from ai_memory.errors import MemoryFault
from ai_memory.linting import age, pointing, safety, shape, truth, twins
from ai_memory.linting.finding import Check, Finding
from ai_memory.linting.ground import Ground
from ai_memory.store import driver

CHECKS: tuple[Check, ...] = (
    Check("secrets", "secrets at rest", safety.secrets, ("secret",)),
    Check("injection", "orders to agents", safety.injection, ("injection_shaped",)),
    Check("echo", "text that came out of a memory", safety.echo, ("self_echo",)),
    Check("feedback", "what was called stale or wrong", truth.flagged, ("feedback_flagged",)),
    Check("contradictions", "pages against each other", truth.contradictions, ("contradiction",)),
    Check("conflicts", "facts against each other", truth.conflicts, ("fact_conflict",)),
    Check("claims", "files that are gone", truth.claims, ("claim_gone",)),
    Check("links", "where links lead", pointing.broken, ("broken_link", "dangling_cross_project_link")),
    Check("titles", "titles", twins.titles, ("duplicate_title",)),
    Check("bodies", "what is said twice", twins.bodies, ("near_duplicate",)),
    Check("unreadable", "what cannot be read", shape.unreadable, ("unreadable",)),
    Check("empty", "pages without a body", shape.empty, ("empty",)),
    Check("size", "long pages", shape.oversized, ("oversized",)),
    Check("slots", "slots", age.slots, ("stale_slot",)),
    Check("pins", "pins with a date", age.pinned_expiring, ("pinned_expiring",)),
    Check("stale", "sessions that nobody read", age.stale, ("stale",)),
    Check("cold", "what the next sweep takes", age.cold, ("cold_episodic",)),
    Check("recall", "what is never found", age.unrecalled, ("never_recalled",)),
    Check("orphans", "pages without links", pointing.orphans, ("orphan",)),
    Check("rules", "rules for instruction files", shape.rules, ("rule_suggestion",)),
)
"""A row for each look. Who adds one, adds what it finds to `docs/lint.md`."""

KINDS: tuple[str, ...] = tuple(kind for check in CHECKS for kind in check.kinds)
HINDRANCES: tuple[type[Exception], ...] = (MemoryFault, OSError, ValueError, *driver.FAULTS)
"""What may keep a check from looking."""


def run(ground: Ground, kinds: Collection[str] = KINDS) -> Iterator[Finding]:
    """What is found of these kinds. A check that cannot be done says why among the gaps, and the others go on.

    Errors: the driver's DatabaseError for a damaged index.
    """
    for check in CHECKS:
        if not set(check.kinds) & set(kinds):
            continue
        found: list[Finding] = []
        try:
            found.extend(check.look(ground))
        except HINDRANCES as fault:
            if driver.is_damage(fault):
                raise  # who opened the index throws it away: the next look has a new one
            why = " ".join(str(fault).split())
            ground.gaps.append(f"{check.title} could not be checked: {why}")
        yield from (one for one in found if one.kind in kinds)
