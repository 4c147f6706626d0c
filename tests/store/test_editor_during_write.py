"""An editor that saves while we write: at whatever instant it happens, both texts are kept."""

import os
from pathlib import Path
from typing import Any

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.model import Sanitized
from ai_memory.store import worktree

STEPS = [
    "locked",
    "before-pending",
    "pending",
    "objects",
    "ref",
    "file",
    "git-index-locked",
    "git-index-written",
    "git-index-renamed",
    "search-index",
    "before-clear",
    "cleared",
]
OLD = "# a\n\none\ntwo\nthree\nfour\nfive\n"


def write_beside(room: WikiRoom, step: str, ours: str, theirs: str, page: str = "notes/a.md") -> None:
    """Our write of a page; a person saves the same page at the named step."""
    saved: list[str] = []

    def save(name: str) -> None:
        if name == step and not saved:
            saved.append(name)
            room.by_hand(page, theirs)

    room.put(page, ours, step=save)
    assert saved == [step]
    room.adopt()


@pytest.mark.parametrize("step", STEPS)
def test_an_edit_of_other_lines_saved_at_any_step_is_kept_and_signed_by_the_person(
    room: WikiRoom, step: str, person: str
) -> None:
    theirs = OLD.replace("five", "FIVE")
    write_beside(room, step, OLD.replace("one", "ONE"), theirs)
    everything = room.git("log", "-p", "--format=%an <%ae>", "--", "default/shop/notes")
    assert "+ONE" in everything
    assert "+FIVE" in everything
    assert person in everything
    room.assert_in_step()


@pytest.mark.parametrize("step", STEPS)
def test_an_edit_of_the_same_line_saved_at_any_step_loses_neither_side(room: WikiRoom, step: str) -> None:
    write_beside(room, step, OLD.replace("three", "OURS"), OLD.replace("three", "THEIRS"))
    everything = room.git("log", "-p", "--format=", "--", "default/shop/notes")
    assert "+OURS" in everything
    assert "+THEIRS" in everything
    room.assert_in_step()


@pytest.mark.parametrize("step", STEPS)
def test_a_new_page_that_both_begin_at_once_is_kept_twice_or_in_history(room: WikiRoom, step: str) -> None:
    write_beside(room, step, "ours\n", "theirs\n", page="notes/new.md")
    everything = room.git("log", "-p", "--format=", "--", "default/shop/notes")
    assert "+ours" in everything
    assert "+theirs" in everything
    room.assert_in_step()


@pytest.mark.parametrize("step", ["pending", "ref", "file", "before-clear"])
def test_a_file_deleted_by_hand_during_our_write_stands_again_or_waits_for_a_second_look(
    room: WikiRoom, step: str
) -> None:
    def delete(name: str) -> None:
        if name == step:
            room.file("notes/a.md").unlink(missing_ok=True)

    room.put("notes/a.md", "ours\n", step=delete)
    assert room.committed("notes/a.md") == b"ours\n"
    room.look_twice()
    room.assert_in_step()


@pytest.mark.parametrize("step", ["pending", "ref"])
def test_a_page_that_we_delete_while_a_person_edits_it_is_kept_beside(room: WikiRoom, step: str) -> None:
    def save(name: str) -> None:
        if name == step:
            room.by_hand("notes/a.md", "edited\n")

    with room.memory(step=save).writing("Delete") as change:
        change.delete(ref("notes/a.md"))
    assert room.text("notes/a.md") is None
    assert [file.read_text() for file in room.file("notes").glob("a.conflict-*.md")] == ["edited\n"]
    room.adopt()
    room.assert_in_step()


TYPED = [OLD.replace("five", "five" + "!" * count) for count in range(1, 5)]


