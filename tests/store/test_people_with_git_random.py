"""Random lives of a wiki: tools write, a person edits and uses git. After each step nothing is lost and all agree."""

import random
from collections.abc import Callable

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.model import Sanitized

PATHS = [f"{folder}/{name}.md" for folder in ("notes", "gotchas", "a/b") for name in ("x", "y", "z")]


class Life:
    """One wiki and what must be found in its history."""

    def __init__(self, room: WikiRoom, seed: int) -> None:
        self.room = room
        self.choose = random.Random(seed)
        self.marks: list[str] = []
        self.told: list[str] = []

    def mark(self) -> str:
        """A line that must never be lost."""
        self.marks.append(f"mark-{len(self.marks)}-")
        return self.marks[-1]

    def text(self) -> str:
        """A new text for a page: what stood there with one line changed, or another text altogether."""
        lines = [f"line {number}" for number in range(6)]
        lines[self.choose.randrange(6)] = self.mark()
        return "\n".join(lines) + "\n"

    def path(self) -> str:
        return self.choose.choice(PATHS)

    def files(self) -> list[str]:
        return [path for path in PATHS if self.room.file(path).exists()]

    # --- tools ---

    def write(self) -> None:
        self.room.put(self.path(), self.text())

    def write_several(self) -> None:
        with self.room.memory().writing("Several") as change:
            for path in self.choose.sample(PATHS, 3):
                change.put(ref(path), Sanitized(self.text()))

    def delete(self) -> None:
        with self.room.memory().writing("Delete") as change:
            change.delete(ref(self.path()))

    def move(self) -> None:
        old, new = self.choose.sample(PATHS, 2)
        with self.room.memory().writing("Move") as change:
            if change.page(ref(old)) is not None and change.page(ref(new)) is None:
                change.move(ref(old), ref(new))

    def adopt(self) -> None:
        self.room.look_twice()

    def reindex(self) -> None:
        self.room.memory().reindex()

    # --- the person; each ends with what our next command must cope with ---

    def edit(self) -> None:
        self.room.by_hand(self.path(), self.text())
        self.room.adopt()  # else git's own commands below may overwrite what nobody had committed

    def edit_during_write(self) -> None:
        done: list[str] = []
        at = self.choose.choice(["pending", "objects", "ref", "file", "git-index-renamed", "before-clear"])
        path, text = self.path(), self.text()

        def save(step: str) -> None:
            if step == at and not done:
                done.append(step)
                self.room.by_hand(path, text)

        self.room.put(self.choose.choice([path, self.path()]), self.text(), step=save)

    def commit_one(self) -> None:
        path = self.path()
        self.room.by_hand(path, self.text())
        self.room.git("add", f"default/shop/{path}")
        self.room.git("commit", "-qm", "by hand")

    def commit_during_write(self) -> None:
        done: list[str] = []
        at = self.choose.choice(["before-pending", "pending", "objects"])

        def commit(step: str) -> None:
            if step == at and not done:
                done.append(step)
                self.commit_one()

        self.room.put(self.path(), self.text(), step=commit)

    def rename(self) -> None:
        if self.files() and (free := sorted(set(PATHS) - set(self.files()))):
            new = self.room.file(self.choose.choice(free))
            new.parent.mkdir(parents=True, exist_ok=True)
            self.room.file(self.choose.choice(self.files())).rename(new)

    def git_rm(self) -> None:
        if tracked := self.room.git("ls-files", "default/shop/*/*.md").split():
            self.room.git("rm", "-qf", self.choose.choice(tracked))
            self.room.git("commit", "-qm", "away")

    def side_branch(self) -> None:
        """A branch with a commit of its own, merged or rebased; a conflict is given up."""
        room = self.room
        room.git("checkout", "-q", "-b", "side")
        path = self.path()
        room.by_hand(path, self.text())
        room.git("add", "-A")
        room.git("commit", "-qm", "side")
        room.git("checkout", "-q", "main")
        room.put(self.path(), self.text())
        way = self.choose.choice(["merge", "rebase", "cherry-pick"])
        words = {"merge": ["merge", "-q", "--no-edit", "side"], "rebase": ["rebase", "-q", "side"]}
        if room.try_git(*words.get(way, ["cherry-pick", "side"])).returncode:
            room.git(way, "--abort")
        room.git("tag", f"side-{len(self.marks)}", "side")
        room.git("branch", "-qD", "side")

    def stash(self) -> None:
        self.room.by_hand(self.path(), self.text())
        self.room.git("add", "-A")
        if self.room.try_git("stash", "-q").returncode == 0 and self.room.git("stash", "list"):
            self.room.git("stash", "pop", "-q")

    def amend(self) -> None:
        self.room.git("tag", f"before-{len(self.marks)}-{self.choose.random()}")
        self.room.git("commit", "-q", "--amend", "-m", "told otherwise")

    def reset(self) -> None:
        self.room.git("tag", f"reset-{len(self.marks)}-{self.choose.random()}")
        self.room.git("reset", "-q", self.choose.choice(["--hard", "--mixed", "--soft"]), "HEAD~1")

    def collect(self) -> None:
        self.room.git(*self.choose.choice([["pack-refs", "--all"], ["gc", "-q"], ["repack", "-adq"]]))

    # --- living ---

    def steps(self) -> list[Callable[[], None]]:
        tools = [self.write, self.write, self.write_several, self.delete, self.move, self.adopt, self.reindex]
        person = [self.edit, self.edit_during_write, self.commit_one, self.commit_during_write, self.rename]
        git = [self.git_rm, self.side_branch, self.stash, self.amend, self.reset, self.collect]
        return [*tools, *person, *git]

    def live(self, steps: int) -> None:
        for _ in range(steps):
            step = self.choose.choice(self.steps())
            self.told.append(step.__name__)
            step()
            self.room.look_twice()
            self.check()

    def check(self) -> None:
        self.room.assert_in_step()
        assert not self.room.data_dir.pending.exists(), self.told
        everything = self.room.git("log", "--all", "-p", "-m", "--format=", "--", "default")
        assert [mark for mark in self.marks if mark not in everything] == [], self.told


@pytest.mark.parametrize("seed", range(2))
def test_a_random_life_loses_nothing_and_keeps_all_in_step(room: WikiRoom, seed: int) -> None:
    Life(room, seed).live(14)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 142))
def test_a_long_random_life_loses_nothing_and_keeps_all_in_step(room: WikiRoom, seed: int) -> None:
    Life(room, seed).live(60)
