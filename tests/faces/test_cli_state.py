"""Status, settings, projects, and the examples of the docs, from the command line."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from cli_room import Room

from ai_memory.cli.commands import ROWS, Command
from ai_memory.clock import now_us, rfc3339
from ai_memory.paths import DataDir
from ai_memory.store.log import write_line
from ai_memory.store.spool import Spool
from ai_memory.store.state import Drain, open_state, record_drain

EVENT = "1764000000000000000-1-0a0b0c0d.json"
"""An event of November 2025: it waits for long."""


def set_aside(room: Room) -> None:
    """Put `EVENT` into quarantine."""
    (room.data_dir / "spool" / EVENT).write_text("{}")
    Spool(DataDir(room.data_dir)).quarantine(EVENT, "no JSON", at_us=0)


def degraded(room: Room) -> str:
    """All that status calls degraded, as one text."""
    return "\n".join(room.json("status")["degraded"])


def test_a_healthy_memory_has_nothing_degraded(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "[[notes/none]]")
    status = room.json("status")
    assert (status["degraded"], status["index"]["is_behind"], status["lock"]) == ([], False, None)
    assert (status["counts"]["pages"], status["counts"]["unresolved_links"], status["project_pages"]) == (1, 1, 1)
    assert room.ok("status", "--line") == "memory default/shop · 1 pages\n"


def test_status_tells_what_waits_and_what_was_set_aside(room: Room) -> None:
    room.ok("init")
    (room.data_dir / "spool" / EVENT).write_text("{}")
    status = room.json("status")
    assert (status["spool"]["pending"], status["spool"]["oldest_at"]) == (1, "2025-11-24T16:00:00Z")
    assert "1 events wait, the oldest since" in degraded(room)
    assert room.ok("status", "--line") == "memory default/shop · 0 pages · 1 waiting · 1 degraded\n"
    Spool(DataDir(room.data_dir)).quarantine(EVENT, "no JSON", at_us=0)
    assert "1 events could not be applied" in degraded(room)


def test_status_tells_that_the_last_drain_failed(room: Room) -> None:
    room.ok("init")
    connection = open_state(DataDir(room.data_dir), at_us=1)
    record_drain(connection, Drain(0, 1_000_000, applied=3, fault="disk full"))
    connection.commit()
    connection.close()
    assert "the last drain failed: disk full" in degraded(room)
    assert room.json("status")["drain"]["ended_at"] == "1970-01-01T00:00:01Z"


def test_status_names_a_merge_that_nobody_finished(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    (room.data_dir / "wiki" / ".git" / "MERGE_HEAD").write_text(room.git("rev-parse", "HEAD"))
    assert "git merge --abort" in degraded(room)
    assert room.run("write-page", "-p", "notes/b.md", "-b", "x").exit_code == 1
    assert room.run("recent").exit_code == 0


def test_where_says_why(room: Room) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    subprocess.run(["git", "remote", "add", "origin", "git@github.com:Acme/API.git"], check=True)
    answer = room.json("where")
    assert (answer["scope"]["resolved_by"], answer["identity"]) == ("remote", "github.com/acme/api")
    assert (answer["is_guess"], answer["is_known"]) == (False, False)
    assert "github.com/acme/api" in room.ok("where")


def test_where_says_that_a_home_folder_is_only_a_guess(
    room: Room, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scratch_home)
    assert "writes and deletes need --project" in room.ok("where")


def test_projects_are_listed_with_their_pages(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    room.ok("write-page", "-p", "other:notes/b.md", "-b", "x")
    rows = room.json("list-projects")["projects"]
    assert [(row["workspace"], row["project"], row["pages"]) for row in rows] == [
        ("default", "other", 1),
        ("default", "shop", 1),
    ]
    assert room.json("list-projects", "--workspace", "none")["projects"] == []


def test_pages_of_all_projects_are_named_with_their_project(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    room.ok("write-page", "-p", "other:notes/b.md", "-b", "x")
    told = room.ok("pages", "--all")
    assert "other:notes/b.md" in told
    assert "shop:" not in told
    assert "notes/b.md" not in room.ok("pages")


def test_a_setting_is_changed_and_the_comments_stay(room: Room) -> None:
    room.ok("init")
    config = room.data_dir / "config.toml"
    config.write_text("# mine\n[capture]\nprompts = true  # for now\n")
    assert room.ok("config", "get", "capture.prompts") == "true\n"
    assert room.ok("config", "set", "capture.prompts", "no") == "capture.prompts = false (file)\n"
    assert config.read_text() == "# mine\n[capture]\nprompts = false  # for now\n"
    origins = {row["key"]: row["origin"] for row in room.json("config", "show")["settings"]}
    assert (origins["capture.prompts"], origins["log_level"]) == ("file", "default")
    assert "# file" in room.ok("config", "show", "--origin")
    room.ok("config", "unset", "capture.prompts")
    assert room.ok("config", "get", "capture.prompts") == "true\n"
    assert room.ok("config", "path") == f"{config}\n"


def test_a_setting_that_is_none_names_the_nearest(room: Room) -> None:
    result = room.run("config", "set", "capture.promts", "no")
    assert (result.exit_code, "capture.prompts" in result.stderr) == (3, True)
    assert room.run("config", "set", "capture.prompts", "perhaps").exit_code == 1
    assert room.run("config", "unset", "capture.prompts").exit_code == 0
    assert not room.data_dir.exists()


def test_a_setting_that_the_environment_hides_says_so(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AI_MEMORY_CAPTURE__PROMPTS", "yes")
    result = room.run("config", "set", "capture.prompts", "no")
    assert "AI_MEMORY_CAPTURE__PROMPTS is set and wins over the file, except in hooks" in result.stderr
    assert result.stdout == "capture.prompts = true (env)\n"
    monkeypatch.setenv("AI_MEMORY_SEARCH__FTS__STOPWORDS", "the")
    result = room.run("config", "set", "search.fts.stopwords", "a")
    assert "AI_MEMORY_SEARCH__FTS__STOPWORDS is set and wins over the file\n" in result.stderr


def test_the_last_lines_of_the_logs_are_shown(room: Room) -> None:
    for number in range(5):
        write_line(room.data_dir / "logs", "drain", f"applied {number}", at_us=1_764_000_000_000_000 + number)
    lines = room.json("logs", "-n", "2")["lines"]
    assert [line.rpartition(": ")[2] for line in lines] == ["applied 3", "applied 4"]
    assert "applied 4" in room.ok("logs")


def test_a_deleted_index_is_built_again(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    before = room.json("pages")
    for file in room.data_dir.glob("index-*"):
        file.unlink()
    assert room.json("reindex")["pages"] == 1
    assert room.json("pages") == before


def test_a_first_start_twice_is_one_data_dir(room: Room) -> None:
    assert room.json("init")["created"] is True
    head = room.git("rev-parse", "HEAD")
    assert room.json("init")["created"] is False
    assert room.git("rev-parse", "HEAD") == head


OPERATION_EXAMPLES = [
    example
    for name, row in ROWS.items()
    if not isinstance(row, Command) or name == "completions"
    for example in row.examples
]


def labelled_set(folder: Path) -> None:
    """A set of one document and one question, as `bench retrieval` reads it."""
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(json.dumps({"id": "a", "title": "Retry budget", "text": "Three a minute."}))
    (folder / "queries.jsonl").write_text(json.dumps({"id": "1", "text": "retry budget", "gold": {"a": 1}}))


def folder_of_docs(room: Room) -> None:
    """What `import` takes in."""
    (room.checkout / "docs").mkdir()
    (room.checkout / "docs" / "first.md").write_text("# First\n")


def folder_of_records(room: Room) -> None:
    """What `import json` takes in, and its mapping."""
    (room.checkout / "tickets").mkdir()
    (room.checkout / "tickets" / "a.json").write_text('[{"id": 1, "text": "One queue per region"}]')
    (room.checkout / "tickets.toml").write_text('namespace = "tickets"\n')


def source_of_records(room: Room) -> None:
    room.ok("source", "add", "tickets", "--mapping", "tickets.toml", "--root", "tickets")


def shelf_of_pages(room: Room) -> None:
    """Pages long enough that `bench self` asks about them."""
    for name, word in (("herons", "heron"), ("kettles", "kettle"), ("lathes", "lathe")):
        words = " ".join(f"{word}{ending}" for ending in ("works", "shop", "mill", "yard", "gate", "path", "roof"))
        room.ok("write-page", "-p", f"notes/{name}.md", "-b", f"# {name}\n\n{words} {words} {words} {words}")


def page_taken_away(room: Room) -> None:
    room.ok("write-page", "-p", "sessions/2026-03/old.md", "-b", "# Old", "--expires-at", "2026-03-31")
    room.ok("forget-sweep")


@pytest.mark.parametrize("example", OPERATION_EXAMPLES)
def test_the_example_of_the_help_runs_as_it_stands(room: Room, example: str) -> None:
    (room.checkout / "queue.md").write_text("# Queue\n\nOne a tenant.\n")
    if not example.startswith("write-page"):
        room.ok("write-page", "-p", "notes/retry-budget.md", "-b", "# Retry budget\n\nLock order.", "--tag", "http")
    if example.startswith("quarantine"):
        set_aside(room)
    if "session" in example:
        room.work()
    if example.startswith("bench"):
        labelled_set(room.checkout / "team-questions")
        shelf_of_pages(room)
    if example.startswith("restore "):
        room.ok("backup")
    if example.startswith(("link", "resolve")):
        room.ok("write-page", "-p", "decisions/queue.md", "-b", "# Queue")
    if example.startswith("archive"):
        page_taken_away(room)
    if example.startswith("merge"):
        room.ok("write-page", "-p", "notes/lock-order.md", "-b", "# Lock order")
    folder_of_docs(room)
    folder_of_records(room)
    if example.startswith("source") and not example.startswith("source add"):
        source_of_records(room)
    room.ok(*shlex.split(example))


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if not isinstance(row, Command)])
def test_every_json_answer_is_one_object_of_stable_form(room: Room, name: str) -> None:
    room.ok("write-page", "-p", "notes/retry-budget.md", "-b", "# Retry budget\n\nLock order.", "--tag", "http")
    (room.checkout / "queue.md").write_text("# Queue\n")
    if name.startswith("quarantine"):
        set_aside(room)
    if "session" in name:
        room.work()
    if name.startswith("bench"):
        labelled_set(room.checkout / "team-questions")
        shelf_of_pages(room)
    if name == "restore":
        room.ok("backup")
    if name in ("link", "resolve"):
        room.ok("write-page", "-p", "decisions/queue.md", "-b", "# Queue")
    if name.startswith("archive"):
        page_taken_away(room)
    if name == "merge":
        room.ok("write-page", "-p", "notes/lock-order.md", "-b", "# Lock order")
    folder_of_docs(room)
    folder_of_records(room)
    if name in ("source list", "source sync", "source remove"):
        source_of_records(room)
    words = [word for word in shlex.split(ROWS[name].examples[-1]) if word != "--json"]
    if name == "write-page":
        words[words.index("decisions/queue.md")] = "decisions/other.md"
    answer = json.loads(room.ok(*words, "--json"))
    assert (answer["v"], answer["ok"]) == (1, True)
    assert isinstance(answer["gaps"], list)
    assert isinstance(answer["omitted"], int)
    if answer["scope"] is not None:
        assert set(answer["scope"]) == {"workspace", "project", "resolved_by"}
    for row in answer.get("pages", []) if isinstance(answer.get("pages"), list) else []:
        assert {"workspace", "project", "path"} <= set(row)


def test_status_counts_pages_by_kind_tier_and_project_and_names_empty_projects(room: Room) -> None:
    soon, later = (rfc3339(now_us() + days * 86_400_000_000) for days in (3, 30))
    room.ok("write-page", "notes/a.md", "-b", "# A", "--expires-at", soon)
    room.ok("write-page", "decisions/b.md", "-b", "# B", "--tier", "procedural", "--expires-at", later)
    room.ok("write-page", "till:notes/c.md", "-b", "# C")
    room.ok("delete-page", "till:notes/c.md")
    answer = room.json("status")
    assert answer["figures"] == {
        "by_kind": {"decision": 1, "note": 1},
        "by_tier": {"procedural": 1, "semantic": 1},
        "by_project": {"default/shop": 2, "default/till": 0},
        "expiring": 1,
        "stale_links": 0,
    }
    assert answer["empty_projects"] == ["default/till"]
    files = [path for path in room.data_dir.rglob("*") if path.is_file()]
    assert answer["size_bytes"] > sum(path.stat().st_size for path in files) / 2
    assert "1 decision, 1 note, 1 expire within 7 days" in room.ok("status")
    assert "ai-memory purge-project default/till" in room.ok("status")


def test_status_counts_links_to_pages_that_are_superseded_or_over(room: Room) -> None:
    room.ok("write-page", "notes/old.md", "-b", "# Old", "--expires-at", "2020-01-01")
    room.ok("write-page", "notes/a.md", "-b", "# A\n\nsee [[notes/old]]\n")
    answer = room.json("status")
    assert (answer["figures"]["stale_links"], answer["counts"]["unresolved_links"]) == (1, 0)
    assert "1, 0 lead nowhere, 1 to pages that are superseded or over" in room.ok("status")
