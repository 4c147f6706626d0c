"""What a command imports: the budget of the command line, pinned by module names."""

import json
import subprocess
import sys

import pytest
from cli_room import Room

HEAVY = {"mcp", "dulwich", "rich", "sqlite_utils", "filelock", "pydantic", "markdown_it", "frontmatter", "platformdirs"}


def modules_of(room: Room, *words: str) -> set[str]:
    """Names of all modules that the command had imported when it ended."""
    code = (
        "import json, sys\n"
        "from ai_memory.__main__ import main\n"
        "code = main(sys.argv[1:])\n"
        "print('\\n' + json.dumps([code, sorted(sys.modules)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=room.checkout, capture_output=True, text=True, check=True
    )
    code_found, names = json.loads(done.stdout.splitlines()[-1])
    assert code_found == 0, done.stderr
    return set(names)


def heavy(names: set[str]) -> set[str]:
    return HEAVY & {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("words", [("recent",), ("search", "retry"), ("read-page", "notes/a.md"), ("where",)])
def test_a_reading_command_imports_nothing_heavy(room: Room, words: tuple[str, ...]) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# Retry\n\nbudget")
    names = modules_of(room, *words)
    assert heavy(names) == set()
    assert not [name for name in names if name.startswith(("ai_memory.bridge", "ai_memory.capture"))]


def test_a_command_loads_the_one_operation_that_it_runs(room: Room) -> None:
    names = modules_of(room, "recent")
    unrelated = ("write", "change", "status", "settings", "setup", "logs", "projects")
    assert not [name for name in unrelated if f"ai_memory.operations.{name}" in names]


def test_the_help_loads_no_operation_and_no_store(room: Room) -> None:
    names = modules_of(room, "--help")
    assert heavy(names) == set()
    assert not [name for name in names if name.startswith("ai_memory.store")]
    below = {name.rpartition(".")[2] for name in names if name.startswith("ai_memory.operations.")}
    assert below <= {"table", "signature", "field", "answer", "rows", "counting"}


def test_the_version_loads_no_command_line(room: Room) -> None:
    names = modules_of(room, "--version")
    assert "typer" not in names
    assert "ai_memory.cli" not in names


def test_a_list_that_is_piped_needs_no_rich(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    assert "rich" not in modules_of(room, "recent", "--format", "table")
