"""Recording one statement with what supports it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import Conflict, UsageFault, echo
from ai_memory.model import PageRef, Scope
from ai_memory.operations.cleaning import clean, refuse_secrets
from ai_memory.operations.fact_evidence import Checked, cited, confirmed, quoted, says_anew
from ai_memory.operations.fact_rows import FactRow, fact_line, fact_row, fresh_facts
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.meanwhile import look_again
from ai_memory.operations.scoping import resolve
from ai_memory.operations.write import check_words, session_trailers
from ai_memory.store.fact_rows import FactRow as StoredFact
from ai_memory.store.fact_rows import add_evidence, facts_of
from ai_memory.text.admission import Known, Refusal, differ, holds_words, repeated, routine
from ai_memory.text.facts import (
    MAX_EVIDENCE,
    EvidenceClass,
    Fact,
    FactKind,
    Standing,
    fact_id,
    fact_path,
    first_standing,
    free_id,
    frontmatter,
    is_rival,
    moment,
)
from ai_memory.text.limits import check_limit, check_line
from ai_memory.text.page import compose, splice
from ai_memory.text.times import parse_time
from ai_memory.text.validity import Interval

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory

KindName = Literal["decision", "fact", "constraint", "failure", "correction", "procedure", "preference", "learning"]


@dataclass(frozen=True, slots=True)
class Recorded:
    scope: Scope
    outcome: Literal["recorded", "would_record", "refused"]
    facts: tuple[FactRow, ...]
    """The new one first, then those that it replaces; of a refusal the one that says it already."""
    because: str = ""
    """Why it was refused."""
    commit: str | None = None
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def exit_code(self) -> int:
        return 1 if self.outcome == "refused" else 0


def record(
    memory: "Memory",
    *,
    statement: Annotated[str, Field("one sentence, in the person's language", positional=True, joined=True)],
    kind: Annotated[KindName, Field("what sort of statement")] = "fact",
    quote: Annotated[str | None, Field("the person's own words from a prompt, to the letter")] = None,
    cite: Annotated[
        tuple[str, ...], Field("what shows it: path#L1-L9, commit:ID, obs:ID, URL", max_length=MAX_EVIDENCE - 1)
    ] = (),
    valid_from: Annotated[str | None, Field("holds from this date on")] = None,
    valid_to: Annotated[str | None, Field("holds no longer on this date")] = None,
    supersedes: Annotated[
        tuple[str, ...], Field("id or path of facts that it replaces", max_length=32, metavar="ID")
    ] = (),
    entities: Annotated[
        tuple[str, ...], Field("names it is about", flags=("--entity",), metavar="NAME", max_length=10)
    ] = (),
    subject: Annotated[str | None, Field("what it speaks of", is_unlisted=True)] = None,
    predicate: Annotated[str | None, Field("which property", is_unlisted=True)] = None,
    object: Annotated[str | None, Field("its value", is_unlisted=True)] = None,
    verify_by: Annotated[str | None, Field("look at it again by this date", is_unlisted=True)] = None,
    insist: Annotated[bool, Field("record it though one says nearly the same")] = False,
    mine: Annotated[bool, Field("you say so yourself: asks you at the terminal", face="cli")] = False,
    dry_run: Annotated[bool, Field("only show what would be recorded", is_unlisted=True)] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Recorded:
    """Record one statement that must hold later: a decision, constraint, correction, preference.
    With a quote of the person or a citation it counts as supported; else it waits for review.
    """
    where = resolve(memory, workspace, project, write=True)
    given = Fact(
        id="",
        kind=FactKind(kind),
        standing=Standing.NEEDS_REVIEW,
        statement=_statement(memory, statement),
        holds=_interval(valid_from, valid_to),
        recorded_at_us=memory.clock(),
        entities=tuple(dict.fromkeys(" ".join(name.split()).lower() for name in entities)),
        subject=_word(memory, "subject", subject),
        predicate=_word(memory, "predicate", predicate),
        object=_word(memory, "object", object),
        verify_by_us=parse_time(verify_by) if verify_by else None,
    )
    _check(memory, given, entities)
    checked = _evidence(memory, where, given.statement, quote, cite, mine=mine)
    evidence = tuple(one.evidence for one in checked)
    fact = replace(given, evidence=evidence, standing=first_standing(evidence))
    notes = tuple(one.note for one in checked if one.note)
    ways = _Ways(notes, supersedes, insist=insist, is_trial=dry_run)
    return look_again(lambda: _recorded(memory, where, fact, ways))


@dataclass(frozen=True, slots=True)
class _Ways:
    """How a checked fact is to be recorded."""

    notes: tuple[str, ...]
    supersedes: tuple[str, ...]
    insist: bool
    is_trial: bool


def _recorded(memory: "Memory", where: Scope, fact: Fact, ways: _Ways) -> Recorded:
    """Through the gate and into its page. Errors: Conflict, also where another command wrote meanwhile."""
    gaps = ways.notes
    named = fresh_facts(memory, where, ways.supersedes)
    with memory.reading() as snapshot:
        stored = facts_of(snapshot.index, where.workspace, where.project)
    borne_out = _borne_out(fact, stored)
    kept = [one for one in named if one not in borne_out and not _may_replace(memory, fact, one.fact)]
    replaced = [*(one for one in named if one not in kept), *(one for one in borne_out if one not in named)]
    why = _refused(fact, stored, [*replaced, *kept], insist=ways.insist)
    if why is not None:
        twins = tuple(fact_row(one.ref, one.fact, memory.clock()) for one in stored if one.fact.id == why.twin)
        return Recorded(where, "refused", twins, why.why, gaps=(*gaps, *_ways_on(memory, why.twin)))
    fact = replace(
        fact,
        id=free_id(fact.kind, fact.statement, {one.fact.id for one in stored}),
        supersedes=tuple(one.fact.id for one in replaced),
    )
    ref = PageRef(where.workspace, where.project, fact_path(fact.statement, fact.id))
    gaps += _contradictions(fact, stored, [*replaced, *kept])
    gaps += tuple(
        f"{one.fact.id} is what a person said: it stands until they decide, and both wait in `ai-memory review`"
        for one in kept
    )
    closed = [(one, _closed(one, fact)) for one in replaced]
    now_us = memory.clock()
    rows = (fact_row(ref, fact, now_us), *(fact_row(one.ref, after, now_us) for one, after in closed))
    if ways.is_trial:
        return Recorded(where, "would_record", rows, gaps=gaps)
    commit, notes = _written(memory, where, ref, fact, closed, against=[one.ref.path for one in kept])
    return Recorded(where, "recorded", rows, commit=commit, gaps=(*gaps, *notes))


def _statement(memory: "Memory", given: str) -> str:
    """The statement as it is kept: one line, without secrets. Errors: UsageFault, MemoryFault."""
    line = " ".join(given.split())
    if not line:
        raise UsageFault("the statement is empty", hint="say it in one sentence")
    check_line("statement", line)
    refuse_secrets(memory, statement=line)
    return line


def _word(memory: "Memory", name: str, given: str | None) -> str:
    line = " ".join((given or "").split())
    check_line(name, line)
    refuse_secrets(memory, **{name: line})
    return line


def _check(memory: "Memory", fact: Fact, entities: Sequence[str]) -> None:
    check_words(entity=entities)
    refuse_secrets(memory, entity=entities)
    if fact.holds.start_us is not None and fact.holds.end_us is not None and fact.holds.end_us <= fact.holds.start_us:
        raise UsageFault(
            f"it would hold at no time: from {moment(fact.holds.start_us)} to {moment(fact.holds.end_us)}",
            hint="valid-to is the first day on which it holds no longer",
        )


def _interval(valid_from: str | None, valid_to: str | None) -> Interval:
    return Interval(parse_time(valid_from) if valid_from else None, parse_time(valid_to) if valid_to else None)


def _evidence(
    memory: "Memory", scope: Scope, statement: str, quote: str | None, cite: Sequence[str], *, mine: bool
) -> list[Checked]:
    """All evidence that was given, each looked for. Errors: UsageFault, NotFound, MemoryFault."""
    refuse_secrets(memory, quote=quote, citation=cite)
    for name, given in (("quote", (quote or "",)), ("citation", cite)):
        for one in given:
            check_limit(name, one)
    found = [quoted(memory, scope, statement, quote)] if quote else []
    found += [confirmed(memory, statement)] if mine else []
    return [*found, *(cited(memory, scope, statement, one) for one in cite)]


def _may_replace(memory: "Memory", fact: Fact, old: Fact) -> bool:
    """Whether the new fact takes the place of the old one: what a person said gives way only to what a person says, or
    to their same words put in another way."""
    if not old.is_word_of_person or says_anew(fact.evidence, old):
        return True
    if fact.is_word_of_person and not differ(fact.statement, old.statement):
        return True
    return memory.caller.confirms(f"A person said so, do you replace it: {old.statement}")


def _borne_out(fact: Fact, stored: Sequence[StoredFact]) -> list[StoredFact]:
    """What waits for review and was taken from the words that the new fact quotes: it gives way to it.

    Where the quote is a piece of it, the piece must say no less: `deploy on Fridays`, cut out of `never deploy on
    Fridays`, takes nobody's place, and neither does a statement that turns the words round.
    """
    quotes = [one.quote for one in fact.evidence if one.klass is EvidenceClass.DECLARED and one.quote]
    return [
        one
        for one in stored
        if one.fact.standing is Standing.CANDIDATE
        and not differ(fact.statement, one.fact.statement)
        and any(_covers(quote, one.fact.statement) for quote in quotes)
    ]


def _covers(quote: str, statement: str) -> bool:
    return holds_words(quote, statement) or (holds_words(statement, quote) and not differ(quote, statement))


def _refused(
    fact: Fact, stored: Sequence[StoredFact], replaced: Sequence[StoredFact], *, insist: bool
) -> Refusal | None:
    """Why the fact is not kept. What it replaces is no twin; a person's correction passes whatever it repeats."""
    gone = {one.fact.id for one in replaced}
    live = [one.fact for one in stored if one.fact.id not in gone and not one.fact.standing.is_terminal]
    known = [Known(one.id, one.statement) for one in live]
    is_persons = any(one.klass is EvidenceClass.DECLARED for one in fact.evidence)
    if insist or (is_persons and fact.kind is FactKind.CORRECTION):
        known = [one for one in known if one.id == fact_id(fact.kind, fact.statement)]
    return (None if insist else routine(fact.statement)) or repeated(fact.statement, known)


