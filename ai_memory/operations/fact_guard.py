"""What no text may do to a fact: claim support, take back a person's word, open again what was closed.

Only `record`, `resolve` and a person at a terminal do that. Who can write files of the wiki can write anything; this
holds for tools and commands.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.errors import MemoryFault, UsageFault
from ai_memory.search import numbers
from ai_memory.text.facts import EvidenceClass, Fact, Standing, read_fact
from ai_memory.text.page import ParsedPage, parse_leniently

if TYPE_CHECKING:
    from ai_memory.model import Page, PageRef
    from ai_memory.store.memory import Memory

WAYS_ON = "`ai-memory resolve` says that it holds no longer: with a quote of the person, or confirmed by them"


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A page of a fact, before and after a text takes its place. Before is empty for a new page."""

    before: ParsedPage
    after: ParsedPage

    @classmethod
    def of(cls, before: str, text: str, ref: "PageRef") -> "Rewriting":
        return cls(parse_leniently(before, path=ref.path), parse_leniently(text, path=ref.path))

    @property
    def facts(self) -> tuple[Fact | None, Fact | None]:
        return read_fact(self.before.frontmatter), read_fact(self.after.frontmatter)

    def unproved_claim(self) -> Fact | None:
        """The fact that the text makes, where it claims a support that the page did not have; else None."""
        own, after = self.facts
        if after is None:
            return None
        claims = {one for one in after.evidence if one.klass.supports}
        if own is not None and after.statement == own.statement and after.kind is own.kind:
            is_raised = after.standing is Standing.SUPPORTED and own.standing is not Standing.SUPPORTED
            return after if is_raised or claims - {*own.evidence} else None
        return after if claims or after.standing is Standing.SUPPORTED else None

    def word_taken_back(self) -> Fact | None:
        """The fact that a person said, where the text says less, another thing, or another time; else None."""
        own, after = self.facts
        if own is None or not own.is_word_of_person:
            return None
        if after is None or _told(after) != _told(own) or not _declared(own) <= _declared(after):
            return own
        if self.before.frontmatter.get("expires_at") != self.after.frontmatter.get("expires_at"):
            return own
        if {*self.after.tags} & numbers.STANDING_AT_MOST.keys() - {*self.before.tags}:
            return own
        was_there = _holds(self.before.body, own)
        return own if was_there and not _holds(self.after.body, own) else None

    def opened_again(self) -> Fact | None:
        """The fact that was closed, where it stands or holds again by the text; else None."""
        own, after = self.facts
        if own is None or after is None or not own.standing.is_terminal:
            return None
        ended_us, ends_us = own.holds.end_us, after.holds.end_us
        is_longer = ended_us is not None and (ends_us is None or ends_us > ended_us)
        return own if is_longer or not after.standing.is_terminal else None


def refuse_unproved(before: "Page | None", text: str, ref: "PageRef") -> None:
    """Errors: UsageFault for a text that claims such a support, takes a word back, or opens a fact again."""
    change = Rewriting.of(_fact_text(before), text, ref)
    _refuse_undoing(change, ref)
    if change.unproved_claim() is not None:
        raise UsageFault(
            f"the text makes {ref.path} a fact that is supported, or gives it evidence, which no text can",
            hint="`ai-memory record` and `ai-memory resolve` look at what supports it",
        )


def refuse_undoing(before: str, text: str, ref: "PageRef") -> None:
    """Errors: UsageFault for an earlier version that takes a person's word back, or opens a fact again."""
    _refuse_undoing(Rewriting.of(before, text, ref), ref)


def _refuse_undoing(change: Rewriting, ref: "PageRef") -> None:
    if change.opened_again() is not None:
        raise UsageFault(
            f"{ref.path} is a fact that was closed: that is not undone",
            hint="record the statement anew, so that the gap stays visible",
        )
    if change.word_taken_back() is not None:
        raise UsageFault(f"{ref.path} is a person's word, which no text takes back or changes", hint=WAYS_ON)


def refuse_unconfirmed(memory: "Memory", before: "Page | None", text: str, ref: "PageRef") -> None:
    """As `refuse_unproved`, but a person at the terminal may say yes. Errors: MemoryFault."""
    change = Rewriting.of(_fact_text(before), text, ref)
    if (claim := change.unproved_claim()) is not None:
        if not memory.caller.confirms(f"Do you say so yourself: {claim.statement}"):
            raise MemoryFault(
                "the text claims support for a fact, and nobody confirmed it at a terminal",
                hint="leave its standing and evidence as they were, or record the statement anew",
            )
    elif (lost := change.opened_again() or change.word_taken_back()) is not None and not memory.caller.confirms(
        f"This was said or closed by a person, do you change it: {lost.statement}"
    ):
        raise MemoryFault(
            "the text changes what a person said or closed, and nobody confirmed it at a terminal",
            hint="leave its keys and its statement as they were, or record the statement anew",
        )


def refuse_loss(memory: "Memory", page: "Page | None") -> None:
    """Errors: MemoryFault where the page that is to go is a person's word, and no person confirms it."""
    fact = read_fact(page.frontmatter) if page is not None else None
    if fact is None or not fact.is_word_of_person:
        return
    if not memory.caller.confirms(f"A person said so, delete it: {fact.statement}"):
        raise MemoryFault(
            "the page is a person's word, and nobody confirmed at a terminal that it is to go", hint=WAYS_ON
        )


def words_lost(before: Iterable["Page"], after: Iterable["Page"]) -> list[Fact]:
    """The facts that a person said or closed, and that the pages which are there then do not tell any more."""
    then = {page.ref: page for page in after}
    moved = {fact.id for page in then.values() if (fact := read_fact(page.frontmatter)) is not None}
    lost = []
    for page in before:
        own = read_fact(page.frontmatter)
        if page.ref in then:
            change = Rewriting.of(page.text, then[page.ref].text, page.ref)
            opened = change.opened_again()
            own = change.word_taken_back() or (opened if opened is not None and _declared(opened) else None)
        elif own is not None and (own.id in moved or not own.is_word_of_person):
            own = None
        if own is not None:
            lost.append(own)
    return lost


def _fact_text(page: "Page | None") -> str:
    """The page's text, if it may be a fact: most pages are none, and are not read twice."""
    return page.text if page is not None and page.kind.lower() == "fact" else ""


def _told(fact: Fact) -> tuple[object, ...]:
    return fact.id, fact.kind, fact.statement, fact.standing, fact.holds, fact.superseded_by


def _declared(fact: Fact) -> set[object]:
    return {one for one in fact.evidence if one.klass is EvidenceClass.DECLARED}


def _holds(body: str, fact: Fact) -> bool:
    return fact.statement in " ".join(body.split())
