"""`forget`, `purge-session`, `purge-project`: shown first, done by --confirm, proven, and nothing comes back."""

from pathlib import Path
from typing import Any

import pytest
from cli_room import SESSION, Room

from ai_memory.operations.table import OPERATIONS
from ai_memory.store.wiki import Wiki

SECRET = "the heron stands in the reeds at dawn"


def furnish(room: Room) -> None:
    room.ok("write-page", "notes/a.md", "-b", f"# A\n\n{SECRET}\n", "--tag", "birds")
    room.ok("write-page", "notes/b.md", "-b", "# B\n\nkettles boil at a hundred degrees\n")
    room.ok("write-page", "decisions/c.md", "-b", "# C\n\nsee [[notes/a]]\n")


def paths(room: Room) -> list[str]:
    return [row["path"] for row in room.json("pages")["pages"]]


def test_without_confirm_it_is_only_shown(room: Room) -> None:
    furnish(room)
    head = room.git("rev-parse", "HEAD")
    answer = room.json("forget", "-p", "notes/a.md")
    assert (answer["outcome"], [row["path"] for row in answer["pages"]]) == ("would_purge", ["notes/a.md"])
    assert "would remove, with --confirm: 1 pages" in room.ok("forget", "-p", "notes/a.md")
    assert room.git("rev-parse", "HEAD") == head
    assert len(paths(room)) == 3


def test_a_page_that_names_its_project_is_forgotten_from_anywhere(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(room)
    monkeypatch.chdir(Path.home())
    assert room.run("forget", "--tag", "birds", "--confirm").exit_code == 6
    assert room.json("forget", "-p", "shop:notes/a.md", "--confirm")["outcome"] == "purged"


def test_without_history_git_keeps_it_and_the_look_says_so(room: Room) -> None:
    furnish(room)
    answer = room.json("forget", "-p", "notes/a.md", "--confirm", "--verify", code=1)
    assert {row["piece"] for row in answer["traces"]} == {SECRET}
    assert all(row["place"].startswith("wiki/.git: object ") for row in answer["traces"])
    assert "--history" in answer["gaps"][0]
    assert paths(room) == ["decisions/c.md", "notes/b.md"]
    assert room.json("search", "heron")["hits"] == []


def test_with_history_no_byte_of_it_is_left_also_after_it_was_moved_and_deleted(room: Room) -> None:
    furnish(room)
    room.ok("move", "notes/a.md", "notes/moved.md")
    room.ok("delete-page", "notes/moved.md")
    answer = room.json("forget", "-p", "notes/moved.md", "--confirm", "--history", "--verify")
    assert (answer["outcome"], answer["verified"], answer["traces"]) == ("purged", True, [])
    assert answer["commits_rewritten"] >= 3
    assert "notes/a.md" not in room.git("log", "--all", "--format=%B", "--name-only")
    assert room.git("fsck", "--strict") == ""
    assert room.git("status", "--porcelain") == ""
    assert room.run("restore-page", "notes/moved.md").exit_code == 3
    assert paths(room) == ["decisions/c.md", "notes/b.md"]
    assert room.json("search", "kettles")["hits"][0]["path"] == "notes/b.md"
    assert room.json("forget", "-p", "notes/moved.md", "--confirm")["outcome"] == "unchanged"


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        (("--tag", "birds"), ["notes/a.md"]),
        (("--kind", "decision"), ["decisions/c.md"]),
        (("--prefix", "notes/"), ["notes/a.md", "notes/b.md"]),
        (("--query", "Kettles boil"), ["notes/b.md"]),
        (("--last", "10m"), ["decisions/c.md", "notes/a.md", "notes/b.md"]),
        (("--prefix", "notes/", "--query", "heron"), ["notes/a.md"]),
        (("--tier", "procedural"), []),
        (("--last", "2099-01-01"), []),
    ],
    ids=" ".join,
)
def test_filters_choose_pages_of_this_project(room: Room, words: Any, gone: list[str]) -> None:
    furnish(room)
    room.ok("write-page", "other:notes/a.md", "-b", f"# A\n\n{SECRET}\n", "--tag", "birds")
    shown = room.json("forget", *words)
    assert [row["path"] for row in shown["pages"]] == gone
    room.ok("forget", *words, "--confirm")
    assert paths(room) == sorted({"decisions/c.md", "notes/a.md", "notes/b.md"} - set(gone))
    assert len(room.json("pages", "--project", "other")["pages"]) == 1


@pytest.mark.parametrize("words", [(), ("-p", "notes/a.md", "--tag", "x")])
def test_at_least_one_filter_or_page_and_not_both(room: Room, words: Any) -> None:
    furnish(room)
    assert room.run("forget", *words, "--confirm").exit_code == 2
    assert len(paths(room)) == 3


