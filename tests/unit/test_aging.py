"""Weights against values computed by hand, what is left of a page, and which pages say the same."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.aging import clusters, fact_value, keeping
from ai_memory.aging.retention import Rates, Use, days_between, days_until_cold, weigh
from ai_memory.model import Tier
from ai_memory.text.facts import Evidence, EvidenceClass, Fact, FactKind, Standing
from ai_memory.text.validity import Interval

RATES = Rates()
DAY_US = 86_400_000_000
ALWAYS = Interval(None, None)

# --- weights ---


@pytest.mark.parametrize(
    ("use", "rates", "salience", "weight"),
    [
        (Use(0), RATES, 1.0, 1.0),
        (Use(34.657359), RATES, 1.0, 0.5),  # ln 2 / .02
        (Use(100), RATES, 1.0, 0.1353353),  # e^-2
        (Use(100), RATES, 2.0, 0.2706706),
        (Use(0, reads=1, idle_days=0), RATES, 1.0, 1.4158883),  # 1 + .6 ln 2
        (Use(50, reads=3, idle_days=25), RATES, 1.0, 0.3678794 + 0.6 * 1.3862944 * 0.3678794),
        (Use(50, reads=3), RATES, 1.0, 0.3678794),  # never read: no second part, whatever the count says
        (Use(0, reads=1, idle_days=0, harnesses=1), Rates(breadth_weight=0.5), 1.0, 1.4158883),  # ln 1 is 0
        (Use(0, reads=1, idle_days=0, harnesses=4), Rates(breadth_weight=0.5), 1.0, 1 + 0.4158883 * 1.6931472),
        (Use(30), Rates(half_life_days={Tier.EPISODIC: 30}), 1.0, 0.5),
        (Use(30), Rates(half_life_days={Tier.WORKING: 1}), 1.0, 0.5488116),  # of another tier: e^-.6
        (Use(-5), RATES, 1.0, 1.0),  # a clock that was set back
    ],
)
def test_a_weight_is_what_the_formula_says(use: Use, rates: Rates, salience: float, weight: float) -> None:
    assert weigh(use, Tier.EPISODIC, rates, salience=salience).total == pytest.approx(weight, abs=1e-6)


def test_an_unused_page_goes_cold_after_eighty_days_and_one_that_misled_sooner() -> None:
    assert days_until_cold(Use(0), Tier.EPISODIC, RATES) == pytest.approx(math.log(5) / 0.02, abs=0.02)
    assert days_until_cold(Use(0), Tier.EPISODIC, RATES, salience=0.25) == pytest.approx(11.157, abs=0.02)
    assert days_until_cold(Use(81), Tier.EPISODIC, RATES) == 0.0
    assert days_until_cold(Use(0), Tier.EPISODIC, Rates(lambda_=0)) is None


@given(st.floats(0, 3000), st.integers(0, 1000), st.floats(0, 3000), st.integers(0, 9), st.floats(0.25, 2))
def test_a_page_is_cold_just_when_its_days_are_over(
    age: float, reads: int, idle: float, harnesses: int, salience: float
) -> None:
    use = Use(age, reads, idle if reads else None, harnesses)
    days = days_until_cold(use, Tier.EPISODIC, RATES, salience=salience)
    assert days is not None
    later = Use(age + days + 0.02, reads, None if use.idle_days is None else use.idle_days + days + 0.02, harnesses)
    assert weigh(later, Tier.EPISODIC, RATES, salience=salience).total < RATES.cold_threshold
    if days > 0.02:
        earlier = days - 0.02
        before = Use(age + earlier, reads, None if use.idle_days is None else use.idle_days + earlier, harnesses)
        assert weigh(before, Tier.EPISODIC, RATES, salience=salience).total >= RATES.cold_threshold - 1e-9


def test_days_between_are_never_below_zero() -> None:
    assert (days_between(0, DAY_US), days_between(DAY_US, 0)) == (1.0, 0.0)


# --- facts ---


def a_fact(
    standing: Standing = Standing.SUPPORTED,
    kind: FactKind = FactKind.DECISION,
    klass: EvidenceClass | None = EvidenceClass.DECLARED,
    *,
    holds: Interval = ALWAYS,
    resolved_at_us: int | None = None,
) -> Fact:
    evidence = () if klass is None else (Evidence(klass),)
    return Fact("f-1", kind, standing, "Use one queue", holds, 0, evidence, resolved_at_us=resolved_at_us)


@pytest.mark.parametrize(
    ("fact", "age_days", "usefulness", "value", "is_protected"),
    [
        (a_fact(klass=EvidenceClass.OBSERVED), 0, 0, 85, True),  # 35 + 30 + 20
        (a_fact(), 0, 0, 80, True),  # 35 + 25 + 20
        (a_fact(), 30, 0, 70, True),  # nobody looked at it: 30 / 3
        (a_fact(), 300, 0, 55, True),  # at most 25
        (a_fact(resolved_at_us=0), 450, 0, 75, True),  # 450 / 90
        (a_fact(resolved_at_us=0), 9000, 0, 70, True),  # at most 10
        (a_fact(), 0, 9, 100, True),  # 80 + 25, at most 100
        (a_fact(), 0, -9, 55, True),
        (a_fact(kind=FactKind.LEARNING), 0, 0, 68, False),  # 35 + 25 + 8: no judgment
        (a_fact(klass=EvidenceClass.REPORTED), 0, 0, 65, False),
        (a_fact(klass=None), 300, -9, 15, False),  # 35 + 10 + 20 - 25 - 25
        (a_fact(Standing.SUPERSEDED, resolved_at_us=0), 0, 0, 45, False),
        (a_fact(Standing.CONTRADICTED, FactKind.FACT, None, resolved_at_us=0), 900, -1, 0, False),  # below 0
    ],
)
def test_a_fact_is_worth_what_the_formula_says(
    fact: Fact, age_days: float, usefulness: int, value: float, is_protected: bool
) -> None:
    found = fact_value.value_of(fact, age_days=age_days, usefulness=usefulness)
    assert (found.value, found.is_protected) == (value, is_protected)


@pytest.mark.parametrize(
    ("fact", "after_days", "goes"),
    [
        (a_fact(Standing.CONTRADICTED, resolved_at_us=0), 7, True),
        (a_fact(Standing.CONTRADICTED, resolved_at_us=0), 6.9, False),
        (a_fact(Standing.SUPERSEDED, holds=Interval(0, DAY_US), resolved_at_us=DAY_US), 900, False),  # it held
        (a_fact(Standing.SUPERSEDED, holds=Interval(DAY_US, DAY_US), resolved_at_us=0), 8, True),  # a plan called off
        (a_fact(Standing.SUPERSEDED, holds=Interval(9 * DAY_US, 9 * DAY_US), resolved_at_us=0), 15, False),
        (a_fact(), 9000, False),
        (a_fact(Standing.CANDIDATE), 9000, False),
    ],
)
def test_only_a_fact_that_never_held_goes_and_a_week_after_it_was_closed(
    fact: Fact, after_days: float, goes: bool
) -> None:
    assert fact_value.may_go(fact, changed_at_us=0, now_us=int(after_days * DAY_US)) is goes


def test_a_fact_whose_page_was_closed_by_hand_just_now_stays_for_a_week() -> None:
    fact = a_fact(Standing.CONTRADICTED)
    assert not fact_value.may_go(fact, changed_at_us=100 * DAY_US, now_us=106 * DAY_US)
    assert fact_value.may_go(fact, changed_at_us=100 * DAY_US, now_us=107 * DAY_US)


# --- what is left of a page ---


def test_what_a_search_may_ask_for_is_kept_kind_by_kind() -> None:
    text = (
        "We saw `make dev` fail with E1234 and HTTP 503 (see https://example.org/a/b?c=1).\n"
        "src/net/retry.py reads RETRY_BUDGET; retry_budget and retryBudget are the same, so is Makefile.\n"
        "config.toml says so. Prose goes: nothing of it stays. Version 1.2.3 and/or either.\n"
    )
    assert keeping.tokens(text) == (
        "https://example.org/a/b?c=1",
        "src/net/retry.py",
        "config.toml",
        "E1234",
        "HTTP 503",
        "make dev",
        "RETRY_BUDGET",
        "retry_budget",
        "retryBudget",
    )


def test_no_more_words_are_kept_than_the_bound() -> None:
    text = " ".join(f"name_{number}_x" for number in range(100))
    assert len(keeping.tokens(text)) == keeping.MOST_TOKENS


def test_a_summary_is_what_the_page_says_of_itself_or_its_first_paragraph() -> None:
    body = "# Title\n\n```\ncode\n```\n\n| a | b |\n\nOne queue\nfor all.\n\nMore.\n"
    assert keeping.summary(body, given="Said  so") == "Said so"
    assert keeping.summary("# Title\n\nOne queue\nfor all.\n\nMore.\n") == "One queue for all."
    long = keeping.summary("ü" * 600)
    assert long.endswith("…")
    assert len(long.encode()) <= keeping.SUMMARY_BYTES


@given(st.text(max_size=2000))
def test_any_body_can_be_cut_down(body: str) -> None:
    left = keeping.cut_down(body, title="Title")
    assert left.startswith("# Title\n")
    assert left.endswith("\n")
    assert len(left.encode("utf-8", "surrogatepass")) < 20_000


# --- near pages ---


def test_the_elbow_of_the_distances_tells_how_near_is_near() -> None:
    near = [[1.0, 0.01 * at, 0.0] for at in range(4)]  # four that differ by a hundredth
    far = [[0.0, 1.0, 0.5], [0.3, 0.0, 1.0], [0.0, -1.0, 0.2]]
    table = clusters.distances([*near, *far])
    eps = clusters.elbow_eps(table, k=2, highest=0.15)
    assert eps is not None
    assert eps < 0.01
    assert clusters.clusters(clusters.near_ones(table, within=eps), least=2) == [[0, 1, 2, 3]]


def test_no_more_points_than_neighbours_make_no_group() -> None:
    table = clusters.distances([[1.0, 0.0], [1.0, 0.0]])
    assert clusters.elbow_eps(table, k=2, highest=0.15) is None
    assert clusters.elbow_eps(table, k=1, highest=0.15) == 0.0


def test_a_zero_vector_and_one_of_another_length_are_far_from_all() -> None:
    table = clusters.distances([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0, 0.0], [-1.0, 0.0]])
    assert table[0] == [0.0, 1.0, 1.0, 2.0]


@given(st.lists(st.lists(st.booleans(), min_size=8, max_size=8), min_size=8, max_size=8), st.integers(2, 4))
def test_groups_are_those_of_a_naive_search(rows: list[list[bool]], least: int) -> None:
    near = [[two for two in range(8) if two != one and (rows[one][two] or rows[two][one])] for one in range(8)]
    cores = {one for one in range(8) if len(near[one]) + 1 >= least}
    found = clusters.clusters(near, least=least)
    members = [one for group in found for one in group]
    assert len(members) == len(set(members))
    assert cores <= set(members)
    assert all(one in cores or cores & set(near[one]) for one in members)
    for group in found:
        reached, waiting = set(), [next(one for one in group if one in cores)]
        while waiting:
            one = waiting.pop()
            if one not in reached:
                reached.add(one)
                waiting += [two for two in near[one] if two in cores]
        assert cores & set(group) == reached
