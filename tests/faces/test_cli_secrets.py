"""Whatever is written on purpose loses its secrets before it reaches the disk; stored bytes stay."""

import json
import random
import string
from pathlib import Path

import pytest
from cli_room import Room

from ai_memory.text.sanitize import sanitize_edit


def token() -> str:
    """A made-up token in the shape of a forge's, made at run time so that no scanner finds one here."""
    letters = random.Random(7).choices(string.ascii_letters + string.digits, k=36)
    return "gh" + "p_" + "".join(letters)


def holds(folder: Path, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_write_append_set_and_title_keep_a_token_off_the_disk(room: Room) -> None:
    room.ok("write-page", "-p", "notes/key.md", "-b", f"# Key\n\nuse {token()} here")
    answer = room.run("append", "notes/key.md", "-b", f"again {token()}")
    room.ok("write-page", "--title", f"The key {token()}", "-b", "text")
    room.ok("set", "notes/key.md", "--title", f"K {token()}")
    assert "a secret was replaced" in answer.output
    assert not holds(room.data_dir, token())
    assert token() not in room.git("log", "-p", "--all")
    assert "[REDACTED:github-token]" in room.ok("read-page", "notes/key.md")


@pytest.mark.parametrize(
    "words",
    [
        ("write-page", "-p", "notes/@.md", "-b", "x"),
        ("write-page", "-p", "notes/a.md", "-b", "x", "--kind", "@"),
        ("write-page", "-p", "notes/a.md", "-b", "x", "--tag", "@"),
        ("write-page", "-p", "notes/a.md", "-b", "x", "--session", "@"),
        ("write-page", "-p", "notes/a.md", "-b", "x", "--expires-at", "@"),
        ("write-page", "-p", "notes/a.md", "-b", "x", "--project", "@"),
        ("write-page", "-p", "@/shop:notes/a.md", "-b", "x"),
        ("append", "notes/@.md", "-b", "x"),
        ("set", "notes/first.md", "--tag", "+@"),
        ("set", "notes/first.md", "--alias", "+@"),
        ("set", "notes/first.md", "--kind", "@"),
        ("move", "notes/first.md", "notes/@.md"),
        ("move", "notes/first.md", "@:notes/a.md"),
        ("config", "set", "search.fts.stopwords", '["@"]'),
    ],
)
def test_a_name_that_holds_a_secret_is_refused_in_one_line_that_does_not_repeat_it(
    room: Room, words: tuple[str, ...]
) -> None:
    room.ok("write-page", "-p", "notes/first.md", "-b", "# First")
    head = room.git("rev-parse", "HEAD")
    given = [word.replace("@", token()) for word in words]
    error = room.json(*given, code=1)["error"]
    assert (error["code"], "looks like a secret (github-token)" in error["message"]) == ("invalid", True)
    assert token() not in str(error)
    assert room.git("rev-parse", "HEAD") == head
    assert not holds(room.data_dir, token())


def test_a_name_that_the_allowlist_knows_is_no_secret(room: Room) -> None:
    room.ok("config", "set", "sanitize.allowlist", json.dumps([token()]))
    room.ok("write-page", "-p", f"notes/{token()}.md", "-b", "x")


def test_a_page_whose_name_holds_a_secret_can_be_moved_away_and_deleted(room: Room) -> None:
    room.ok("write-page", "-p", "notes/first.md", "-b", "# First")
    for name in (f"{token()}-1.md", f"{token()}-2.md"):
        room.file(f"notes/{name}").write_text("# By hand\n")
    room.ok("move", f"notes/{token()}-1.md", "notes/second.md")
    room.ok("delete-page", f"notes/{token()}-2.md")
    assert sorted(path.name for path in room.file("notes").iterdir()) == ["first.md", "second.md"]
    assert token() not in room.git("log", "--format=%B")


def test_control_characters_in_a_session_name_reach_no_trailer(room: Room) -> None:
    error = room.json("write-page", "-p", "notes/a.md", "-b", "x", "--session", "s\x1b[2J\nX: y", code=1)["error"]
    assert error["code"] == "invalid"
    assert error["message"] == "a session id holds the character U+001B at character 2, which no page may hold"


def test_a_title_that_is_a_secret_becomes_a_label(room: Room) -> None:
    label = "[REDACTED:github-token]"
    room.ok("write-page", "-p", "notes/a.md", "--title", token(), "-b", "text")
    assert room.json("read-page", "notes/a.md")["pages"][0]["title"] == label
    answer = room.json("set", "notes/a.md", "--title", f"{token()} again")
    assert answer["pages"][0]["title"] == f"{label} again"
    assert "a secret was replaced" in answer["gaps"][0]
    assert 'title: "[REDACTED' in room.file("notes/a.md").read_text()


def test_a_secret_in_somebodys_own_frontmatter_leaves_valid_yaml(room: Room) -> None:
    secret, label = token(), "[REDACTED:github-token]"
    block = (
        f"title: {secret} # mine\nkind: {secret}\ntags: [{secret}, b, 'c {secret}']\nown:\n  {secret}: [x, {secret}]\n"
    )
    room.ok("write-page", "-p", "notes/a.md", "-b", f"---\n{block}---\nbody {secret}\n")
    (found,) = room.json("pages")["pages"]
    page = room.json("read-page", found["path"])["pages"][0]
    assert (page["title"], page["kind"], page["tags"]) == (label, label.lower(), [label, "b", f"c {label}"])
    assert page["frontmatter"]["own"] == {label: ["x", label]}
    assert "# mine" in room.file(found["path"]).read_text()
    assert not holds(room.data_dir, secret)


def test_a_folder_named_like_a_secret_gives_its_project_another_name_once(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (token(), f"{token()}x"):
        (room.checkout / folder).mkdir()
        monkeypatch.chdir(room.checkout / folder)
        for path in ("notes/a.md", "notes/b.md"):
            room.ok("write-page", "-p", path, "-b", "x")
    projects = room.json("list-projects")["projects"]
    assert [project["pages"] for project in projects] == [2, 2]
    assert not holds(room.data_dir, token())
    assert not holds(room.data_dir, token().lower())


def test_a_page_may_speak_of_private_tags(room: Room) -> None:
    room.ok("write-page", "-p", "notes/tags.md", "-b", "Text in `<private>` is dropped by hooks.\n\nThe rest stays.")
    assert "The rest stays." in room.ok("read-page", "notes/tags.md")


def test_stored_lines_keep_their_bytes_when_another_line_is_new() -> None:
    before = f"old {token()}\nline\n"
    after = f"old {token()}\nline\nnew {token()}\n"
    kept = sanitize_edit(before, after)
    assert kept.startswith(before)
    assert kept.count(token()) == 1