def _ways_on(memory: "Memory", twin: str) -> tuple[str, ...]:
    """What a caller may do about a refusal, in the words of its face."""
    if memory.caller.face == "bridge":
        ways = (
            f"to replace it pass supersedes: [{twin!r}]; " if twin else ""
        ) + "to record it all the same: insist: true"
    else:
        ways = (f"to replace it: --supersedes {twin}; " if twin else "") + "to record it all the same: --insist"
    return (ways,)


def _contradictions(fact: Fact, stored: Sequence[StoredFact], replaced: Sequence[StoredFact]) -> tuple[str, ...]:
    """A sentence on each fact that gives the same property another value, at a time that both claim."""
    if not (fact.subject and fact.predicate and fact.object):
        return ()
    gone = {one.fact.id for one in replaced}
    rivals = [one.fact for one in stored if one.fact.id not in gone and is_rival(one.fact, fact)]
    return tuple(f"{one.id} says otherwise: {echo(one.statement)}; resolve one of the two" for one in rivals)


def _closed(old: StoredFact, new: Fact) -> Fact:
    """The old fact as it stands once the new one is there. Errors: Conflict for one that is closed already."""
    if old.fact.standing.is_terminal:
        by = f" by {old.fact.superseded_by}" if old.fact.superseded_by else ""
        raise Conflict(
            f"{old.fact.id} is {old.fact.standing.value} already{by}", hint="name the fact that holds in its place"
        )
    effective_us = new.recorded_at_us if new.holds.start_us is None else new.holds.start_us
    return replace(
        old.fact.settled(),
        standing=Standing.SUPERSEDED,
        superseded_by=new.id,
        holds=old.fact.closed_by(effective_us=effective_us),
        resolved_at_us=new.recorded_at_us,
    )


