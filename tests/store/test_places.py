"""Data dirs in odd places and at odd times: two at once, a copy elsewhere, one open to all, a clock that is wrong."""

import subprocess
import sys
from pathlib import Path

import forked
import pytest
from crash_driver import assert_in_step, memory_at, page, pages, ref, start
from wiki_room import NOON_US, SECOND_US, WikiRoom

from ai_memory.errors import StoreFault
from ai_memory.paths import DataDir
from ai_memory.store.leftovers import sweep

YEAR_US = 365 * 24 * 3600 * SECOND_US


@pytest.mark.skipif(sys.platform == "win32", reason="no such rights there")
def test_a_data_dir_in_which_all_may_write_is_read_and_not_written(room: WikiRoom) -> None:
    room.data_dir.root.chmod(0o777)
    with pytest.raises(StoreFault, match="Every user of this machine may write") as told:
        room.put("notes/z.md")
    assert "chmod 700" in told.value.hint
    with pytest.raises(StoreFault, match="may write"), room.memory().state_transaction():
        pass
    assert room.text("notes/a.md") is not None
    room.data_dir.root.chmod(0o700)
    room.put("notes/z.md")
    room.assert_in_step()


def test_two_data_dirs_know_nothing_of_each_other(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for root in (one, two):
        start(root)
    with memory_at(one).writing("Begin in one") as outer:
        outer.put(ref("a.md"), page("one"))
        with memory_at(two).writing("and in the other meanwhile") as inner:  # each has a lock of its own
            inner.put(ref("a.md"), page("two"))
    assert "title: one" in pages(one)[ref("a.md").git_path]
    assert "title: two" in pages(two)[ref("a.md").git_path]
    for root in (one, two):
        assert_in_step(root)


def test_a_data_dir_that_was_copied_to_another_machine_goes_on_there(tmp_path: Path) -> None:
    """Copied with plain `cp -r`: new times and inodes, no hard links, and the lock of a writer who was never here."""
    here, there = tmp_path / "here", tmp_path / "there"
    start(here)
    (DataDir(here).locks / "write.holder").write_text('{"pid": 1, "host": "elsewhere", "command": "x", "since_us": 1}')
    subprocess.run(["cp", "-r", str(here), str(there)], check=True)
    before = pages(here)
    assert pages(there) == before
    assert memory_at(there).adopt().commit is None
    with memory_at(there).writing("go on") as change:
        change.put(ref("z.md"), page("z"))
    assert_in_step(there)
    assert pages(here) == before
    assert len(pages(there)) == len(before) + 1


def test_eight_processes_that_start_at_once_make_one_data_dir(tmp_path: Path) -> None:
    root = tmp_path / "data"
    words = ["--data-dir", str(root), "--lock-timeout", "60", "write-page", "--workspace", "default"]
    words += ["--project", "crash"]
    writers = [forked.Process([*words, f"{at}.md", "-b", f"# {at}"], cwd=tmp_path) for at in range(8)]
    errors = [writer.communicate(timeout_s=120)[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 8, errors
    assert sorted(pages(root)) == [ref(f"{number}.md").git_path for number in range(8)]
    assert_in_step(root)


@pytest.mark.parametrize("shift_us", [YEAR_US, -YEAR_US], ids=["a year ahead", "a year back"])
def test_a_clock_that_is_wrong_for_a_while_loses_nothing(room: WikiRoom, shift_us: int) -> None:
    room.clock.at_us = NOON_US + shift_us
    room.put("notes/wrong.md", "written at the wrong time\n")
    room.by_hand("notes/b.md", "by hand\n")
    room.adopt()
    room.file("notes/c.md").unlink()
    room.adopt()
    room.clock.at_us = NOON_US + 600 * SECOND_US
    sweep(room.data_dir)
    room.put("notes/right.md", "written at the right time\n")
    assert room.text("notes/wrong.md") == "written at the wrong time\n"
    assert room.text("notes/b.md") == "by hand\n"
    assert [one.change for one in room.history("notes/wrong.md")] == ["created"]
    room.look_twice()
    assert room.text("notes/c.md") is None
    room.assert_in_step()
