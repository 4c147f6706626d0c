"""A data dir with a clock that stands still, its files as a person's editor sees them, and real git beside it."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ai_memory.model import Caller, PageRef, Sanitized
from ai_memory.paths import DataDir
from ai_memory.store.adoption import Adopted
from ai_memory.store.change import Committed
from ai_memory.store.history import PageVersion
from ai_memory.store.memory import Memory

NOON_US = 1_780_000_000_000_000
SECOND_US = 1_000_000

Step = Callable[[str], None]


def ref(path: str, project: str = "shop") -> PageRef:
    return PageRef("default", project, path)


@dataclass
class StoppedClock:
    """Goes on only when a test says so."""

    at_us: int = NOON_US

    def __call__(self) -> int:
        return self.at_us

    def pass_s(self, seconds: float) -> None:
        self.at_us += int(seconds * SECOND_US)


@dataclass
class WikiRoom:
    """Where a test stands. Pages are those of `default/shop` unless a path says otherwise."""

    root: Path
    clock: StoppedClock = field(default_factory=StoppedClock)

    @property
    def data_dir(self) -> DataDir:
        return DataDir(self.root / "data")

    @property
    def wiki(self) -> Path:
        return self.data_dir.wiki

    def memory(self, face: str = "bridge", *, step: Step = lambda _: None, wait_s: float = 5) -> Memory:
        caller = Caller(cwd=str(self.root), environ=dict(os.environ), home=os.environ["HOME"], face=face)
        return Memory.open(
            self.data_dir, caller=caller, clock=self.clock, lock_timeout_s=wait_s, command="a test", step=step
        )

    def put(self, path: str, text: str = "text\n", *, project: str = "shop", step: Step = lambda _: None) -> Committed:
        """Our own write; a minute passes after each, so that times differ."""
        with self.memory(step=step).writing(f"Put {path}") as change:
            change.ensure_project_named("default", project)
            change.put(ref(path, project), Sanitized(text))
        self.clock.pass_s(60)
        assert change.committed is not None
        return change.committed

    def file(self, path: str, project: str = "shop") -> Path:
        return self.wiki / "default" / project / path

    def by_hand(self, path: str, content: str | bytes = "by hand\n", project: str = "shop") -> Path:
        """A file saved by an editor."""
        file = self.file(path, project)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def adopt(self) -> Adopted:
        return self.memory().adopt()

    def look_twice(self) -> Adopted:
        """Two looks, far enough apart to believe that a missing file is deleted."""
        self.adopt()
        self.clock.pass_s(6)
        return self.adopt()

    def text(self, path: str, project: str = "shop") -> str | None:
        """The page as the index shows it."""
        with self.memory().reading() as snapshot:
            page = snapshot.page(ref(path, project))
        return None if page is None else page.text

    def paths(self) -> list[str]:
        """All pages of the index, as git paths."""
        with self.memory().reading() as snapshot:
            return [page.ref.git_path for page in snapshot.pages(sort="path").pages]

    def history(self, path: str, project: str = "shop") -> list[PageVersion]:
        return self.memory().history(ref(path, project), limit=10_000)

    # --- git ---

    def try_git(self, *words: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        command = ["git", "-c", "core.quotepath=off", *words]
        return subprocess.run(command, cwd=cwd or self.wiki, capture_output=True, text=True, timeout=60)

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = self.try_git(*words, cwd=cwd)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def committed(self, path: str, project: str = "shop") -> bytes | None:
        """The page's bytes at HEAD, as git tells them."""
        command = ["git", "-C", str(self.wiki), "show", f"HEAD:default/{project}/{path}"]
        done = subprocess.run(command, capture_output=True)
        return done.stdout if done.returncode == 0 else None

    def files_at_head(self) -> set[str]:
        return set(self.git("ls-tree", "-r", "--name-only", "HEAD").splitlines())

    def assert_in_step(self) -> None:
        """HEAD, git's index, the files and our index tell the same."""
        assert self.git("status", "--porcelain") == ""
        assert self.git("fsck", "--no-dangling", "--no-progress") == ""
        pages = {path for path in self.files_at_head() if path.endswith(".md") and not path.endswith("/_meta.md")}
        assert set(self.paths()) == pages
        for path in pages:
            page = PageRef(*path.split("/", 2))
            assert self.text(page.path, page.project) == (self.wiki / path).read_bytes().decode("utf-8", "replace")
