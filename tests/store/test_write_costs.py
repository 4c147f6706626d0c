"""What one write asks of the disk, of SQLite and of git: counted, since a clock tells little."""

import os
import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from dulwich.config import ConfigFile
from dulwich.repo import Repo
from wiki_room import WikiRoom

from ai_memory.errors import StoreFault
from ai_memory.operations.write import write_page
from ai_memory.store import driver, filesystem
from ai_memory.store.gitindex import GitIndex
from ai_memory.store.worktree import WorkTree

WHERE = {"workspace": "default", "project": "shop"}
PAGE, BRANCH = "wiki/default/shop/notes/a.md", "wiki/.git/refs/heads/main"


def counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[tuple[Any, ...]]:
    """What the function of that name is given from now on."""
    seen: list[tuple[Any, ...]] = []
    real: Callable[..., object] = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> object:
        seen.append((*args, *kwargs.values()))
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)
    return seen


@pytest.fixture
def calls(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Syncs and renames below the data dir, in their order; objects of git by what they are."""
    seen: list[tuple[str, str]] = []
    fsync, replace = os.fsync, os.replace

    def named(path: object) -> str:
        name = str(path).removeprefix(str(room.data_dir.root)).removeprefix("/") or "."
        name = re.sub(r"wiki/.git/objects/../.{38}", "an object", re.sub(r"tmp_obj_", "", name))
        name = re.sub(r"wiki/.git/objects/..$", "a folder of objects", name)
        return name.replace(f".{os.getpid()}.tmp", "")

    def sync(descriptor: int) -> None:
        fsync(descriptor)
        seen.append(("sync", named(Path(f"/proc/self/fd/{descriptor}").readlink())))

    def rename(path: Any, to: Any) -> None:
        replace(path, to)
        seen.append(("name", named(to)))

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", rename)
    return seen


def test_a_write_waits_for_the_disk_four_times_each_before_what_must_not_come_first(
    room: WikiRoom, calls: list[tuple[str, str]]
) -> None:
    room.put("notes/a.md", "second\n")
    assert [(call, {name for _, name in group}) for call, group in groupby(calls, key=lambda row: row[0])] == [
        ("sync", {".pending"}),
        ("name", {"pending"}),
        ("sync", {".", "an object", "wiki/default/shop/notes/.a.md"}),
        ("name", {"an object"}),
        ("sync", {"a folder of objects", "wiki/.git/objects", f"{BRANCH}.lock"}),
        ("name", {BRANCH, PAGE, "wiki/.git/index"}),
        ("sync", {"wiki/.git/refs/heads", "wiki/.git", "wiki/.git/index", "wiki/default/shop/notes"}),
    ]
    assert calls.count(("sync", "an object")) == 6  # a blob, four folders, a commit
    assert sum(call == "sync" for call, _ in calls) <= 21


def test_what_is_written_twice_is_synced_once(room: WikiRoom, calls: list[tuple[str, str]]) -> None:
    room.put("notes/a.md", "second\n")
    calls.clear()
    room.put("notes/a.md", "second\n")
    assert calls == []


@pytest.mark.parametrize(("last_s", "threads"), [(0.0, 0), (1.0, 3)])
def test_files_are_synced_by_several_threads_once_a_wait_was_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_s: float, threads: int
) -> None:
    paths = [tmp_path / name for name in "abcd"]
    for path in paths:
        path.write_bytes(b"text")
    monkeypatch.setattr(filesystem._Pace, "last_s", last_s)
    monkeypatch.setattr(filesystem, "_SLOW_SYNC_S", 0.5)
    started = counted(monkeypatch, filesystem.threading.Thread, "start")
    synced = counted(monkeypatch, os, "fsync")
    filesystem.sync_together(paths)
    assert (len(started), len(synced)) == (threads, 4)


@pytest.mark.parametrize(("last_s", "threads"), [(0.0, 0), (1.0, 1)])
def test_a_fault_of_a_sync_beside_other_work_is_raised_once_that_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_s: float, threads: int
) -> None:
    done = []
    monkeypatch.setattr(filesystem._Pace, "last_s", last_s)
    started = counted(monkeypatch, filesystem.threading.Thread, "start")

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"), filesystem.synced_meanwhile([tmp_path]):
        done.append("the work")
    assert (done, len(started)) == (["the work"], threads)


def test_a_page_is_written_with_three_connections_to_the_index_and_none_to_the_state(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = counted(monkeypatch, driver, "connect")
    write_page(room.memory(), path="notes/new.md", body="# New\n", **WHERE)
    assert opened == [(room.data_dir.index, "ro"), (room.data_dir.index,), (room.data_dir.index, "ro")]


@pytest.mark.parametrize(("face", "parsed"), [("cli", 2), ("bridge", 0)])  # the wiki's and the person's
def test_settings_of_git_are_parsed_for_a_signature_alone(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch, face: str, parsed: int
) -> None:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    files = counted(monkeypatch, ConfigFile, "from_file")
    repositories = counted(monkeypatch, Repo, "__init__")
    write_page(room.memory(face), path="notes/a.md", body="# A\n", **WHERE)
    assert (len(files), repositories) == (parsed, [])


def test_settings_that_git_cannot_read_are_told_and_nothing_is_written(room: WikiRoom) -> None:
    before = room.git("rev-parse", "HEAD")
    config = room.data_dir.git / "config"
    whole = config.read_text()
    config.write_text(f"{whole}[user\n")
    with pytest.raises(StoreFault, match="Git's settings cannot be read"):
        write_page(room.memory("cli"), path="notes/a.md", body="# A\n", **WHERE)
    config.write_text(whole)
    assert room.git("rev-parse", "HEAD") == before
    assert not room.data_dir.pending.exists()


def test_a_write_looks_at_the_folder_of_its_page_and_of_the_project_only_when_a_page_there_is_written(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = counted(monkeypatch, WorkTree, "look_at")
    indexes = counted(monkeypatch, GitIndex, "read")
    room.put("notes/a.md", "second\n")
    assert [folders for _, folders in looks] == [["default/shop/notes"]]
    assert len(indexes) == 2  # for the look, and once more under git's own lock
    room.put("top.md", "text\n")
    assert [folders for _, folders in looks[1:]] == [["default/shop"]]


def test_a_project_whose_own_page_was_edited_by_hand_is_looked_at(room: WikiRoom) -> None:
    meta = room.file("_meta.md")
    meta.write_text(meta.read_text() + "By hand.\n")
    room.put("notes/a.md", "second\n")
    assert b"By hand.\n" in (room.committed("_meta.md") or b"")
    room.assert_in_step()
