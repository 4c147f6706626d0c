"""Facts as an agent is told of them at a start, in a digest: which come first, and a line for each. Pure, no clock.

*Source*: the order of pi-memory, in which what corrects an agent comes before what informs it.
"""

from collections.abc import Iterable, Sequence

from ai_memory.text.facts import Fact, FactKind
from ai_memory.text.fences import neutralise, without_elements
from ai_memory.text.plain import clip
from ai_memory.text.sanitize import sanitize

ORDER = (
    *(FactKind.CORRECTION, FactKind.CONSTRAINT, FactKind.PREFERENCE, FactKind.DECISION, FactKind.PROCEDURE),
    *(FactKind.FACT, FactKind.LEARNING, FactKind.FAILURE),
)
MOST_BYTES = 500
"""Of one statement."""

_HEADINGS = {FactKind.FACT: "Facts", FactKind.LEARNING: "Learnt"}


def place_of(fact: Fact) -> tuple[int, int, str]:
    """Sorts facts: by kind, the newest first, then by id."""
    return ORDER.index(fact.kind), -fact.recorded_at_us, fact.id


def heading(kind: FactKind) -> str:
    return _HEADINGS.get(kind, f"{kind.value.capitalize()}s")


def line(fact: Fact) -> str:
    """The statement in one line, without secrets and hidden signs, angle brackets as entities, cut where it is long."""
    text = " ".join(neutralise(sanitize(fact.statement)).split())
    return without_elements(clip(text, MOST_BYTES))


def sections(facts: Sequence[Fact]) -> Iterable[str]:
    """A heading for each kind, and its lines; `facts` in their order."""
    for kind in ORDER:
        lines = [f"- {line(fact)}" for fact in facts if fact.kind is kind]
        if lines:
            yield f"## {heading(kind)}\n\n" + "\n".join(lines)
