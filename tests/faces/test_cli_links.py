"""Typed links: unknown kinds are kept and named by the writing answer, links from elsewhere read from this side."""

from pathlib import Path

import pytest
from cli_room import Room

from ai_memory.bridge.calls import Place
from ai_memory.model import Caller
from ai_memory.paths import DataDir

BODY = "---\nrelations:\n  supersedes: notes/old\n  praised-by: notes/old\n---\n# New\n"
WARNING = "unknown link kinds were kept: praised_by; known are references, about,"


def ask(room: Room, tool: str, **given: object) -> str:
    """The text that a client of the bridge gets."""
    caller = Caller(cwd=str(room.checkout), environ={}, home=str(Path.home()), face="bridge")
    return Place(DataDir(room.data_dir), caller).call(tool, given).text


@pytest.fixture
def linked(room: Room) -> Room:
    room.ok("write-page", "-p", "notes/old.md", "-b", "# Old")
    room.ok("write-page", "-p", "notes/new.md", "-b", BODY)
    return room


def test_every_writing_answer_names_link_kinds_that_are_on_no_list(linked: Room) -> None:
    room = linked
    for words in (
        ("write-page", "-p", "notes/new.md", "-b", BODY + "more"),
        ("append", "notes/new.md", "-b", "again"),
        ("set", "notes/new.md", "--pin"),
    ):
        assert WARNING in room.run(*words).stderr
        assert any(WARNING in gap for gap in room.json(*words)["gaps"])
    assert WARNING in ask(room, "memory_write_page", path="notes/new.md", body=BODY)
    assert "praised-by: notes/old" in room.file("notes/new.md").read_text()
    assert room.json("write-page", "-p", "notes/old.md", "-b", "# Old, [[notes/new]]")["gaps"] == []


def test_a_link_from_elsewhere_is_shown_by_its_inverse_name(linked: Room) -> None:
    room = linked
    shown = "linked from: notes/new.md (praised_by of), notes/new.md (superseded_by)"
    assert shown in room.ok("read-page", "notes/old.md")
    assert shown in ask(room, "memory_read_page", path="notes/old.md")
    links = room.json("read-page", "notes/old.md")["pages"][0]["links"]
    assert [(link["kind"], link["reads"]) for link in links] == [
        ("praised_by", "praised_by of"),
        ("supersedes", "superseded_by"),
    ]
    assert "notes/old.md (supersedes)" in room.ok("read-page", "notes/new.md")
