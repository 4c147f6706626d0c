"""What a fact is worth keeping: its evidence, its kind and what was said of it, less its age. Facts never go by age.

*Source*: the facts on pi-memory, A12: a value of 0 to 100.
"""

from dataclasses import dataclass

from ai_memory.text.facts import EvidenceClass, Fact, FactKind, Standing
from ai_memory.text.times import DAY_US

JUDGMENTS = frozenset({FactKind.DECISION, FactKind.CORRECTION, FactKind.CONSTRAINT, FactKind.PREFERENCE})
"""What somebody decided: nobody finds it out anew by looking."""
BASE = 35.0
OF_EVIDENCE = {EvidenceClass.OBSERVED: 30.0, EvidenceClass.DECLARED: 25.0}
OTHER_EVIDENCE = 10.0
OF_JUDGMENT, OTHER_KIND = 20.0, 8.0
MOST_USEFULNESS = 25.0
OF_STANDING = {Standing.CONTRADICTED: 45.0, Standing.SUPERSEDED: 35.0}
SPARED_FROM = 35.0
"""A protected one of at least this value is never taken away."""
RESOLVED_DAYS = 7
"""So long a fact that was closed stays, whatever it is worth."""


@dataclass(frozen=True, slots=True)
class FactValue:
    """0 to 100, and whether the fact is protected from being taken away."""

    value: float
    is_protected: bool


def value_of(fact: Fact, *, age_days: float, usefulness: int = 0) -> FactValue:
    """What it is worth. `usefulness`: times that it helped, less those that it did not.

    What nobody resolved loses its worth sooner.
    """
    evidence = max((OF_EVIDENCE.get(one.klass, OTHER_EVIDENCE) for one in fact.evidence), default=OTHER_EVIDENCE)
    judgment = OF_JUDGMENT if fact.kind in JUDGMENTS else OTHER_KIND
    useful = max(-MOST_USEFULNESS, min(MOST_USEFULNESS, 5.0 * usefulness))
    age = min(10.0, age_days / 90) if fact.resolved_at_us is not None else min(25.0, age_days / 3)
    raw = BASE + evidence + judgment + useful - age - OF_STANDING.get(fact.standing, 0.0)
    value = max(0.0, min(100.0, raw))
    rests_well = any(one.klass.supports for one in fact.evidence)
    protected = fact.standing is Standing.SUPPORTED and rests_well and fact.kind in JUDGMENTS and value >= SPARED_FROM
    return FactValue(value, protected)


def may_go(fact: Fact, *, changed_at_us: int, now_us: int) -> bool:
    """Whether a closed fact never held, and was closed long enough ago: nothing asks for it any more.

    `changed_at_us`: when its page was last changed; what a page says of its past, somebody may have typed today.

    What held for a time stays: `--as-of` and `timeline` answer with it.
    """
    if not fact.standing.is_terminal:
        return False
    held = fact.holds.end_us is not None and fact.holds.end_us > (fact.holds.start_us or fact.recorded_at_us)
    closed_us = max(changed_at_us, fact.resolved_at_us or 0, fact.holds.end_us or 0)
    return not held and now_us - closed_us >= RESOLVED_DAYS * DAY_US
