"""Pages with values that no one foresaw: refused before they are written, harmless when a person saved them."""

import os
import subprocess
import sys

import pytest
from cli_room import Room

EVERY = (
    ("pages",),
    ("recent",),
    ("search", "hello"),
    ("status",),
    ("reindex",),
    ("list-projects",),
    ("history", "notes/good.md"),
    ("read-page", "notes/good.md"),
    ("write-page", "-p", "notes/next.md", "-b", "x"),
)
OUTSIDE = ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00")


def everything_goes_on(room: Room) -> None:
    for words in EVERY:
        room.ok(*words)
        room.json(*words)


def test_a_huge_number_is_kept_as_it_was_written(room: Room) -> None:
    number = "0x" + "f" * 5000
    room.ok("write-page", "-p", "notes/good.md", "-b", f"---\nn: {number}\n---\nhello")
    assert room.json("read-page", "notes/good.md")["pages"][0]["frontmatter"] == {"n": number}
    everything_goes_on(room)


@pytest.mark.parametrize("value", [r'"\ud800"', "!!binary aGVsbG8=", "{[a]: b}", "[" * 2000 + "]" * 2000])
def test_a_value_that_cannot_be_stored_is_refused_with_file_and_line(room: Room, value: str) -> None:
    room.ok("write-page", "-p", "notes/good.md", "-b", "hello")
    before = room.git("rev-parse", "HEAD")
    answer = room.json("write-page", "-p", "notes/n.md", "-b", f"---\na: 1\nn: {value}\n---\nhello", code=1)
    assert answer["error"]["message"].startswith("notes/n.md, line 3: ")
    assert answer["error"]["hint"]
    assert room.git("rev-parse", "HEAD") == before
    assert not room.file("notes/n.md").exists()


def test_a_page_by_hand_that_cannot_be_stored_is_plain_text_and_harms_nothing(room: Room) -> None:
    room.ok("write-page", "-p", "notes/good.md", "-b", "hello")
    room.file("notes/hand.md").write_text('---\ntitle: T\nn: "\\ud800"\n---\nbyhand\n', encoding="utf-8")
    room.file("notes/huge.md").write_text(f"---\nn: 0b{'1' * 5000}\nm: 1{':59' * 999}\n---\nhuge\n", encoding="utf-8")
    everything_goes_on(room)
    assert room.json("search", "byhand")["hits"][0]["path"] == "notes/hand.md"
    assert room.json("read-page", "notes/hand.md")["pages"][0]["title"] == "hand"
    assert "notes/hand.md, line 3: " in room.ok("status")


@pytest.mark.parametrize("time", OUTSIDE)
def test_a_time_outside_of_the_calendar_is_refused_at_the_edge(room: Room, time: str) -> None:
    room.ok("write-page", "-p", "notes/good.md", "-b", "hello")
    for words in (
        ("write-page", "-p", "notes/n.md", "-b", "x", "--expires-at", time),
        ("write-page", "-p", "notes/n.md", "-b", f"---\nexpires_at: {time}\n---\nx"),
        ("set", "notes/good.md", "--expires-at", time),
        ("pages", "--since", time),
    ):
        assert "no such time" in room.json(*words, code=1)["error"]["message"]
    assert not room.file("notes/n.md").exists()


@pytest.mark.parametrize("time", OUTSIDE)
def test_a_time_by_hand_outside_of_the_calendar_never_fades_the_page_and_harms_nothing(room: Room, time: str) -> None:
    room.ok("write-page", "-p", "notes/good.md", "-b", "hello")
    room.file("notes/good.md").write_text(f"---\nexpires_at: {time}\n---\nhello\n", encoding="utf-8")
    everything_goes_on(room)
    assert room.json("read-page", "notes/good.md")["pages"][0]["expires_at"] is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep no file name that is not Unicode")
def test_a_commit_by_hand_of_odd_names_and_dates_harms_nothing(room: Room) -> None:
    room.ok("write-page", "-p", "notes/good.md", "-b", "hello")
    with open(os.fsencode(room.file("notes")) + b"/a\xff.md", "wb") as file:
        file.write(b"odd")
    room.git("add", ".")
    environment = {**os.environ, "GIT_COMMITTER_DATE": "@99999999999999 +0000"}
    who = ["-c", "user.name=p", "-c", "user.email=p@example.org"]
    wiki = ["git", "-C", str(room.data_dir / "wiki")]
    subprocess.run([*wiki, *who, "commit", "-qm", "odd"], env=environment, check=True)
    everything_goes_on(room)
    assert {row["path"] for row in room.json("pages")["pages"]} == {"notes/good.md", "notes/next.md"}
    assert any("its name is not UTF-8" in gap for gap in room.json("pages")["gaps"])
