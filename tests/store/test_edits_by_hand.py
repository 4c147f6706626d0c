"""What people do to the files of the wiki is taken, named or left, and never lost."""

from pathlib import Path

import pytest
from hand_room import SECOND_US, SHOP, Desk, page

from ai_memory.model import PageRef, Sanitized
from ai_memory.store.adoption import MASS_PAGES


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.write("notes/a.md", "# A\n\none\n\ntwo\n\nthree\n")
    desk.write("notes/b.md", "# B\n\n[[notes/a]]\n")
    return desk


def test_a_file_that_was_made_or_changed_by_hand_becomes_a_commit_of_its_own(desk: Desk) -> None:
    desk.file("notes/a.md").write_bytes(b"\xef\xbb\xbf# A by hand\r\n\r\ntext\r\n")
    desk.file("notes/c.md").write_text("# C\n")
    taken = desk.memory().adopt()
    assert taken.created == (page("notes/c.md"),)
    assert taken.changed == (page("notes/a.md"),)
    assert desk.text("notes/a.md") == "\ufeff# A by hand\r\n\r\ntext\r\n"
    assert "by hand" in desk.git("log", "-1", "--format=%s")
    desk.assert_in_step()


def test_nothing_changed_makes_no_commit(desk: Desk) -> None:
    head = desk.git("rev-parse", "HEAD")
    assert desk.memory().adopt().commit is None
    assert desk.git("rev-parse", "HEAD") == head


def test_a_write_takes_the_edits_in_its_own_folder_first(desk: Desk) -> None:
    desk.file("notes/b.md").write_text("# B by hand\n")
    desk.write("notes/a.md", "# A by tool\n")
    assert desk.text("notes/b.md") == "# B by hand\n"
    assert desk.git("log", "-2", "--format=%s").splitlines() == [
        "write notes/a.md",
        "Edit default/shop/notes/b.md by hand",
    ]
    desk.assert_in_step()


def test_a_missing_file_counts_as_deleted_at_the_second_look_five_seconds_later(desk: Desk) -> None:
    desk.file("notes/b.md").unlink()
    assert desk.memory().adopt().deleted == ()
    desk.now_us += 4 * SECOND_US
    assert desk.memory().adopt().deleted == ()
    desk.now_us += 2 * SECOND_US
    assert desk.memory().adopt().deleted == (page("notes/b.md"),)
    assert desk.text("notes/b.md") is None
    desk.assert_in_step()


def test_a_file_that_comes_back_was_never_deleted(desk: Desk) -> None:
    content = desk.file("notes/b.md").read_bytes()
    desk.file("notes/b.md").unlink()
    desk.memory().adopt()
    desk.file("notes/b.md").write_bytes(content)
    desk.memory().adopt()
    desk.now_us += 60 * SECOND_US
    desk.file("notes/b.md").unlink()
    assert desk.memory().adopt().deleted == ()


def test_a_rename_by_hand_is_taken_at_once(desk: Desk) -> None:
    (desk.wiki / "default" / "shop" / "concepts").mkdir()
    desk.file("notes/a.md").rename(desk.file("concepts/a.md"))
    taken = desk.memory().adopt()
    assert taken.created == (page("concepts/a.md"),)
    assert taken.deleted == (page("notes/a.md"),)
    assert [version.change for version in desk.memory().history(page("concepts/a.md"))] == ["moved", "created"]
    desk.assert_in_step()


def test_a_mass_disappearance_asks_and_deletes_nothing(desk: Desk) -> None:
    for number in range(MASS_PAGES + 2):
        desk.write(f"notes/n{number}.md", "text\n")
    for number in range(MASS_PAGES + 2):
        desk.file(f"notes/n{number}.md").unlink()
    for _ in range(3):
        taken = desk.memory().adopt()
        desk.now_us += 10 * SECOND_US
    assert taken.deleted == ()
    assert "are gone" in taken.asked[0]
    assert len(desk.paths()) == MASS_PAGES + 4


def test_a_placeholder_of_a_sync_client_is_no_deletion(desk: Desk) -> None:
    desk.file("notes/b.md").rename(desk.file("notes/.b.md.icloud"))
    desk.memory().adopt()
    desk.now_us += 10 * SECOND_US
    assert desk.memory().adopt().deleted == ()
    assert desk.text("notes/b.md") is not None


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("clash.md", b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", "conflict markers"),
        ("A.md", b"other case\n", "only by case"),
        ("what?.md", b"text\n", "not a page path"),
        ("con.md", b"text\n", "Windows"),
    ],
)
def test_what_cannot_be_a_page_is_named_and_left(desk: Desk, name: str, content: bytes, reason: str) -> None:
    desk.file(f"notes/{name}").write_bytes(content)
    taken = desk.memory().adopt()
    assert taken.commit is None
    assert any(reason in line for line in (*taken.asked, *taken.skipped)), taken
    assert desk.file(f"notes/{name}").read_bytes() == content


