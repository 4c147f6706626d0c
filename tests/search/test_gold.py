"""The gold set beside this file: the memory of an invented project, and how well the engine answers about it.

The set was written before the engine was asked. Its floors are the measured figures less .02; whoever makes ranking
better raises them. Where plain FTS5 is ahead, it stands here as well.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ai_memory.search.evaluation import LabelledSet, ask_all, figures_of, read_set
from ai_memory.search.trial import Trial, plain

SLACK = 0.02
WHOLE = "all"
MEASURED = {
    WHOLE: 0.827,
    "across": 0.76,
    "negation": 0.871,
    "neighbours": 0.897,
    "paraphrase": 0.401,
    "spanish": 0.995,
    "time": 1.0,
}
"""nDCG@10 of each category."""
MOST_BEHIND_PLAIN = {"neighbours": 0.03, "spanish": 0.03}
"""Categories whose answers plain FTS5 orders a little better: .911 and 1.000."""
MOST_FALSE_ANSWERS = 0.875
MOST_UNTOLD = 0.125
"""Share of the questions without answer that are answered as if nothing was missing."""


@dataclass(frozen=True)
class Scored:
    gold: LabelledSet
    ours: Mapping[str, Mapping[str, float]]
    plain: Mapping[str, Mapping[str, float]]
    ungated: Mapping[str, float]
    """Ours, made to answer everything."""
    statuses: Counter[str]
    """Of the questions without answer."""


@pytest.fixture(scope="module")
def scored() -> Scored:
    gold = read_set(Path(__file__).parent / "gold")
    trial = Trial(gold.documents)
    names = sorted({one.category for one in gold.questions})
    rankings = []
    for find in (trial.find(may_abstain=True), plain(gold.documents)):
        asked = ask_all(find, gold.questions)
        figures = {name: figures_of([one for one in asked if one.question.category == name]) for name in names}
        rankings.append(figures | {WHOLE: figures_of(asked)})
    without = [one for one in gold.questions if not one.gold]
    statuses = Counter(trial.ask(one, may_abstain=True).status for one in without)
    ungated = figures_of(ask_all(trial.find(may_abstain=False), gold.questions))
    return Scored(gold, *rankings, ungated, statuses)


def test_the_set_is_as_large_and_as_mixed_as_it_must_be(scored: Scored) -> None:
    questions = scored.gold.questions
    assert len(scored.gold.documents) >= 120
    assert len([one for one in questions if one.gold]) >= 60
    assert len([one for one in questions if not one.gold]) >= 20
    assert {one.category for one in questions} == {*MEASURED, "unanswerable"} - {WHOLE}
    assert all(one.as_of_us is not None for one in questions), "the answers would change with the calendar"


@pytest.mark.parametrize("name", MEASURED)
def test_the_engine_is_as_good_as_it_was(scored: Scored, name: str) -> None:
    assert scored.ours[name]["ndcg@10"] >= MEASURED[name] - SLACK


@pytest.mark.parametrize("name", MEASURED)
def test_the_engine_is_no_worse_than_plain_full_text(scored: Scored, name: str) -> None:
    for figure in ("ndcg@10", "all@10", "mrr@10"):
        assert scored.ours[name][figure] >= scored.plain[name][figure] - MOST_BEHIND_PLAIN.get(name, 0), figure


def test_questions_without_answer_are_refused_or_told_to_be_answered_in_part_as_before(scored: Scored) -> None:
    assert scored.ours["unanswerable"]["false_answers"] <= MOST_FALSE_ANSWERS
    assert scored.statuses["ok"] / scored.statuses.total() <= MOST_UNTOLD


def test_refusing_costs_no_answer_that_there_is(scored: Scored) -> None:
    for figure in ("any@1", "any@10", "all@10", "ndcg@10"):
        assert scored.ours[WHOLE][figure] == scored.ungated[figure], figure
