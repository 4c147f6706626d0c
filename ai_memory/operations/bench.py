"""How well search finds: on labelled sets, and on the person's own wiki."""

import itertools
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ai_memory.errors import MemoryFault, UsageFault
from ai_memory.model import ResolvedBy, Scope
from ai_memory.operations.configured import configured
from ai_memory.operations.field import Field
from ai_memory.operations.setup import no_progress

if TYPE_CHECKING:
    from ai_memory.search.evaluation import Asked, Find, Question
    from ai_memory.search.trial import Trial
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

FIGURES = ("any@1", "any@5", "any@10", "all@1", "all@5", "all@10", "ndcg@10", "mrr@10", "latency_ms")
KEPT_RUNS = 20
"""Runs of `bench self` whose figures are kept, to tell a drift."""
WORSE = 0.02
"""A figure that falls by more is told."""
_SELF_PAGES = 200
_WORDS_ASKED = 6


@dataclass(frozen=True, slots=True)
class SetFigures:
    """One set: ours, and plain FTS5 over whole documents in the same run; both per category, too."""

    name: str
    documents: int
    figures: Mapping[str, float]
    fts5: Mapping[str, float]
    categories: Mapping[str, Mapping[str, float]]
    categories_fts5: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class RetrievalBench:
    figures: Mapping[str, float] = field(metadata={"flat": True})
    """Of the set, or the mean of several."""
    fts5: Mapping[str, float] = field(default_factory=dict)
    sets: tuple[SetFigures, ...] = ()
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def bench_retrieval(
    memory: "Memory",
    *,
    sets: Annotated[
        tuple[str, ...], Field("folder with corpus.jsonl and queries.jsonl", max_length=50, flags=("--set",))
    ],
    limit: Annotated[int, Field("first questions of each set; 0 asks all", ge=0)] = 0,
    abstain: Annotated[bool, Field("let the gate refuse to answer", flags=("--abstain/--no-abstain",))] = True,
    vector: Annotated[
        bool, Field("also by vectors, where an encoder is configured", flags=("--vector/--no-vector",))
    ] = True,
    progress: Callable[[int, int], None] = no_progress,
) -> RetrievalBench:
    """Measure what search finds on labelled questions, beside plain FTS5 in the same run.
    A set is a folder with corpus.jsonl and queries.jsonl; no text of it is stored.
    """
    from ai_memory.search.evaluation import ask_all, figures_of, read_set
    from ai_memory.search.trial import Trial, plain

    if not sets:
        raise UsageFault("no set is named", hint="bench retrieval --set DIR")
    read = [read_set(Path(name).expanduser(), limit=limit) for name in sets]
    tell = _each(progress, 2 * sum(len(one.questions) for one in read))
    rows, gaps = [], []
    for one in read:
        trial = Trial(one.documents)
        gaps += _taught(memory, trial, one.questions, progress) if vector else []
        ours = ask_all(trial.find(may_abstain=abstain), one.questions, tell)
        beside = ask_all(plain(one.documents), one.questions, tell)
        rows.append(
            SetFigures(
                *(one.name, len(one.documents), figures_of(ours), figures_of(beside)),
                *(_by_category(ours), _by_category(beside)),
            )
        )
    means = (_means([row.figures for row in rows]), _means([row.fts5 for row in rows]))
    return RetrievalBench(*means, tuple(rows), tuple(dict.fromkeys(gaps)))


def _each(progress: Callable[[int, int], None], total: int) -> Callable[[], None]:
    """What is to be called for each thing done, to tell how many of all are."""
    numbers = itertools.count(1)
    return lambda: progress(next(numbers), total)


def _taught(
    memory: "Memory", trial: "Trial", questions: "Sequence[Question]", progress: Callable[[int, int], None]
) -> list[str]:
    """Vectors for a trial, where there is an encoder; gives what kept it from them."""
    from ai_memory.providers.choose import How, choose  # a trial without vectors needs none of this
    from ai_memory.search.trial_vectors import teach
    from ai_memory.store.cache import Cache

    try:
        choice = choose(configured(memory))
        if choice is None:
            return []
        how = How(memory.data_dir.models, memory.caller.environ)
        teach(trial, questions, Cache(memory.data_dir), choice, how, _each(progress, trial.chunks))
    except MemoryFault as fault:
        return [f"vectors are left out: {fault.message}"]
    return []


