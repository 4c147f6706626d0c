"""What is given at the command line and does not fit: refused before anything is done, with a hint, in few words."""

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from cli_room import Room
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.bridge.options import BadUsage, parse
from ai_memory.errors import MOST_ECHOED, MemoryFault, echo
from ai_memory.store.lock import WriterLock
from ai_memory.text.limits import LIMITS
from ai_memory.text.names import check_name

WRITE = ("write-page", "-p", "notes/a.md", "-b", "x")
BODY_BYTES = LIMITS["body"].most


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((*WRITE, "--tag", ""), 2, "a tag is empty"),
        ((*WRITE, "--tag", " "), 2, "a tag is empty"),
        ((*WRITE, "--tag", "a\nb"), 1, "a tag holds the character U+000A"),
        ((*WRITE, "--kind", "a\nb"), 1, "a kind holds the character U+000A"),
        ((*WRITE, "--title", "a\nb"), 1, "a title holds the character U+000A"),
        ((*WRITE, "--kind", "k" * 65), 1, "a kind has 65 characters, at most 64"),
        ((*WRITE, "--session", "s" * 5000), 1, "a session id has 5,000 characters, at most 200"),
        ((*WRITE, "--session", "a\nb"), 1, "a session id holds the character U+000A"),
        (("set", "notes/old.md", "--tag", "+a\nb"), 1, "a tag holds the character U+000A"),
        (("set", "notes/old.md", "--alias", "a\nb"), 1, "an alias holds the character U+000A"),
        (("set", "notes/old.md", "--kind", "a\nb"), 1, "a kind holds the character U+000A"),
        ((*WRITE[:2], "notes/old.md", "-b", "x", "--expected-version", "a" * 41), 1, "is no version"),
        (("list-projects", "--workspace", ".."), 1, "not a workspace name: '..'"),
        ((*WRITE, "--tier", "semantc"), 2, "tier is one of"),
        (("recent", "-n", "101"), 2, "limit is at most 100, not 101"),
        (("recent", "-n", "99999999999999999999"), 2, "limit is at most 100, not 99999999999999999999"),
        (("recent", "-n", "9" * 5000), 2, "limit is at most 100, not one of over 80 digits"),
        (("recent", "-n", "many"), 2, "limit is a whole number, not 'many'"),
        (("pages", "--offset", "9223372036854775808"), 2, "offset is at most 9223372036854775807"),
        (("write-page", "-p", "notes/a.md"), 2, "body is missing: markdown"),
        (("history",), 2, "path is missing"),
        (("read-page", "\udcff"), 2, "path is not valid UTF-8"),
        (("write-page", "-p", "notes/a.md", "--file", "/nonexist"), 2, "cannot read '/nonexist'"),
        (("recent", "--after", "x" * 5000), 2, "is no cursor"),
        (("recent", "--after", "x" * 9000), 2, "after has 9,000 characters, at most 8,192"),
        ((*WRITE, "--project", ".."), 2, "not a project name: '..'"),
        (("x" * 5000,), 2, "no command"),
        (("recent", "--format", "x" * 5000), 2, "--format is one of"),
        (("config", "get", "x" * 5000), 3, "no setting"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_what_does_not_fit_is_refused_with_a_hint_in_few_words(
    room: Room, words: tuple[str, ...], code: int, message: str
) -> None:
    room.ok("write-page", "-p", "notes/old.md", "-b", "old")
    error = room.json(*words, code=code)["error"]
    assert message in error["message"]
    assert error["hint"]
    assert len(error["message"]) < 300
    assert not room.file("notes/a.md").exists()


def test_a_version_has_seven_to_forty_digits(room: Room) -> None:
    version = room.json(*WRITE)["pages"][0]["version"]
    for length in (7, 12, 40):
        assert room.json(*WRITE[:4], f"{length}", "--expected-version", version[:length])["outcome"] == "changed"
        version = room.json("read-page", "notes/a.md")["pages"][0]["version"]
    for wrong in (version[:6], f"{version}0"):
        assert "7 to 40 hex digits" in room.json(*WRITE, "--expected-version", wrong, code=1)["error"]["hint"]


def test_an_offset_of_any_size_is_exact(room: Room) -> None:
    assert room.json("pages", "--offset", "9223372036854775807")["pages"] == []


@pytest.mark.parametrize("length", [1, MOST_ECHOED, MOST_ECHOED + 1, 5000])
def test_a_message_quotes_no_more_than_eighty_characters(length: int) -> None:
    assert len(echo("x" * length)) <= MOST_ECHOED + 2
    assert len(MemoryFault("y" * length, hint="z" * length).message) <= 1000


# --- addresses ---


def test_a_colon_in_a_path_begins_no_project_unseen(room: Room) -> None:
    error = room.json("write-page", "-p", "notes/x:y.md", "-b", "x", code=2)["error"]
    assert error["message"] == "there is no project notes/x, which 'notes/x:y.md' names"
    assert "pass path 'y.md' with --workspace notes --project x" in error["hint"]
    assert "if the ':' belongs to the path" in error["hint"]
    room.ok(*WRITE)
    assert room.json("move", "notes/a.md", "notes/x:y.md", code=2)["error"]["message"].startswith("there is no project")
    assert [row["project"] for row in room.json("list-projects")["projects"]] == ["shop"]


def test_an_address_of_a_project_that_exists_is_taken(room: Room) -> None:
    room.ok("write-page", "-p", "y.md", "--workspace", "notes", "--project", "x", "-b", "x")
    assert room.json("write-page", "-p", "notes/x:y.md", "-b", "z")["outcome"] == "changed"
    assert room.json("read-page", "notes/x:y.md")["scope"]["project"] == "x"


@pytest.mark.parametrize("path", ["Notes/x:y.md", "notes/Re: x.md", "a/b/c:d.md"])
def test_a_colon_behind_what_no_names_could_be_belongs_to_the_path(room: Room, path: str) -> None:
    error = room.json("write-page", "-p", path, "-b", "x", code=1)["error"]
    assert "it holds ':', which Windows cannot store" in error["message"]
    if sys.platform != "win32":
        room.ok(*WRITE)
        file = room.file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# By hand\n")
        assert room.run("read-page", path).exit_code in (0, 3)  # looked for as a path, with no word about names


@pytest.mark.parametrize("word", ["..", "a/b", "A", "", "x" * 101, "_other", ".a"])
@pytest.mark.parametrize("flag", ["--project", "--workspace"])
def test_the_bridge_refuses_a_scope_that_no_name_could_be(flag: str, word: str) -> None:
    with pytest.raises(BadUsage):
        parse([flag, word])


@given(st.one_of(st.from_regex(r"\A_?[a-z0-9][a-z0-9._-]{0,99}\Z"), st.text(), st.just("_profile.me")))
def test_the_bridge_takes_every_name_that_a_call_may_give(word: str) -> None:
    for what in ("project", "workspace"):
        try:
            check_name(word, what=what)
        except MemoryFault:
            continue
        options = parse([f"--{what}", word])
        assert options is not None
        assert getattr(options, what) == word


# --- bodies ---


@pytest.mark.parametrize("content", ["", "\n", " \n\t\n"])
def test_an_empty_text_from_outside_empties_no_page(room: Room, content: str) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "kept")
    Path("empty.md").write_text(content)
    for words in (("-b", "-"), ("--file", "-"), ("--file", "empty.md")):
        error = room.json("write-page", "-p", "notes/a.md", *words, code=2, stdin=content)["error"]
        assert error["message"].endswith("is empty")
        assert "-b ''" in error["hint"]
    assert room.file("notes/a.md").read_text() == "kept\n"
    room.ok("write-page", "-p", "notes/a.md", "-b", "")
    assert room.file("notes/a.md").read_text() == ""


