"""What a purge finds in the past: earlier paths, pages that were deleted before, names that a project had."""

import pytest
from cli_room import SESSION, Room

SECRET = "the heron stands in the reeds at dawn"


def objects_with(room: Room, text: str) -> list[str]:
    """Git's objects that hold the text, whatever leads to them."""
    names = room.git("cat-file", "--batch-check=%(objectname) %(objecttype)", "--batch-all-objects").splitlines()
    blobs = [line.split()[0] for line in names if line.endswith(" blob")]
    return [blob for blob in blobs if text in room.git("cat-file", "-p", blob)]


def test_a_page_at_the_old_path_of_a_moved_one_keeps_its_text_and_history(room: Room) -> None:
    room.ok("write-page", "notes/a.md", "-b", SECRET)
    room.ok("move", "notes/a.md", "notes/b.md")
    room.ok("write-page", "notes/a.md", "-b", "kettles boil")
    room.ok("write-page", "notes/a.md", "-b", "kettles boil at a hundred degrees")
    versions = [row["version"] for row in room.json("history", "notes/a.md")["versions"]]
    answer = room.json("forget", "-p", "notes/b.md", "--confirm", "--history", "--verify")
    assert answer["traces"] == []
    assert objects_with(room, "heron") == []
    assert [row["version"] for row in room.json("history", "notes/a.md")["versions"]] == versions[:2]
    assert room.git("log", "-1", "--format=%s", "--", "default/shop/notes/a.md").strip() == "write notes/a.md"
    assert room.git("status", "--porcelain") == ""
    room.git("fsck", "--strict")


def test_pages_that_changed_places_do_not_go_with_each_other(room: Room) -> None:
    for name in "ab":
        room.ok("write-page", f"notes/{name}.md", "-b", f"the text of {name} is here")
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        room.ok("move", f"notes/{old}.md", f"notes/{new}.md")
    room.ok("forget", "-p", "notes/a.md", "--confirm", "--history")
    assert objects_with(room, "the text of b is here") == []
    assert room.git("show", "HEAD:default/shop/notes/b.md") == "the text of a is here\n"


def test_a_purged_project_takes_along_what_was_deleted_in_it_before(room: Room) -> None:
    room.ok("write-page", "notes/a.md", "-b", SECRET)
    room.ok("write-page", "shop2:notes/b.md", "-b", "kettles boil")
    room.ok("delete-page", "shop2:notes/b.md")
    room.ok("write-page", "notes/moved.md", "-b", "trains run late")
    room.ok("delete-page", "notes/a.md")
    room.ok("move", "notes/moved.md", "other:notes/moved.md")
    shown = room.json("purge-project", "shop")
    assert [row["path"] for row in shown["pages"]] == ["notes/a.md"]
    answer = room.json("purge-project", "shop", "--confirm", "--history", "--verify")
    assert answer["traces"] == []
    assert objects_with(room, "heron") == []
    assert len(objects_with(room, "kettles")) == len(objects_with(room, "trains")) == 1
    assert len(room.json("history", "other:notes/moved.md")["versions"]) == 2
    assert "notes/a.md" not in (row["subject"] for row in room.json("log", "--all")["entries"])


@pytest.mark.parametrize("is_renamed", [False, True])
def test_a_project_that_was_purged_can_be_taken_out_of_the_history_later(room: Room, *, is_renamed: bool) -> None:
    room.ok("write-page", "notes/a.md", "-b", SECRET)
    room.ok("write-page", "other:notes/b.md", "-b", "kettles boil")
    if is_renamed:
        room.ok("write-page", "notes/early.md", "-b", f"early {SECRET}")
        room.ok("delete-page", "notes/early.md")
        room.ok("rename-project", "shop", "store", "--confirm")
    name = "store" if is_renamed else "shop"
    assert "--history" in room.json("purge-project", name, "--confirm")["gaps"][0]
    assert len(objects_with(room, "heron")) > 0
    answer = room.json("purge-project", name, "--confirm", "--history", "--verify")
    assert (answer["outcome"], answer["traces"]) == ("purged", [])
    assert objects_with(room, "heron") == []
    assert "default/s" not in room.git("log", "--all", "--format=", "--name-only")
    assert room.json("purge-project", name, "--confirm", "--history")["outcome"] == "unchanged"
    assert room.run("purge-project", name, "--confirm").exit_code == 3
    assert [row["path"] for row in room.json("pages", "--all")["pages"]] == ["notes/b.md"]


@pytest.mark.parametrize("is_purged_first", [False, True])
def test_a_session_takes_along_its_pages_that_were_deleted_before(room: Room, *, is_purged_first: bool) -> None:
    room.tell("user-prompt", text=f"Watch how {SECRET}.")
    room.tell("session-end")
    room.drain()
    pages = [row["path"] for row in room.json("pages")["pages"]]
    assert len(pages) == 2
    if is_purged_first:
        room.ok("purge-session", SESSION, "--confirm")
    else:
        for path in pages:
            room.ok("delete-page", path)
    assert len(objects_with(room, "heron")) > 0
    answer = room.json("purge-session", SESSION, "--confirm", "--history", "--verify")
    assert (sorted(row["path"] for row in answer["pages"]), answer["traces"]) == (pages, [])
    assert objects_with(room, "heron") == []
