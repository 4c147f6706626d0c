"""A write in a large folder that nobody touched looks at its own file; whatever a person does there is still taken."""

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.model import Sanitized
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


@pytest.mark.usefixtures("looked")
@pytest.mark.parametrize("way", ["new", "replaced", "renamed"])
def test_a_file_that_comes_at_any_step_of_a_write_is_taken_by_the_next(room: WikiRoom, way: str) -> None:
    """In the very tick of our own renames, too."""
    steps: list[str] = []
    room.put("notes/a.md", "begun\n", step=steps.append)
    assert steps.count("file") == 1
    for number, wanted in enumerate(steps):
        came: list[str] = []

        def come(name: str, number: int = number, came: list[str] = came, wanted: str = wanted) -> None:
            if name == wanted and not came:
                came.append(name)
                text = f"# By hand {number}\n"
                page = {"new": f"notes/n{number}.md", "replaced": "notes/b.md", "renamed": f"notes/r{number}.md"}[way]
                beside = room.by_hand("notes/.beside", text)
                beside.replace(room.file(page))
                came.append(page)
                if way == "renamed":
                    room.file(page).rename(room.file(page + "x.md"))
                    came[-1] += "x.md"

        room.put("notes/a.md", f"ours {number}\n", step=come)
        room.put("notes/c.md", f"ours {number}\n")
        assert came[0] == wanted
        assert room.committed(came[-1]) == f"# By hand {number}\n".encode(), wanted
    room.assert_in_step()


def test_writes_of_several_pages_leave_their_folders_in_order(room: WikiRoom, looked: list[list[str]]) -> None:
    room.put("other/x.md")
    room.put("other/x.md", "again\n")
    looked.clear()
    for _ in range(2):
        with room.memory().writing("Several") as change:
            for page in ("notes/a.md", "notes/n.md", "other/x.md"):
                change.put(ref(page), Sanitized(f"several {len(looked)} {room.clock.at_us}\n"))
            change.delete(ref("notes/b.md"))
        room.clock.pass_s(60)
    room.put("other/x.md", "last\n")
    assert looked == []
    room.assert_in_step()


def test_a_folder_whose_time_may_not_be_set_is_looked_at_again(
    room: WikiRoom, looked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr("ai_memory.store.stamps.os.utime", refuse)
    room.put("notes/a.md", "second\n")
    looked.clear()
    room.put("notes/a.md", "third\n")
    assert looked == [["default/shop/notes"]]
