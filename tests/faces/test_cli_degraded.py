"""What is broken or missing around the memory is said by every command that could show it, and stops no other."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

from ai_memory.capture.draining import Drainer
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.store.log import last_lines
from ai_memory.store.memory import Memory

GONE = (
    "25 of 28 pages are gone from the wiki folder. Nothing was deleted: if you meant it, commit it yourself with git;"
    " if not, `git checkout -- .` in the wiki brings them back"
)
"""Of 27 pages and the project's `_meta.md`."""


@pytest.fixture
def bereft(room: Room) -> Room:
    """A wiki of 27 pages, 25 of which somebody removed at once."""
    room.ok("write-page", "-p", "decisions/a.md", "-b", "x")
    room.file("notes").mkdir()
    for path in ("decisions/b.md", *(f"notes/{number}.md" for number in range(25))):
        room.file(path).write_text("x\n")
    room.ok("pages")
    for number in range(25):
        room.file(f"notes/{number}.md").unlink()
    return room


@pytest.mark.parametrize("words", [("pages",), ("pages", "--all"), ("reindex",), ("status",)], ids=" ".join)
def test_a_mass_disappearance_is_told_by_every_command_that_looks_around(bereft: Room, words: tuple[str, ...]) -> None:
    assert GONE in bereft.json(*words)["gaps"]
    assert f"note: {GONE}" in bereft.run(*words).stderr
    assert bereft.json("pages")["total"] == 27


def test_status_calls_a_mass_disappearance_degraded_in_its_own_words(bereft: Room) -> None:
    assert GONE in bereft.json("status")["degraded"]
    assert f"degraded: {GONE}" in bereft.ok("status")


def test_the_drain_logs_a_mass_disappearance(bereft: Room) -> None:
    caller = Caller(cwd=None, environ={}, home=str(bereft.checkout), face="drain")
    Drainer(Memory.open(DataDir(bereft.data_dir), caller=caller)).run()
    assert [line for line in last_lines(bereft.data_dir / "logs", 50) if line.endswith(f"drain: {GONE}")]


@pytest.fixture
def marked(room: Room) -> Room:
    """A folder with a marker that cannot be read, and a memory with one page."""
    room.ok("write-page", "-p", "notes/a.md", "-b", "lock order")
    (room.checkout / ".ai-memory.toml").write_text('project = "broken\n')
    return room


@pytest.mark.parametrize(
    "words",
    [
        *(("status",), ("status", "--line"), ("list-projects",), ("pages", "--all"), ("recent", "--all")),
        *(("search", "lock", "--all"), ("read-page", "default/shop:notes/a.md"), ("path",), ("logs",)),
        *(("config", "show"), ("config", "path"), ("init",), ("reindex",), ("history", "default/shop:notes/a.md")),
    ],
    ids=" ".join,
)
def test_a_command_that_needs_no_scope_works_beside_a_broken_marker(marked: Room, words: tuple[str, ...]) -> None:
    marked.ok(*words)


@pytest.mark.parametrize("words", [("pages",), ("recent",), ("where",), ("read-page", "notes/a.md")], ids=" ".join)
def test_a_command_that_needs_a_scope_names_the_broken_marker(marked: Room, words: tuple[str, ...]) -> None:
    result = marked.run(*words)
    assert result.exit_code == 1
    assert f"{marked.checkout / '.ai-memory.toml'}, line 1: " in result.stderr


def test_status_shows_the_broken_marker_with_file_and_line(marked: Room) -> None:
    status = marked.json("status")
    assert (status["scope"], status["project_pages"], status["counts"]["pages"]) == (None, 0, 1)
    (told,) = status["degraded"]
    assert told.startswith(
        f"the project of this folder cannot be told: {marked.checkout / '.ai-memory.toml'}, line 1: "
    )
    assert f"degraded: {told}" in marked.ok("status")
    assert marked.ok("status", "--line") == "memory, all projects · 1 pages · 1 degraded\n"


def test_a_list_over_all_projects_names_pages_whole_where_no_scope_can_be_told(marked: Room) -> None:
    assert "default/shop:notes/a.md" in marked.ok("pages", "--all")
    assert "default/shop:notes/a.md" in marked.ok("recent", "--all", "--format", "md")
    answer = marked.json("search", "lock", "--all")
    assert (answer["scope"], [hit["path"] for hit in answer["hits"]]) == (None, ["notes/a.md"])
    assert [gap for gap in answer["gaps"] if "cannot be told" in gap]


def test_a_wrong_word_of_the_call_is_refused_though_no_scope_is_needed(room: Room) -> None:
    assert room.run("status", "--project", "a:b").exit_code == 2
    assert room.run("pages", "--all", "--project", "a:b").exit_code == 2


