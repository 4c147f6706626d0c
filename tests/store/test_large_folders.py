"""A write in a large folder that nobody touched looks at its own file; whatever a person does there is still taken."""

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.store import writing
from ai_memory.store.worktree import WorkTree


@pytest.fixture
def looked(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The folders that were read whole since, with every folder counting as large."""
    monkeypatch.setattr(writing, "LARGE_FOLDER", 0)
    seen: list[list[str]] = []
    look_at = WorkTree.look_at

    def noted(tree: WorkTree, folders: list[str]) -> object:
        seen.append(list(folders))
        return look_at(tree, folders)

    monkeypatch.setattr(WorkTree, "look_at", noted)
    room.put("notes/a.md", "first\n")
    seen.clear()
    return seen


def test_a_write_in_an_untouched_folder_reads_no_folder(room: WikiRoom, looked: list[list[str]]) -> None:
    room.put("notes/a.md", "second\n")
    room.put("notes/new.md", "new\n")
    assert looked == []
    room.assert_in_step()


@pytest.mark.usefixtures("looked")
def test_an_edit_of_the_page_itself_is_taken_first(room: WikiRoom) -> None:
    with room.file("notes/a.md").open("w") as file:  # in place: the folder's time stands still
        file.write("by hand\n")
    with room.memory().writing("Look") as change:
        page = change.page(ref("notes/a.md"))
    assert page is not None
    assert page.text == "by hand\n"
    assert room.committed("notes/a.md") == b"by hand\n"


@pytest.mark.usefixtures("looked")
def test_a_page_of_the_same_size_saved_in_place_is_taken_first(room: WikiRoom) -> None:
    with room.file("notes/a.md").open("r+b") as file:
        file.write(b"FIRST")
    room.put("notes/a.md", "third\n")
    assert [version.change for version in room.history("notes/a.md")][:2] == ["changed", "changed"]
    assert room.git("show", "HEAD~1:default/shop/notes/a.md") == "FIRST\n"


def test_a_neighbour_that_came_by_hand_is_taken(room: WikiRoom, looked: list[list[str]]) -> None:
    room.by_hand("notes/neighbour.md", "# Neighbour\n")
    room.put("notes/a.md", "second\n")
    assert room.committed("notes/neighbour.md") == b"# Neighbour\n"
    assert looked == [["default/shop/notes"]]


@pytest.mark.usefixtures("looked")
def test_a_neighbour_changed_in_place_is_taken_by_the_next_look_at_everything(room: WikiRoom) -> None:
    with room.file("notes/b.md").open("a") as file:
        file.write("by hand\n")
    room.put("notes/a.md", "second\n")
    assert room.adopt().changed == (ref("notes/b.md"),)
    room.assert_in_step()


def test_a_missing_neighbour_is_looked_for_until_it_is_settled(room: WikiRoom, looked: list[list[str]]) -> None:
    room.file("notes/b.md").unlink()
    room.put("notes/a.md", "second\n")  # the first look; a minute passes
    room.put("notes/a.md", "third\n")
    assert room.committed("notes/b.md") is None
    looked.clear()
    room.put("notes/a.md", "fourth\n")
    assert looked == []


@pytest.mark.usefixtures("looked")
def test_a_file_that_could_not_be_taken_is_looked_at_again(room: WikiRoom) -> None:
    torn = room.by_hand("notes/torn.md", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    room.put("notes/a.md", "second\n")
    with torn.open("w") as file:  # in place
        file.write("solved\n")
    room.put("notes/a.md", "third\n")
    assert room.committed("notes/torn.md") == b"solved\n"


@pytest.mark.usefixtures("looked")
def test_a_link_in_place_of_the_page_is_never_written_through(room: WikiRoom) -> None:
    target = room.root / "outside.md"
    target.write_text("outside\n")
    room.file("notes/a.md").unlink()
    room.file("notes/a.md").symlink_to(target)
    with pytest.raises(Exception, match="not a regular file"):
        room.put("notes/a.md", "second\n")
    assert target.read_text() == "outside\n"


def test_a_lost_index_costs_one_look(room: WikiRoom, looked: list[list[str]]) -> None:
    room.data_dir.index.unlink()
    room.put("notes/a.md", "second\n")
    assert ["default/shop/notes"] in looked
    looked.clear()
    room.put("notes/a.md", "third\n")
    assert looked == []
