"""Clones, pulls, half-done merges and rewritten history: what people do with git in the wiki, beside our writers."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.errors import LockBusy, StoreFault

A = "default/shop/notes/a.md"


@pytest.fixture
def clone(room: WikiRoom, tmp_path: Path) -> Path:
    """Another machine's copy."""
    room.git("clone", "-q", str(room.wiki), str(tmp_path / "clone"))
    return tmp_path / "clone"


def commit_there(room: WikiRoom, clone: Path, path: str, text: str) -> None:
    file = clone / "default" / "shop" / path
    file.write_text(text)
    room.git("add", "-A", cwd=clone)
    room.git("commit", "-qm", f"there: {path}", cwd=clone)


def test_a_pull_that_only_moves_the_branch_arrives(room: WikiRoom, clone: Path) -> None:
    commit_there(room, clone, "notes/far.md", "far\n")
    room.git("pull", "-q", "--ff-only", str(clone), "main")
    assert room.text("notes/far.md") == "far\n"
    room.put("notes/near.md")
    room.assert_in_step()


def test_a_merge_made_elsewhere_comes_back_with_our_commits_behind_its_second_parent(
    room: WikiRoom, clone: Path
) -> None:
    commit_there(room, clone, "notes/far.md", "far\n")
    room.put("notes/near.md", "near\n")
    room.git("pull", "-q", "--no-rebase", "--no-edit", str(room.wiki), "main", cwd=clone)
    room.git("pull", "-q", "--ff-only", str(clone), "main")
    assert (room.text("notes/far.md"), room.text("notes/near.md")) == ("far\n", "near\n")
    assert room.history("notes/near.md") != []
    room.put("notes/after.md")
    room.assert_in_step()


def test_a_pull_with_rebase_puts_our_commits_on_top(room: WikiRoom, clone: Path) -> None:
    commit_there(room, clone, "notes/far.md", "far\n")
    room.put("notes/near.md", "near\n")
    room.git("pull", "-q", "--rebase", str(clone), "main")
    assert (room.text("notes/far.md"), room.text("notes/near.md")) == ("far\n", "near\n")
    assert "Change-Id: " in room.git("log", "-1", "--format=%B")
    room.put("notes/after.md")
    room.assert_in_step()


def test_what_we_write_can_be_pushed_to_a_bare_repository_and_cloned(room: WikiRoom, tmp_path: Path) -> None:
    room.git("init", "-q", "--bare", str(tmp_path / "bare"))
    room.git("push", "-q", str(tmp_path / "bare"), "main")
    room.git("clone", "-q", "-b", "main", str(tmp_path / "bare"), str(tmp_path / "copy"))
    assert (tmp_path / "copy" / A).read_bytes() == room.file("notes/a.md").read_bytes()


# --- work that is not finished ---


def begin_merge(room: WikiRoom) -> None:
    room.git("merge", "--no-commit", "--no-ff", "side")


def begin_conflict(room: WikiRoom) -> None:
    assert room.try_git("merge", "side").returncode == 1


def begin_rebase(room: WikiRoom) -> None:
    # git detaches HEAD for the length of it
    assert room.try_git("rebase", "side").returncode == 1


def begin_cherry_pick(room: WikiRoom) -> None:
    assert room.try_git("cherry-pick", "side").returncode == 1


def begin_patches(room: WikiRoom) -> None:
    patch = room.root / "0001.patch"
    patch.write_text(room.git("format-patch", "-1", "--stdout", "side"))
    assert room.try_git("am", "-q", str(patch)).returncode == 128


def begin_revert(room: WikiRoom) -> None:
    room.put("notes/a.md", "anew\n")
    assert room.try_git("revert", "--no-edit", "HEAD~1").returncode == 1


def begin_bisect(room: WikiRoom) -> None:
    room.git("bisect", "start")


def begin_detached(room: WikiRoom) -> None:
    room.git("checkout", "-q", "--detach", "HEAD~1")


UNFINISHED = [
    (begin_merge, "git merge --abort", ("merge", "--abort")),
    (begin_conflict, "git merge --abort", ("merge", "--abort")),
    (begin_rebase, "git rebase --abort", ("rebase", "--abort")),
    (begin_cherry_pick, "git cherry-pick --abort", ("cherry-pick", "--abort")),
    (begin_patches, "git am --abort", ("am", "--abort")),
    (begin_revert, "git revert --abort", ("revert", "--abort")),
    (begin_bisect, "git bisect reset", ("bisect", "reset")),
    (begin_detached, "switch main", ("switch", "-q", "main")),
]


def branch_off(room: WikiRoom) -> None:
    """A branch `side` and `main` that both changed the same lines of a page."""
    room.git("checkout", "-q", "-b", "side")
    room.by_hand("notes/a.md", "# a\n\nside\n")
    room.git("commit", "-qam", "side")
    room.git("checkout", "-q", "main")


