"""A change that is recorded and cannot be finished yet: the next one is told that it was not written."""

import os
from pathlib import Path
from typing import NoReturn

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.errors import NotWritten, Recorded, StoreFault
from ai_memory.model import Sanitized
from ai_memory.store import pending, rollforward
from ai_memory.store.wiki import Wiki

FULL = OSError(28, "No space left on device")


def refuse(*_: object, **__: object) -> NoReturn:
    raise FULL


def test_who_comes_after_a_change_that_could_not_be_finished_is_told_that_nothing_was_written(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr(Wiki, "write_commit", refuse)
        with pytest.raises(Recorded, match="The change is recorded but could not be finished: the disk is full"):
            room.put("notes/first.md")
        for _ in range(2):
            with pytest.raises(NotWritten, match=r"An earlier change .*the disk is full\. This one was not") as told:
                room.put("notes/second.md")
            assert "is recorded" not in str(told.value)
        with room.memory().reading() as snapshot:
            assert [gap for gap in snapshot.gaps if "An earlier change could not be finished" in gap]
            assert not [gap for gap in snapshot.gaps if "not written" in gap]
    assert room.text("notes/first.md") == "text\n"
    assert room.text("notes/second.md") is None
    room.assert_in_step()


def test_a_write_that_stops_at_an_edit_by_hand_it_cannot_take_says_that_it_was_not_written(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.by_hand("notes/b.md", "by hand\n")
    with monkeypatch.context() as full:
        full.setattr(Wiki, "write_commit", refuse)
        with pytest.raises(NotWritten):
            room.put("notes/a.md", "ours\n")
        assert [sentence for sentence in room.adopt().skipped if "could not be finished" in sentence]
    assert room.text("notes/b.md") == "by hand\n"
    assert room.text("notes/a.md") != "ours\n"
    room.assert_in_step()


def test_a_change_that_is_done_is_told_as_done_when_an_edit_that_came_meanwhile_cannot_be_taken(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, saved = pending.save, []

    def save_once(path: Path, change: pending.Pending) -> None:
        if saved:
            raise FULL
        saved.append(path)
        real(path, change)

    def edit(step: str) -> None:
        if step == "ref":
            room.by_hand("notes/a.md", "# a\n\none\ntwo\nthree\nfour\nFIVE\n")

    with monkeypatch.context() as full:
        full.setattr(pending, "save", save_once)
        assert room.put("notes/a.md", "# a\n\nONE\ntwo\nthree\nfour\nfive\n", step=edit).commit is not None
    room.adopt()
    assert room.text("notes/a.md") == "# a\n\nONE\ntwo\nthree\nfour\nFIVE\n"
    room.assert_in_step()


def test_a_log_that_cannot_be_saved_is_told_as_nothing_written(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "write_whole", refuse)
    with pytest.raises(StoreFault, match=r"Nothing was written: the disk is full\.") as told:
        room.put("notes/a.md", "ours\n")
    assert not isinstance(told.value, Recorded)
    room.by_hand("notes/b.md", "by hand\n")
    assert room.adopt().skipped == (
        "Edits by hand could not be taken: Nothing was written: the disk is full. Free some space. Then try again.",
    )


def test_a_log_whose_name_alone_could_not_be_synced_is_told_as_recorded_and_the_branch_stays(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, real = room.git("rev-parse", "HEAD"), os.fsync

    def refuse_the_folder(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink() == room.data_dir.root:
            raise FULL
        real(descriptor)

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", refuse_the_folder)
        with pytest.raises(Recorded):
            room.put("notes/a.md", "ours\n")
    assert room.git("rev-parse", "HEAD") == before
    assert room.text("notes/a.md") == "ours\n"


def test_the_steps_after_the_branch_keep_a_success(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as full:
        full.setattr(rollforward.RollForward, "_write_files", refuse)
        with room.memory().writing("First") as change:
            change.put(ref("notes/a.md"), Sanitized("first\n"))
        assert change.committed is not None
        with pytest.raises(NotWritten):
            room.put("notes/b.md", "second\n")
    room.put("notes/c.md", "third\n")
    assert room.text("notes/a.md") == "first\n"
    room.assert_in_step()