def test_a_purged_session_leaves_nothing_and_never_comes_back(room: Room) -> None:
    room.tell("user-prompt", text=f"Watch how {SECRET}.")
    room.tell("post-tool-use", tool="Bash", input={"command": f"echo {SECRET}"}, output=SECRET)
    room.tell("session-end")
    room.drain()
    assert room.json("handoff", "list")["handoffs"]
    room.tell("user-prompt", text=f"Later: {SECRET}!")
    shown = room.json("purge-session", SESSION[:8])
    assert (len(shown["pages"]), shown["observations"], shown["events"]) == (2, 3, 1)
    answer = room.json("purge-session", SESSION[:8], "--confirm", "--history", "--verify")
    assert answer["traces"] == []
    assert room.json("sessions")["sessions"] == []
    assert paths(room) == []
    assert room.json("handoff", "list", "--state", "any")["handoffs"] == []
    room.tell("user-prompt", text=f"Again: {SECRET}!")
    room.drain()
    assert room.json("sessions")["sessions"] == []
    again = room.json("purge-session", SESSION, "--confirm", "--history", "--verify")
    assert (again["outcome"], again["traces"]) == ("purged", [])
    assert room.run("purge-session", "ffffffff").exit_code == 3


def test_a_purged_project_goes_with_its_sessions_and_others_stay(room: Room) -> None:
    furnish(room)
    room.work()
    room.ok("write-page", "other:notes/d.md", "-b", "# D\n\nsee [[shop:notes/b]]\n")
    answer = room.json("purge-project", "shop", "--confirm", "--history", "--verify")
    assert (len(answer["pages"]), answer["sessions"], answer["traces"]) == (3, [SESSION], [])
    assert [row["project"] for row in room.json("list-projects")["projects"]] == ["other"]
    assert room.git("ls-tree", "-r", "--name-only", "HEAD").count("default/shop") == 0
    assert room.git("log", "--all", "--name-only", "--format=").count("default/shop") == 0
    assert room.run("purge-project", "shop", "--confirm").exit_code == 3


def test_backups_and_remotes_that_still_hold_it_are_named(room: Room) -> None:
    furnish(room)
    room.ok("backup")
    room.git("remote", "add", "origin", "https://example.org/x.git")
    answer = room.json("forget", "-p", "notes/a.md", "--confirm", "--history", "--verify", code=1)
    assert {row["place"].partition("/")[0] for row in answer["traces"]} == {"backups"}
    assert "1 backups in" in answer["gaps"][0]
    assert "remote" in answer["gaps"][1]


def test_no_tool_purges(room: Room) -> None:
    assert {one.tool for one in OPERATIONS if one.module == "purge"} == {None}
    assert room.checkout.exists()


def test_a_file_of_an_old_copy_brings_no_purged_page_back(room: Room) -> None:
    furnish(room)
    old = room.file("notes/a.md").read_bytes()
    room.ok("write-page", "notes/a.md", "-b", f"# A\n\n{SECRET} and more\n")
    room.ok("forget", "-p", "notes/a.md", "--confirm", "--history")
    for name in ("notes/a.md", "notes/elsewhere.md"):
        room.file(name).write_bytes(old)
    answer = room.json("status")
    assert len([line for line in answer["degraded"] if "was purged" in line]) == 2
    assert paths(room) == ["decisions/c.md", "notes/b.md"]
    assert room.json("search", "heron")["hits"] == []
    room.file("notes/elsewhere.md").unlink()
    room.ok("write-page", "notes/mine.md", "-b", f"# A\n\n{SECRET}\n", "--tag", "birds")
    room.file("notes/a.md").write_text("# A\n\nsomething new\n")
    room.ok("status")
    assert paths(room) == ["decisions/c.md", "notes/a.md", "notes/b.md", "notes/mine.md"]


def test_events_of_before_a_purge_bring_no_project_back_and_later_ones_begin_it_anew(room: Room) -> None:
    furnish(room)
    before = "7d3f0a5e-2222-4222-8333-444455556666"
    room.tell("user-prompt", session=before, text=f"Watch how {SECRET}.")
    room.ok("purge-project", "shop", "--confirm")
    room.tell("user-prompt", session=before, text="And on.")
    room.tell("session-end", session=before)
    room.drain()
    assert room.json("sessions", "--all")["sessions"] == []
    assert paths(room) == []
    room.work()
    assert [row["id"] for row in room.json("sessions")["sessions"]] == [SESSION]
    room.ok("write-page", "notes/a.md", "-b", "# A")
    assert paths(room) == ["notes/a.md"]