@pytest.mark.parametrize(("begin", "remedy", "end"), UNFINISHED, ids=[row[0].__name__ for row in UNFINISHED])
def test_unfinished_git_work_keeps_writers_out_names_its_end_and_leaves_readers_alone(
    room: WikiRoom, begin: Callable[[WikiRoom], None], remedy: str, end: tuple[str, ...]
) -> None:
    branch_off(room)
    if begin is not begin_merge:
        room.put("notes/a.md", "# a\n\nmain\n")
    begin(room)
    before = room.git("rev-parse", "main"), room.git("status", "--porcelain")
    with pytest.raises(StoreFault, match="cannot be written") as told:
        room.put("notes/new.md")
    assert remedy in told.value.hint
    assert told.value.exit_code == 1
    assert room.adopt().commit is None
    room.memory().fresh(ref("notes/a.md"))
    assert room.text("notes/b.md") is not None
    assert (room.git("rev-parse", "main"), room.git("status", "--porcelain")) == before
    assert not (room.file("notes/new.md")).exists()
    room.git(*end)
    room.put("notes/new.md")
    room.assert_in_step()


def test_the_command_line_refuses_with_1_while_a_merge_waits_and_reads_on(room: WikiRoom) -> None:
    branch_off(room)
    room.put("notes/a.md", "# a\n\nmain\n")
    begin_conflict(room)

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "ai_memory", "--data-dir", str(room.data_dir.root), *words]
        environment = {**os.environ, "AI_MEMORY_CAPTURE": "off"}
        return subprocess.run(command, cwd=room.root, env=environment, capture_output=True, text=True, timeout=60)

    scope = ("--workspace", "default", "--project", "shop")
    wrote = run("write-page", "--path", "notes/new.md", "--body", "text", *scope)
    assert wrote.returncode == 1, wrote
    assert "git merge --continue" in wrote.stderr
    assert "Traceback" not in wrote.stderr
    read = run("read-page", "notes/b.md", *scope)
    assert read.returncode == 0, read
    assert "three" in read.stdout


# --- stash ---


def test_a_stash_takes_staged_edits_away_and_brings_them_back(room: WikiRoom) -> None:
    room.by_hand("notes/a.md", "# stashed\n")
    room.by_hand("notes/new.md", "# new\n")
    room.git("add", "-A")
    room.git("stash", "-q")
    assert room.adopt().commit is None
    room.put("notes/d.md")
    room.git("stash", "pop", "-q", "--index")
    adopted = room.adopt()
    assert (adopted.created, adopted.changed) == ((ref("notes/new.md"),), (ref("notes/a.md"),))
    room.assert_in_step()


def test_a_stash_that_conflicts_on_its_return_is_left_until_solved(room: WikiRoom) -> None:
    room.by_hand("notes/a.md", "# stashed\n")
    room.git("stash", "-q")
    room.put("notes/a.md", "# ours\n")
    assert room.try_git("stash", "pop").returncode == 1
    assert room.adopt().asked == (f"{A} was not taken, since git left conflict markers in it: solve them",)
    room.put("notes/d.md")  # other pages go on
    assert room.text("notes/d.md") == "text\n"
    assert room.committed("notes/a.md") == b"# ours\n"
    room.by_hand("notes/a.md", "# solved\n")
    room.adopt()
    assert room.committed("notes/a.md") == b"# solved\n"
    room.assert_in_step()


# --- staging ---


def test_what_a_person_staged_is_kept_by_our_write_and_committed_by_them(room: WikiRoom) -> None:
    room.by_hand("guides/mine.md", "mine\n")
    room.git("add", "-A")
    room.put("notes/d.md")
    room.git("commit", "-qm", "mine")
    assert room.git("show", "--stat", "--format=", "HEAD").split()[0] == "default/shop/guides/mine.md"
    assert room.text("guides/mine.md") == "mine\n"
    room.assert_in_step()


def test_git_rm_and_git_mv_that_are_not_committed_are_taken(room: WikiRoom) -> None:
    room.git("rm", "-q", A)
    room.git("mv", "default/shop/notes/b.md", "default/shop/notes/z.md")
    room.look_twice()
    assert room.paths() == ["default/shop/notes/c.md", "default/shop/notes/z.md"]
    room.assert_in_step()


def test_a_page_that_a_person_took_out_of_the_index_alone_stays(room: WikiRoom) -> None:
    room.git("rm", "-q", "--cached", A)
    room.look_twice()
    assert room.text("notes/a.md") is not None
    room.put("notes/a.md", "anew\n")
    room.assert_in_step()


