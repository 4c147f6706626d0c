"""Pages made of records of another program: what a new one says, and what changes in one that is there."""

import hashlib
import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from ai_memory.clock import rfc3339
from ai_memory.scrub import scrub
from ai_memory.store.imported_pages import Owned
from ai_memory.text.facts import (
    FOLDER,
    MAX_SLUG,
    Evidence,
    EvidenceClass,
    Fact,
    FactKind,
    Standing,
    fact_path,
    first_standing,
    free_id,
    frontmatter,
    moment,
    read_fact,
    read_interval,
)
from ai_memory.text.frontmatter import split
from ai_memory.text.limits import LIMITS
from ai_memory.text.mapped_records import Mapped
from ai_memory.text.names import slug
from ai_memory.text.page import compose, splice
from ai_memory.text.validity import Interval

PAGES = "imported/"
"""Folder of pages that are no facts, with one for each source."""
ORIGIN = "imported_from"
LONGEST_STATEMENT = 1_000
"""Characters of a text that is taken for the statement of its fact."""


@dataclass(frozen=True, slots=True)
class Scrubber:
    """A person's own patterns: what to scrub beyond ours, and what to let pass."""

    extra: tuple[str, ...]
    allow: tuple[str, ...]

    def __call__(self, text: str) -> str:
        """The text without secrets and control characters. Errors: TooSlow."""
        return scrub(text, extra=self.extra, allow=self.allow) if text else text


@dataclass(frozen=True, slots=True)
class Draft:
    """What a record says, clean and cut: all that a page of it is made from."""

    source: str
    record: Mapped
    body: str
    statement: str
    """Of a fact; empty for a page."""
    notes: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """The same for the same content, dates and metadata; another one for anything else."""
        one = self.record
        told: list[object] = [one.kind, one.title, self.body, self.statement, one.observed_at_us, one.holds.start_us]
        told += [one.holds.end_us, one.uri, one.trust, dict(one.metadata)]
        return _digest(json.dumps(told, sort_keys=True))

    def origin(self) -> dict[str, object]:
        """What the page says of where it came from. `body` tells later whether a person edited it."""
        return {"source": self.source, "id": self.record.id, "record": self.fingerprint, "body": _digest(self.body)}

    def evidence(self) -> Evidence:
        cite = self.record.uri or f"{self.source}:{self.record.id}"
        return Evidence(EvidenceClass(self.record.trust), cite=cite, at=moment(self.record.observed_at_us) or "")


