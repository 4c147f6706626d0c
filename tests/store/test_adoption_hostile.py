"""Files by hand that no page may be: left alone, named, and never a way out of the wiki."""

from pathlib import Path

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.errors import MemoryFault

MARKERS = "# a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"


def skipped(room: WikiRoom) -> str:
    return "\n".join(room.adopt().skipped)


def test_conflict_markers_are_named_and_left(room: WikiRoom) -> None:
    room.by_hand("notes/a.md", MARKERS)
    told = "default/shop/notes/a.md was not taken, since git left conflict markers in it: solve them"
    assert room.adopt().asked == (told,)
    assert room.put("notes/b.md", "# b, anew\n").asked == (told,)
    assert room.committed("notes/a.md") != MARKERS.encode()
    assert room.file("notes/a.md").read_text() == MARKERS


def test_a_write_to_a_page_with_conflict_markers_loses_neither_side(room: WikiRoom) -> None:
    room.by_hand("notes/a.md", MARKERS)
    room.put("notes/a.md", "# a\n\nanew\n")
    assert room.committed("notes/a.md") == b"# a\n\nanew\n"
    kept = [file.read_text() for file in room.file("notes").glob("a*.md")]
    assert MARKERS in kept


@pytest.mark.parametrize("content", [b"# a\r\n\r\none\r\n", "\ufeff# a\n".encode(), b"# a\n\nno end of line", b""])
def test_bytes_are_kept_as_the_person_saved_them(room: WikiRoom, content: bytes) -> None:
    room.by_hand("notes/a.md", content)
    room.adopt()
    assert room.committed("notes/a.md") == content
    assert room.file("notes/a.md").read_bytes() == content
    assert room.git("status", "--porcelain") == ""


def test_a_file_that_is_not_utf_8_is_taken_byte_for_byte(room: WikiRoom) -> None:
    room.by_hand("notes/latin.md", b"caf\xe9\n")
    room.adopt()
    assert room.committed("notes/latin.md") == b"caf\xe9\n"
    assert room.text("notes/latin.md") is not None
    room.assert_in_step()


def test_a_frontmatter_that_is_no_yaml_is_taken_and_told_as_a_fault(room: WikiRoom) -> None:
    room.by_hand("notes/a.md", "---\ntitle: [\n---\nbody\n")
    room.adopt()
    with room.memory().reading() as snapshot:
        assert [found for found, _ in snapshot.faults()] == [ref("notes/a.md")]
    room.assert_in_step()


@pytest.mark.parametrize("name", ["con.md", "a:b.md", "tail .md", "x\u200by.md", "git~1.md", "a\nb.md"])
def test_a_name_that_no_page_may_have_is_named_and_left(room: WikiRoom, name: str) -> None:
    room.by_hand(f"notes/{name}", "text\n")
    adopted = room.adopt()
    assert adopted.commit is None
    assert len(adopted.skipped) == 1


def test_a_name_that_is_not_utf_8_is_named_and_left(room: WikiRoom) -> None:
    folder = bytes(room.file("notes"))
    with open(folder + b"/caf\xe9.md", "wb") as out:
        out.write(b"text\n")
    assert "its name is not UTF-8" in skipped(room)
    room.put("notes/d.md")
    assert room.text("notes/d.md") == "text\n"


@pytest.mark.parametrize("name", ["Shop", "my shop", "con", "x.lock"])
def test_a_folder_that_no_project_may_be_is_named_and_left(room: WikiRoom, name: str) -> None:
    room.by_hand("notes/a.md", "text\n", project=name)
    adopted = room.adopt()
    assert adopted.commit is None
    assert len(adopted.skipped) == 1


def test_two_names_that_differ_only_by_case_are_not_both_taken(room: WikiRoom) -> None:
    room.by_hand("notes/A.md", "other\n")
    assert "differs from default/shop/notes/a.md only by case" in skipped(room)
    assert room.committed("notes/A.md") is None


def test_a_rename_by_hand_that_changes_only_case_is_taken(room: WikiRoom) -> None:
    room.file("notes/a.md").rename(room.file("notes/A.md"))
    room.look_twice()
    room.adopt()
    assert room.text("notes/A.md") is not None
    assert room.text("notes/a.md") is None
    room.assert_in_step()


