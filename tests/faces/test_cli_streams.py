"""Standard streams that are closed, full, or left by their reader: no bug, no traceback, and a true word about it."""

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import forked
import pytest
from cli_room import Room

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="written for a POSIX shell")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")

FRESH = ("pages", "--version", "drain", "mcp-bridge", "nope --json")
"""What is asked of a new interpreter, which finds its streams and flushes them at its end; the others of a fork."""
PROGRAM = f"{shlex.quote(sys.executable)} -m ai_memory"
ANSWERS = [
    "pages",
    "pages --format table",
    "search zz",
    "--help",
    "--version",
    "status",
    "reindex",
    "completions bash",
    "nope --json",
]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def shell(line: str, room: Room) -> Ended:
    """What came of `ai-memory` in the line, which a shell reads; its stdin is empty."""
    line = line.replace("ai-memory", PROGRAM, 1)
    return ended(
        subprocess.run(
            ["sh", "-c", line],
            cwd=room.checkout,
            input="",
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    )


def redirected(words: str, way: str, room: Room) -> Ended:
    """What came of `ai-memory` with these words and its streams redirected in the way of a shell."""
    if words in FRESH:
        return shell(f"ai-memory {words} {way}", room)
    streams: dict[str, int] = {}
    for one in way.split():
        begin, sign, to = one.partition(">" if ">" in one else "<")
        name = "stdin" if sign == "<" else "stderr" if begin == "2" else "stdout"
        streams[name] = forked.CLOSED if to == "&-" else os.open(to, os.O_WRONLY)
    try:
        return ended(forked.run(shlex.split(words), cwd=room.checkout, **streams))
    finally:
        for stream in streams.values():
            if stream != forked.CLOSED:
                os.close(stream)


def left(words: str, room: Room) -> Ended:
    """What came of `ai-memory` with these words and a reader who left before its answer."""
    if words in FRESH:
        told = shell(f"{{ ai-memory {words}; echo $? >&2; }} | true", room)
        return Ended(int(last_line(told.err)), "", told.err)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return ended(forked.run(shlex.split(words), cwd=room.checkout, stdout=writing))
    finally:
        os.close(writing)


def ended(done: "subprocess.CompletedProcess[str] | forked.Done") -> Ended:
    """No way of ending is a bug's."""
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    assert done.returncode not in (70, 120), done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def filled(room: Room) -> Room:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A\n\n" + "word " * 20_000)
    return room


def last_line(text: str) -> str:
    return text.rstrip("\n").rpartition("\n")[2]


@pytest.mark.parametrize("words", ANSWERS)
def test_a_closed_stdout_is_named_and_ends_with_one(filled: Room, words: str) -> None:
    told = redirected(words, ">&-", filled)
    assert "stdout does not take the answer: it is closed" in told.err
    assert told.code == (2 if words.startswith("nope") else 1)


@needs_full
@pytest.mark.parametrize("words", ANSWERS)
def test_a_full_stdout_is_named_and_ends_with_one(filled: Room, words: str) -> None:
    told = redirected(words, ">/dev/full", filled)
    assert "error: stdout does not take the answer: No space left on device" in told.err
    assert told.code == (2 if words.startswith("nope") else 1)
    assert "data dir" not in told.err


@pytest.mark.parametrize("way", [">&-", pytest.param(">/dev/full", marks=needs_full)])
def test_a_write_whose_answer_cannot_be_told_says_that_it_is_done(filled: Room, way: str) -> None:
    told = redirected("write-page -p notes/b.md -b hello", way, filled)
    assert told.code == 1
    assert "; done all the same: created notes/b.md · version " in last_line(told.err)
    assert filled.file("notes/b.md").read_text() == "hello\n"
    told = redirected("write-page -p notes/b.md -b other --json", way, filled)
    assert "; done all the same: changed notes/b.md · version " in last_line(told.err)


@pytest.mark.parametrize("words", ANSWERS)
def test_a_reader_that_leaves_early_ends_a_call_quietly(filled: Room, words: str) -> None:
    told = left(words, filled)
    assert told.code == (2 if words.startswith("nope") else 0)
    assert "stdout" not in told.err


def test_a_write_whose_reader_left_is_done(filled: Room) -> None:
    assert left("write-page -p notes/b.md -b hello", filled).code == 0
    assert filled.file("notes/b.md").read_text() == "hello\n"


@pytest.mark.parametrize("words", ["write-page -p notes/b.md -b -", "write-page -p notes/b.md --file -"])
def test_a_closed_stdin_that_a_text_was_to_come_from_is_a_usage_fault(filled: Room, words: str) -> None:
    told = redirected(words, "<&-", filled)
    assert (told.code, told.out) == (2, "")
    assert told.err == "error: stdin is closed, so there is nothing to read from it\npass a text, or pipe one in\n"
    assert not filled.file("notes/b.md").exists()


@pytest.mark.parametrize("words", ["search zz", "status", "write-page -p notes/b.md -b x"])
@pytest.mark.parametrize("way", ["<&-", "2>&-", "<&- 2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_a_stream_that_no_answer_needs_may_be_missing(filled: Room, words: str, way: str) -> None:
    told = redirected(words, way, filled)
    assert told.code == 0
    assert told.out.strip()


@pytest.mark.parametrize("words", ["pages", "search zz", "--version", "--help", "nope", "mcp-bridge", "drain"])
def test_without_any_stream_a_call_ends_as_it_would_and_no_file_gets_its_words(filled: Room, words: str) -> None:
    told = redirected(words, "<&- >&- 2>&-", filled)
    assert told.code == {"nope": 2, "mcp-bridge": 0, "drain": 0}.get(words, 1)
    assert filled.ok("read-page", "notes/a.md").startswith("notes/a.md")
    assert filled.git("status", "--porcelain") == ""


def test_a_fault_goes_by_its_code_where_nobody_hears_it(filled: Room) -> None:
    assert redirected("read-page notes/none.md", "2>&-", filled) == Ended(3, "", "")
    told = redirected("read-page notes/none.md --json", ">&-", filled)
    assert told.code == 3
    assert "error: no page default/shop:notes/none.md" in told.err


def test_a_terminal_still_gets_its_lines(filled: Room) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "ai_memory", "pages"], cwd=filled.checkout, stdout=theirs, stderr=subprocess.DEVNULL
    ) as process:
        process.wait(timeout=60)
        assert b"notes/a.md" in os.read(ours, 10_000)
    os.close(ours)
    os.close(theirs)
