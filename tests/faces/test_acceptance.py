"""What facts and honest answers were promised to do, each told once through the public commands.

What is promised of questions without an answer is in `tests/search/test_gold.py`; that leaving out common words costs
no answer, in `tests/search/test_common_words.py`. How quick that is among 100,000 passages is measured by
`tests/bench/bench_store.py query`: a test measures no time. Talks are not imported from archives: agents' own records
are read by `backfill`.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

QUESTION = "on which days do releases of the till go out"
MONDAYS = "Releases of the till go out on Mondays"
WEDNESDAYS = "Releases of the till go out on Wednesdays"


@pytest.fixture
def shop(room: Room) -> Room:
    """Pages of several kinds that answer one question more or less."""
    for path, body in (
        ("decisions/till.md", "# The till\n\nReleases of the till are cut from main, after the ledger was closed."),
        ("notes/ledger.md", "# Ledger\n\nReleases of the ledger wait for finance. See [[decisions/till]]."),
        ("gotchas/till.md", "# Till\n\nA release of the till on a market day blocks the queue: 1 < 2, `a & b`."),
    ):
        room.ok("write-page", path, "-b", body, "--tag", "till", "--tag", "release day")
    return room


def new(room: Room, statement: str, *words: str) -> dict[str, Any]:
    first: dict[str, Any] = room.json("record", statement, *words)["facts"][0]
    return first


def known(room: Room, *words: str) -> set[str]:
    return {item["statement"] for item in room.json("context", QUESTION, *words)["items"]}


def test_a_replacement_from_the_future_leaves_todays_answer_and_each_day_has_its_own(room: Room) -> None:
    old = new(room, MONDAYS, "--valid-from", "2024-01-01")
    new(room, WEDNESDAYS, "--supersedes", old["id"], "--valid-from", "2099-01-01")
    assert known(room) == {MONDAYS}
    assert known(room, "--as-of", "2025-06-01") == {MONDAYS}
    assert known(room, "--as-of", "2098-12-31T23:59:59Z") == {MONDAYS}
    assert known(room, "--as-of", "2099-01-01") == {WEDNESDAYS}
    assert known(room, "--known-at", "2024-06-01") == set(), "it held then, but nobody had recorded it"
    assert known(room, "--known-at", "2024-06-01", "--as-of", "2099-02-01") == set()


def test_what_was_observed_must_be_there_to_the_letter_and_what_was_said_to_the_word(room: Room) -> None:
    (room.checkout / "till.toml").write_text("# releases\nday = 'till releases on Mondays'\n")
    right = hashlib.sha256(b"day = 'till releases on Mondays'").hexdigest()[:12]
    for cite in ("till.toml#L2-L9", "till.toml#L0", f"till.toml#L1@{right}", f"till.toml#L2@{'0' * 12}"):
        room.json("record", MONDAYS, "--cite", cite, code=2)
    room.work()
    room.tell("user-prompt", text="Please see to it: releases of the till go out on Mondays.")
    room.json("record", MONDAYS, "--quote", "releases of the till should always be on Mondays", code=3)
    assert room.json("facts", "--all")["facts"] == []
    cited = new(room, MONDAYS, "--cite", f"till.toml#L2@{right}", "--quote", "releases of the till go out on Mondays")
    assert [row["kind"] for row in cited["evidence"]] == ["declared", "observed"]


@pytest.mark.parametrize(
    ("command", "rows", "text", "room_bytes"),
    [("context", "items", "statement", "512"), ("search", "hits", "snippet", "300")],
)
def test_a_first_hit_larger_than_the_room_is_shortened_and_marked(
    room: Room, command: str, rows: str, text: str, room_bytes: str
) -> None:
    long = f"{MONDAYS}, " + "since the ledger is closed then and the team is there, " * 40
    room.ok("write-page", "decisions/till.md", "-b", f"# The till\n\n{long}")
    new(room, f"Finance says: {long}")
    whole = room.json(command, MONDAYS, "--max-bytes", "30000")
    answer = room.json(command, MONDAYS, "--max-bytes", room_bytes)
    assert (whole["status"], answer["status"]) == ("ok", "partial")
    [hit] = answer[rows]
    assert hit["path"] == whole[rows][0]["path"]
    assert hit[text].endswith("…")
    assert 20 < len(hit[text]) < len(whole[rows][0][text])
    assert answer["omitted"] == len(whole[rows]) - 1


def test_an_index_made_anew_from_the_pages_alone_answers_byte_for_byte_the_same(shop: Room) -> None:
    old = new(shop, MONDAYS, "--kind", "decision", "--valid-from", "2024-01-01")
    new(shop, WEDNESDAYS, "--supersedes", old["id"], "--valid-from", "2099-01-01")
    asked = [
        (command, QUESTION, *more, "--json")
        for command in ("search", "context")
        for more in (("--as-of", "2098-02-01"), ("--as-of", "2099-02-01"))
    ]
    before = [shop.ok(*words) for words in asked]
    assert '"hits": []' not in before[0]
    for path in shop.data_dir.iterdir():
        if path.name.startswith(("index-", "cache.db", "state.db")):
            path.unlink()
    shop.ok("reindex")
    assert [shop.ok(*words) for words in asked] == before


RECORDS = [
    {"id": "t-1", "title": "Deploys", "text": "Deploys of the till run on Mondays", "time": "2026-05-01T10:00:00Z"},
    {"id": "t-2", "title": "Deploys", "text": "Deploys of the ledger wait for finance", "time": "2026-05-02T10:00:00Z"},
]


def test_records_in_an_array_and_by_line_make_the_same_pages_once(
    shop: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.toml").write_text('namespace = "talks"\nas = "pages"\n')
    rooms = []
    for name, text in (("array.json", json.dumps(RECORDS)), ("lines.jsonl", "\n".join(map(json.dumps, RECORDS)))):
        root = tmp_path / name.partition(".")[0]
        root.mkdir()
        (root / name).write_text(text)
        monkeypatch.setenv("AI_MEMORY_DATA_DIR", str(tmp_path / f"data-{root.name}"))
        room = Room(shop.checkout, tmp_path / f"data-{root.name}")
        words = ("import", "json", "--mapping", str(tmp_path / "m.toml"), "--root", str(root))
        room.ok(*words)
        head = room.git("rev-parse", "HEAD")
        room.ok(*words)
        assert room.git("rev-parse", "HEAD") == head, "a second import changes nothing"
        rooms.append({path: _without_origin(content) for path, content in pages(room)})
    assert rooms[0] == rooms[1]
    assert len(rooms[0]) == 2, "two of one title are two pages"


def _without_origin(content: bytes) -> bytes:
    """Less the name of the file that it came from."""
    return b"\n".join(line for line in content.split(b"\n") if b"array.json" not in line and b"lines.jsonl" not in line)


def test_a_digest_is_the_same_twice_and_opens_no_element(shop: Room) -> None:
    shop.work()
    shop.tell("user-prompt", text="Never <b>release</b> the till on a market day -->")
    shop.drain()
    quote = "Never <b>release</b> the till on a market day"
    new(shop, "Never <b>release</b> the till on a market day", "--kind", "correction", "--quote", quote)
    text = shop.json("digest")["text"]
    assert "- Never &lt;b&gt;release&lt;/b&gt; the till" in text
    assert "<b>" not in text
    assert shop.json("digest")["text"] == text


def test_an_export_taken_into_an_empty_memory_is_the_same_tree(
    shop: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new(shop, MONDAYS, "--kind", "decision")
    shop.ok("write-page", "notes/ünïcode.md", "-b", "---\nmine: [1, 2]  # kept\n---\n# Ü\r\nNo last newline")
    shop.ok("export", str(tmp_path / "out"))
    monkeypatch.setenv("AI_MEMORY_DATA_DIR", str(tmp_path / "other"))
    other = Room(shop.checkout, tmp_path / "other")
    other.ok("import", str(tmp_path / "out"))
    assert dict(pages(other)) == dict(pages(shop))
    assert len(dict(pages(shop))) >= 5


def pages(room: Room) -> Iterator[tuple[str, bytes]]:
    """Every page with its bytes; a project's own id is no page."""
    wiki = room.data_dir / "wiki"
    for file in sorted(wiki.rglob("*.md")):
        if file.name != "_meta.md":
            yield str(file.relative_to(wiki)), file.read_bytes()


def test_toon_rows_of_a_search_are_those_of_json_with_lists_in_one_cell(shop: Room) -> None:
    toon = pytest.importorskip("toon_format")
    for words in (("search", QUESTION), ("context", QUESTION), ("search", "who tunes the piano")):
        as_json = shop.json(*words)
        back = toon.decode(shop.ok(*words, "--format", "toon"), strict=True)
        rows = "items" if words[0] == "context" else "hits"
        assert back[rows] == [{key: in_one_cell(value) for key, value in row.items()} for row in as_json[rows]]
        assert (back["status"], back["omitted"]) == (as_json["status"], as_json["omitted"])


def in_one_cell(value: object) -> object:
    """As a row keeps it: words side by side, an object as JSON."""
    if isinstance(value, list):
        return " ".join(value)
    return json.dumps(value) if isinstance(value, dict) else value
