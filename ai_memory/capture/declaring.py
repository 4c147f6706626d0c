"""What people declared to agents, as facts: `always …`, `never …`, `remember …`, to the letter.

Crash: safe at any point. A prompt waits in `state.db` from the transaction that holds it; the change that writes its
facts takes it out, so it is read once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ai_memory.capture.batches import read_scope
from ai_memory.capture.declared_prompts import is_attended
from ai_memory.capture.prompts import substance
from ai_memory.capture.rules import Rules
from ai_memory.clock import rfc3339
from ai_memory.errors import LockBusy, MemoryFault, StoreFault
from ai_memory.model import MACHINE, PageRef, Scope
from ai_memory.store import declared
from ai_memory.store.declared import Waiting
from ai_memory.store.fact_rows import add_evidence, facts_of
from ai_memory.store.log import Log
from ai_memory.store.memory import Memory
from ai_memory.text.admission import Known, repeated, routine
from ai_memory.text.declarations import MOST_OF_TURN, Declaration, declarations, identity
from ai_memory.text.facts import (
    Evidence,
    EvidenceClass,
    Fact,
    FactKind,
    Standing,
    fact_path,
    free_id,
    frontmatter,
)
from ai_memory.text.page import compose
from ai_memory.text.sanitize import sanitize_page
from ai_memory.text.validity import Interval

GROUP = 64
"""Prompts of one change."""


@dataclass(frozen=True, slots=True)
class _New:
    """One fact that is to be written."""

    event: str
    scope: Scope
    fact: Fact


def declare(memory: Memory, rules: Rules, log: Log) -> int:
    """Write the facts of all prompts that wait; how many there were.

    Errors: LockBusy and StoreFault, which concern all of them: they wait on. A prompt whose facts cannot be written
    for another reason is told in the log and let go.
    """
    written = 0
    while rows := _waiting(memory):
        try:
            written += _write(memory, rules, rows)
        except (LockBusy, StoreFault):
            raise
        except MemoryFault:
            written += sum(_written_alone(memory, rules, log, row) for row in rows)
    return written


def _waiting(memory: Memory) -> list[Waiting]:
    with memory.state_reading() as connection:
        return declared.waiting(connection, limit=GROUP) if connection is not None else []


def _written_alone(memory: Memory, rules: Rules, log: Log, row: Waiting) -> int:
    try:
        return _write(memory, rules, [row])
    except (LockBusy, StoreFault):
        raise
    except MemoryFault as fault:
        log.error(f"a rule of session {row.session} could not be kept: {fault.message}")
        _forget(memory, [row])
        return 0


def _forget(memory: Memory, rows: Sequence[Waiting]) -> None:
    with memory.state_transaction() as connection:
        declared.forget(connection, [row.event_id for row in rows])


def _write(memory: Memory, rules: Rules, rows: Sequence[Waiting]) -> int:
    """One change of all new facts, which takes the prompts out; computed before the lock is taken."""
    news = _news(memory, rules, rows)
    if not news:
        _forget(memory, rows)
        return 0
    what = "a rule that was typed" if len(news) == 1 else f"{len(news)} rules that were typed"
    with memory.writing(f"Declared: {what}", author=MACHINE, trailers={"Pass": "declare"}) as change:
        for one in news:
            change.ensure_project(one.scope)
            ref = PageRef(one.scope.workspace, one.scope.project, fact_path(one.fact.statement, one.fact.id))
            text = compose(frontmatter(one.fact), f"{one.fact.statement}\n")
            change.put(ref, sanitize_page(text, rules.own), create_only=True)
            add_evidence(change, ref, one.fact, memory.clock())
        for row in rows:
            change.state("declaration-read", event=row.event_id)
    return len(news)


def _news(memory: Memory, rules: Rules, rows: Sequence[Waiting]) -> list[_New]:
    """What the prompts declare and no fact says yet."""
    known: dict[tuple[str, str], list[Fact]] = {}
    per_session: Counter[str] = Counter()
    found: list[_New] = []
    with memory.reading() as snapshot:
        for row in rows:
            scope = read_scope(row.scope)
            if rules.declarations == "off" or scope.is_guess or not is_attended(row.agent, row.extra):
                continue
            place = (scope.workspace, scope.project)
            if place not in known:
                known[place] = [one.fact for one in facts_of(snapshot.index, *place)]
            for told in declarations(substance(row.text)):
                if per_session[row.session] == MOST_OF_TURN or _is_known(told, known[place]):
                    continue
                fact = _fact(told, row, known[place], is_held=rules.declarations == "on", now_us=memory.clock())
                known[place].append(fact)
                per_session[row.session] += 1
                found.append(_New(row.event_id, scope, fact))
    return found


def _is_known(told: Declaration, facts: Sequence[Fact]) -> bool:
    """Whether a fact that still stands says it: nearly so is enough, but for a correction, which may only sound like
    what it corrects."""
    live = [one for one in facts if not one.standing.is_terminal]
    if any(identity(one.statement) == identity(told.statement) for one in live):
        return True
    if routine(told.statement) is not None:
        return True
    if told.kind is FactKind.CORRECTION:
        return False
    return repeated(told.statement, [Known(one.id, one.statement) for one in live]) is not None


def _fact(told: Declaration, row: Waiting, known: Sequence[Fact], *, is_held: bool, now_us: int) -> Fact:
    evidence = Evidence(EvidenceClass.DECLARED, quote=told.statement, at=rfc3339(row.at_us), session=row.session)
    fact = Fact(
        id="",
        kind=told.kind,
        standing=Standing.SUPPORTED if is_held else Standing.CANDIDATE,
        statement=told.statement,
        holds=Interval(None),
        recorded_at_us=now_us,
        evidence=(evidence,),
    )
    return replace(fact, id=free_id(fact.kind, fact.statement, {one.id for one in known}))
