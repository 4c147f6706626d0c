"""What `search` finds on labelled sets, with and without the gate, beside plain FTS5; and how well the gate tells.

Run by hand: `python tests/bench/bench_retrieval.py --set DIR [--set DIR …] [--swap DIR] [--misses N]`. The sets are
those of `ai-memory bench retrieval`. `--swap` takes a set of several groups and asks each question in the next group,
too, where nothing answers it though the same things are spoken of: the curve shows which share of those the gate
refuses, and what it costs among the answerable ones, over the bar of strength. `--controls` asks each set's questions
where nothing answers them: of the same documents without those that answer, and of the next set's. Prints markdown
for `docs/benchmarks.md`.
"""

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path

import measure

from ai_memory.search import gate, numbers
from ai_memory.search.evaluation import LabelledSet, Question, ask_all, figures_of, read_set
from ai_memory.search.request import Hits
from ai_memory.search.trial import Trial, plain

SHOWN = ("any@1", "any@5", "any@10", "ndcg@10", "mrr@10")
BARS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.7, 2.0)


def measured(one: LabelledSet, misses: int) -> list[dict[str, float]]:
    """Plain, ours without the gate, ours with it; `cpu_ms` a question."""
    trial = Trial(one.documents)
    rows = []
    for find in (plain(one.documents), trial.find(may_abstain=False), trial.find(may_abstain=True)):
        begun = time.process_time()
        asked = ask_all(find, one.questions)
        spent_ms = (time.process_time() - begun) * 1000 / len(one.questions)
        rows.append(figures_of(asked) | {"cpu_ms": spent_ms})
    missed = [each.question for each in asked if not set(each.question.gold) & set(each.answer.ids[:5])]
    for question in missed[:misses]:
        print(f"missed: {question.text[:100]}")
    return rows


def table(sets: list[LabelledSet], misses: int) -> None:
    found = {one.name: measured(one, misses) for one in sets}
    print(f"\n{measure.facts()}\n")
    print("| set | documents | questions | ranking | " + " | ".join(SHOWN) + " | no answer | CPU ms |")
    print("|---|---:|---:|---|" + "---:|" * (len(SHOWN) + 2))
    for one in sets:
        for name, row in zip(("plain FTS5", "ours, no gate", "ours"), found[one.name], strict=True):
            first = f"{one.name} | {len(one.documents)} | {len(one.questions)}" if name == "plain FTS5" else " | | "
            print(f"| {first} | {name} | {_shown(row)} |")
    for place, name in enumerate(("plain FTS5", "ours, no gate", "ours")):
        mean = {
            key: sum(rows[place][key] for rows in found.values()) / len(found) for key in found[sets[0].name][place]
        }
        print(f"| {'mean of the sets' if not place else ''} | | | {name} | {_shown(mean)} |")


def _shown(row: dict[str, float]) -> str:
    return " | ".join(f"{row[key]:.3f}" for key in SHOWN) + f" | {row['unanswered']:.3f} | {row['cpu_ms']:.1f}"


def curve(one: LabelledSet) -> None:
    """The swapped control: what the gate refuses over the bar of strength."""
    trial = Trial(one.documents)
    groups = sorted({document.group for document in one.documents})
    following = dict(zip(groups, groups[1:] + groups[:1], strict=True))
    own = [(trial.ask(q, may_abstain=False), q) for q in one.questions]
    swapped = [trial.ask(q, may_abstain=False, group=following[q.group]) for q in one.questions]
    trials = [strongest(hits, trial) for hits in swapped]
    kept = [(strongest(hits, trial), found(hits, q, trial)) for hits, q in own]
    print("\n| bar of strength | unanswerable that are refused | answerable that are refused | any@10 lost |")
    print("|---:|---:|---:|---:|")
    before = sum(hit for _, hit in kept)
    for bar in BARS:
        refused = sum(not shows(value, bar) for value in trials) / len(trials)
        wrong = sum(not shows(value, bar) for value, _ in kept) / len(kept)
        lost = (before - sum(hit for value, hit in kept if shows(value, bar))) / len(kept)
        mark = " (ours)" if bar == numbers.LEAST_STRENGTH else ""
        print(f"| {bar:.1f}{mark} | {refused:.1%} | {wrong:.1%} | {lost:.2%} |")
    refused = sum(not trial.ask(q, may_abstain=True, group=following[q.group]).hits for q in one.questions)
    lost = before - sum(found(trial.ask(q, may_abstain=True), q, trial) for q in one.questions)
    total = len(one.questions)
    print(f"\nThe gate itself, languages and all: {refused / total:.1%} refused, {lost / total:.2%} lost at 10.")


def controls(sets: list[LabelledSet]) -> None:
    """What the gate itself says to questions that nothing answers: refused, or told to be partial."""
    print("\n| questions of | asked of | refused | answered in part, and told so | answered |")
    print("|---|---|---:|---:|---:|")
    for one, other in zip(sets, sets[1:] + sets[:1], strict=True):
        golden = {(question.group, name) for question in one.questions for name in question.gold}
        left = [document for document in one.documents if (document.group, document.id) not in golden]
        if left:
            _control(one, Trial(left), "the same, without all pages that answer", {})
        groups = sorted({document.group for document in other.documents})
        named = sorted({question.group for question in one.questions})
        _control(one, Trial(other.documents), other.name, dict(zip(named, groups * len(named), strict=False)))


def _control(one: LabelledSet, trial: Trial, where: str, groups: dict[str, str]) -> None:
    told = [trial.ask(q, may_abstain=True, group=groups.get(q.group, q.group)) for q in one.questions]
    told = [replace(hits, status="abstained") if not hits.hits else hits for hits in told]
    shares = [sum(hits.status == status for hits in told) / len(told) for status in ("abstained", "partial", "ok")]
    print(f"| {one.name} | {where} | " + " | ".join(f"{share:.0%}" for share in shares) + " |")


def strongest(hits: Hits, trial: Trial) -> tuple[float, float]:
    """(strength, coverage) of the leaders, as `gate.judge` takes them. What is named exactly is always shown."""
    leaders = hits.hits[: numbers.LEADERS]
    if any("exact" in hit.legs for hit in leaders):
        return math.inf, 1.0
    strengths = [gate.strength(hit, trial.chunks) for hit in leaders]
    return max(strengths, default=0.0), max((hit.coverage for hit in leaders), default=0.0)


def shows(value: tuple[float, float], bar: float) -> bool:
    strength, covered = value
    return strength >= bar and covered >= (numbers.LEAST_COVERAGE if bar else 0.0)


def found(hits: Hits, question: Question, trial: Trial) -> bool:
    return bool({*trial.ids(hits.hits)} & question.gold.keys())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=Path, action="append", default=[], metavar="DIR", help="may be given again")
    parser.add_argument("--swap", type=Path, metavar="DIR", help="a set of several groups, for the curve of the gate")
    parser.add_argument("--controls", action="store_true", help="ask the sets' questions where nothing answers them")
    parser.add_argument("--misses", type=int, default=0, metavar="N", help="show N questions that ours misses at 5")
    arguments = parser.parse_args()
    sets = [read_set(folder) for folder in arguments.set]
    if sets and arguments.controls:
        controls(sets)
    elif sets:
        table(sets, arguments.misses)
    if arguments.swap:
        curve(read_set(arguments.swap))


if __name__ == "__main__":
    main()
