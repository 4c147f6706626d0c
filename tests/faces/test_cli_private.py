"""A project whose marker says `[recall] private = true`: it answers nobody who did not name it or stand in it."""

import pytest
from cli_room import Room

MARKER = "[recall]\nprivate = true\n"


def found(room: Room, *words: str) -> set[str]:
    return {f"{hit['project']}:{hit['path']}" for hit in room.json("search", "heron", *words)["hits"]}


@pytest.fixture
def diary(room: Room) -> Room:
    """The checkout's project is private; another one links to its page, and its page to that one's."""
    (room.checkout / ".ai-memory.toml").write_text(MARKER)
    room.ok("write-page", "-p", "notes/heron.md", "-b", "# Heron\n\nThe heron is mine. See [[mill:notes/mill.md]].")
    mill = ("--workspace", "default", "--project", "mill")
    room.ok("write-page", *mill, "-p", "notes/mill.md", "-b", "# Mill\n\nA heron. See [[shop:notes/heron.md]].")
    return room


def test_the_marker_stands_in_the_project_once_something_is_written(diary: Room) -> None:
    assert "private: true" in diary.file("_meta.md").read_text()
    rows = {row["project"]: row["private"] for row in diary.json("list-projects")["projects"]}
    assert rows == {"shop": True, "mill": False}


def test_it_answers_where_one_stands_in_it_or_names_it(diary: Room) -> None:
    assert found(diary) == {"shop:notes/heron.md"}
    assert found(diary, "--scope", "shop") == {"shop:notes/heron.md"}
    assert diary.json("read-page", "notes/heron.md")["pages"][0]["path"] == "notes/heron.md"


def test_nothing_over_all_projects_tells_of_it(diary: Room) -> None:
    diary.work()
    assert found(diary, "--global") == {"mill:notes/mill.md"}
    for command, noun in (
        ("recent", "pages"),
        ("pages", "pages"),
        ("sessions", "sessions"),
        ("handoff list", "handoffs"),
    ):
        rows = diary.json(*command.split(), "--all")[noun]
        assert {row["project"] for row in rows} <= {"mill"}, command


def test_pages_of_others_lead_not_into_it(diary: Room) -> None:
    mill = ("--workspace", "default", "--project", "mill", "notes/mill.md")
    assert diary.json("related", *mill)["pages"] == []
    assert [link["direction"] for link in diary.json("read-page", *mill)["pages"][0]["links"]] == ["out"]
    assert [row["path"] for row in diary.json("related", "notes/heron.md")["pages"]] == ["notes/mill.md"]


def test_a_marker_that_takes_it_back_makes_it_public_and_one_that_is_silent_does_not(diary: Room) -> None:
    marker = diary.checkout / ".ai-memory.toml"
    marker.unlink()
    diary.ok("write-page", "-p", "notes/b.md", "-b", "# B\n\nNothing.")
    assert found(diary, "--global") == {"mill:notes/mill.md"}
    marker.write_text(MARKER.replace("true", "false"))
    diary.ok("write-page", "-p", "notes/c.md", "-b", "# C\n\nNothing.")
    assert "private" not in diary.file("_meta.md").read_text()
    assert found(diary, "--global") == {"mill:notes/mill.md", "shop:notes/heron.md"}


def test_a_rebuilt_index_knows_it_and_a_session_of_hooks_is_enough(room: Room) -> None:
    room.work()
    room.ok("write-page", "-p", "notes/heron.md", "-b", "# Heron\n\nThe heron is mine.")
    assert found(room, "--global") == {"shop:notes/heron.md"}
    (room.checkout / ".ai-memory.toml").write_text(MARKER)
    session = "9d3f0a5e-1111-4222-8333-444455556666"
    room.tell("user-prompt", session=session, text="Mend the retry budget.")
    room.tell("session-end", session=session)
    room.drain()
    assert found(room, "--global") == set()
    for file in room.data_dir.glob("index-*.db*"):
        file.unlink()
    assert found(room, "--global") == set()


def test_default_global_looks_over_all_projects_where_none_is_named(room: Room) -> None:
    room.ok("write-page", "-p", "notes/heron.md", "-b", "# Heron\n\nThe heron is mine.")
    mill = ("--workspace", "default", "--project", "mill")
    room.ok("write-page", *mill, "-p", "notes/mill.md", "-b", "# Mill\n\nA heron.")
    assert found(room) == {"shop:notes/heron.md"}
    marker = room.checkout / ".ai-memory.toml"
    marker.write_text("[recall]\ndefault_global = true\n")
    assert found(room) == {"shop:notes/heron.md", "mill:notes/mill.md"}
    assert found(room, "--project", "shop") == {"shop:notes/heron.md"}
    assert {row["project"] for row in room.json("recent")["pages"]} == {"shop", "mill"}
    marker.write_text("[recall]\ndefault_global = true\nprivate = true\n")
    assert found(room) == {"shop:notes/heron.md"}
