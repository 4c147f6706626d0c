"""Labelled sets of questions, and how well a ranking answers them. Pure, but for reading the set's two files.

*Shape* of a set: a folder with `corpus.jsonl` (`id, text`, and `group`, `title` where there are any) and
`queries.jsonl` (`id, text, gold: {document id: grade}`, and `group`, `cat`, `as_of`). A query looks in its group only;
one without gold has no answer, one with `as_of` asks for what held then. A document may have a `path` and the
frontmatter of its page in `meta`.
"""

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ai_memory.errors import MemoryFault, echo
from ai_memory.text.names import check_page_path
from ai_memory.text.times import parse_time

DEPTHS = (1, 5, 10)
DEPTH = 10
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    group: str
    title: str
    text: str
    path: str = ""
    """Of the page; without one it is a note whose path tells nothing."""
    meta: Mapping[str, object] = field(default_factory=dict)
    """The page's frontmatter."""


@dataclass(frozen=True, slots=True)
class Question:
    group: str
    category: str
    text: str
    gold: Mapping[str, float]
    """Document id → grade; empty for a question without answer."""
    as_of_us: int | None = None
    """Asks for what held then; without it whatever there is may answer."""


@dataclass(frozen=True, slots=True)
class LabelledSet:
    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a ranking found: ids, best first, and how many bytes it shows."""

    ids: tuple[str, ...]
    size_bytes: int = 0


Find = Callable[[Question], Answer]


def read_set(folder: Path, *, limit: int = 0) -> LabelledSet:
    """The set of a folder; with `limit` only its first questions. Errors: MemoryFault naming file and line."""
    documents = tuple(
        Document(row.text("id"), row.word("group"), row.word("title"), row.text("text"), row.path(), row.meta())
        for row in _rows(folder / "corpus.jsonl")
    )
    known = {(one.group, one.id) for one in documents}
    twice = [key for key, count in Counter((one.group, one.path) for one in documents if one.path).items() if count > 1]
    if twice:
        raise MemoryFault(f"{folder} has two documents at {echo(twice[0][1])}", hint="a page has one place")
    questions = tuple(
        Question(row.word("group"), row.word("cat"), row.text("text"), row.gold(known), row.as_of_us())
        for row in _rows(folder / "queries.jsonl")
    )
    if not documents or not questions:
        raise MemoryFault(f"{folder} holds no documents or no questions", hint="docs/search.md tells what a set holds")
    return LabelledSet(folder.resolve().name, documents, questions[:limit] if limit else questions)


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a set, and where it stands. *Errors*: MemoryFault naming file and line."""

    place: str
    fields: Mapping[str, object]

    def text(self, key: str) -> str:
        value = self.fields.get(key)
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            raise self.fault(f"lacks {key!r}")
        return str(value).encode("utf-8", "replace").decode()

    def word(self, key: str) -> str:
        return self.text(key) if self.fields.get(key) else ""

    def path(self) -> str:
        """The document's place in its project, "" where the set does not say."""
        told = self.word("path")
        try:
            return check_page_path(told) if told else ""
        except MemoryFault as fault:
            raise self.fault(f"has a path that no page may have: {fault.message}") from fault

    def meta(self) -> Mapping[str, object]:
        told = self.fields.get("meta") or {}
        if not isinstance(told, dict):
            raise self.fault("has a meta that is no object")
        return told

    def as_of_us(self) -> int | None:
        """The instant it asks about. Only a date or an instant: "7d" would be another one every day."""
        told = self.word("as_of")
        if not told:
            return None
        try:
            return parse_time(told)
        except MemoryFault as fault:
            raise self.fault(f"has an as_of that is no day: {echo(told)}") from fault

    def gold(self, known: Collection[tuple[str, str]]) -> dict[str, float]:
        """Document id → grade. `known`: (group, id) of each document."""
        told = self.fields.get("gold") or {}
        grades = dict.fromkeys(map(str, told), 1.0) if isinstance(told, list) else told
        if not isinstance(grades, Mapping):
            raise self.fault("has a gold that is neither an object nor a list")
        for one, grade in grades.items():
            if (self.word("group"), one) not in known:
                raise self.fault(f"names a document that its group does not hold: {echo(one)}")
            if not isinstance(grade, (int, float)) or not 0 < grade < math.inf:
                raise self.fault(f"has a grade that is no number above 0: {echo(one)}")
        return {one: float(grade) for one, grade in grades.items()}

    def fault(self, what: str) -> MemoryFault:
        return MemoryFault(f"{self.place} {what}", hint="docs/search.md tells what a set holds")


