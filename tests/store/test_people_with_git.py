"""People use git in the wiki. Their commits are ours, their unfinished work keeps writers out, nothing is dropped."""

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest
from hand_room import Desk, page

from ai_memory.bridge.calls import Place
from ai_memory.cli.app import main
from ai_memory.errors import LockBusy, StoreFault
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.store.gitlock import WAIT_S
from ai_memory.store.head import OWN_INDEX_LOCK


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.write("notes/a.md", "# A\n\none\n")
    desk.write("notes/b.md", "# B\n\ntwo\n")
    return desk


def test_a_commit_of_one_added_file_drops_nothing_that_we_wrote(desk: Desk) -> None:
    for number in range(3):
        desk.write(f"notes/n{number}.md", "text\n")
    desk.file("notes/mine.md").write_text("# Mine\n")
    desk.git("add", "default/shop/notes/mine.md")
    desk.git("commit", "-qm", "mine")
    assert desk.paths() == ["notes/a.md", "notes/b.md", "notes/mine.md", "notes/n0.md", "notes/n1.md", "notes/n2.md"]
    desk.assert_in_step()


def test_a_pull_arrives_in_the_search_index(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(desk.wiki), str(other)], check=True)
    (other / "default/shop/notes/far.md").write_text("# From far\n")
    for words in (["add", "."], ["-c", "user.name=O", "-c", "user.email=o@example.org", "commit", "-qm", "far"]):
        subprocess.run(["git", "-C", str(other), *words], check=True)
    desk.write("notes/near.md", "# Near\n")
    desk.git("pull", "-q", "--no-rebase", "--no-edit", str(other), "main")
    assert desk.text("notes/far.md") == "# From far\n"
    assert desk.text("notes/near.md") == "# Near\n"
    desk.write("notes/after.md", "# After\n")
    desk.assert_in_step()


def test_a_rebase_a_checkout_and_a_merge_that_are_not_finished_keep_writers_out_by_name(desk: Desk) -> None:
    desk.git("checkout", "-q", "-b", "side")
    with pytest.raises(StoreFault, match="HEAD points to side"):
        desk.write("notes/c.md", "c\n")
    desk.file("notes/a.md").write_text("# A\n\nside\n")
    desk.git("commit", "-qam", "side")
    desk.git("checkout", "-q", "main")
    desk.write("notes/a.md", "# A\n\nmain\n")
    with pytest.raises(subprocess.CalledProcessError):
        desk.git("merge", "-q", "side")
    with pytest.raises(StoreFault, match="a merge is not finished") as told:
        desk.write("notes/c.md", "c\n")
    assert "git merge --continue" in told.value.hint
    assert desk.text("notes/b.md") == "# B\n\ntwo\n"  # readers go on
    desk.git("merge", "--abort")
    desk.write("notes/c.md", "c\n")
    desk.assert_in_step()


def test_a_stash_and_its_return_are_edits_like_others(desk: Desk) -> None:
    desk.file("notes/a.md").write_text("# A stashed\n")
    desk.git("stash", "-q")
    desk.write("notes/c.md", "c\n")
    assert desk.text("notes/a.md") == "# A\n\none\n"
    desk.git("stash", "pop", "-q")
    desk.memory().adopt()
    assert desk.text("notes/a.md") == "# A stashed\n"
    desk.assert_in_step()


def test_a_reset_takes_the_index_back(desk: Desk) -> None:
    desk.git("reset", "-q", "--hard", "HEAD~1")
    assert desk.paths() == ["notes/a.md"]
    desk.write("notes/c.md", "c\n")
    desk.assert_in_step()


def test_git_mv_and_git_rm_are_followed(desk: Desk) -> None:
    desk.git("mv", "default/shop/notes/a.md", "default/shop/notes/z.md")
    desk.git("rm", "-q", "default/shop/notes/b.md")
    desk.git("commit", "-qm", "tidy")
    assert desk.paths() == ["notes/z.md"]
    assert [version.change for version in desk.memory().history(page("notes/z.md"))] == ["moved", "created"]
    desk.write("notes/c.md", "c\n")
    desk.assert_in_step()


def test_an_amended_commit_and_a_collected_repository_are_read(desk: Desk) -> None:
    desk.git("commit", "-q", "--amend", "-m", "another message")
    desk.git("gc", "-q", "--prune=now")
    desk.git("pack-refs", "--all")
    assert desk.paths() == ["notes/a.md", "notes/b.md"]
    desk.write("notes/c.md", "c\n")
    desk.assert_in_step()