def test_a_link_to_a_file_outside_is_neither_read_nor_written_through(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret\n")
    desk.file("notes/link.md").symlink_to(outside)
    taken = desk.memory().adopt()
    assert taken.commit is None
    assert any("not a regular file" in line for line in taken.skipped)
    with pytest.raises(Exception, match="not a regular file"):
        desk.write("notes/link.md", "# Ours\n")
    assert outside.read_text() == "secret\n"


def test_bytes_that_are_no_text_are_kept_and_the_page_is_named(desk: Desk) -> None:
    desk.file("notes/raw.md").write_bytes(b"# Raw \xff\xfe\n")
    desk.memory().adopt()
    with desk.memory().reading() as snapshot:
        assert [ref for ref, _ in snapshot.faults()] == [page("notes/raw.md")]
    desk.assert_in_step()
    assert desk.file("notes/raw.md").read_bytes() == b"# Raw \xff\xfe\n"


def test_a_project_that_was_begun_with_mkdir_gets_its_meta_page(desk: Desk) -> None:
    (desk.wiki / "default" / "cellar").mkdir()
    (desk.wiki / "default" / "cellar" / "wine.md").write_text("# Wine\n")
    assert desk.memory().adopt().created == (PageRef("default", "cellar", "wine.md"),)
    with desk.memory().reading() as snapshot:
        assert [project.name for project in snapshot.projects()] == ["cellar", "shop"]
    desk.assert_in_step()


def test_a_project_that_was_brought_with_git_gets_its_meta_page_and_others_stay_as_they_are(desk: Desk) -> None:
    for name in ("cellar", "Not A Name"):
        (desk.wiki / "default" / name).mkdir()
        (desk.wiki / "default" / name / "wine.md").write_text("# Wine\n")
    (desk.wiki / "default" / "attachments").mkdir()
    (desk.wiki / "default" / "attachments" / "label.png").write_bytes(b"png")
    desk.git("add", ".")
    desk.git("commit", "-q", "-m", "Pulled")
    before = desk.git("rev-list", "--count", "HEAD")
    desk.memory().adopt()
    with desk.memory().reading() as snapshot:
        assert [project.name for project in snapshot.projects()] == ["cellar", "shop"]
    assert desk.git("log", "-1", "--format=%s") == "Begin what came with git\n"
    desk.memory().adopt()
    assert int(desk.git("rev-list", "--count", "HEAD")) == int(before) + 1  # once
    desk.assert_in_step()


def edit_at(desk: Desk, step: str, text: str) -> dict[str, object]:
    """Options of a memory in which a person saves notes/a.md at that step of our write."""
    done: list[str] = []

    def at(name: str) -> None:
        if name == step and not done:
            done.append(name)
            desk.file("notes/a.md").write_text(text)

    return {"step": at}


def test_an_edit_of_other_lines_saved_during_our_write_is_joined(desk: Desk) -> None:
    theirs = "# A\n\none\n\ntwo\n\nthree by hand\n"
    desk.write("notes/a.md", "# A\n\none by tool\n\ntwo\n\nthree\n", **edit_at(desk, "pending", theirs))
    assert desk.text("notes/a.md") == "# A\n\none by tool\n\ntwo\n\nthree by hand\n"
    desk.assert_in_step()


def test_an_edit_of_the_same_lines_saved_during_our_write_is_kept_beside(desk: Desk) -> None:
    theirs = "# A\n\nmine, by hand\n"
    desk.write("notes/a.md", "# A\n\nmine, by tool\n", **edit_at(desk, "pending", theirs))
    assert desk.text("notes/a.md") == "# A\n\nmine, by tool\n"
    [beside] = [path for path in desk.paths() if ".conflict-" in path]
    assert desk.text(beside) == theirs
    desk.assert_in_step()


def test_reading_one_page_shows_the_edit_that_a_person_just_made(desk: Desk) -> None:
    desk.file("notes/a.md").write_text("# A just now\n")
    memory = desk.memory()
    memory.fresh(page("notes/a.md"))
    assert desk.text("notes/a.md") == "# A just now\n"


def test_an_expected_version_is_compared_with_the_edit_by_hand(desk: Desk) -> None:
    with desk.memory().reading() as snapshot:
        found = snapshot.page(page("notes/a.md"))
    assert found is not None
    desk.file("notes/a.md").write_text("# A by hand\n")
    with pytest.raises(Exception, match="not at"), desk.memory().writing("late") as change:
        change.ensure_project(SHOP)
        change.put(page("notes/a.md"), Sanitized("# A by tool\n"), expected_version=found.version)
    assert desk.text("notes/a.md") == "# A by hand\n"