@pytest.mark.parametrize("step", ["before-adopt", "adopt-pending", "objects", "ref", "file", "git-index-locked"])
@pytest.mark.parametrize("newer", [TYPED[1], OLD, None], ids=["typed on", "taken back", "deleted"])
def test_what_is_saved_while_an_older_edit_is_taken_stays_in_the_file(
    room: WikiRoom, step: str, newer: str | None
) -> None:
    """Also in place, as `cat >` and many editors save; nothing of it is a conflict."""
    room.by_hand("notes/a.md", TYPED[0])
    saved: list[str] = []

    def save(name: str) -> None:
        if name == step and not saved:
            saved.append(name)
            if newer is None:
                room.file("notes/a.md").unlink()
            else:
                room.by_hand("notes/a.md", newer)

    room.memory(step=save).adopt()
    assert saved
    assert (room.file("notes/a.md").read_text() if newer is not None else None) == newer
    room.look_twice()
    assert room.text("notes/a.md") == newer
    assert list(room.file("notes").glob("*.conflict-*")) == []
    assert "five!\n" in room.git("log", "-p", "--format=", "--", "default/shop/notes") + "\n"
    room.assert_in_step()


@pytest.mark.parametrize("step", ["adopt-pending", "objects", "ref"])
def test_what_is_saved_after_a_kill_in_an_adoption_stays_in_the_file(room: WikiRoom, step: str) -> None:
    class Killed(BaseException):
        pass

    def kill(name: str) -> None:
        if name == step:
            raise Killed

    room.by_hand("notes/a.md", TYPED[0])
    with pytest.raises(Killed):
        room.memory(step=kill).adopt()
    room.by_hand("notes/a.md", TYPED[1])
    room.put("notes/b.md", "ours\n")
    assert room.text("notes/a.md") == TYPED[1]
    assert list(room.file("notes").glob("*.conflict-*")) == []
    room.assert_in_step()


def test_an_edit_saved_again_and_again_beside_our_writes_is_never_a_conflict(room: WikiRoom) -> None:
    """Once at each step of writes to another page, in place, each time a line more."""
    text = [OLD]

    def type_on(_: str) -> None:
        text.append(text[-1] + f"line {len(text)}\n")
        room.by_hand("notes/a.md", text[-1])

    for number in range(3):
        room.put("notes/b.md", f"ours {number}\n", step=type_on)
    room.adopt()
    assert len(text) > 30
    assert room.text("notes/a.md") == text[-1]
    assert list(room.file("notes").glob("*.conflict-*")) == []
    room.assert_in_step()


def test_an_edit_of_a_page_whose_new_file_lies_ready_beside_is_kept_and_nothing_is_left_there(room: WikiRoom) -> None:
    """Files of one change are written and synced together, then named one by one: what was saved between counts."""
    room.by_hand("notes/b.md", OLD)
    room.adopt()
    saved: list[set[str]] = []

    def save(name: str) -> None:
        if name == "file" and not saved:
            saved.append({path.name for path in room.file("notes").iterdir() if path.name.startswith(".")})
            room.by_hand("notes/b.md", OLD.replace("five", "FIVE"))

    with room.memory(step=save).writing("Write two") as change:
        for path in ("notes/a.md", "notes/b.md"):
            change.put(ref(path), Sanitized(OLD.replace("one", "ONE")))
    assert [len(beside) for beside in saved] == [1]  # that of b: a has its name by then
    assert room.file("notes/b.md").read_text() == OLD.replace("one", "ONE").replace("five", "FIVE")
    assert not [path.name for path in room.file("notes").iterdir() if path.name.startswith(".")]
    room.adopt()
    room.assert_in_step()


def test_files_of_a_change_get_their_names_only_when_all_of_them_are_synced(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    synced, named = os.fsync, worktree.name_whole

    def sync(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.name.endswith(".tmp") and path.parent.name == "notes":
            calls.append(f"sync {path.name.split('.')[1]}")
        synced(descriptor)

    def name(temporary: Path, path: Path, **how: Any) -> None:
        calls.append(f"name {path.stem}")
        named(temporary, path, **how)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(worktree, "name_whole", name)
    with room.memory().writing("Write two") as change:
        for path in ("notes/a.md", "notes/b.md"):
            change.put(ref(path), Sanitized("new\n"))
    assert sorted(calls[:2]) == ["sync a", "sync b"]
    assert calls[2:] == ["name a", "name b"]
