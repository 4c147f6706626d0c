"""What a person does to the files of the wiki with an editor and a file manager is taken, and nothing else is."""

from pathlib import Path

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.operations.change import delete_page
from ai_memory.operations.read import read_page
from ai_memory.operations.write import append_to_page, write_page


def test_a_page_made_by_hand_is_taken_and_signed_by_the_person(room: WikiRoom, person: str) -> None:
    room.by_hand("notes/new.md", "# New\n")
    adopted = room.adopt()
    assert adopted.created == (ref("notes/new.md"),)
    assert room.git("log", "-1", "--format=%H %an <%ae>").split(" ", 1) == [adopted.commit, f"{person}\n"]
    assert "Pass: adopt" in room.git("log", "-1", "--format=%B")
    assert room.text("notes/new.md") == "# New\n"
    room.assert_in_step()


def test_a_page_edited_by_hand_is_taken(room: WikiRoom) -> None:
    room.by_hand("notes/a.md", "# A, edited\n")
    assert room.adopt().changed == (ref("notes/a.md"),)
    assert room.text("notes/a.md") == "# A, edited\n"
    assert [version.change for version in room.history("notes/a.md")] == ["changed", "created"]
    room.assert_in_step()


def test_an_edit_of_the_same_length_is_seen(room: WikiRoom) -> None:
    old = room.file("notes/a.md").read_bytes()
    room.by_hand("notes/a.md", old.replace(b"three", b"eerht"))
    assert room.adopt().changed == (ref("notes/a.md"),)


def test_where_nobody_edited_nothing_is_committed(room: WikiRoom) -> None:
    before = room.git("rev-parse", "HEAD")
    assert room.adopt().commit is None
    room.file("notes/a.md").touch()
    assert room.adopt().commit is None
    assert room.git("rev-parse", "HEAD") == before


def test_a_write_takes_the_edits_of_its_own_folder_first(room: WikiRoom) -> None:
    room.by_hand("notes/a.md", "# A, edited\n")
    room.put("notes/b.md", "b anew\n")
    assert room.committed("notes/a.md") == b"# A, edited\n"
    room.assert_in_step()


# --- deleting ---


def test_a_file_missing_in_one_look_is_not_deleted(room: WikiRoom) -> None:
    room.file("notes/a.md").unlink()
    assert room.adopt().deleted == ()
    room.clock.pass_s(4.9)
    assert room.adopt().deleted == ()
    assert room.text("notes/a.md") is not None


def test_a_file_missing_in_two_looks_five_seconds_apart_is_deleted_and_keeps_its_history(room: WikiRoom) -> None:
    room.file("notes/a.md").unlink()
    room.adopt()
    room.clock.pass_s(5)
    assert room.adopt().deleted == (ref("notes/a.md"),)
    assert room.text("notes/a.md") is None
    newest, first = room.history("notes/a.md")
    assert (newest.change, newest.version) == ("deleted", None)
    assert room.git("cat-file", "-t", str(first.version)) == "blob\n"
    room.assert_in_step()


def test_a_file_that_comes_back_between_two_looks_starts_anew(room: WikiRoom) -> None:
    kept = room.file("notes/a.md").read_bytes()
    room.file("notes/a.md").unlink()
    room.adopt()
    room.by_hand("notes/a.md", kept)
    room.clock.pass_s(6)
    room.adopt()
    room.file("notes/a.md").unlink()
    room.clock.pass_s(6)
    assert room.adopt().deleted == ()


def test_a_clock_that_was_set_back_deletes_nothing_early(room: WikiRoom) -> None:
    room.file("notes/a.md").unlink()
    room.adopt()
    room.clock.pass_s(-3600)
    assert room.adopt().deleted == ()
    room.clock.pass_s(6)
    assert room.adopt().deleted == (ref("notes/a.md"),)


def test_a_write_to_a_page_that_a_person_just_deleted_makes_it_again(room: WikiRoom) -> None:
    room.file("notes/a.md").unlink()
    room.put("notes/a.md", "back\n")
    assert room.look_twice().deleted == ()
    assert room.file("notes/a.md").read_text() == "back\n"


def test_a_deleted_folder_is_deleted_pages(room: WikiRoom) -> None:
    for file in room.file("notes").iterdir():
        file.unlink()
    room.file("notes").rmdir()
    assert len(room.look_twice().deleted) == 3
    room.assert_in_step()


# --- renaming ---


