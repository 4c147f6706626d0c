"""`bench retrieval` on a labelled set, and `bench self` on a person's own pages."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

from ai_memory.search.evaluation import Answer, Question, ask_all, evaluate, figures_of

DOCUMENTS: list[dict[str, Any]] = [
    {"id": "heron", "title": "Heron", "text": "The heron stands in the marsh and waits for fish."},
    {"id": "kettle", "title": "Kettle", "text": "The kettle boils; its lid is of copper."},
    {
        "id": "lathe",
        "title": "Lathe",
        "text": "The lathe turns oak into bowls. A line separator:\u2028 it ends no line.",
    },
    {"id": 4, "text": "The ferry crosses at seven and at noon."},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "1", "text": "where does the heron wait", "gold": {"heron": 2}, "cat": "where"},
    {"id": "2", "text": "what is the lid of the kettle made of", "gold": ["kettle"], "cat": "what"},
    {"id": "3", "text": "when does the ferry cross", "gold": {"4": 1}, "cat": "what"},
    {"id": "4", "text": "quantum chromodynamics", "gold": {}, "cat": "none"},
]
KEYS = {"any@1", "any@5", "any@10", "all@1", "all@5", "all@10", "ndcg@10", "mrr@10", "latency_ms"}


def write_set(folder: Path, documents: object = DOCUMENTS, questions: object = QUESTIONS) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in (("corpus.jsonl", documents), ("queries.jsonl", questions)):
        lines = rows if isinstance(rows, str) else "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)  # type: ignore[attr-defined]
        (folder / name).write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture
def labelled(room: Room) -> str:
    return str(write_set(room.checkout / "questions"))


def test_the_figures_stand_at_the_top_and_those_of_plain_full_text_beside_them(room: Room, labelled: str) -> None:
    answer = room.json("bench", "retrieval", "--set", labelled)
    assert answer.keys() >= KEYS
    assert answer["fts5"].keys() >= KEYS
    assert (answer["any@1"], answer["ndcg@10"], answer["mrr@10"], answer["all@10"]) == (1.0, 1.0, 1.0, 1.0)
    assert (answer["questions"], answer["unanswerable"], answer["false_answers"]) == (3, 1, 0.0)
    (one,) = answer["sets"]
    assert (one["name"], one["documents"], set(one["categories"])) == ("questions", 4, {"where", "what", "none"})
    assert not list(room.data_dir.glob("wiki/default/*/notes/*"))


def test_the_table_has_a_line_for_ours_and_one_for_plain_full_text(room: Room, labelled: str) -> None:
    lines = room.ok("bench", "retrieval", "--set", labelled).splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["questions", "ours"], ["fts5", "1.000"]]


def test_plain_full_text_stands_beside_each_category(room: Room, labelled: str) -> None:
    (one,) = room.json("bench", "retrieval", "--set", labelled)["sets"]
    assert one["categories"].keys() == one["categories_fts5"].keys() == {"where", "what", "none"}
    assert one["categories_fts5"]["what"]["questions"] == 2


def test_a_question_is_asked_once_and_its_time_counts_in_all_figures() -> None:
    asked: list[str] = []

    def find(question: Question) -> Answer:
        asked.append(question.text)
        return Answer(("a",))

    questions = [Question("", "x", "one", {"a": 1.0}), Question("", "y", "two", {})]
    rows = ask_all(find, questions)
    assert asked == ["one", "two"]
    assert figures_of(rows[1:])["latency_ms"] == round(rows[1].spent_ms, 4)


def test_what_a_row_did_not_measure_is_a_dash(room: Room, labelled: str) -> None:
    lines = room.ok("bench", "retrieval", "--set", labelled).splitlines()
    assert lines[0].split()[8:] == ["ndcg@10", "mrr@10", "ms", "p95", "tokens", "none", "false"]
    none = next(line.split() for line in lines if line.split()[0] == "none")
    assert (none[2:10], none[-2:]) == (["–"] * 8, ["–", "0.000"])
    assert lines[2].split()[-3] == "–", "plain FTS5 shows no text"


def test_the_folder_one_stands_in_has_its_name(room: Room, labelled: str) -> None:
    assert room.json("bench", "retrieval", "--set", f"{labelled}/.")["sets"][0]["name"] == "questions"
    assert room.json("bench", "retrieval", "--set", f"{labelled}/../questions")["sets"][0]["name"] == "questions"


def test_the_mean_of_several_sets_stands_at_the_top(room: Room, labelled: str) -> None:
    other = write_set(room.checkout / "hard", questions=[{"id": "1", "text": "copper lid", "gold": {"heron": 1}}])
    answer = room.json("bench", "retrieval", "--set", labelled, "--set", str(other))
    assert [one["name"] for one in answer["sets"]] == ["questions", "hard"]
    assert answer["any@1"] == 0.5


def test_only_the_first_questions_are_asked_with_a_limit(room: Room, labelled: str) -> None:
    assert room.json("bench", "retrieval", "--set", labelled, "--limit", "2")["questions"] == 2


def test_a_question_looks_in_its_own_group(room: Room) -> None:
    documents = [{"id": "a", "group": group, "text": f"The heron of {group}."} for group in ("one", "two")]
    questions = [{"id": "1", "group": "two", "text": "heron", "gold": {"a": 1}}]
    answer = room.json("bench", "retrieval", "--set", str(write_set(room.checkout / "groups", documents, questions)))
    assert (answer["any@1"], answer["fts5"]["any@1"]) == (1.0, 1.0)


def test_a_question_with_a_day_is_answered_by_what_held_then(room: Room) -> None:
    turns = [("old", {"valid_to": "2026-03-01", "superseded_by": "f-2"}), ("new", {"valid_from": "2026-03-01"})]
    documents = [
        {"id": i, "text": f"The {i} ferry crosses at noon.", "path": f"facts/{i}.md", "meta": meta} for i, meta in turns
    ]
    questions = [
        {"text": "ferry crosses at noon", "as_of": day, "gold": [i], "cat": i}
        for day, i in (("2026-02-28", "old"), ("2026-03-01T00:00:00Z", "new"))
    ]
    (one,) = room.json("bench", "retrieval", "--set", str(write_set(room.checkout / "days", documents, questions)))[
        "sets"
    ]
    assert [one["categories"][i]["any@1"] for i in ("old", "new")] == [1.0, 1.0]
    assert one["fts5"]["any@1"] == 0.5, "plain FTS5 knows no time"


@pytest.mark.parametrize(
    ("documents", "questions", "told"),
    [
        ('{"id": "a", "text": "x"}\n{"id": ', QUESTIONS, "corpus.jsonl:2 is no JSON"),
        ("[1]", QUESTIONS, "corpus.jsonl:1 is no JSON object"),
        ([{"id": "a"}], QUESTIONS, "corpus.jsonl:1 lacks 'text'"),
        ([{"id": "a", "text": "x"}, {"text": "x"}], QUESTIONS, "corpus.jsonl:2 lacks 'id'"),
        (DOCUMENTS, [QUESTIONS[0], {"id": "1", "gold": {}}], "queries.jsonl:2 lacks 'text'"),
        (DOCUMENTS, [{"text": "x", "gold": {"nosuch": 1}}], "queries.jsonl:1 names a document that its group"),
        (DOCUMENTS, [{"text": "x", "gold": {"heron": "good"}}], "queries.jsonl:1 has a grade that is no number"),
        (DOCUMENTS, [{"text": "x", "gold": 3}], "queries.jsonl:1 has a gold that is neither"),
        (DOCUMENTS, "\n\n", "holds no documents or no questions"),
        (DOCUMENTS, [{"text": "x", "as_of": "7d"}], "queries.jsonl:1 has an as_of that is no day"),
        (
            [{"id": "a", "text": "x", "meta": []}, {"id": "b", "text": "x", "meta": [1]}],
            QUESTIONS,
            "2 has a meta that is",
        ),
        ([{"id": "a", "text": "x", "path": "../a.md"}], QUESTIONS, "corpus.jsonl:1 has a path that no page may have"),
        ([{"id": i, "text": "x", "path": "notes/a.md"} for i in "ab"], QUESTIONS, "two documents at 'notes/a.md'"),
    ],
)
def test_a_broken_set_names_file_and_line(room: Room, documents: object, questions: object, told: str) -> None:
    result = room.run("bench", "retrieval", "--set", str(write_set(room.checkout / "broken", documents, questions)))
    assert result.exit_code == 1, result.output
    assert told in result.stderr


def test_a_set_that_is_not_there_or_not_named_is_told(room: Room) -> None:
    assert "corpus.jsonl cannot be read" in room.run("bench", "retrieval", "--set", "nosuch").stderr
    assert room.run("bench", "retrieval").exit_code == 2


def test_odd_characters_of_a_set_stop_nobody(room: Room) -> None:
    odd = write_set(
        room.checkout / "odd", '{"id": "a", "text": "x \\ud800 \\u0000 heron"}', '{"text": "heron \\ud800"}'
    )
    assert room.json("bench", "retrieval", "--set", str(odd))["unanswerable"] == 1


def test_figures_are_what_they_are_called() -> None:
    golds: tuple[dict[str, float], ...] = ({"a": 1}, {"b": 1, "c": 1}, {"z": 1}, {})
    found = {"0": ("a", "b"), "1": ("x", "b"), "2": (), "3": ("a",)}
    questions = [Question("", "", str(number), gold) for number, gold in enumerate(golds)]
    figures = evaluate(lambda question: Answer(found[question.text], 8), questions)
    assert (figures["any@1"], figures["any@5"], figures["all@5"]) == (0.3333, 0.6667, 0.5)
    assert (figures["mrr@10"], figures["unanswered"], figures["false_answers"]) == (0.5, 0.3333, 1.0)
    assert (figures["questions"], figures["unanswerable"], figures["tokens"]) == (3, 1, 2.0)


# --- one's own pages ---


@pytest.fixture
def own(room: Room) -> Room:
    """Pages long enough to be asked about."""
    for name in ("heron", "kettle", "lathe", "mortar", "nettle", "oriole"):
        words = " ".join(
            f"{name}{ending}" for ending in ("works", "shop", "mill", "yard", "gate", "path", "roof", "town")
        )
        room.ok("write-page", "-p", f"notes/{name}.md", "-b", f"# {name}\n\n{words} {words} {words} {words}")
    return room


def test_each_page_is_found_by_its_own_words_and_made_up_ones_find_nothing(own: Room) -> None:
    """In so small a wiki the gate lets a page with one of six words pass: the third control is answered, and counts."""
    answer = own.json("bench", "self")
    assert (answer["any@1"], answer["false_answers"], answer["before"], answer["drift"]) == (1.0, 0.3333, {}, {})
    assert answer["questions"] == 6
    assert answer["unanswerable"] == 3


def test_words_of_many_pages_find_nothing_where_the_bar_stands(own: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ai_memory.search.gate.LOWEST_BAR", 1.0)
    assert own.json("bench", "self")["false_answers"] == 0.0


def test_the_second_run_tells_the_drift(own: Room) -> None:
    own.ok("bench", "self")
    answer = own.json("bench", "self")
    assert answer["drift"]["any@1"] == 0.0
    assert answer["before"]["any@1"] == 1.0
    assert "no worse than before" in own.ok("bench", "self")


def test_an_engine_that_finds_less_than_before_is_told(own: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    own.ok("bench", "self")
    monkeypatch.setattr("ai_memory.search.gate.FEW_CHUNKS", 0)
    monkeypatch.setattr("ai_memory.search.gate.LEAST_STRENGTH", 1e9)
    text = own.ok("bench", "self")
    assert "worse than before: any@1" in text


def test_more_false_answers_than_before_are_told(own: Room) -> None:
    own.ok("bench", "self")
    file = own.data_dir / "logs" / "bench-self.json"
    runs = json.loads(file.read_text())
    runs[-1]["figures"]["false_answers"] = -0.5
    file.write_text(json.dumps(runs))
    assert "false_answers" in own.ok("bench", "self").splitlines()[-1]


@pytest.mark.parametrize(
    "text", ["{", "[]", "[7]", '[{"figures": 3}]', '[{"figures": {"any@1": "x", "mrr@10": null}}]']
)
def test_a_broken_record_of_former_runs_is_begun_anew(own: Room, text: str) -> None:
    (own.data_dir / "logs").mkdir(exist_ok=True)
    (own.data_dir / "logs" / "bench-self.json").write_text(text)
    assert own.json("bench", "self")["before"] == {}


def test_figures_that_a_former_run_lacks_are_dashes(own: Room) -> None:
    (own.data_dir / "logs").mkdir(exist_ok=True)
    (own.data_dir / "logs" / "bench-self.json").write_text('[{"version": "0.0.1", "figures": {"any@5": 0.5}}]')
    then = own.ok("bench", "self").splitlines()[2]
    assert then.startswith("the run before (0.0.1)")
    assert (then.count("–"), then.count("0.500")) == (12, 1)


def test_too_few_pages_are_a_fault(room: Room) -> None:
    room.ok("init")
    result = room.run("bench", "self")
    assert result.exit_code == 1
    assert "too few pages" in result.stderr


# --- vectors ---


def test_where_nobody_makes_vectors_the_hint_names_commands_that_are_taken(room: Room) -> None:
    room.ok("config", "set", "embed.provider", "none")
    refused = room.run("embed")
    told = re.findall(r"ai-memory config set (\S+) (\S+)", refused.stderr)
    assert [key for key, _ in told] == ["embed.path", "embed.provider"]
    for key, value in told:
        room.ok("config", "set", key, value)
