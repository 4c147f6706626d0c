"""`edit-page`: one passage is replaced, all else stays byte for byte."""

from pathlib import Path

import pytest
from cli_room import Room

from ai_memory.bridge.calls import Place
from ai_memory.model import Caller
from ai_memory.paths import DataDir

TEXT = "---\ntitle: Retry  # ours\ntags: [http]\n---\n# Retry\n\nAt most 3 tries.\nThe client waits 3 s.\n"


@pytest.fixture
def page(room: Room) -> Path:
    room.ok("init")
    room.ok("write-page", "-p", "notes/a.md", "-b", TEXT)
    return room.file("notes/a.md")


def test_a_passage_is_replaced_and_all_else_stays(room: Room, page: Path) -> None:
    version = room.json("read-page", "notes/a.md")["pages"][0]["version"]
    done = room.json("edit-page", "notes/a.md", "--old", "3 tries", "--new", "5 tries", "--expected-version", version)
    assert (done["outcome"], done["scope"]["project"]) == ("changed", "shop")
    assert page.read_text() == TEXT.replace("3 tries", "5 tries")
    assert room.git("log", "-1", "--format=%s").strip() == "edit notes/a.md"
    assert room.git("status", "--porcelain") == ""


def test_a_passage_of_several_lines_goes(room: Room, page: Path) -> None:
    room.ok("edit-page", "notes/a.md", "--old", "\nAt most 3 tries.\nThe", "--new", "\nThe")
    assert page.read_text() == TEXT.replace("At most 3 tries.\n", "")
    room.ok("edit-page", "notes/a.md", "--old", "The client waits 3 s.\n", "--new", "")
    assert page.read_text().endswith("# Retry\n\n")


@pytest.mark.parametrize(
    ("old", "code", "told"),
    [
        ("4 tries", 5, "does not hold"),
        ("3", 5, "stands 2 times in the body of default/shop:notes/a.md, in lines 3, 4 of it"),
        ("title: Retry", 5, "does not hold"),
        ("", 2, "old is empty"),
    ],
)
def test_what_does_not_stand_there_once_is_refused(room: Room, page: Path, old: str, code: int, told: str) -> None:
    answer = room.json("edit-page", "notes/a.md", "--old", old, "--new", "x", code=code)
    assert told in answer["error"]["message"]
    assert page.read_text() == TEXT


def test_passages_that_overlap_are_two(room: Room) -> None:
    room.ok("write-page", "-p", "notes/b.md", "-b", "aaa\n")
    assert (
        "stands 2 times"
        in room.json("edit-page", "notes/b.md", "--old", "aa", "--new", "b", code=5)["error"]["message"]
    )


def test_another_version_and_a_page_that_is_not_there_are_refused(room: Room, page: Path) -> None:
    words = ("--old", "3 tries", "--new", "5 tries")
    assert room.json("edit-page", "notes/a.md", *words, "--expected-version", "abcdef0", code=5)
    assert room.json("edit-page", "notes/none.md", *words, code=3)
    assert page.read_text() == TEXT


def test_line_ends_of_the_page_are_kept(room: Room, page: Path) -> None:
    page.write_bytes(b"# A\r\n\r\nOne\r\nTwo\r\n")
    room.ok("edit-page", "notes/a.md", "--old", "One\nTwo", "--new", "Three\nFour")
    assert page.read_bytes() == b"# A\r\n\r\nThree\r\nFour\r\n"


def test_a_secret_in_the_new_passage_is_labelled_and_one_that_stood_there_stays(room: Room, page: Path) -> None:
    secret = "ghp_" + "aB3" * 12
    page.write_text(f"# A\n\nOld {secret}\nNext\n")
    answer = room.json("edit-page", "notes/a.md", "--old", "Next", "--new", secret)
    assert page.read_text() == f"# A\n\nOld {secret}\n[REDACTED:github-token]\n"
    assert "a secret was replaced by a label before the page was written" in answer["gaps"]


def test_the_tool_takes_the_alias_of_the_version_and_the_agent_is_told(room: Room, page: Path) -> None:
    caller = Caller(cwd=str(room.checkout), environ={}, home=str(Path.home()), face="bridge", agent="codex")
    given = {"path": "notes/a.md", "old": "3 tries", "new": "5 tries"}
    here = Place(DataDir(room.data_dir), caller)
    assert here.call("memory_edit_page", given | {"expected_page_id": "abcdef0"}).is_error
    assert here.call("memory_edit_page", given).text.startswith("changed notes/a.md")
    assert "Agent: codex" in room.git("log", "-1", "--format=%B")
    assert page.read_text() == TEXT.replace("3 tries", "5 tries")
