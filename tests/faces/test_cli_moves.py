"""`rename-project`, `rename-workspace`, `move-project`, `move-session`: all of it follows, or nothing moves."""

import json

from cli_room import SESSION, Room

from ai_memory.paths import DataDir
from ai_memory.store.outbox import Outbox


def furnish(room: Room) -> None:
    """A project with pages, a session, its handoff and a message; another one that links to it."""
    room.ok("write-page", "notes/a.md", "-b", "# A\n\nsee [[notes/b]] and [[shop:notes/later]]\n")
    room.ok("write-page", "notes/b.md", "-b", "# B\n\nkettles boil\n")
    body = "# C\n\n[[shop:notes/a]], [[shop:notes/later]] and [a](../../shop/notes/a.md)\n"
    room.ok("write-page", "till:notes/c.md", "-b", body)
    room.tell("user-prompt", text="Mend the retry budget.")
    room.tell("post-tool-use", tool="Bash", input={"command": "make test"}, output="ok")
    room.tell("session-end")
    room.drain()
    room.ok("message", "send", "shop", "-b", "Mind the tax.", "--from-project", "till")
    room.ok("message", "send", "till", "-b", "We do.")


def projects(room: Room) -> dict[str, str]:
    return {f"{row['workspace']}/{row['project']}": row["id"] for row in room.json("list-projects")["projects"]}


def paths(room: Room, *words: str) -> list[str]:
    return [row["path"] for row in room.json("pages", *words)["pages"]]


def test_without_confirm_it_is_only_counted_and_the_counts_are_exact(room: Room) -> None:
    furnish(room)
    head = room.git("rev-parse", "HEAD")
    shown = room.json("rename-project", "shop", "store")
    assert shown["outcome"] == "would_move"
    assert shown["projects"] == [
        {
            "old": "default/shop",
            "new": "default/store",
            "pages": 4,
            "sessions": 1,
            "observations": 3,
            "handoffs": 1,
            "messages": 2,
        }
    ]
    assert room.git("rev-parse", "HEAD") == head
    done = room.json("rename-project", "shop", "store", "--confirm")
    assert (done["outcome"], done["projects"]) == ("moved", shown["projects"])
    assert done["gaps"] == []


def test_a_renamed_project_keeps_id_history_and_all_that_belongs_to_it(room: Room) -> None:
    furnish(room)
    before = projects(room)
    old_paths = paths(room)
    room.ok("rename-project", "shop", "store", "--confirm")
    assert room.git("log", "--format=%s").splitlines()[0] == "rename-project default/shop to store"
    assert projects(room) == {"default/store": before["default/shop"], "default/till": before["default/till"]}
    assert room.git("status", "--porcelain") == ""
    assert paths(room) == old_paths, "the checkout leads to the renamed project"
    assert room.json("where")["scope"]["project"] == "store"
    assert "[[notes/b]] and [[notes/later]]" in room.ok("read-page", "notes/a.md").replace("store:", "")
    told = room.json("read-page", "till:notes/c.md")["pages"][0]["body"]
    assert "[[store:notes/a]], [[store:notes/later]] and [a](../../store/notes/a.md)" in told
    changes = [row["change"] for row in room.json("history", "notes/b.md")["versions"]]
    assert changes == ["moved", "created"]
    [session] = room.json("sessions")["sessions"]
    assert (session["project"], session["id"]) == ("store", SESSION)
    assert [row["body"] for row in room.json("message", "list")["messages"]] == ["Mind the tax."]
    assert [row["body"] for row in room.json("message", "list", "--box", "outbox")["messages"]] == ["We do."]


def test_a_handoff_that_waits_is_given_to_the_next_start_and_names_the_new_place(room: Room) -> None:
    furnish(room)
    room.ok("rename-project", "shop", "store", "--confirm")
    [handoff] = Outbox(DataDir(room.data_dir)).open_handoffs()
    text = Outbox(DataDir(room.data_dir)).read(f"open/{handoff}.md") or ""
    assert "Source: default/store:handoffs/" in text
    assert room.json("handoff", "accept")["handoffs"][0]["id"] == handoff
    assert room.json("handoff", "list", "--state", "accepted")["handoffs"][0]["project"] == "store"


