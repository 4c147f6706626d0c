"""The versions of a page: through changes, moves, deletion and return, by whoever made them."""

from pathlib import Path

import pytest
from wiki_room import NOON_US, SECOND_US, WikiRoom, ref

from ai_memory.model import Author, Sanitized


@pytest.fixture
def empty(tmp_path: Path, person: str) -> WikiRoom:
    assert person
    return WikiRoom(tmp_path)


def test_versions_come_newest_first_with_their_times_and_texts(empty: WikiRoom) -> None:
    for number in range(3):
        empty.put("notes/a.md", f"text {number}\n")
    found = empty.history("notes/a.md")
    assert [one.change for one in found] == ["changed", "changed", "created"]
    assert [one.at_us for one in found] == [NOON_US + 60 * n * SECOND_US for n in (2, 1, 0)]
    assert [empty.git("cat-file", "blob", str(one.version)) for one in found] == [
        f"text {number}\n" for number in (2, 1, 0)
    ]


def test_a_page_that_was_deleted_and_made_again_tells_both_lives(empty: WikiRoom) -> None:
    empty.put("notes/a.md", "first\n")
    with empty.memory().writing("Delete") as change:
        change.delete(ref("notes/a.md"))
    empty.put("notes/a.md", "second\n")
    assert [one.change for one in empty.history("notes/a.md")] == ["created", "deleted", "created"]
    assert empty.history("notes/a.md")[1].version is None


def test_a_page_is_followed_through_several_moves_one_with_another_text(empty: WikiRoom) -> None:
    empty.put("notes/a.md", "text\n")
    with empty.memory().writing("Move") as change:
        change.move(ref("notes/a.md"), ref("notes/b.md"))
    trailers = {"Moved-From": ref("notes/b.md").git_path}
    with empty.memory().writing("Move on", trailers=trailers) as change:
        change.move(ref("notes/b.md"), ref("gotchas/c.md"), text=Sanitized("other text\n"))
    found = empty.history("gotchas/c.md")
    assert [one.change for one in found] == ["moved", "moved", "created"]
    assert [one.path.path for one in found] == ["gotchas/c.md", "notes/b.md", "notes/a.md"]
    assert empty.git("cat-file", "blob", str(found[2].version)) == "text\n"


def test_a_page_that_took_the_old_path_begins_its_own_history(empty: WikiRoom) -> None:
    empty.put("notes/a.md", "old\n")
    with empty.memory().writing("Move") as change:
        change.move(ref("notes/a.md"), ref("notes/b.md"))
    empty.put("notes/a.md", "new\n")
    assert [one.change for one in empty.history("notes/b.md")] == ["moved", "created"]
    assert empty.history("notes/a.md")[0].change == "created"


def test_a_part_of_a_long_history_is_given(empty: WikiRoom) -> None:
    for number in range(5):
        empty.put("notes/a.md", f"text {number}\n")
    everything = empty.history("notes/a.md")
    assert empty.memory().history(ref("notes/a.md"), limit=2, offset=1) == everything[1:3]
    assert empty.memory().history(ref("notes/a.md"), offset=9) == []


def test_authors_and_trailers_are_told(empty: WikiRoom, person: str) -> None:
    with empty.memory().writing("By tool", trailers={"Session": "s-1", "Agent": "codex"}) as change:
        change.put(ref("notes/a.md"), Sanitized("1\n"))
    with empty.memory(face="cli").writing("By a person") as change:
        change.put(ref("notes/a.md"), Sanitized("2\n"))
    with empty.memory().writing("By name", author=Author("Bob", "bob@example.org")) as change:
        change.put(ref("notes/a.md"), Sanitized("3\n"))
    by_name, by_person, by_tool = empty.history("notes/a.md")
    assert by_tool.author == "ai-memory <ai-memory@localhost>"
    assert {key: by_tool.trailers[key] for key in ("Session", "Agent")} == {"Session": "s-1", "Agent": "codex"}
    assert by_person.author == person
    assert by_name.author == "Bob <bob@example.org>"
    assert by_name.message == "By name"


def test_a_message_cannot_forge_a_trailer_or_an_author(empty: WikiRoom) -> None:
    with empty.memory().writing("Line\n\nPass: forged", trailers={"Agent": "x\nSession: forged"}) as change:
        change.put(ref("notes/a.md"), Sanitized("1\n"))
    [only] = empty.history("notes/a.md")
    assert only.message == "Line Pass: forged"
    assert set(only.trailers) == {"Change-Id", "Face", "Agent"}


def test_a_page_that_never_was_and_a_wiki_that_is_not_there_have_no_history(empty: WikiRoom) -> None:
    assert empty.history("notes/a.md") == []
    assert not empty.data_dir.root.exists()
    empty.put("notes/b.md")
    assert empty.history("notes/a.md") == []
