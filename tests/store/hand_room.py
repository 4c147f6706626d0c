"""A data dir with a wiki that people edit by hand and with real git."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from ai_memory.model import Caller, PageRef, ResolvedBy, Sanitized, Scope
from ai_memory.paths import DataDir
from ai_memory.store.memory import Memory

SECOND_US = 1_000_000
SHOP = Scope("default", "shop", ResolvedBy.FLAG)


def page(path: str) -> PageRef:
    return PageRef("default", "shop", path)


@dataclass
class Desk:
    """`now_us` is the clock of every memory that is opened here."""

    root: Path
    now_us: int = 1_796_029_200_000_000

    def memory(self, **options: object) -> Memory:
        caller = Caller(cwd=str(self.root), environ={}, home=str(self.root), face="bridge")
        return Memory.open(DataDir(self.root / "data"), caller=caller, clock=lambda: self.now_us, **options)  # type: ignore[arg-type]

    @property
    def wiki(self) -> Path:
        return self.root / "data" / "wiki"

    def file(self, path: str) -> Path:
        return self.wiki / "default" / "shop" / path

    def write(self, path: str, text: str, **options: object) -> None:
        with self.memory(**options).writing(f"write {path}") as change:
            change.ensure_project(SHOP)
            change.put(page(path), Sanitized(text))

    def text(self, path: str) -> str | None:
        with self.memory().reading() as snapshot:
            found = snapshot.page(page(path))
        return found.text if found else None

    def paths(self) -> list[str]:
        with self.memory().reading() as snapshot:
            return [found.ref.path for found in snapshot.pages(sort="path", limit=1000).pages]

    def git(self, *words: str) -> str:
        command = ["git", "-C", str(self.wiki), "-c", "user.name=Me", "-c", "user.email=me@example.org", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def assert_in_step(self) -> None:
        """Branch, work tree, git's index and the search index agree, and a new index answers the same."""
        assert self.git("status", "--porcelain") == ""
        assert not list(self.wiki.rglob(".git/*.lock"))
        assert not (self.root / "data" / "pending").exists()
        before = self._answers()
        for suffix in ("", "-wal", "-shm"):
            Path(f"{DataDir(self.root / 'data').index}{suffix}").unlink(missing_ok=True)
        assert self._answers() == before
        subprocess.run(["git", "-C", str(self.wiki), "fsck", "--strict"], check=True, capture_output=True)

    def _answers(self) -> object:
        with self.memory().reading() as snapshot:
            pages = snapshot.pages(sort="path", limit=1000).pages
            links = [snapshot.outlinks(one.ref) for one in pages]
            return pages, links, snapshot.counts(), snapshot.projects(), snapshot.head
