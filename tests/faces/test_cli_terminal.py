"""On a real terminal: nothing stored, named or told moves the cursor, turns text around, or is taken for markup."""

import errno
import os
import re
import select
import time
from pathlib import Path

import forked
import pytest
from cli_room import Room

pty = pytest.importorskip("pty")

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u2066 [bold]loud[/bold] [/] [link=x] {0} %s"
MARKUP = "[bold]loud[/bold] [/] [link=x] {0} %s"
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
STYLE = re.compile(r"\x1b\[[0-9;]*m")
"""Our own colours."""


def seen(*words: str, cwd: Path, **more: str) -> tuple[int, str]:
    """Exit code of the command, and all that a terminal gets of stdout and stderr."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "400", **more}
    child = forked.start([*words], cwd=cwd, env=environment, streams=(follower, follower, follower))
    os.close(follower)
    found = bytearray()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([leader], [], [], 1)[0]:
            try:
                part = os.read(leader, 65_536)
            except OSError as fault:
                assert fault.errno == errno.EIO  # the other side is closed
                break
            if not part:
                break
            found += part
    os.close(leader)
    return forked.wait(child), STYLE.sub("", found.decode("utf-8").replace("\r\n", "\n"))


@pytest.fixture
def hostile(room: Room) -> Room:
    """A page written by hand whose title, tag, heading and body are hostile."""
    room.ok("init")
    room.ok("write-page", "notes/till.md", "--body", "# Till\n\nA till.")
    quoted = HOSTILE.replace("\x1b", "\\e").replace("\x07", "\\a").replace("\x9b", "\\x9b")
    text = f'---\ntitle: "{quoted}"\ntags: ["{quoted}"]\n---\n\n# {HOSTILE}\n\nTill {HOSTILE}\n'
    room.file("notes/odd.md").write_text(text, encoding="utf-8")
    room.ok("read-page", "notes/odd.md")  # takes it in
    (room.data_dir / "logs").mkdir(exist_ok=True)
    log = room.data_dir / "logs" / time.strftime("%Y-%m-%d.log", time.gmtime())
    (room.data_dir / "odd\x1b[2J\u202egnp").write_text("")
    log.write_text(f"2026-11-30T09:00:00Z 1 drain: {HOSTILE}\n", encoding="utf-8")
    return room


SHOWING = [
    ("search", "till"),
    ("read-page", "notes/odd.md"),
    ("recent",),
    ("pages",),
    ("pages", "--format", "table"),
    ("search", "till", "--format", "table"),
    ("history", "notes/odd.md"),
    ("list-projects",),
    ("where",),
    ("status",),
    ("size",),
    ("logs",),
    ("search", "till", "--json"),
    ("read-page", "notes/odd.md", "--json"),
]


@pytest.mark.parametrize("words", SHOWING, ids=" ".join)
def test_what_is_stored_reaches_no_terminal_as_it_is(hostile: Room, words: tuple[str, ...]) -> None:
    code, text = seen(*words, cwd=hostile.checkout)
    assert code == 0, text
    assert FORBIDDEN.findall(text) == []


@pytest.mark.parametrize(
    "words", [("read-page", "notes/odd.md"), ("pages",), ("recent",), ("search", "till")], ids=" ".join
)
def test_markup_in_a_title_is_shown_as_it_stands(hostile: Room, words: tuple[str, ...]) -> None:
    code, text = seen(*words, cwd=hostile.checkout)
    assert (code, MARKUP in " ".join(text.split())) == (0, True), text


@pytest.mark.parametrize(
    "words",
    [
        ("read-page", f"notes/{HOSTILE}.md"),
        ("write-page", f"notes/{HOSTILE}.md", "--body", "x"),
        ("search", HOSTILE, "--project", HOSTILE),
        ("history", HOSTILE),
        (HOSTILE,),
        ("search", f"--{HOSTILE}"),
        ("search", "--limit", HOSTILE, "x"),
        ("config", "get", HOSTILE),
        ("config", "set", "capture.prompts", HOSTILE),
        ("--data-dir", f"/dev/null/{HOSTILE}", "init"),
        ("--lock-timeout", HOSTILE, "where"),
        ("completions", HOSTILE),
        ("drain", f"--{HOSTILE}"),
        ("mcp-bridge", f"--{HOSTILE}"),
    ],
    ids=[
        "read",
        "write",
        "search",
        "history",
        "command",
        "flag",
        "number",
        "get",
        "set",
        "dir",
        "timeout",
        "shell",
        "drain",
        "bridge",
    ],
)
def test_an_error_shows_what_it_names_harmlessly(hostile: Room, words: tuple[str, ...]) -> None:
    code, text = seen(*words, cwd=hostile.checkout)
    assert (code in (0, 1, 2, 3, 6), "Traceback" in text) == (True, False), text
    assert FORBIDDEN.findall(text) == []


def test_a_folder_with_such_a_name_is_told_harmlessly(hostile: Room) -> None:
    odd = hostile.checkout / HOSTILE.replace("/", "|")
    odd.mkdir()
    for words in (("where",), ("status",), ("pages",)):
        code, text = seen(*words, cwd=odd)
        assert (code, FORBIDDEN.findall(text)) == (0, []), text


@pytest.mark.parametrize("command", ["drain", "init", "status"])
def test_a_data_dir_with_such_a_name_is_told_harmlessly(hostile: Room, command: str) -> None:
    data = hostile.checkout / HOSTILE.replace("/", "|")
    data.mkdir()
    (data / "spool").write_bytes(b"")
    (data / "locks").write_bytes(b"")
    (data / "wiki").write_bytes(b"")
    _, text = seen(command, cwd=hostile.checkout, AI_MEMORY_DATA_DIR=str(data), COLUMNS="80")
    assert FORBIDDEN.findall(text) == []


def test_a_drain_names_a_fault_harmlessly(hostile: Room) -> None:
    data = hostile.checkout / HOSTILE.replace("/", "|")
    hostile.data_dir.rename(data)
    (data / "spool").mkdir(exist_ok=True)
    (data / "pending").write_bytes(b"garbage")
    code, text = seen("drain", cwd=hostile.checkout, AI_MEMORY_DATA_DIR=str(data))
    assert code == 1
    assert "The redo log" in text
    assert FORBIDDEN.findall(text) == []