@pytest.mark.parametrize("path", ["top.md", "default/top.md", ".obsidian/x/y.md", "default/shop/.trash/x.md"])
def test_what_lies_outside_of_projects_and_in_dot_folders_is_no_page(room: WikiRoom, path: str) -> None:
    file = room.wiki / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("text\n")
    assert room.adopt().commit is None


def test_files_that_are_no_markdown_are_left(room: WikiRoom) -> None:
    room.by_hand("notes/picture.png", b"\x89PNG")
    room.by_hand("notes/a.md~", "backup of an editor")
    assert room.adopt().commit is None


def test_a_file_of_20_mb_is_named_and_left_and_not_read(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    room.by_hand("notes/huge.md", b"x" * 20_000_000)
    real = Path.read_bytes

    def refuse(path: Path) -> bytes:
        assert path.name != "huge.md"
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert "20,000,000 bytes are more than a page may hold" in skipped(room)
    room.put("notes/d.md")
    assert room.text("notes/d.md") == "text\n"


def test_a_page_that_grew_too_large_by_hand_is_not_deleted(room: WikiRoom) -> None:
    room.by_hand("notes/a.md", b"x" * 20_000_000)
    assert room.look_twice().deleted == ()
    assert room.text("notes/a.md") is not None


# --- links ---


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text("secret\n")
    return folder


def test_a_link_to_a_file_is_named_and_not_followed(room: WikiRoom, outside: Path) -> None:
    room.file("notes/link.md").symlink_to(outside / "secret.md")
    assert skipped(room) == "default/shop/notes/link.md: not a regular file"
    room.memory().fresh(ref("notes/link.md"))
    assert room.committed("notes/link.md") is None


def test_a_link_to_a_folder_is_named_and_not_followed(room: WikiRoom, outside: Path) -> None:
    room.file("away").symlink_to(outside)
    assert skipped(room) == "default/shop/away: a symbolic link"
    room.memory().fresh(ref("away/secret.md"))
    with pytest.raises(MemoryFault, match="symbolic link"):
        room.put("away/secret.md", "text\n")
    assert (outside / "secret.md").read_text() == "secret\n"
    assert "default/shop/away/secret.md" not in room.files_at_head()
    room.put("notes/d.md")
    assert room.text("notes/d.md") == "text\n"


def test_a_project_moved_away_behind_a_link_is_not_deleted(room: WikiRoom, tmp_path: Path) -> None:
    room.file("").rename(tmp_path / "moved")
    room.file("").symlink_to(tmp_path / "moved")
    adopted = room.look_twice()
    assert adopted.deleted == ()
    assert adopted.skipped == ("default/shop: a symbolic link",)


def test_a_page_behind_a_link_is_refused_before_anything_is_written(room: WikiRoom, outside: Path) -> None:
    room.file("notes/a.md").unlink()
    room.file("notes/a.md").symlink_to(outside / "secret.md")
    before = room.git("rev-parse", "HEAD")
    with pytest.raises(MemoryFault, match="not a regular file"):
        room.put("notes/a.md", "through the link\n")
    assert room.git("rev-parse", "HEAD") == before
    assert not room.data_dir.pending.exists()
    assert (outside / "secret.md").read_text() == "secret\n"
    room.put("notes/b.md", "others go on\n")
    assert room.text("notes/b.md") == "others go on\n"


def test_a_folder_where_a_page_should_stand_is_refused_before_anything_is_written(room: WikiRoom) -> None:
    room.file("notes/d.md").mkdir()
    room.by_hand("notes/d.md/inner.md")
    with pytest.raises(MemoryFault):
        room.put("notes/d.md")
    assert not room.data_dir.pending.exists()
    room.put("notes/e.md")
    assert room.text("notes/e.md") == "text\n"


def test_a_file_where_a_folder_should_stand_is_refused_before_anything_is_written(room: WikiRoom) -> None:
    room.by_hand("journal", "no folder")
    with pytest.raises(MemoryFault, match="journal"):
        room.put("journal/today.md")
    assert not room.data_dir.pending.exists()
    room.put("notes/e.md")
    assert room.text("notes/e.md") == "text\n"