def test_a_restore_of_an_older_backup_brings_nothing_purged_back(room: Room) -> None:
    furnish(room)
    twin = "# Twin\n\nsaid twice\n"
    for name in ("notes/gone.md", "notes/kept.md"):
        room.ok("write-page", name, "-b", twin)
    room.tell("user-prompt", text=f"Watch how {SECRET}.")
    room.tell("session-end")
    room.drain()
    room.ok("backup")
    room.ok("purge-session", SESSION, "--confirm")
    room.ok("forget", "-p", "notes/a.md", "-p", "notes/gone.md", "--confirm")
    room.ok("write-page", "notes/later.md", "-b", "# Later")
    before = paths(room)
    answer = room.json("restore", "--force")
    assert any("4 pages and 1 sessions of the backup were purged since" in gap for gap in answer["gaps"]), answer[
        "gaps"
    ]
    assert paths(room) == [path for path in before if path != "notes/later.md"]
    assert room.json("sessions")["sessions"] == []
    assert room.json("search", "heron")["hits"] == []
    assert room.json("handoff", "list", "--state", "any")["handoffs"] == []
    room.tell("user-prompt", text=f"Again: {SECRET}!")
    room.drain()
    assert room.json("sessions")["sessions"] == []


def test_a_page_that_was_written_anew_after_its_purge_comes_back_with_a_backup_of_it(room: Room) -> None:
    furnish(room)
    old = room.file("notes/b.md").read_text()
    room.ok("forget", "-p", "notes/b.md", "--confirm")
    room.ok("write-page", "notes/b.md", "-b", old)
    room.ok("backup")
    room.ok("delete-page", "notes/b.md")
    assert room.json("restore", "--force")["gaps"] == []
    assert paths(room) == ["decisions/c.md", "notes/a.md", "notes/b.md"]


def test_events_that_waited_for_a_project_begun_anew_are_applied_after_a_restore(room: Room) -> None:
    furnish(room)
    room.ok("backup")
    room.ok("purge-project", "shop", "--confirm")
    room.tell("user-prompt", text="Begin anew.")
    room.ok("restore", "--force")
    assert paths(room) == []
    room.drain()
    assert [row["id"] for row in room.json("sessions")["sessions"]] == [SESSION]


def test_an_import_leaves_a_purged_page_out_and_says_so(room: Room, tmp_path: Path) -> None:
    furnish(room)
    room.ok("export", str(tmp_path / "kept"))
    room.ok("forget", "-p", "notes/a.md", "--confirm")
    answer = room.json("import", str(tmp_path / "kept"))
    told = next(row for row in answer["pages"] if row["path"] == "notes/a.md")
    assert told["outcome"] == "skipped"
    assert "purged" in told["notes"][0]
    assert paths(room) == ["decisions/c.md", "notes/b.md"]


def test_histories_of_all_pages_are_read_in_one_walk(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        room.ok("write-page", f"notes/{number}.md", "-b", f"# {number}\n\nthe first text of {number}")
    room.ok("move", "notes/3.md", "notes/moved.md")
    room.ok("write-page", "notes/3.md", "-b", "# Another at the old place")
    walks: list[str | None] = []
    trees: list[str] = []
    walk, read = Wiki.first_parents, Wiki._read_rows
    monkeypatch.setattr(Wiki, "first_parents", lambda self, commit: walks.append(commit) or walk(self, commit))
    monkeypatch.setattr(Wiki, "_read_rows", lambda self, tree: trees.append(tree) or read(self, tree))

    def read_for(*words: str) -> int:
        walks.clear()
        trees.clear()
        room.ok("forget", *words)
        assert len(walks) == 1
        return len(trees)

    assert read_for("--prefix", "notes/") <= read_for("-p", "notes/7.md") + 2
    room.ok("forget", "--prefix", "notes/", "--confirm", "--history")
    assert not [name for name in room.git("log", "--all", "--format=", "--name-only").split() if "/notes/" in name]


def test_pages_that_changed_places_keep_their_own_histories(room: Room) -> None:
    for name in "ab":
        room.ok("write-page", f"notes/{name}.md", "-b", f"# {name}\n\nthe text of {name}")
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        room.ok("move", f"notes/{old}.md", f"notes/{new}.md")
    told = {name: room.json("history", f"notes/{name}.md")["versions"] for name in "ab"}
    assert [(one["change"], one["path"]) for one in told["a"]] == [("moved", "notes/a.md"), ("created", "notes/b.md")]
    assert [(one["change"], one["path"]) for one in told["b"]] == [
        ("moved", "notes/b.md"),
        ("moved", "notes/c.md"),
        ("created", "notes/a.md"),
    ]