def test_a_renamed_project_is_written_and_captured_under_its_new_name(room: Room) -> None:
    furnish(room)
    room.ok("rename-project", "shop", "store", "--confirm")
    room.tell("user-prompt", session="7d3f0a5e-2222-4222-8333-444455556666", text="Go on.")
    room.tell("user-prompt", text="And on.")
    room.drain()
    assert {row["project"] for row in room.json("sessions", "--all")["sessions"]} == {"store"}
    room.ok("write-page", "shop:notes/new.md", "-b", "# New")
    room.ok("write-page", "notes/newer.md", "-b", "# Newer", "--project", "shop")
    assert set(projects(room)) == {"default/store", "default/till"}
    assert {"notes/new.md", "notes/newer.md"} <= set(paths(room))
    assert room.json("message", "send", "shop", "-b", "x", "--from-project", "till")["outcome"] == "sent"


def test_a_session_page_with_changed_links_is_still_written_anew_by_its_session(room: Room) -> None:
    furnish(room)
    [page] = [path for path in paths(room) if path.startswith("sessions/")]
    room.ok("rename-project", "shop", "store", "--confirm")
    room.tell("session-start", source_event="resume")
    room.tell("user-prompt", text="Change the tea cosy.")
    room.tell("session-end")
    room.drain()
    assert "tea cosy" in room.ok("read-page", page)


def test_names_that_are_taken_or_kept_are_named_first(room: Room) -> None:
    furnish(room)
    head = room.git("rev-parse", "HEAD")
    fault = room.json("rename-project", "shop", "till", "--confirm", code=5)["error"]
    assert "move-project" in fault["hint"]
    for words, code in (
        (("rename-project", "shop", "_global"), 2),
        (("rename-project", "_global", "x"), 2),
        (("rename-project", "shop", "shop"), 2),
        (("rename-project", "shop", "Big Shop"), 1),
        (("rename-project", "nowhere", "x"), 3),
        (("rename-workspace", "nowhere", "x"), 3),
        (("move-project", "shop", "default"), 2),
        (("move-session", SESSION, "nowhere"), 3),
        (("move-session", "ffffffff", "till"), 3),
    ):
        assert room.run(*words, "--confirm").exit_code == code, words
    assert room.git("rev-parse", "HEAD") == head
    room.ok("rename-project", "till", "desk", "--confirm")
    assert "former name" in room.json("rename-project", "shop", "till", "--confirm", code=5)["error"]["message"]


def test_a_workspace_moves_whole_and_its_checkouts_find_their_projects(room: Room) -> None:
    furnish(room)
    before = projects(room)
    shown = room.json("rename-workspace", "default", "work")
    assert [(row["old"], row["new"]) for row in shown["projects"]] == [
        ("default/shop", "work/shop"),
        ("default/till", "work/till"),
    ]
    room.ok("rename-workspace", "default", "work", "--confirm")
    assert projects(room) == {name.replace("default", "work"): key for name, key in before.items()}
    assert room.json("where")["scope"]["workspace"] == "work"
    assert "[[shop:notes/a]]" in room.ok("read-page", "work/till:notes/c.md")
    room.tell("user-prompt", session="7d3f0a5e-2222-4222-8333-444455556666", text="Go on.")
    room.drain()
    assert {row["workspace"] for row in room.json("sessions", "--all")["sessions"]} == {"work"}
    room.ok("rename-workspace", "work", "default", "--confirm")
    assert projects(room) == before
    assert room.json("where")["scope"]["workspace"] == "default"
    assert room.git("fsck", "--strict") == ""


def test_projects_are_joined_only_where_no_page_is_in_the_way_or_as_asked(room: Room) -> None:
    furnish(room)
    room.ok("write-page", "till:notes/a.md", "-b", "# Another A")
    before = projects(room)
    blocked = room.json("move-project", "shop", "default/till", "--confirm", code=5)
    assert [row["path"] for row in blocked["conflicts"]] == ["notes/a.md"]
    assert projects(room) == before
    room.ok("move-project", "shop", "default/till", "--conflict", "duplicate", "--confirm")
    assert projects(room) == {"default/till": before["default/till"]}
    found = [path for path in paths(room, "--project", "till") if path.startswith("notes/")]
    assert found == ["notes/a-from-shop.md", "notes/a.md", "notes/b.md", "notes/c.md"]
    assert "[[notes/a-from-shop]]" in room.ok("read-page", "till:notes/c.md")
    assert room.json("where")["scope"]["project"] == "till"
    assert room.json("handoff", "accept")["handoffs"]
    assert len(room.json("message", "list", "--project", "till")["messages"]) == 2


