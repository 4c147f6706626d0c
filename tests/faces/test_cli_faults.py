"""What goes wrong at the command line: codes, words, and nothing left behind."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_room import Room

from ai_memory.cli.commands import ROWS, Command
from ai_memory.cli.faults import guarded
from ai_memory.errors import (
    Conflict,
    LockBusy,
    MemoryFault,
    NotFound,
    NotWritten,
    Recorded,
    RefusedScope,
    StoreFault,
    UsageFault,
)
from ai_memory.store.lock import WriterLock

READERS = [
    ("recent",),
    ("pages",),
    ("status",),
    ("status", "--line"),
    ("where",),
    ("list-projects",),
    ("logs",),
    ("path",),
    ("config", "show"),
    ("config", "path"),
    ("read-page", "notes/none.md"),
    ("history", "notes/none.md"),
    ("delete-page", "notes/none.md"),
    ("reindex",),
]


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_what_only_reads_creates_nothing(room: Room, words: tuple[str, ...]) -> None:
    assert room.run(*words).exit_code in (0, 3)
    assert not room.data_dir.exists()
    assert list(room.checkout.iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "exit_code", "code"),
    [
        (MemoryFault("m", hint="h"), 1, "invalid"),
        (UsageFault("m", hint="h"), 2, "invalid"),
        (NotFound("m", hint="h"), 3, "not_found"),
        (LockBusy("m", hint="h"), 4, "busy"),
        (Conflict("m", hint="h"), 5, "conflict"),
        (RefusedScope("m", hint="h"), 6, "refused_scope"),
        (StoreFault("m", hint="h"), 1, "internal"),
        (Recorded("m", hint="h"), 1, "internal"),
        (NotWritten("m", "h"), 1, "internal"),
        (OSError(28, "No space left on device", "/x"), 1, "internal"),
        (OSError(27, "File too large"), 1, "internal"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_fault_has_its_exit_code_and_its_json_code(
    fault: Exception, exit_code: int, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> int:
        raise fault

    assert guarded(["recent", "--json"], run) == exit_code
    told = json.loads(capsys.readouterr().out)
    assert (told["v"], told["ok"], told["error"]["code"]) == (1, False, code)
    assert guarded(["recent"], run) == exit_code
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith("error: ")


def test_an_interrupt_ends_with_130(capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> int:
        raise KeyboardInterrupt

    assert guarded(["recent"], run) == 130
    assert capsys.readouterr().out == ""


def test_a_bug_leaves_a_scrubbed_log_in_the_data_dir(room: Room, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "ghp_" + "a1B2" * 9

    def run() -> int:
        raise ValueError(f"token {secret}")

    room.data_dir.mkdir()
    assert guarded(["write-page", "-b", secret], run) == 70
    log = Path(capsys.readouterr().err.rpartition("details: ")[2].strip())
    assert log.parent == room.data_dir / "logs"
    text = log.read_text()
    assert "ValueError" in text
    assert secret not in text


def test_a_bug_without_a_data_dir_creates_none(
    room: Room, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> int:
        raise ValueError("x")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert guarded(["recent"], run) == 70
    assert Path(capsys.readouterr().err.rpartition("details: ")[2].strip()).parent == tmp_path
    assert not room.data_dir.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("serch", "x"), "did you mean 'search'?"),
        (("config", "shwo"), "did you mean 'config show'?"),
        (("recent", "--lmit", "3"), "--limit"),
        (("recent", "-n", "many"), "limit is a whole number, not 'many'"),
        (("recent", "-n", "0"), "limit is at least 1, not 0"),
        (("recent", "extra"), "unexpected extra argument"),
        (("read-page",), "either path or query"),
        (("history",), "path is missing"),
        (("recent", "--lock-timeout", "soon"), "--lock-timeout is a number of seconds"),
        (("read-page", "a/b:"), "names no page"),
        (("read-page", "one:a.md", "--project", "two"), "the path names project 'one', the call names 'two'"),
        (("completions", "tcsh"), "shell is one of bash, zsh, fish, powershell"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_words_that_do_not_fit_say_what_would(room: Room, words: tuple[str, ...], message: str) -> None:
    result = room.run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert json.loads(room.run(*words, "--json").stdout)["error"]["code"] == "invalid"


def test_the_word_json_after_two_dashes_asks_for_nothing(room: Room) -> None:
    assert room.run("read-page", "--", "--json").stderr.startswith("error: ")


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if not getattr(row, "is_raw", False)])
def test_the_help_of_every_command_shows_an_example(room: Room, name: str) -> None:
    told = room.ok(*name.split(), "--help")
    assert f"  ai-memory {ROWS[name].examples[0]}" in told
    assert "--json" in told


def test_the_help_lists_every_command_in_one_line(room: Room) -> None:
    lines = [line.split()[0] for line in room.ok("--help").splitlines() if line.startswith("  ") and line.split()]
    assert {name.partition(" ")[0] for name in ROWS} <= set(lines)
    assert room.ok() == room.ok("--help")


def test_a_line_of_help_fits_eighty_columns(room: Room) -> None:
    for name in ("", *(name for name, row in ROWS.items() if not isinstance(row, Command))):
        long = [line for line in room.ok(*name.split(), "--help").splitlines() if len(line) > 80]
        assert [line for line in long if not line.startswith("  ai-memory ")] == [], name


def test_global_flags_stand_before_or_after_the_command(room: Room, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "elsewhere")
    assert room.ok("--data-dir", elsewhere, "path") == room.ok("path", "--data-dir", elsewhere) == f"{elsewhere}\n"
    assert json.loads(room.ok("--json", "path"))["path"] == str(room.data_dir)


def test_a_reader_that_leaves_early_is_no_fault(room: Room) -> None:
    for number in range(3):
        room.ok("write-page", "-p", f"notes/{number}.md", "-b", "x")
    program = f"{sys.executable} -m ai_memory read-page notes/0.md | true"
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_a_busy_lock_names_its_holder_and_exits_four(room: Room) -> None:
    room.ok("init")
    code = (
        "import sys, ai_memory.store.lock as l, pathlib\n"
        f"lock = l.WriterLock(pathlib.Path({str(room.data_dir / 'locks')!r}), command='ai-memory long-job')\n"
        "with lock.held(1):\n    print('held', flush=True); sys.stdin.read()\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        answer = room.json("write-page", "-p", "notes/a.md", "-b", "x", "--lock-timeout", "0.05", code=4)
        assert answer["error"]["code"] == "busy"
        assert "ai-memory long-job" in answer["error"]["message"]
        assert room.json("status")["lock"]["command"] == "ai-memory long-job"
    finally:
        holder.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupted_write_leaves_nothing_half_done(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "old")
    with WriterLock(room.data_dir / "locks", command="another").held(1):
        words = ("write-page", "-p", "notes/a.md", "-b", "new", "--lock-timeout", "60")
        writer = subprocess.Popen([sys.executable, "-m", "ai_memory", *words], stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 30
        while not list((room.data_dir / "locks").glob("waiting/*")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        writer.send_signal(signal.SIGINT)
        told = writer.communicate(timeout=30)[1]
    assert (writer.returncode, "Traceback" in told) == (130, False)
    assert room.file("notes/a.md").read_text() == "old\n"
    assert list((room.data_dir / "locks").glob("waiting/*")) == []
    assert room.ok("write-page", "-p", "notes/a.md", "-b", "new").startswith("changed")


INTERRUPTED_AT = """
import builtins, os, signal, sys
wanted, words = sys.argv[1], sys.argv[2:]
imported = builtins.__import__
def watched(name, *rest):
    if name == wanted:
        builtins.__import__ = imported
        os.kill(os.getpid(), signal.SIGINT)
    return imported(name, *rest)