def _by_category(asked: "Sequence[Asked]") -> dict[str, dict[str, float]]:
    """The figures of each category; none where there is but one."""
    from ai_memory.search.evaluation import figures_of

    named = sorted({one.question.category for one in asked})
    return {
        name or "all": figures_of([one for one in asked if one.question.category == name])
        for name in named
        if len(named) > 1
    }


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}


def bench_retrieval_text(result: RetrievalBench) -> str:
    """One table: a line a set for ours and for plain FTS5, then the categories."""
    lines = [_heading("set", "leg")]
    for row in result.sets:
        lines += [_line(row.name, "ours", row.figures), _line("", "fts5", row.fts5)]
        for name, figures in row.categories.items():
            lines += [_line(f"  {name}", "ours", figures), _line("", "fts5", row.categories_fts5[name])]
    if len(result.sets) > 1:
        lines += [_line("mean of the sets", "ours", result.figures), _line("", "fts5", result.fts5)]
    lines.append("ms, p95: of one question, index in memory; tokens: shown for an answer")
    lines.append("none: answerable questions without an answer; false: questions without answer that got one")
    return "\n".join(lines)


def _heading(name: str, leg: str) -> str:
    shown = [*FIGURES[:-1], "ms", "p95", "tokens", "none", "false"]
    return f"{name[:28]:28} {leg:5} " + " ".join(f"{one:>8}" for one in shown)


def _line(name: str, leg: str, figures: Mapping[str, float]) -> str:
    """One row; what was not measured is a dash."""
    found = [_cell(figures, key, ".3f", by="questions") for key in FIGURES[:-1]]
    spent = [_cell(figures, key, ".2f") for key in ("latency_ms", "latency_p95_ms")]
    refused = [
        _cell(figures, "unanswered", ".3f", by="questions"),
        _cell(figures, "false_answers", ".3f", by="unanswerable"),
    ]
    tokens = _cell(figures, "tokens", ".0f", by="tokens")
    return f"{name[:28]:28} {leg:5} " + " ".join([*found, *spent, tokens, *refused])


def _cell(figures: Mapping[str, float], key: str, form: str, *, by: str = "") -> str:
    """`by`: the figure that says whether there was anything to measure."""
    is_there = key in figures and (not by or figures.get(by, 1) > 0)
    return f"{figures[key]:8{form}}" if is_there else f"{'–':>8}"