def test_joining_with_overwrite_lets_the_other_page_go(room: Room) -> None:
    furnish(room)
    room.ok("write-page", "till:notes/a.md", "-b", "# Another A")
    room.ok("move-project", "shop", "default/till", "--conflict", "overwrite", "--confirm")
    assert "# A\n" in room.ok("read-page", "till:notes/a.md")
    assert room.git("status", "--porcelain") == ""


def test_a_session_moves_with_page_and_handoff_alone(room: Room) -> None:
    furnish(room)
    shown = room.json("move-session", SESSION[:8], "till")
    assert [(row["pages"], row["handoffs"], row["observations"], row["messages"]) for row in shown["projects"]] == [
        (2, 1, 3, 0)
    ]
    room.ok("move-session", SESSION[:8], "till", "--confirm")
    assert paths(room) == ["notes/a.md", "notes/b.md"]
    assert {path.partition("/")[0] for path in paths(room, "--project", "till")} == {"handoffs", "notes", "sessions"}
    [session] = room.json("sessions", "--project", "till")["sessions"]
    assert session["id"] == SESSION
    room.tell("session-start", source_event="resume")
    room.tell("user-prompt", text="Change the tea cosy.")
    room.tell("session-end")
    room.drain()
    [page] = [path for path in paths(room, "--project", "till") if path.startswith("sessions/")]
    assert "tea cosy" in room.ok("read-page", f"till:{page}")
    assert paths(room) == ["notes/a.md", "notes/b.md"]


def test_a_session_that_runs_is_moved_only_on_demand(room: Room) -> None:
    room.work()
    fault = room.json("move-session", SESSION, "till", "--create", "--confirm", code=5)["error"]
    assert "--force" in fault["hint"]
    room.ok("move-session", SESSION, "till", "--create", "--force", "--confirm")
    room.tell("session-end")
    room.drain()
    assert any(path.startswith("sessions/") for path in paths(room, "--project", "till"))


def test_files_that_are_no_pages_are_named(room: Room) -> None:
    furnish(room)
    room.file("notes/picture.png").write_bytes(b"x")
    answer = room.json("rename-project", "shop", "store", "--confirm")
    assert answer["gaps"] == [f"1 files that are no pages stay in {room.data_dir / 'wiki' / 'default' / 'shop'}"]


def test_an_edit_by_hand_is_taken_along(room: Room) -> None:
    furnish(room)
    room.file("notes/b.md").write_text("# B\n\nby hand\n")
    room.ok("rename-project", "shop", "store", "--confirm")
    assert "by hand" in room.ok("read-page", "notes/b.md")
    assert not (room.data_dir / "wiki" / "default" / "shop" / "notes").exists()


def test_undo_says_how_a_move_is_taken_back(room: Room) -> None:
    furnish(room)
    room.ok("rename-project", "shop", "store", "--confirm")
    fault = room.json("undo", code=5)["error"]
    assert "default/shop to default/store" in fault["message"]
    assert "rename-project" in fault["hint"]


def test_starts_in_the_folder_are_told_of_the_new_name_at_once(room: Room) -> None:
    furnish(room)
    room.ok("rename-project", "shop", "store", "--confirm")
    outbox = Outbox(DataDir(room.data_dir))
    entries = [json.loads(outbox.read(name) or "{}") for name in outbox.names_in("starts")]
    told = {entry["project"] for entry in entries if entry.get("folder") == str(room.checkout)}
    assert told == {"store"}
    mail = [json.loads(outbox.read(name) or "{}") for name in outbox.names_in("mail")]
    assert {(one["place"], len(one["until_us"])) for one in mail} == {("default/store", 1), ("default/till", 1)}


def test_a_page_whose_relations_cannot_be_read_is_moved_as_it_is_and_named(room: Room) -> None:
    furnish(room)
    text = "---\nrelations: {about: [\n---\n[[shop:notes/a]]\n"
    room.file("notes/broken.md").write_text(text)
    answer = room.json("rename-project", "shop", "store", "--confirm")
    assert "default/store:notes/broken.md" in answer["gaps"][0]
    assert (room.data_dir / "wiki" / "default" / "store" / "notes" / "broken.md").read_text() == text
