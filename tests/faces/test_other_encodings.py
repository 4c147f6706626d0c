"""A page that somebody saved in another encoding: nothing that reads it as text may write it back."""

from pathlib import Path

import pytest
from cli_room import Room

LATIN = b"# Caf\xe9\n\nThe till of the caf\xe9 rounds.\n"


@pytest.fixture
def page(room: Room) -> Path:
    room.ok("write-page", "notes/other.md", "-b", "# Other\n\nSee [[notes/cafe.md]].\n")
    (project,) = (path for path in (room.data_dir / "wiki").glob("*/*") if path.is_dir() and ".git" not in path.parts)
    path = project / "notes" / "cafe.md"
    path.write_bytes(LATIN)
    room.ok("status")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("append", "notes/cafe.md", "-b", "More."),
        ("set", "notes/cafe.md", "--tag", "+till"),
        ("set", "notes/cafe.md", "--title", "Cafe"),
        ("write-page", "notes/cafe.md", "-b", "# Cafe\n\nAnew.\n"),
    ],
    ids=lambda words: words[0],
)
def test_a_change_of_its_text_is_refused_and_names_the_byte(room: Room, page: Path, words: tuple[str, ...]) -> None:
    answer = room.json(*words, code=5)
    assert answer["error"]["message"] == "notes/cafe.md is not UTF-8: byte 0xe9 in line 1."
    assert "iconv" in answer["error"]["hint"]
    assert page.read_bytes() == LATIN
    assert room.git("status", "--porcelain") == ""


def test_an_editor_does_not_take_it_either(room: Room, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "sh -c 'echo more >> \"$0\"'")
    assert room.run("edit", "notes/cafe.md").exit_code == 5
    assert page.read_bytes() == LATIN


def test_it_moves_and_goes_with_all_its_bytes(room: Room, page: Path) -> None:
    room.ok("move", "notes/cafe.md", "notes/bistro.md")
    assert page.with_name("bistro.md").read_bytes() == LATIN
    assert "bistro" in room.ok("read-page", "notes/other.md")
    room.ok("delete-page", "notes/bistro.md")
    assert room.git("status", "--porcelain") == ""


def test_a_page_made_by_hand_is_what_the_editor_shows(room: Room, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = page.with_name("by-hand.md")
    made.write_text("# By hand\n\nFirst.\n")
    monkeypatch.setenv("VISUAL", "sh -c 'echo Second. >> \"$0\"'")
    room.ok("edit", "notes/by-hand.md")
    assert made.read_text() == "# By hand\n\nFirst.\nSecond.\n"