def big(size: int) -> str:
    return ("password = hunter2 " * (size // 19 + 1))[:size]


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_body_of_exactly_the_limit_is_taken_and_its_final_newline_is_not_counted(room: Room, end: str) -> None:
    body = "word " * (BODY_BYTES // 5) + "x" * (BODY_BYTES % 5)
    Path("big.md").write_text(body + end)
    room.ok("write-page", "-p", "notes/big.md", "--file", "big.md")
    assert room.file("notes/big.md").read_text() == body + "\n"
    Path("big.md").write_text(f"{body}x{end}")
    error = room.json("write-page", "-p", "notes/big.md", "--file", "big.md", code=1)["error"]
    assert "at most 1,048,576 " in error["message"]


@pytest.mark.parametrize("size", [BODY_BYTES + 1, 20_000_000])
def test_a_body_that_is_too_large_is_refused_before_anything_is_done(room: Room, size: int) -> None:
    room.ok(*WRITE)
    Path("big.md").write_text(big(size))
    with WriterLock(room.data_dir / "locks", command="another").held(1):
        for words in (("write-page", "-p", "notes/a.md"), ("write-page", "-p", "new.md"), ("append", "notes/a.md")):
            started = time.process_time()
            error = room.json(*words, "--file", "big.md", "--lock-timeout", "0", code=1)["error"]
            assert "at most 1,048,576 " in error["message"]
            assert "hunter2" not in error["message"]
            assert error["hint"]
            assert time.process_time() - started < 1  # scrubbing as much takes several seconds


def test_no_more_is_read_of_a_stream_than_a_page_can_hold(room: Room) -> None:
    command = [sys.executable, "-m", "ai_memory", "write-page", "-p", "notes/a.md", "-b", "-", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=room.checkout) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with pytest.raises(BrokenPipeError):
            for _ in range(1_000):
                process.stdin.write(b"x" * 1_000_000)
        error = json.loads(process.stdout.read())["error"]
        with suppress(BrokenPipeError):
            process.stdin.close()
    assert error["message"] == "stdin is longer than a page: a body has at most 1,048,576 bytes"
    assert process.returncode == 1


def test_a_body_beside_its_frontmatter_may_have_all_its_bytes(room: Room) -> None:
    block = f"---\nx: {'y' * 60_000}\n---\n"
    Path("big.md").write_text(block + "z" * (BODY_BYTES - 1) + "\n")
    room.ok("write-page", "-p", "notes/a.md", "--file", "big.md")
    assert room.file("notes/a.md").stat().st_size == len(block) + BODY_BYTES
    assert room.json("append", "notes/a.md", "-b", "more", code=1)["error"]["message"].startswith("a body has 1,048,5")
    room.ok("set", "notes/a.md", "--tag", "+big")


# --- what was taken out ---


@pytest.mark.parametrize(
    ("body", "notes"),
    [
        ("plain", []),
        ("a\u202eb", ["a control character was removed"]),
        ("a\u202eb\u2066c", ["2 control characters were removed"]),
        ("ghp_" + "a1B2" * 9, ["a secret was replaced by a label"]),
        (f"ghp_{'a1B2' * 9} and ghp_{'c3D4' * 9}", ["2 secrets were replaced by labels"]),
        ("\u202eghp_" + "a1B2" * 9, ["a secret was replaced by a label", "a control character was removed"]),
        ("[REDACTED:github-token] \u202e", ["a control character was removed"]),
    ],
    ids=["nothing", "control", "controls", "secret", "secrets", "both", "a label before"],
)
def test_what_was_taken_out_of_a_page_is_said_and_counted(room: Room, body: str, notes: list[str]) -> None:
    wanted = [f"{note} before the page was written" for note in notes]
    assert room.json("write-page", "-p", "notes/a.md", "-b", body)["gaps"] == wanted
    room.ok("write-page", "-p", "notes/b.md", "-b", "text")
    assert room.json("append", "notes/b.md", "-b", body)["gaps"] == wanted
    title = body.partition(" and ")[0]
    if len(notes) < 2 and title == body:
        assert room.json("set", "notes/b.md", "--title", title)["gaps"] == wanted
