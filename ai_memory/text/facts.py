"""A fact page: one statement with what supports it, how it stands, and when it holds.

*Source*: decision C6 for its keys and id, C7 for its times.
"""

import hashlib
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from ai_memory.clock import rfc3339
from ai_memory.errors import MemoryFault
from ai_memory.text.names import slug
from ai_memory.text.times import parse_time
from ai_memory.text.validity import Interval

FOLDER = "facts/"
MAX_SLUG = 48
ID_HEX = 12
MAX_EVIDENCE = 32

_Enum = TypeVar("_Enum", bound=StrEnum)


class FactKind(StrEnum):
    """What sort of statement it is."""

    DECISION = "decision"
    FACT = "fact"
    CONSTRAINT = "constraint"
    FAILURE = "failure"
    CORRECTION = "correction"
    PROCEDURE = "procedure"
    PREFERENCE = "preference"
    LEARNING = "learning"


class Standing(StrEnum):
    """How a statement stands. The last two are terminal: what they closed is not opened again."""

    CANDIDATE = "candidate"
    SUPPORTED = "supported"
    NEEDS_REVIEW = "needs_review"
    CONTRADICTED = "contradicted"
    SUPERSEDED = "superseded"

    @property
    def is_terminal(self) -> bool:
        return self in (Standing.CONTRADICTED, Standing.SUPERSEDED)