def test_a_running_git_keeps_writers_out_and_a_lock_that_we_left_does_not(desk: Desk) -> None:
    lock = desk.wiki / ".git" / "index.lock"
    lock.write_bytes(b"")
    started = time.monotonic()
    with pytest.raises(LockBusy, match="a git command is running"):
        desk.write("notes/c.md", "c\n")
    assert time.monotonic() - started > WAIT_S / 2
    assert desk.text("notes/a.md") is not None
    lock.unlink()
    own = lock.with_name(OWN_INDEX_LOCK)
    own.touch()
    lock.hardlink_to(own)
    desk.write("notes/c.md", "c\n")
    desk.assert_in_step()


def test_a_git_command_that_ends_at_once_is_waited_for(desk: Desk) -> None:
    lock = desk.wiki / ".git" / "index.lock"
    lock.write_bytes(b"")
    assert desk.memory().hindrance() is None
    ends = threading.Timer(0.3, lock.unlink)
    ends.start()
    desk.write("notes/c.md", "c\n")
    ends.join()
    desk.assert_in_step()


def test_both_faces_call_a_running_git_busy(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    lock = desk.wiki / ".git" / "index.lock"
    lock.write_bytes(b"")
    just_old = time.time() - WAIT_S - 1  # nobody waits for it any more
    os.utime(lock, (just_old, just_old))
    data_dir = DataDir(desk.root / "data")
    scope = ["--workspace", "default", "--project", "shop"]
    assert main(["--data-dir", str(data_dir.root), "write-page", "notes/c.md", "--body", "c", *scope]) == 4
    assert "a git command is running" in capsys.readouterr().err
    given = {"path": "notes/c.md", "body": "c", "workspace": "default", "project": "shop"}
    caller = Caller(cwd=str(desk.root), environ={}, home=str(desk.root), face="bridge")
    answer = Place(data_dir, caller).call("memory_write_page", given)
    assert answer.is_error
    assert answer.text.startswith("error busy:")


_GIT_IN_A_LOOP = """
for n in $(seq 400); do
    [ -e stop ] && break
    echo "$n" >> default/shop/notes/theirs-$n.md
    git add default/shop/notes/theirs-$n.md
    git commit -qm "theirs $n" 2>/dev/null
done
"""


def test_writers_beside_a_person_who_adds_and_commits_all_the_time_all_succeed(desk: Desk) -> None:
    command = ["sh", "-c", _GIT_IN_A_LOOP]
    environment = {
        **os.environ,
        **{f"GIT_{who}_{what}": "me@x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    with subprocess.Popen(command, cwd=desk.wiki, env=environment, stderr=subprocess.DEVNULL) as person:
        try:
            for number in range(40):
                desk.write(f"notes/ours-{number}.md", f"ours {number}\n")
        finally:
            (desk.wiki / "stop").touch()
            person.wait(60)
    (desk.wiki / "stop").unlink()
    desk.memory().adopt()
    paths = desk.paths()
    assert [f"notes/ours-{number}.md" for number in range(40) if f"notes/ours-{number}.md" not in paths] == []
    assert any("theirs" in path for path in paths)
    desk.assert_in_step()


def test_a_branch_that_moves_at_every_try_is_held_in_the_end(desk: Desk) -> None:
    moved: list[bool] = []

    def commit(name: str) -> None:
        if name == "objects":
            desk.file("notes/b.md").write_text(f"# B {len(moved)}\n")
            try:
                desk.git("commit", "-qam", "mine")
            except subprocess.CalledProcessError:  # we hold the branch
                moved.append(False)
            else:
                moved.append(True)

    desk.write("notes/a.md", "# A by tool\n", step=commit)
    assert moved == [True] * 5 + [False]
    desk.memory().adopt()
    assert desk.text("notes/a.md") == "# A by tool\n"
    assert desk.text("notes/b.md") == "# B 5\n"
    desk.assert_in_step()


def test_a_commit_by_a_person_between_our_commit_point_and_the_branch_is_joined(desk: Desk) -> None:
    done: list[str] = []

    def commit(name: str) -> None:
        if name == "pending" and not done:
            done.append(name)
            desk.file("notes/b.md").write_text("# B by hand\n")
            desk.git("commit", "-qam", "mine")

    desk.write("notes/a.md", "# A by tool\n", step=commit)
    assert desk.text("notes/a.md") == "# A by tool\n"
    assert desk.text("notes/b.md") == "# B by hand\n"
    desk.assert_in_step()


def test_a_commit_of_the_same_lines_in_between_is_kept_beside(desk: Desk) -> None:
    done: list[str] = []

    def commit(name: str) -> None:
        if name == "pending" and not done:
            done.append(name)
            desk.file("notes/a.md").write_text("# A by hand\n")
            desk.git("commit", "-qam", "mine")

    desk.write("notes/a.md", "# A by tool\n", step=commit)
    assert desk.text("notes/a.md") == "# A by tool\n"
    [beside] = [path for path in desk.paths() if ".conflict-" in path]
    assert desk.text(beside) == "# A by hand\n"
    desk.assert_in_step()