def _rows(file: Path) -> list[_Row]:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise MemoryFault(
            f"{file} cannot be read: {fault}", hint="a set holds corpus.jsonl and queries.jsonl"
        ) from fault
    rows = []
    for number, line in enumerate(text.split("\n"), 1):  # U+2028 inside a text ends no line
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as fault:
            raise MemoryFault(f"{file}:{number} is no JSON: {fault}", hint="one object a line") from fault
        if not isinstance(row, dict):
            raise MemoryFault(f"{file}:{number} is no JSON object", hint="one object a line")
        rows.append(_Row(f"{file}:{number}", row))
    return rows


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what was found, and how long it took."""

    question: Question
    answer: Answer
    spent_ms: float


def ask_all(find: Find, questions: Sequence[Question], tell: Callable[[], None] = lambda: None) -> list[Asked]:
    """Every question asked once, in its order; `tell` is called after each."""
    asked = []
    for question in questions:
        begun = time.perf_counter()
        answer = find(question)
        asked.append(Asked(question, answer, (time.perf_counter() - begun) * 1000))
        tell()
    return asked


def evaluate(find: Find, questions: Sequence[Question], tell: Callable[[], None] = lambda: None) -> dict[str, float]:
    """Figures of a ranking over those questions."""
    return figures_of(ask_all(find, questions, tell))


def figures_of(asked: Sequence[Asked]) -> dict[str, float]:
    """Figures of answers: `any@1` … `all@10`, `ndcg@10`, `mrr@10`, `false_answers`, `tokens`, `latency_ms` (median),
    `latency_p95_ms`.

    `any@k`: share of answerable questions with a gold document among the first k; `all@k`: mean share of the gold
    documents that are. `false_answers`: share of questions without answer that got one.
    """
    pairs = [(one.question, one.answer) for one in asked]
    answerable = [(question, answer) for question, answer in pairs if question.gold]
    without = [answer for question, answer in pairs if not question.gold]
    figures: dict[str, float] = {"questions": len(answerable), "unanswerable": len(without)}
    for depth in DEPTHS:
        figures[f"any@{depth}"] = _mean([float(any(i in q.gold for i in a.ids[:depth])) for q, a in answerable])
    for depth in DEPTHS:
        figures[f"all@{depth}"] = _mean([_share(q.gold, a.ids[:depth]) for q, a in answerable])
    figures["ndcg@10"] = _mean([_ndcg(a.ids, q.gold) for q, a in answerable])
    figures["mrr@10"] = _mean([_reciprocal_rank(a.ids, q.gold) for q, a in answerable])
    figures["unanswered"] = _mean([float(not a.ids) for _, a in answerable])
    figures["false_answers"] = _mean([float(bool(a.ids)) for a in without])
    figures["tokens"] = _mean([math.ceil(a.size_bytes / BYTES_PER_TOKEN) for _, a in pairs])
    spent = sorted(one.spent_ms for one in asked)
    figures["latency_ms"] = spent[len(spent) // 2] if spent else 0.0
    figures["latency_p95_ms"] = spent[min(len(spent) - 1, int(len(spent) * 0.95))] if spent else 0.0
    return {name: round(figure, 4) for name, figure in figures.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _share(gold: Mapping[str, float], ids: Sequence[str]) -> float:
    return len(gold.keys() & set(ids)) / len(gold)


def _reciprocal_rank(ids: Sequence[str], gold: Mapping[str, float]) -> float:
    return next((1 / place for place, one in enumerate(ids[:DEPTH], 1) if one in gold), 0.0)


def _ndcg(ids: Sequence[str], gold: Mapping[str, float]) -> float:
    """Normalised discounted gain of the first ten, with the grades as linear gains."""
    gained = sum(gold.get(one, 0) / math.log2(place + 2) for place, one in enumerate(ids[:DEPTH]))
    most = sum(grade / math.log2(place + 2) for place, grade in enumerate(sorted(gold.values(), reverse=True)[:DEPTH]))
    return gained / most if most else 0.0