def test_status_shows_settings_that_cannot_be_read(room: Room) -> None:
    room.ok("init")
    (room.data_dir / "config.toml").write_text('log_levle = "info"\n')
    (told,) = room.json("status")["degraded"]
    assert told.startswith("the settings cannot be read: ")
    assert "log_levle" in told
    assert "log_level" in told
    assert "line 1" in told
    assert "1 degraded" in room.ok("status", "--line")


def test_status_shows_a_variable_that_cannot_be_read(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.ok("init")
    monkeypatch.setenv("AI_MEMORY_CAPTURE__PROMPTS", "perhaps")
    assert [line for line in room.json("status")["degraded"] if "AI_MEMORY_CAPTURE__PROMPTS" in line]


BROKEN = {
    "notes/yaml.md": ("---\ntags: [\n---\nx\n", "notes/yaml.md, line "),
    "notes/bomb.md": (
        "---\na: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a, *a]\n" for n in range(200)) + "---\nx\n",
        "notes/bomb.md, line ",
    ),
    "notes/tier.md": ("---\ntitle: T\ntier: none\n---\nx\n", "notes/tier.md, line 3: "),
}


@pytest.fixture
def broken(room: Room) -> Room:
    """A sound page, and pages made by hand that cannot be read in full."""
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    for path, (text, _) in BROKEN.items():
        room.file(path).write_text(text)
    room.ok("pages")
    return room


def faults(answer: dict[str, Any]) -> dict[str, Any]:
    return {row["path"]: row["fault"] for row in answer["pages"]}


@pytest.mark.parametrize("path", BROKEN)
def test_a_broken_page_is_named_with_line_and_reason_wherever_it_shows(broken: Room, path: str) -> None:
    said = BROKEN[path][1]
    (told,) = [line for line in broken.json("status")["degraded"] if path in line]
    assert told.startswith(f"default/shop:{path} cannot be read in full: {said}")
    answer = broken.json("read-page", path)
    assert faults(answer)[path].startswith(said)
    assert [gap for gap in answer["gaps"] if gap.startswith(f"cannot be read in full: {said}")]
    assert faults(broken.json("pages"))[path].startswith(said)
    assert said in broken.ok("pages", "--format", "md")


def test_a_sound_page_has_no_fault_and_a_list_of_sound_pages_no_such_column(broken: Room) -> None:
    assert faults(broken.json("pages"))["notes/a.md"] is None
    assert broken.json("read-page", "notes/a.md")["gaps"] == []
    assert broken.ok("pages").splitlines()[0].split()[-1] == "fault"
    for path in BROKEN:
        broken.file(path).write_text("mended\n")
    assert broken.ok("pages").splitlines()[0].split()[-1] == "reads"


def test_of_many_broken_pages_status_names_the_first_and_counts_the_others(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    for number in range(8):
        room.file(f"notes/bad-{number}.md").write_text("---\ntags: [\n---\nx\n")
    told = room.json("status")["degraded"]
    assert [line.split()[0] for line in told[:5]] == [f"default/shop:notes/bad-{number}.md" for number in range(5)]
    assert told[5:] == ["3 more pages cannot be read in full: ai-memory pages --all marks them"]


EVERY_COMMAND = [
    *("path", "init", "reindex", "logs", "list-projects", "status", "where", "pages", "recent", "search lock"),
    *("config show", "config path", "config get capture.prompts", "config set capture.prompts false"),
    *("config unset capture.prompts", "completions bash", "history notes/a.md", "read-page notes/a.md"),
    *("set notes/a.md --tag x", "append notes/a.md -b y", "move notes/a.md notes/b.md", "delete-page notes/a.md"),
    *("write-page -p notes/c.md -b c", "path notes/a.md", "edit notes/a.md"),
]
WITHOUT_SCOPE = ("path", "init", "reindex", "logs", "list-projects", "config", "completions")


@pytest.mark.parametrize("command", EVERY_COMMAND)
def test_every_json_answer_has_a_scope_and_null_where_none_applies(
    room: Room, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    room.ok("write-page", "-p", "notes/a.md", "-b", "lock order")
    answer = room.json(*shlex.split(command))
    assert list(answer)[:3] == ["v", "ok", "scope"]
    assert (answer["scope"] is None) == (command.split()[0] in WITHOUT_SCOPE and command != "path notes/a.md")
    assert {"gaps", "omitted"} <= set(answer)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script as editor")
def test_what_an_editor_prints_stays_out_of_the_answer(room: Room, tmp_path: Path) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "drawing the screen"\necho more >>"$1"\n')
    editor.chmod(0o755)
    # Without a terminal, for which stderr stands in.
    command = [sys.executable, "-m", "ai_memory", "edit", "notes/a.md", "--json"]
    settings = {"env": {**os.environ, "VISUAL": str(editor)}, "capture_output": True, "text": True, "timeout": 60}
    done = subprocess.run(command, cwd=room.checkout, start_new_session=True, **settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{")
    assert len(done.stdout.splitlines()) == 1
    assert "drawing the screen" in done.stderr