from ai_memory.__main__ import main
builtins.__import__ = watched
sys.exit(main(words))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "module",
    [
        *("ai_memory.cli.app", "typer", "dataclasses", "ai_memory.cli.faults", "ai_memory.store.memory"),
        *("dulwich.repo", "filelock", "ai_memory.store.writing"),
    ],
)
def test_an_interrupt_that_falls_into_an_import_ends_with_130_and_one_line(room: Room, module: str) -> None:
    words = ("write-page", "-p", "notes/a.md", "-b", "x")
    command = [sys.executable, "-c", INTERRUPTED_AT, module, *words]
    done = subprocess.run(command, cwd=room.checkout, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
    assert room.ok("write-page", "-p", "notes/a.md", "-b", "x").startswith("created")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_inside_an_exec_is_no_end_by_signal() -> None:
    """Python kills itself at exit when an interrupt fell into a text that `exec` ran, caught or not."""
    code = (
        "import sys, ai_memory.cli.app as app\n"
        "from ai_memory.__main__ import main\n"
        "app.main = lambda words: exec('import os, signal; os.kill(os.getpid(), signal.SIGINT)')\n"
        "sys.exit(main(['recent']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_in_a_callback_that_cannot_raise_counts() -> None:
    code = (
        "import os, signal, sys, weakref, ai_memory.cli.app as app\n"
        "from ai_memory.__main__ import main\n"
        "class Thing: pass\n"
        "def run(words):\n"
        "    thing = Thing()\n"
        "    held = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))\n"
        "    del thing\n"
        "    print('went on')\n"
        "    return 0\n"
        "app.main = run\n"
        "sys.exit(main(['recent']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_a_file_that_cannot_be_closed_is_told_by_the_call_alone() -> None:
    code = (
        "import sys, ai_memory.cli.app as app\n"
        "from ai_memory.__main__ import main\n"
        "class Thing:\n"
        "    def __del__(self): raise OSError(28, 'No space left on device')\n"
        "def run(words):\n"
        "    Thing()\n"
        "    return 3\n"
        "app.main = run\n"
        "sys.exit(main(['recent']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_after_the_answer_changes_nothing() -> None:
    code = (
        "import os, signal, sys\n"
        "from ai_memory.__main__ import main\n"
        "code = main(['--version'])\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_never_makes_a_hook_fail(room: Room) -> None:
    command = [sys.executable, "-c", INTERRUPTED_AT, "ai_memory.hook_front", "hook", "--event", "stop"]
    done = subprocess.run(command, cwd=room.checkout, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_colour_is_asked_for_and_none_is_given(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    done = room.process("pages", env={"NO_COLOR": "1", "FORCE_COLOR": ""})
    assert "\x1b" not in done.stdout + done.stderr
    assert "notes/a.md" in done.stdout


def test_a_data_dir_that_is_no_folder_is_not_an_empty_memory(room: Room) -> None:
    done = room.run("--data-dir", "/dev/null", "recent")
    assert done.exit_code == 2
    assert "/dev/null is no folder" in done.output
