"""`import json`: records of another program, by a mapping."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

from ai_memory.cli import asking
from ai_memory.operations import import_json as taking
from ai_memory.operations import json_folder
from ai_memory.text.facts import FactKind, fact_id, fact_path

DOCS = Path(__file__).parents[2] / "docs" / "sources.md"
MAPPING = 'namespace = "tickets"\nvalidTo = "until"\nmetadata = { state = "state" }\n'
TICKET = {"id": "T-1", "text": "One queue per region", "at": "2026-05-01", "state": "open"}


def given(room: Room, records: Any, *, mapping: str = MAPPING, file: str = "a.json") -> None:
    """The mapping, and one file of records."""
    (room.checkout / "map.toml").write_text(mapping)
    (room.checkout / "root").mkdir(exist_ok=True)
    text = records if isinstance(records, str) else json.dumps(records)
    (room.checkout / "root" / file).write_text(text)


def run(room: Room, *words: str, code: int = 0) -> Any:
    return room.json("import", "json", "--mapping", "map.toml", "--root", "root", *words, code=code)


def done(answer: Any) -> dict[str, int]:
    return {word: number for word, number in answer["counts"].items() if number}


def head(room: Room) -> str:
    return room.git("rev-parse", "HEAD")


def fact(room: Room, *words: str) -> Any:
    (one,) = room.json("facts", "--all", *words)["facts"]
    return one


def test_the_example_of_the_docs_gives_what_they_say(room: Room) -> None:
    page = DOCS.read_text()
    (room.checkout / "tickets").mkdir()
    (room.checkout / "tickets.toml").write_text(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])
    (room.checkout / "tickets" / "2026.json").write_text(re.findall(r"```json\n(.*?)```", page, re.DOTALL)[0])
    told = room.ok("import", "json", "--mapping", "tickets.toml", "--root", "tickets")
    assert told.split(" · ")[0] in page
    facts = {one["statement"]: one for one in room.json("facts")["facts"]}
    assert set(facts) == {"One queue per region", "The wiki is locked first"}
    queue = facts["One queue per region"]
    assert (queue["kind"], queue["standing"]) == ("decision", "needs_review")
    assert (queue["valid_from"], queue["valid_to"]) == ("2026-06-01T00:00:00Z", None)
    (evidence,) = queue["evidence"]
    assert (evidence["kind"], evidence["cite"]) == ("imported", "https://tickets.example.org/T-1")
    text = room.file(queue["path"]).read_text()
    assert text.endswith("One queue per region\n\nOwners: Ada, Lin\n")
    assert "metadata:\n  state: open\n" in text
    assert facts["The wiki is locked first"]["valid_from"] == "2026-05-03T03:09:37Z"


def test_a_second_run_writes_nothing_and_makes_no_commit(room: Room) -> None:
    odd = [{"id": name, "text": f"Rule {name}"} for name in ("123", "true", "null", "1e5", "ß", "- a", "2026-05-01")]
    given(room, [TICKET, *odd, {"id": 7, "text": "A number"}])
    assert done(run(room)) == {"created": 9}
    before = head(room)
    again = run(room, "--authoritative")
    assert (done(again), again["commit"], head(room)) == ({"unchanged": 9}, None, before)


@pytest.mark.parametrize(
    "amended", [{"state": "done"}, {"at": "2026-05-02"}, {"until": "2027-01-01"}, {"text": "One per shop"}]
)
def test_a_change_of_metadata_or_dates_alone_is_a_change_of_the_same_fact(
    room: Room, amended: dict[str, object]
) -> None:
    given(room, [TICKET])
    run(room)
    before = fact(room)
    given(room, [{**TICKET, **amended}])
    assert done(run(room)) == {"changed": 1}
    after = fact(room)
    assert (after["id"], after["path"]) == (before["id"], before["path"])
    assert room.file(after["path"]).read_text().count("class") == 1
    assert done(run(room)) == {"unchanged": 1}


def test_a_dry_run_tells_all_and_writes_nothing(room: Room) -> None:
    room.ok("init")
    before = head(room)
    given(room, [TICKET])
    answer = run(room, "--dry-run")
    assert (answer["outcome"], done(answer), head(room)) == ("would_import", {"created": 1}, before)


def test_what_a_source_no_longer_lists_is_closed_only_when_it_may_say_so(room: Room) -> None:
    given(room, [TICKET, {"id": "T-2", "text": "Stays"}])
    run(room)
    room.ok("record", "A rule of another hand", "--kind", "decision")
    given(room, [{"id": "T-2", "text": "Stays"}])
    assert done(run(room)) == {"unchanged": 1}
    before = head(room)
    assert done(run(room, "--authoritative")) == {"unchanged": 1, "retired": 1}
    assert room.git("rev-list", "--count", f"{before.strip()}..HEAD").strip() == "1"
    standings = {one["statement"]: one["standing"] for one in room.json("facts", "--all")["facts"]}
    assert standings == {
        "One queue per region": "superseded",
        "Stays": "needs_review",
        "A rule of another hand": "needs_review",
    }
    assert done(run(room, "--authoritative")) == {"unchanged": 1}
    given(room, [TICKET, {"id": "T-2", "text": "Stays"}])
    assert done(run(room, "--authoritative")) == {"created": 1, "unchanged": 1}
    assert len(room.json("facts", "--all")["facts"]) == 4


def gone(root: Path) -> None:
    (root / "a.json").unlink()


def locked(root: Path) -> None:
    os.mkfifo(root / "pipe.json")


def linked(root: Path) -> None:
    (root / "b.json").symlink_to(root / "a.json")


def linked_folder(root: Path) -> None:
    (root / "more").symlink_to(root.parent)


def broken(text: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        (root / "b.json").write_text(text)

    return write


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (gone, "no .json or .jsonl file lies there"),
        (locked, "pipe.json: it is no regular file"),
        (linked, "b.json: a link"),
        (linked_folder, "more: a link"),
        (broken("[" * 100_000), "b.json: it is nested too deeply"),
        (broken('[{"id": 1, "id": 2}]'), "b.json: the key 'id' stands twice in one object"),
        (broken('[{"id": NaN}]'), "b.json: NaN is no JSON"),
        (broken('[{"id": 1e999}]'), "b.json: a number that no computer holds: '1e999'"),
        (broken(f'[{{"id": {"9" * 5000}}}]'), "b.json: a number of 5,000 digits"),
        (broken('{"id": "T-9", "text": "x"'), "b.json: line 1, column 26: Expecting ',' delimiter"),
        (broken('[{"text": "x"}]'), "b.json#1: it has no id"),
        (broken(r'[{"id": "a\ud800", "text": "x"}]'), r"b.json#1: no usable id: 'a\ud800'"),
        (broken(r'[{"id": "a\u0000", "text": "x"}]'), r"b.json#1: no usable id: 'a\x00'"),
        (broken('[{"id": "T-9", "text": "x", "at": "soon"}]'), "b.json#1: observedAt: not a time: 'soon'"),
        (broken('[{"id": "T-9", "text": "x", "at": 1e14}]'), None),
        (broken('[{"id": "T-9", "text": "x", "at": 9e15}]'), "b.json#1: observedAt: no time: '9000000000000000.0'"),
        (broken('[{"id": "T-9"}]'), "b.json#1: it has neither text nor title"),
    ],
)
def test_a_look_that_saw_not_all_closes_nothing(room: Room, harm: Callable[[Path], None], told: str | None) -> None:
    given(room, [TICKET])
    given(room, [{"id": "T-2", "text": "Stays"}], file="c.json")
    run(room)
    root = room.checkout / "root"
    if told is None:
        harm(root)
        assert done(run(room, "--authoritative")) == {"created": 1, "unchanged": 2}
        return
    given(room, "[]", file="c.json")
    if harm is gone:
        (root / "c.json").unlink()
    harm(root)
    answer = run(room, "--authoritative")
    assert (answer["is_complete"], answer["counts"]["retired"]) == (False, 0)
    assert told in answer["left"]
    assert "nothing was retired, since not every record could be read" in answer["gaps"]
    assert {one["standing"] for one in room.json("facts", "--all")["facts"]} == {"needs_review"}


def to_another_file(root: Path) -> None:
    (root / "c.json").rename(root / "a2.json")


def into_a_file_that_was_read(root: Path) -> None:
    (root / "a.json").write_text(json.dumps([TICKET, {"id": "T-2", "text": "Stays"}]))
    (root / "c.json").write_text("[]")


@pytest.mark.parametrize("move", [to_another_file, into_a_file_that_was_read])
def test_a_record_that_is_moved_under_the_look_is_not_closed(
    room: Room, monkeypatch: pytest.MonkeyPatch, move: Callable[[Path], None]
) -> None:
    given(room, [TICKET])
    given(room, [{"id": "T-2", "text": "Stays"}], file="c.json")
    run(room)
    take = json_folder._take

    def moving(file: Path, *more: Any) -> None:
        take(file, *more)
        if file.name == "a.json":
            monkeypatch.setattr(json_folder, "_take", take)
            move(room.checkout / "root")

    monkeypatch.setattr(json_folder, "_take", moving)
    answer = run(room, "--authoritative")
    assert (answer["is_complete"], answer["counts"]["retired"]) == (False, 0)
    assert done(run(room, "--authoritative")) == {"unchanged": 2}


def test_a_missing_root_is_no_withdrawal(room: Room) -> None:
    given(room, [TICKET])
    run(room)
    (room.checkout / "root").rename(room.checkout / "away")
    assert "nothing retired" in run(room, "--authoritative", code=3)["error"]["message"]
    assert fact(room)["standing"] == "needs_review"


def test_a_dropped_newer_revision_revives_no_older_one(room: Room) -> None:
    mapping = MAPPING + 'latestPerId = true\nselect = { drop = [{ field = "state", equals = "void" }] }\n'
    older = {**TICKET, "at": "2026-01-01", "text": "Two queues"}
    given(room, [TICKET, older], mapping=mapping)
    assert done(run(room)) == {"created": 1}
    assert fact(room)["statement"] == "One queue per region"
    given(room, [{**TICKET, "state": "void"}, older], mapping=mapping)
    assert done(run(room, "--authoritative")) == {"retired": 1, "dropped": 1}


def test_a_newest_revision_with_a_bad_time_lets_no_older_one_in(room: Room) -> None:
    mapping = MAPPING + "latestPerId = true\n"
    given(room, [{**TICKET, "at": "2026-01-01"}], mapping=mapping)
    run(room)
    given(room, [{**TICKET, "at": "?", "text": "New"}, {**TICKET, "at": "2026-02-01", "text": "Old"}], mapping=mapping)
    assert done(run(room, "--authoritative")) == {}
    assert fact(room)["statement"] == "One queue per region"


def test_what_a_person_did_to_a_page_stays(room: Room) -> None:
    given(room, [{**TICKET, "id": f"T-{number}", "text": f"Rule {number}"} for number in range(4)])
    run(room)
    paths = {one["statement"]: one["path"] for one in room.json("facts")["facts"]}
    room.ok("append", paths["Rule 0"], "-b", "Seen in Bern.")
    room.ok("set", paths["Rule 1"], "--pin")
    room.ok("resolve", paths["Rule 2"], "--as", "contradicted", "--because", "Measured")
    room.ok("set", paths["Rule 3"], "--tag", "+net")
    given(room, [{**TICKET, "id": f"T-{number}", "text": f"Rule {number}", "state": "done"} for number in range(4)])
    answer = run(room)
    assert {row["id"]: (row["outcome"], row["notes"]) for row in answer["records"]} == {
        "T-0": ("left", ["it changed, but its page was edited since"]),
        "T-1": ("left", ["it changed, but its page is pinned"]),
        "T-2": ("left", ["it changed, but its fact was closed by a person"]),
        "T-3": ("changed", []),
    }
    assert "Seen in Bern." in room.file(paths["Rule 0"]).read_text()
    assert "net" in room.file(paths["Rule 3"]).read_text()


def test_what_a_person_confirmed_supports_no_other_statement(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    given(room, [TICKET])
    run(room)
    with monkeypatch.context() as at_terminal:
        at_terminal.setattr(asking, "confirms", lambda _: True)
        room.ok("resolve", fact(room)["id"], "--as", "supported", "--because", "It is so", "--mine")
    given(room, [TICKET | {"state": "done"}])
    run(room)
    assert fact(room)["standing"] == "supported"
    assert {one["kind"] for one in fact(room)["evidence"]} == {"declared", "imported"}
    given(room, [TICKET | {"text": "No queue at all"}])
    run(room)
    assert fact(room)["standing"] == "needs_review"
    assert {one["kind"] for one in fact(room)["evidence"]} == {"imported"}


def test_no_word_of_a_source_makes_a_fact_supported(room: Room) -> None:
    given(room, [{**TICKET, "trust": "declared", "standing": "supported"}], mapping=MAPPING + 'trust = "declared"\n')
    message = run(room, code=2)["error"]["message"]
    assert message == "map.toml: trust cannot be 'declared'"
    rules = 'trust = { from = "trust", when = { declared = "reported" } }\n'
    given(room, [{**TICKET, "trust": "declared", "standing": "supported"}], mapping=MAPPING + rules)
    run(room)
    assert (fact(room)["standing"], fact(room)["evidence"][0]["kind"]) == ("needs_review", "reported")


def test_secrets_and_what_no_page_may_hold_are_taken_out(room: Room) -> None:
    token = f"ghp_{'aB3' * 12}"
    record = {
        "id": "T-1",
        "title": "Lost\ud800 half",
        "text": f"Push with {token}\u0000 and\u001b[31m red",
        "state": token,
    }
    given(room, [record, {"id": token, "text": "An id"}])
    answer = run(room)
    assert done(answer) == {"created": 1}
    assert answer["left"] == ["a.json#2: its id holds what looks like a secret"]
    text = room.file(fact(room)["path"]).read_text()
    assert token not in text
    assert "[REDACTED:" in text
    assert done(run(room)) == {"unchanged": 1}


CONTENT = MAPPING + 'contentFrom = { dir = "bodies", field = "file" }\nas = "pages"\n'


def test_a_text_in_another_file_becomes_a_page(room: Room) -> None:
    given(room, [{"id": "T-1", "title": "Lock order", "file": "a.md", "kind": "decision"}], mapping=CONTENT)
    (room.checkout / "root" / "bodies").mkdir()
    (room.checkout / "root" / "bodies" / "a.md").write_text("Wiki first.\n\nThen git.\n")
    (row,) = run(room)["records"]
    assert re.fullmatch(r"imported/tickets/lock-order-[0-9a-f]{8}\.md", row["path"])
    text = room.file(row["path"]).read_text()
    assert text.endswith("---\nWiki first.\n\nThen git.\n")
    assert "kind: decision\n" in text
    assert '"class": imported' in text
    assert [hit["path"] for hit in room.json("search", "wiki first")["hits"]] == [row["path"]]
    (room.checkout / "root" / "bodies" / "a.md").write_text("Git first.\n")
    assert done(run(room)) == {"changed": 1}
    given(room, [], mapping=CONTENT)
    assert done(run(room, "--authoritative")) == {"retired": 1}
    assert room.json("search", "git first")["hits"] == []


@pytest.mark.parametrize(
    "name", ["../a.md", "/etc/passwd", "b/../a.md", "..", "a\\b", "link.md", "none.md", "pipe", "big"]
)
def test_a_text_elsewhere_is_refused(room: Room, name: str) -> None:
    given(room, [{"id": "T-1", "title": "Lock order", "file": name}], mapping=CONTENT)
    bodies = room.checkout / "root" / "bodies"
    bodies.mkdir()
    (room.checkout / "root" / "a.md").write_text("outside")
    (bodies / "link.md").symlink_to(room.checkout / "root" / "a.md")
    (bodies / "big").write_text("x" * 512_001)
    os.mkfifo(bodies / "pipe")
    answer = run(room, "--authoritative")
    assert (done(answer), len(answer["left"])) == ({}, 1)


def test_lines_of_jsonl_stand_for_themselves(room: Room) -> None:
    lines = [json.dumps(TICKET), "", "{broken", json.dumps({"id": "T-2", "text": "Second"})]
    given(room, "\n".join(lines), file="a.jsonl")
    answer = run(room)
    assert done(answer) == {"created": 2}
    assert [row["source"] for row in answer["records"]] == ["a.jsonl#1", "a.jsonl#4"]
    assert answer["left"][0].startswith("a.jsonl, line 3: ")


def test_a_file_that_is_too_large_is_not_read(room: Room) -> None:
    given(room, [TICKET])
    with (room.checkout / "root" / "b.json").open("wb") as file:
        file.truncate(100 << 20)
    assert run(room)["left"] == ["b.json: it is larger than 64 MB"]


def test_a_line_that_is_too_long_leaves_the_others(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_folder, "LARGEST_LINE", 64)
    rows = [{"id": "a", "text": "Rule a"}, {"id": "b", "text": "b" * 300}, {"id": "c", "text": "Rule c"}]
    given(room, "\n".join(map(json.dumps, rows)), file="a.jsonl")
    answer = run(room)
    assert [row["id"] for row in answer["records"]] == ["a", "c"]
    (left,) = answer["left"]
    assert left.startswith("a.jsonl, line 2: it is longer than")


def test_a_memory_below_the_root_is_passed_over(room: Room) -> None:
    given(room, [TICKET])
    (room.data_dir / "spool").mkdir(parents=True, exist_ok=True)
    (room.data_dir / "spool" / "1.json").write_text('{"id": "1", "text": "Nobody takes this for a record"}')
    answer = room.json("import", "json", "--mapping", "map.toml", "--root", str(room.data_dir.parent))
    assert [row["id"] for row in answer["records"]] == ["T-1"]
    assert answer["left"] == []


def test_a_page_that_is_written_meanwhile_is_looked_at_again(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    given(room, [TICKET])
    run(room)
    path = fact(room)["path"]
    given(room, [TICKET | {"text": "Two queues"}])
    deeds = [lambda: room.ok("append", "-p", path, "-b", "By hand.")]
    written = taking._Import._written

    def after_it(one: Any, *words: Any) -> Any:
        if deeds:
            deeds.pop()()
        return written(one, *words)

    monkeypatch.setattr(taking._Import, "_written", after_it)
    assert done(run(room)) == {"left": 1}
    assert "By hand." in room.file(path).read_text()


def test_facts_whose_paths_are_the_same_get_paths_of_their_own(room: Room) -> None:
    start = "The same words stand at the beginning of each of them, number"
    by_path: dict[str, str] = {}
    for number in range(5000):
        text = f"{start} {number}"
        twin = by_path.setdefault(fact_path(text, fact_id(FactKind.FACT, text)), text)
        if twin != text:
            break
    given(room, [{"id": 1, "text": twin}, {"id": 2, "text": text}])
    assert done(run(room)) == {"created": 2}
    assert len(list(room.file("facts").iterdir())) == 2
    assert done(run(room)) == {"unchanged": 2}


def test_an_edit_by_hand_of_just_now_is_seen(room: Room) -> None:
    given(room, [TICKET, {"id": "T-2", "text": "Two tills"}])
    run(room)
    path = room.file(room.json("facts")["facts"][0]["path"])
    path.write_text(path.read_text() + "\nBy hand.\n")
    given(room, [{**TICKET, "state": "done"}, {"id": "T-2", "text": "Two tills", "state": "done"}])
    assert done(run(room)) == {"changed": 1, "left": 1}
    assert path.read_text().endswith("By hand.\n")


def test_a_folder_that_is_called_json_still_comes_in(room: Room) -> None:
    (room.checkout / "json").mkdir()
    (room.checkout / "json" / "a.md").write_text("# A\n")
    assert room.json("import", "./json")["counts"] == {"created": 1}