def test_checking_out_an_old_version_of_a_page_is_an_edit(room: WikiRoom) -> None:
    old = room.text("notes/a.md")
    room.put("notes/a.md", "anew\n")
    room.git("checkout", "-q", "HEAD~1", "--", A)
    assert room.adopt().changed == (ref("notes/a.md"),)
    assert room.text("notes/a.md") == old
    room.assert_in_step()


# --- history ---


def test_a_hard_reset_gives_pages_their_earlier_texts_and_times_back(room: WikiRoom) -> None:
    with room.memory().reading() as snapshot:
        before = snapshot.pages(sort="path").pages
    room.put("notes/a.md", "anew\n")
    room.put("notes/d.md")
    room.git("reset", "-q", "--hard", "HEAD~2")
    with room.memory().reading() as snapshot:
        assert snapshot.pages(sort="path").pages == before
        assert snapshot.gaps == []
    room.put("notes/e.md")
    room.assert_in_step()


def test_a_soft_reset_undoes_the_commit_and_its_files_are_taken_again(room: WikiRoom) -> None:
    room.put("notes/d.md", "kept\n")
    room.git("reset", "-q", "--soft", "HEAD~1")
    assert room.adopt().created == (ref("notes/d.md"),)
    assert room.text("notes/d.md") == "kept\n"
    room.assert_in_step()


def test_packed_refs_and_a_collected_repository_are_written_on(room: WikiRoom) -> None:
    room.git("pack-refs", "--all", "--prune")
    assert not (room.data_dir.git / "refs/heads/main").exists()
    room.put("notes/d.md")
    room.git("gc", "-q", "--aggressive", "--prune=now")
    room.put("notes/d.md", "again\n")
    assert [version.change for version in room.history("notes/d.md")] == ["changed", "created"]
    room.assert_in_step()


def test_an_amended_message_keeps_pages_and_times(room: WikiRoom) -> None:
    room.put("notes/d.md")
    room.git("commit", "-q", "--amend", "-m", "Told otherwise", "--date", "2026-01-01T00:00:00Z")
    assert room.text("notes/d.md") == "text\n"
    assert room.history("notes/d.md")[0].message == "Told otherwise"
    room.put("notes/d.md", "again\n")
    room.assert_in_step()


def test_a_history_rewritten_from_its_root_is_read_and_written_on(room: WikiRoom) -> None:
    room.git("checkout", "-q", "--orphan", "fresh")
    room.git("commit", "-qm", "All in one")
    room.git("branch", "-qM", "fresh", "main")
    room.git("reflog", "expire", "--expire=now", "--all")
    room.git("gc", "-q", "--prune=now")
    assert len(room.paths()) == 3
    room.put("notes/d.md")
    assert [version.message for version in room.history("notes/a.md")] == ["All in one"]
    room.assert_in_step()


# --- git's own lock ---


def test_a_git_that_takes_the_index_in_the_middle_of_our_write_loses_nothing_to_us(room: WikiRoom) -> None:
    lock = room.data_dir.git / "index.lock"

    def take(step: str) -> None:
        if step == "ref":
            lock.write_bytes(b"DIRC")

    room.put("notes/d.md", step=take)  # branch and state hold it: the write is done
    assert room.committed("notes/d.md") == b"text\n"
    with pytest.raises(LockBusy, match="a git command is running"):
        room.put("notes/e.md")
    lock.unlink()
    room.put("notes/e.md")
    room.assert_in_step()


@pytest.mark.parametrize("name", ["index.lock", "refs/heads/main.lock"])
def test_a_lock_that_a_dead_git_left_long_ago_keeps_every_write_out_and_is_named(room: WikiRoom, name: str) -> None:
    lock = room.data_dir.git / name
    lock.write_bytes(b"DIRC")
    old = 1_764_000_000
    os.utime(lock, (old, old))
    before = room.git("rev-parse", "HEAD")
    with pytest.raises(StoreFault) as told:
        room.put("notes/d.md")
    assert told.value.message == f"The wiki cannot be written: a git command left {lock} there at 2025-11-24T16:00:00Z."
    assert told.value.hint == "End it: remove that file if no git runs there."
    assert room.git("rev-parse", "HEAD") == before
    assert not room.data_dir.pending.exists()
    assert lock.read_bytes() == b"DIRC"
    lock.unlink()
    room.put("notes/d.md")
    assert room.text("notes/d.md") == "text\n"
    room.assert_in_step()


def test_a_lock_of_the_branch_that_a_git_takes_for_a_moment_is_waited_for(room: WikiRoom) -> None:
    lock = room.data_dir.git / "refs" / "heads" / "main.lock"
    lock.write_bytes(b"")
    room.put("notes/d.md", step=lambda step: lock.unlink(missing_ok=True) if step == "pending" else None)
    assert room.text("notes/d.md") == "text\n"
    room.assert_in_step()