def test_a_page_renamed_by_hand_moves_at_once_with_its_history(room: WikiRoom) -> None:
    room.file("notes/a.md").rename(room.file("notes/z.md"))
    adopted = room.adopt()
    assert (adopted.created, adopted.deleted) == ((ref("notes/z.md"),), (ref("notes/a.md"),))
    assert [version.change for version in room.history("notes/z.md")] == ["moved", "created"]
    assert room.history("notes/z.md")[1].path == ref("notes/a.md")
    room.assert_in_step()


def test_a_folder_with_many_pages_renamed_by_hand_moves_at_once(room: WikiRoom) -> None:
    for number in range(14):
        room.put(f"old/{number}.md", f"page {number}\n")
    room.file("old").rename(room.file("new"))
    adopted = room.adopt()
    assert adopted.asked == ()
    assert len(adopted.created) == len(adopted.deleted) == 14
    room.assert_in_step()


# --- what is not believed ---


def test_many_pages_gone_at_once_are_asked_about_and_kept(room: WikiRoom) -> None:
    for number in range(12):
        room.put(f"many/{number}.md", f"page {number}\n")
    for file in room.file("many").iterdir():
        file.unlink()
    adopted = room.look_twice()
    assert adopted.deleted == ()
    assert "12 of 16 pages are gone" in adopted.asked[0]
    room.git("checkout", "--", ".")
    assert room.adopt().asked == ()
    room.assert_in_step()


def test_a_mass_deletion_that_the_person_commits_is_believed(room: WikiRoom) -> None:
    for number in range(12):
        room.put(f"many/{number}.md", f"page {number}\n")
    room.git("rm", "-rq", "default/shop/many")
    room.git("commit", "-qm", "Away with them")
    assert room.adopt().asked == ()
    room.assert_in_step()


def test_a_page_that_a_sync_client_holds_elsewhere_is_not_deleted(room: WikiRoom) -> None:
    room.file("notes/a.md").rename(room.file("notes/.a.md.icloud"))
    assert room.look_twice().deleted == ()
    assert room.text("notes/a.md") is not None


def test_an_unreadable_folder_is_not_a_deleted_one(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    real = os.scandir

    def refuse(path: object) -> object:
        if str(path).endswith("/notes"):
            raise PermissionError(13, "Permission denied")
        return real(path)  # type: ignore[call-overload]

    # chmod does not bind root, under which the tests may run
    monkeypatch.setattr("ai_memory.store.worktree.os.scandir", refuse)
    adopted = room.look_twice()
    assert adopted.deleted == ()
    assert adopted.skipped == ("default/shop/notes: folder cannot be read: Permission denied",)


def test_an_unreadable_file_is_named_and_left(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    room.by_hand("notes/a.md", "cannot be read")
    real = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    adopted = room.look_twice()
    assert (adopted.deleted, adopted.changed) == ((), ())
    assert adopted.skipped == ("default/shop/notes/a.md: cannot be read: Permission denied",)


# --- projects ---


def test_a_project_begun_with_mkdir_gets_its_meta_file(room: WikiRoom) -> None:
    room.by_hand("notes/first.md", "# First\n", project="garden")
    room.adopt()
    with room.memory().reading() as snapshot:
        project = next(one for one in snapshot.projects() if one.name == "garden")
    assert len(project.id) == 32
    assert room.file("_meta.md", "garden").exists()
    room.assert_in_step()


def test_an_empty_folder_is_no_project(room: WikiRoom) -> None:
    room.file("", "garden").mkdir()
    assert room.adopt().commit is None


def test_a_meta_file_edited_by_hand_is_taken(room: WikiRoom) -> None:
    meta = room.file("_meta.md")
    meta.write_text(meta.read_text().replace("aliases: []", "aliases: [store]"))
    assert room.adopt().commit is not None
    with room.memory().reading() as snapshot:
        assert snapshot.projects()[0].aliases == ("store",)


def test_whoever_meets_a_mass_disappearance_in_one_folder_is_told(room: WikiRoom) -> None:
    where = {"workspace": "default", "project": "shop"}
    for number in range(12):
        room.put(f"notes/n{number}.md")
    for number in range(12):
        room.file(f"notes/n{number}.md").unlink()
    answers = [
        read_page(room.memory(), path="notes/n1.md", **where),
        write_page(room.memory(), path="notes/a.md", body="anew", **where),
        append_to_page(room.memory(), path="notes/a.md", body="more", **where),
        delete_page(room.memory(), path="notes/b.md", **where),
    ]
    for answer in answers:
        told = [gap for gap in answer.gaps if "pages are gone from the wiki folder. Nothing was deleted" in gap]
        assert len(told) == 1, answer
    assert room.text("notes/n1.md") == "text\n"