def draft(source: str, one: Mapped, scrubber: Scrubber, *, max_chars: int, is_fact: bool) -> Draft:
    """The record, scrubbed and only then cut. Errors: TooSlow."""
    notes: list[str] = []
    clean = scrubber(one.text)
    text = clean.replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > max_chars:
        text = text[:max_chars].rstrip() + "…"
        notes.append(f"its text was cut to {max_chars:,} characters")
    record = replace(
        one,
        title=_line(scrubber(one.title), LIMITS["title"].most),
        uri=_line(scrubber(one.uri), LIMITS["citation"].most // 4),
        metadata={name: _line(scrubber(value), LIMITS["title"].most) for name, value in one.metadata.items()},
    )
    if (record.title, record.uri) != (one.title, one.uri):
        notes.append("its title or address was changed")
    appended = [scrubber(line)[:max_chars] for line in one.appended]
    if clean != one.text or appended != list(one.appended):
        notes.append("secrets or control characters were taken out")
    statement = ""
    if is_fact:
        whole = " ".join(text.split())
        is_one_line = "\n" not in text and 0 < len(text) <= LONGEST_STATEMENT
        statement = (whole if is_one_line else record.title) or _line(whole, LONGEST_STATEMENT)
        if not is_one_line and not record.title:
            notes.append("it has no title and more than one line of text: the statement is its beginning")
    said = text if text and " ".join(text.split()) != statement else ""
    body = "\n\n".join(part for part in (statement, said, "\n".join(appended)) if part) + "\n"
    return Draft(source, record, body, statement, tuple(notes))


def new_fact(one: Draft, taken_ids: Container[str], *, now_us: int) -> Fact:
    """The fact of a record that no page tells of yet."""
    kind = FactKind(one.record.kind)
    evidence = (one.evidence(),)
    return Fact(
        id=free_id(kind, one.statement, taken_ids),
        kind=kind,
        standing=first_standing(evidence),
        statement=one.statement,
        holds=one.record.holds,
        recorded_at_us=now_us,
        evidence=evidence,
    )


def new_path(one: Draft, fact: Fact | None, taken: Container[str]) -> str:
    """Where its page lies, on none that is taken."""
    if fact is not None:
        path = fact_path(fact.statement, fact.id)
        return path if path not in taken else f"{FOLDER}{slug(fact.statement, limit=MAX_SLUG)}-{fact.id[2:]}.md"
    again = 1
    while True:
        key = _digest(f"{one.source}\0{one.record.id}\0{again}")[:8]
        path = f"{PAGES}{one.source}/{slug(one.record.title or one.record.id, limit=MAX_SLUG)}-{key}.md"
        if path not in taken:
            return path
        again += 1


def new_text(one: Draft, fact: Fact | None) -> str:
    """The whole page."""
    keys = frontmatter(fact) if fact is not None else _page_keys(one)
    return compose({**keys, **_origin_keys(one)}, one.body)


def amended(one: Draft, owned: Owned, text: str) -> tuple[str, Fact | None]:
    """The page as it says what the record says now, and its fact; what else stands in it stays.

    What a person said of a fact stays with the fact. Where its statement is another one now, nobody said or showed
    that: it is to be looked at, and rests on its source alone.
    """
    fact = read_fact(owned.keys)
    changes: dict[str, object | None]
    if fact is None:
        changes = _page_keys(one)
        after = None
    else:
        is_same = fact.statement == one.statement
        kept = tuple(row for row in fact.evidence if is_same and row.klass.value not in ("imported", "reported"))
        standing = fact.standing if is_same else Standing.NEEDS_REVIEW
        after = replace(
            fact if is_same else fact.settled(),
            kind=FactKind(one.record.kind),
            statement=one.statement,
            standing=standing,
            holds=one.record.holds,
            evidence=(*kept, one.evidence()),
        )
        changes = frontmatter(after)
    spliced = splice(text, {**changes, **_origin_keys(one)}, path=owned.ref.path)
    return spliced[: split(spliced).body_start] + one.body, after


def retired(owned: Owned, text: str, source: str, *, now_us: int) -> str:
    """The page of a record that its source no longer has: closed, and nothing of it lost."""
    fact = read_fact(owned.keys)
    withdrawn = {**_origin(owned), "withdrawn_at": rfc3339(now_us)}
    if fact is None:
        holds = read_interval(owned.keys)
        cut = Interval(holds.start_us, holds.end_us).closed_at(now_us)
        return splice(text, {"valid_to": moment(cut.end_us), ORIGIN: withdrawn}, path=owned.ref.path)
    before = frontmatter(fact)
    closed = replace(
        fact.settled(),
        standing=Standing.SUPERSEDED,
        holds=fact.closed_by(effective_us=now_us),
        resolved_at_us=now_us,
        because=f"{source} no longer lists it",
    )
    changes = {key: value for key, value in frontmatter(closed).items() if value != before[key]}
    return splice(text, {**changes, ORIGIN: withdrawn}, path=owned.ref.path)


def is_edited(owned: Owned, text: str) -> bool:
    """Whether somebody changed the body since the source brought it."""
    return _digest(text[split(text).body_start :]) != owned.origin("body")


def is_closed(owned: Owned) -> bool:
    """Whether its page tells of an earlier time of the record, or was closed by a person."""
    fact = read_fact(owned.keys)
    return bool(owned.origin("withdrawn_at")) or (fact is not None and fact.standing.is_terminal)


def _page_keys(one: Draft) -> dict[str, object | None]:
    return {
        "title": one.record.title or None,
        "kind": one.record.kind,
        "valid_from": moment(one.record.holds.start_us),
        "valid_to": moment(one.record.holds.end_us),
        "evidence": [one.evidence().row()],
    }


def _origin_keys(one: Draft) -> dict[str, object | None]:
    return {ORIGIN: one.origin(), "metadata": dict(one.record.metadata) or None}


def _origin(owned: Owned) -> Mapping[str, object]:
    found = owned.keys.get(ORIGIN)
    return found if isinstance(found, dict) else {}


def _line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