def _written(
    memory: "Memory",
    scope: Scope,
    ref: PageRef,
    fact: Fact,
    closed: Sequence[tuple[StoredFact, Fact]],
    *,
    against: Sequence[str],
) -> tuple[str | None, tuple[str, ...]]:
    """One commit: the new page, and those that it closes. Gives it, and what a person must decide.

    `against`: pages that it would have replaced, and only contradicts.
    """
    keys = frontmatter(fact) | {"relations": {"contradicts": list(against)} if against else None}
    text = clean(memory, compose(keys, f"{fact.statement}\n"))
    with memory.writing(f"record {ref.path}", trailers=session_trailers(memory)) as change:
        change.ensure_project(scope)
        change.put(ref, text, create_only=True)
        for old, after in closed:
            put_fact(memory, change, old, after)
        add_evidence(change, ref, fact, memory.clock())
    done = change.committed
    return (done.commit, done.asked) if done else (None, ())


def put_fact(memory: "Memory", change: "Change", old: StoredFact, after: Fact) -> None:
    """Change what differs in the page of a fact; every other byte stays. Errors: Conflict if it changed meanwhile."""
    page = change.page(old.ref)
    if page is None:
        raise Conflict(f"{old.ref} was deleted meanwhile", hint="say it again")
    before = frontmatter(old.fact)
    changes = {key: value for key, value in frontmatter(after).items() if value != before[key]}
    text = clean(memory, splice(page.text, changes, path=old.ref.path), before=page.text)
    change.put(old.ref, text, expected_version=old.version)


def recorded_text(result: Recorded) -> str:
    """What was recorded and how it stands, what it replaced; or why not."""
    if result.outcome == "refused":
        return "\n".join([f"not recorded: {result.because}", *(fact_line(row) for row in result.facts)])
    head = "recorded" if result.outcome == "recorded" else "would record"
    first, *others = result.facts
    return "\n".join([f"{head} {fact_line(first)}", *(f"replaces {fact_line(row)}" for row in others)])