@dataclass(frozen=True, slots=True)
class SelfBench:
    figures: Mapping[str, float] = field(metadata={"flat": True})
    before: Mapping[str, float] = field(default_factory=dict)
    """Figures of the run before, by whatever version it was."""
    version: str = ""
    version_before: str = ""
    drift: Mapping[str, float] = field(default_factory=dict)
    """Figure now less figure before."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def bench_self(memory: "Memory", *, progress: Callable[[int, int], None] = no_progress) -> SelfBench:
    """Measure search on your own pages: each is looked for by words of its own, and words of none must find nothing.
    Run it after an upgrade: it tells what changed since the last run.
    """
    from ai_memory import __version__
    from ai_memory.search.evaluation import evaluate

    with memory.reading() as snapshot:
        questions = _own_questions(snapshot)
        if not questions:
            raise MemoryFault("there are too few pages to ask about", hint="write some first: ai-memory write-page")
        figures = evaluate(_find_own(snapshot), questions, _each(progress, len(questions)))
        gaps = tuple(snapshot.gaps)
    before = _remember(memory, __version__, figures)
    old = before.get("figures", {})
    known = (
        {name: value for name, value in old.items() if name in figures and _is_number(value)}
        if isinstance(old, dict)
        else {}
    )
    drift = {name: round(figures[name] - known[name], 4) for name in (*FIGURES, "false_answers") if name in known}
    return SelfBench(figures, known, __version__, str(before.get("version", "")), drift, gaps)


def _own_questions(snapshot: "Snapshot") -> "tuple[Question, ...]":
    """Known items: the rarest words of a page, which it must be found by. Controls: words that stand nowhere, and words
    of six pages, one of each, which no page answers."""
    from ai_memory.search.evaluation import Question
    from ai_memory.search.fulltext import weigh
    from ai_memory.search.prepare import prepare
    from ai_memory.store.snapshot import Filter

    draw = random.Random(20261130)
    listed = snapshot.select(Filter(no_reports=True), sort="path", limit=100_000)
    pages = [page for page in listed.pages if len(page.body) > 200]
    chosen = sorted(draw.sample(pages, min(_SELF_PAGES, len(pages))), key=lambda page: page.ref)
    questions = []
    own: dict[str, list[str]] = {}
    """Project → the rarest word of each of its pages."""
    for number, page in enumerate(chosen):
        words = sorted({word for word in page.body.split() if word.isalpha() and 4 <= len(word) <= 20})
        asked = draw.sample(words, min(40, len(words)))
        weights = weigh(snapshot.index, prepare(" ".join(asked))).weights
        rarest = sorted(weights, key=lambda word: (-weights[word], word))[3 : 3 + _WORDS_ASKED]
        group = f"{page.ref.workspace}/{page.ref.project}"
        if len(rarest) >= 3:
            own.setdefault(group, []).append(rarest[0])
            questions.append(Question(group, "known item", " ".join(rarest), {str(page.ref): 1.0}))
        if number % 4 == 0:
            made_up = " ".join(
                "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(4)) for _ in range(4)
            )
            questions.append(Question(group, "made-up words", made_up, {}))
    for group, words in own.items():
        for start in range(0, len(words) - _WORDS_ASKED + 1, _WORDS_ASKED):
            mixed = " ".join(dict.fromkeys(words[start : start + _WORDS_ASKED]))
            questions.append(Question(group, "words of many pages", mixed, {}))
    return tuple(questions)


def _find_own(snapshot: "Snapshot") -> "Find":
    from ai_memory.search.engine import answer
    from ai_memory.search.evaluation import Answer
    from ai_memory.search.request import Request

    def find(question: "Question") -> Answer:
        workspace, _, project = question.group.partition("/")
        scope = Scope(workspace, project, ResolvedBy.FLAG)
        hits = answer(snapshot, Request((question.text,), (scope,), may_abstain=True)).hits
        return Answer(tuple(str(hit.ref) for hit in hits), sum(len(hit.snippet.encode()) for hit in hits))

    return find


def _remember(memory: "Memory", version: str, figures: Mapping[str, float]) -> dict[str, object]:
    """Add this run to `logs/bench-self.json`; gives the run before. What cannot be read there is begun anew."""
    from ai_memory.store.filesystem import make_folder, write_whole

    file = memory.data_dir.logs / "bench-self.json"
    try:
        runs = json.loads(file.read_text("utf-8"))
        runs = runs if isinstance(runs, list) else []
    except (OSError, ValueError):
        runs = []
    make_folder(file.parent)
    runs.append({"version": version, "at_us": memory.clock(), "figures": dict(figures)})
    write_whole(file, json.dumps(runs[-KEPT_RUNS:], indent=1).encode())
    return runs[-2] if len(runs) > 1 and isinstance(runs[-2], dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def bench_self_text(result: SelfBench) -> str:
    """The figures, and what changed."""
    lines = [_heading("", "")]
    lines.append(_line("your own pages", "now", result.figures))
    if result.before:
        lines.append(_line(f"the run before ({result.version_before})", "then", result.before))
        worse = [name for name, change in result.drift.items() if _is_worse(name, change)]
        lines.append(f"worse than before: {', '.join(worse)}" if worse else "no worse than before")
    return "\n".join(lines)


def _is_worse(name: str, change: float) -> bool:
    """Whether the change of a figure is one to the worse that luck does not explain. Time depends on the machine."""
    return name != "latency_ms" and (change if name == "false_answers" else -change) > WORSE
