"""Facts as text: their ids, when they hold, and what is not worth being one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.text.admission import Known, repeated, routine
from ai_memory.text.facts import (
    Evidence,
    EvidenceClass,
    Fact,
    FactKind,
    Standing,
    fact_id,
    fact_path,
    first_standing,
    frontmatter,
    read_fact,
)
from ai_memory.text.frontmatter import read_block, split
from ai_memory.text.page import compose
from ai_memory.text.times import DAY_US, parse_time
from ai_memory.text.validity import Interval

MAY, JUNE, JULY = (parse_time(day) for day in ("2026-05-01", "2026-06-01", "2026-07-01"))


OPEN = Interval(None)


def fact(*, standing: Standing = Standing.SUPPORTED, holds: Interval = OPEN, recorded_us: int = MAY) -> Fact:
    return Fact("f-0", FactKind.DECISION, standing, "Deploys run on Thursdays", holds, recorded_us)


# --- intervals ---


def test_the_start_belongs_to_it_and_the_end_does_not() -> None:
    june = Interval(JUNE, JULY)
    assert [june.holds(at) for at in (JUNE - 1, JUNE, JULY - 1, JULY)] == [False, True, True, False]
    assert Interval(None).holds(0)


@pytest.mark.parametrize(
    ("old", "cut", "expected"),
    [
        (Interval(MAY), JUNE, Interval(MAY, JUNE)),
        (Interval(MAY, JULY), JUNE, Interval(MAY, JUNE)),
        (Interval(MAY, JUNE), JULY, Interval(MAY, JUNE)),
        (Interval(JULY), JUNE, Interval(JULY, JULY)),
        (Interval(None), JUNE, Interval(None, JUNE)),
    ],
    ids=["open", "earlier than its end", "never later than its end", "a plan that is cancelled", "without a start"],
)
def test_where_a_replaced_statement_ends(old: Interval, cut: int, expected: Interval) -> None:
    assert old.closed_at(cut) == expected


_INSTANTS = st.one_of(st.none(), st.integers(0, 20))


@given(_INSTANTS, _INSTANTS, st.integers(0, 20), st.integers(0, 20))
def test_a_cut_never_lets_it_hold_at_more_instants(start: int | None, end: int | None, cut: int, again: int) -> None:
    old = Interval(start, end)
    once = old.closed_at(cut)
    for at in range(-1, 22):
        assert not once.holds(at) or (old.holds(at) and at < max(cut, start or 0, at + 1))
    assert once.closed_at(max(cut, again)) == once


@given(_INSTANTS, _INSTANTS, _INSTANTS, _INSTANTS)
def test_two_overlap_when_some_instant_lies_in_both(a: int | None, b: int | None, c: int | None, d: int | None) -> None:
    one, other = Interval(a, b), Interval(c, d)
    assert one.overlaps(other) == any(one.holds(at) and other.holds(at) for at in range(-2, 23))


def test_a_fact_without_a_start_holds_from_when_it_was_recorded() -> None:
    assert [fact().is_valid(at) for at in (MAY - 1, MAY, JULY)] == [False, True, True]


def test_what_was_closed_without_an_end_never_held() -> None:
    assert not fact(standing=Standing.CONTRADICTED).is_valid(JUNE)
    assert fact(standing=Standing.SUPERSEDED, holds=Interval(None, JULY)).is_valid(JUNE)


# --- pages ---


@pytest.mark.parametrize(
    "statement", ["Deploys: on *Thursdays*, 10:00", "# not a heading", "キューは一人", 'He said "no"']
)
def test_a_page_says_what_the_fact_was(statement: str) -> None:
    evidence = (
        Evidence(EvidenceClass.DECLARED, quote='never: on "Fridays" #1', at="2026-05-01T08:00:00Z", session="7d3f"),
        Evidence(EvidenceClass.OBSERVED, cite="src/a b.py#L1-L9", sha256="ab" * 32),
    )
    told = Fact(
        id=fact_id(FactKind.CORRECTION, statement),
        kind=FactKind.CORRECTION,
        standing=Standing.SUPERSEDED,
        statement=statement,
        holds=Interval(MAY, JUNE),
        recorded_at_us=MAY + DAY_US,
        evidence=evidence,
        supersedes=("f-1", "f-2"),
        superseded_by="f-3",
        entities=("queue",),
        subject="deploy",
        predicate="day",
        object="Thursday",
        verify_by_us=JULY,
        resolved_at_us=JUNE,
        because="It moved: see #12",
    )
    text = compose(frontmatter(told), f"{statement}\n")
    parts = split(text)
    assert read_fact(read_block(text[parts.block_start : parts.block_end], path="facts/a.md")) == told


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"kind": "note", "id": "f-1", "fact_kind": "decision", "statement": "x"},
        {"kind": "fact", "id": "f-1", "fact_kind": "rumour", "statement": "x"},
        {"kind": "fact", "id": "f-1", "fact_kind": "decision", "statement": ["x"]},
        {"kind": "fact", "fact_kind": "decision", "statement": "x"},
    ],
)
def test_what_is_no_fact_is_none(keys: dict[str, object]) -> None:
    assert read_fact(keys) is None


def test_what_a_person_broke_counts_as_missing() -> None:
    keys = {"kind": "fact", "id": "f-1", "fact_kind": "Decision", "statement": "x", "standing": "sure"}
    found = read_fact({**keys, "valid_from": "soon", "evidence": [{"class": "sworn"}, "said", {"class": "reported"}]})
    assert found is not None
    assert (found.standing, found.holds, found.kind) == (Standing.NEEDS_REVIEW, Interval(None), FactKind.DECISION)
    assert found.evidence == (Evidence(EvidenceClass.REPORTED),)


def test_the_id_follows_kind_and_statement_whatever_its_unicode_form() -> None:
    assert fact_id(FactKind.FACT, "caf\u00e9") == fact_id(FactKind.FACT, "cafe\u0301")
    assert fact_id(FactKind.FACT, "a") != fact_id(FactKind.DECISION, "a")
    assert fact_path("Deploys run on Thursdays!", "f-0123456789ab") == "facts/deploys-run-on-thursdays-89ab.md"


@pytest.mark.parametrize("klass", EvidenceClass)
def test_only_what_was_declared_or_observed_supports(klass: EvidenceClass) -> None:
    expected = Standing.SUPPORTED if klass in ("declared", "observed") else Standing.NEEDS_REVIEW
    assert first_standing([Evidence(klass)]) is expected


# --- the gate at the door ---


@pytest.mark.parametrize(
    "statement",
    [
        "ok",
        "LGTM, thanks!",
        "looks good to me, ship it",
        "tests pass, merged",
        "hecho, gracias",
        "bash npm test failed with exit code 1",
        "$ pytest -q passed in 3 s",
        "Traceback (most recent call last): in f",
    ],
)
def test_routine_and_output_are_no_facts(statement: str) -> None:
    assert routine(statement) is not None


@pytest.mark.parametrize(
    "statement", ["Tests pass only with TZ=UTC", "Git hooks live in .githooks", "キューは一人だけ動かす"]
)
def test_what_lasts_passes(statement: str) -> None:
    assert routine(statement) is None


RULES = [
    Known("f-1", "Always run `/mcp auth github` before the first deploy of a day"),
    Known("f-2", "The queue is drained by one worker only, since two workers deadlock on the ledger"),
    Known("f-3", "La sesión caduca a los 20 minutos de inactividad"),
]


@pytest.mark.parametrize(
    ("statement", "twin"),
    [
        ("always run `/mcp auth github` before the first deploy of a day.", "f-1"),
        ("Before the first deploy of any day always run `/mcp auth github`", "f-1"),
        ("Always run `/mcp auth stripe` before the first deploy of a day", ""),
        ("Only one worker drains the queue: two workers deadlock on the ledger", "f-2"),
        ("Two workers never drain the queue: they would deadlock on the ledger", ""),
        ("La sesion caduca a los 20 minutos sin actividad", ""),
        ("La sesion caduca tras 20 minutos de inactividad", "f-3"),
        ("La sesión caduca a los 30 minutos de inactividad", ""),
        ("The ledger is written by the billing service", ""),
    ],
)
def test_a_repeat_is_told_from_a_rule_of_its_own(statement: str, twin: str) -> None:
    found = repeated(statement, RULES)
    assert (found.twin if found else "") == twin
