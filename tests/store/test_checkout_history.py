"""What became of files in a checkout, as its history tells, beside what git itself says."""

import itertools
import os
import subprocess
from pathlib import Path

import pytest

from ai_memory.store.checkout import commit_of
from ai_memory.store.checkout_history import Changes, Past, Since, past_of

DAY = 86_400
BEGUN = 1_700_000_000


class Checkout:
    """A repository with one commit a day."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.days = 0
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        at = f"@{BEGUN + self.days * DAY} +0000"
        dated = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "GIT_CONFIG_GLOBAL": os.devnull}
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        done = subprocess.run(
            ["git", "-C", str(self.root), *who, *words],
            env={**os.environ, **dated},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, message: str = "work", **files: str | None) -> str:
        """A commit of the next day; `src__till` is `src/till.py`, None takes the file away."""
        self.days += 1
        for name, content in files.items():
            path = self.root / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True, parents=True)
            path.unlink(missing_ok=True) if content is None else path.write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def past(self, *wanted: tuple[str, int], within_s: float = 60.0, most: int = 2_000) -> Past:
        """Since noon of those days."""
        since = [Since(path, at(day)) for path, day in wanted]
        return past_of(str(self.root), since, within_s=within_s, most_commits=most)

    def changes(self, path: str, day: int) -> Changes:
        return self.past((path, day)).files[Since(path, at(day))]


def at(day: int) -> int:
    return (BEGUN + day * DAY + DAY // 2) * 1_000_000


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "repo")


def test_commits_to_a_file_are_counted_as_git_counts_them(checkout: Checkout) -> None:
    for day in range(1, 9):
        checkout.commit(src__till=f"till {day // 2}\n", src__deep__queue=f"queue {day}\n")
    for path, day in itertools.product(("src/till.py", "src/deep/queue.py", "src/nothing.py"), (0, 3, 5, 8)):
        since = f"--since=@{BEGUN + day * DAY + DAY // 2}"
        told = len(checkout.git("log", "--format=%H", since, "--", path).splitlines())
        assert checkout.changes(path, day).commits == told, (path, day)
    assert checkout.changes("src/deep/queue.py", 5) == Changes(3, True, False, b"queue 5\n")
    assert checkout.changes("src/deep/queue.py", 8) == Changes(0, True, False)


def test_packed_objects_a_worktree_and_a_folder_of_that_name(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(src__till="one\n")
    checkout.commit(src__till="two\n")
    checkout.git("gc", "-q")
    checkout.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    since = Since("src/till.py", at(1))
    assert past_of(str(tmp_path / "tree"), [since], within_s=60).files[since] == Changes(1, True, False, b"one\n")
    assert checkout.changes("src", 1) == Changes(1, True, False)
    assert checkout.changes("src/till.py/deeper.py", 1) == Changes(0, True, False)


def test_what_was_there_and_went_is_gone_and_what_never_was_is_not(checkout: Checkout) -> None:
    checkout.commit(src__old="x\n", keep="y\n")
    checkout.commit(src__old=None)
    assert checkout.changes("src/old.py", 1) == Changes(1, True, True, b"x\n")
    assert checkout.changes("src/never.py", 1) == Changes(0, True, False)
    assert checkout.changes("src/old.py", 2) == Changes(0, True, False)  # it was gone when the page was written
    checkout.commit(src__old="again\n")
    assert checkout.changes("src/old.py", 1) == Changes(2, True, False, b"x\n")


def test_a_merge_counts_its_commits_once(checkout: Checkout) -> None:
    checkout.commit(one="1\n", two="1\n")
    checkout.git("switch", "-q", "-c", "side")
    checkout.commit(one="2\n")
    checkout.git("switch", "-q", "main")
    checkout.commit(two="2\n")
    checkout.days += 1
    checkout.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert checkout.changes("one.py", 1).commits == 1
    assert checkout.changes("two.py", 1).commits == 1


def test_bounds_and_a_shallow_clone_are_told_as_at_least(checkout: Checkout, tmp_path: Path) -> None:
    for day in range(1, 9):
        checkout.commit(till=f"{day}\n")
    short = checkout.past(("till.py", 0), most=4).files[Since("till.py", at(0))]
    assert (short.is_exact, 2 <= short.commits < 8, short.before) == (False, True, b"")
    assert not checkout.past(("till.py", 0), within_s=0.0).files[Since("till.py", at(0))].is_exact
    source = f"file://{checkout.root}"
    subprocess.run(["git", "clone", "-q", "--depth", "3", source, str(tmp_path / "part")], check=True)
    since = Since("till.py", at(0))
    assert past_of(str(tmp_path / "part"), [since], within_s=60).files[since] == Changes(2, False, False)


def test_commits_that_were_taken_back(checkout: Checkout) -> None:
    wrong = checkout.commit(till="wrong\n")
    checkout.days += 1
    checkout.git("revert", "--no-edit", wrong)
    assert checkout.past(("", 1)).reverted == {wrong: checkout.git("rev-parse", "HEAD")}
    assert checkout.past(("", 2)).reverted == {}


def test_what_is_no_repository_or_a_broken_one_tells_nothing(checkout: Checkout, tmp_path: Path) -> None:
    since = [Since("till.py", 0)]
    assert past_of(str(tmp_path), since, within_s=60) == Past({}, {})
    assert past_of(str(checkout.root), since, within_s=60) == Past({}, {})  # no commit
    commit = checkout.commit(till="x\n")
    tree = checkout.git("rev-parse", "HEAD^{tree}")
    for name in (tree, commit):
        path = checkout.root / ".git/objects" / name[:2] / name[2:]
        path.chmod(0o600)
        for damage in (b"no object", b"", b"x\x9c" + bytes(40)):
            path.write_bytes(damage)
            assert past_of(str(checkout.root), since, within_s=60) == Past({}, {})
            assert commit_of(str(checkout.root), commit) is None or name == tree