class EvidenceClass(StrEnum):
    """Where support comes from. Only the first two can make a statement supported."""

    DECLARED = "declared"
    """A person said it."""
    OBSERVED = "observed"
    """A file, a commit or a tool's answer shows it."""
    REPORTED = "reported"
    """Somebody says so."""
    IMPORTED = "imported"
    """It came with a source."""

    @property
    def supports(self) -> bool:
        return self in (EvidenceClass.DECLARED, EvidenceClass.OBSERVED)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of support. Empty where it does not apply."""

    klass: EvidenceClass
    quote: str = ""
    """Words as they stand in a prompt or a source."""
    cite: str = ""
    """Where it can be looked up: `src/a.py#L1-L9`, `obs:…`, `commit:…`, a URL."""
    at: str = ""
    session: str = ""
    sha256: str = ""
    """Of the lines that were cited."""

    def row(self) -> dict[str, object]:
        """As the frontmatter keeps it."""
        named = {"class": self.klass.value, "quote": self.quote, "cite": self.cite, "at": self.at}
        named |= {"session": self.session, "sha256": self.sha256}
        return {key: value for key, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement."""

    id: str
    kind: FactKind
    standing: Standing
    statement: str
    holds: Interval
    recorded_at_us: int
    evidence: tuple[Evidence, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    entities: tuple[str, ...] = ()
    subject: str = ""
    predicate: str = ""
    object: str = ""
    verify_by_us: int | None = None
    resolved_at_us: int | None = None
    because: str = ""
    """Why it was resolved as it stands."""
    disputed: str = ""
    """Why somebody says that it holds no longer, who could not prove it: a person decides."""
    disputed_at_us: int | None = None

    @property
    def is_word_of_person(self) -> bool:
        """Whether it stands, and a person said it: nobody else's word alone takes it back."""
        return not self.standing.is_terminal and any(one.klass is EvidenceClass.DECLARED for one in self.evidence)

    def settled(self) -> "Fact":
        """The same, with nothing held against it any more: it was decided."""
        return replace(self, disputed="", disputed_at_us=None)

    def is_valid(self, at_us: int) -> bool:
        """Whether it holds at that instant; a statement without a start holds from when it was recorded.

        What was closed without an end has no history to show and never holds.
        """
        if self.standing.is_terminal and self.holds.end_us is None:
            return False
        start_us = self.recorded_at_us if self.holds.start_us is None else self.holds.start_us
        return Interval(start_us, self.holds.end_us).holds(at_us)

    def closed_by(self, *, effective_us: int) -> Interval:
        """When it holds, if something else holds in its place from that instant on."""
        start_us = self.recorded_at_us if self.holds.start_us is None else self.holds.start_us
        cut = Interval(start_us, self.holds.end_us).closed_at(effective_us)
        return Interval(self.holds.start_us, cut.end_us)


def fact_id(kind: FactKind, statement: str) -> str:
    """`f-` and 12 hex digits of kind and statement: the same statement has the same id everywhere."""
    text = f"{kind.value}\0{unicodedata.normalize('NFC', statement)}"
    return f"f-{hashlib.sha256(text.encode()).hexdigest()[:ID_HEX]}"


def is_rival(one: Fact, other: Fact) -> bool:
    """Whether they give one property two values at a time that both claim."""
    if one.standing.is_terminal or other.standing.is_terminal:
        return False
    same = [one.subject.casefold(), one.predicate.casefold()] == [other.subject.casefold(), other.predicate.casefold()]
    if not (same and one.subject and one.predicate and one.object and other.object):
        return False
    return one.object.casefold() != other.object.casefold() and one.holds.overlaps(other.holds)


def free_id(kind: FactKind, statement: str, taken: Container[str]) -> str:
    """Its id. A statement that was closed earlier and holds again is another fact: the gap stays visible."""
    identifier, again = fact_id(kind, statement), 1
    while identifier in taken:
        again += 1
        identifier = fact_id(kind, f"{statement}\0{again}")
    return identifier


def fact_path(statement: str, identifier: str) -> str:
    """Where the page of a new fact lies."""
    return f"{FOLDER}{slug(statement, limit=MAX_SLUG)}-{identifier[-4:]}.md"


def first_standing(evidence: Iterable[Evidence]) -> Standing:
    """How a statement stands by its evidence alone."""
    return Standing.SUPPORTED if any(one.klass.supports for one in evidence) else Standing.NEEDS_REVIEW


def frontmatter(fact: Fact) -> dict[str, object | None]:
    """The keys of its page, in their order; None for what it does not have."""
    return {
        "kind": "fact",
        "id": fact.id,
        "fact_kind": fact.kind.value,
        "standing": fact.standing.value,
        "statement": fact.statement,
        "valid_from": moment(fact.holds.start_us),
        "valid_to": moment(fact.holds.end_us),
        "recorded_at": moment(fact.recorded_at_us),
        "resolved_at": moment(fact.resolved_at_us),
        "because": fact.because or None,
        "disputed_at": moment(fact.disputed_at_us),
        "disputed": fact.disputed or None,
        "supersedes": list(fact.supersedes) or None,
        "superseded_by": fact.superseded_by or None,
        "entities": list(fact.entities) or None,
        "subject": fact.subject or None,
        "predicate": fact.predicate or None,
        "object": fact.object or None,
        "verify_by": moment(fact.verify_by_us),
        "evidence": [one.row() for one in fact.evidence] or None,
    }


def read_fact(keys: Mapping[str, object]) -> Fact | None:
    """The fact that a page's frontmatter tells; None for a page that is no fact or lacks id, kind or statement.

    What else cannot be read counts as missing: a person may have edited it.
    """
    kind = _member(FactKind, keys.get("fact_kind"))
    statement, identifier = _text(keys.get("statement")), _text(keys.get("id"))
    if _text(keys.get("kind")).lower() != "fact" or kind is None or not statement or not identifier:
        return None
    return Fact(
        id=identifier,
        kind=kind,
        standing=_member(Standing, keys.get("standing")) or Standing.NEEDS_REVIEW,
        statement=statement,
        holds=read_interval(keys),
        recorded_at_us=read_instant(keys.get("recorded_at")) or 0,
        evidence=read_evidence(keys),
        supersedes=_texts(keys.get("supersedes")),
        superseded_by=_text(keys.get("superseded_by")),
        entities=_texts(keys.get("entities")),
        subject=_text(keys.get("subject")),
        predicate=_text(keys.get("predicate")),
        object=_text(keys.get("object")),
        verify_by_us=read_instant(keys.get("verify_by")),
        resolved_at_us=read_instant(keys.get("resolved_at")),
        because=_text(keys.get("because")),
        disputed=_text(keys.get("disputed")),
        disputed_at_us=read_instant(keys.get("disputed_at")),
    )


def read_interval(keys: Mapping[str, object]) -> Interval:
    """`valid_from` and `valid_to` of any page."""
    return Interval(read_instant(keys.get("valid_from")), read_instant(keys.get("valid_to")))


def read_evidence(keys: Mapping[str, object]) -> tuple[Evidence, ...]:
    """The rows under `evidence` of any page that have a known class."""
    rows = keys.get("evidence")
    found = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and (klass := _member(EvidenceClass, row.get("class"))) is not None:
            words = {key: _text(row.get(key)) for key in ("quote", "cite", "at", "session", "sha256")}
            found.append(Evidence(klass, **words))
    return tuple(found)


def moment(at_us: int | None) -> str | None:
    """The instant as frontmatter keeps it."""
    return None if at_us is None else rfc3339(at_us)


def _member(kind: type[_Enum], value: object) -> _Enum | None:
    try:
        return kind(_text(value).lower())
    except ValueError:
        return None


def read_instant(value: object) -> int | None:
    """An instant as frontmatter keeps it; None for what is none."""
    try:
        return parse_time(value) if isinstance(value, str) and value else None
    except MemoryFault:
        return None


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    values: Sequence[object] = value if isinstance(value, list) else [value]
    return tuple(text for one in values if (text := _text(one)))
