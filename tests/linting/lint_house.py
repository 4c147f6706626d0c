"""A memory with a clock that is set by hand, and lint run on it inside this process."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ai_memory.model import Caller, PageRef
from ai_memory.operations.lint import FindingRow, Linted, lint
from ai_memory.paths import DataDir
from ai_memory.store import usage
from ai_memory.store.feedback import Feedback, Signal, put
from ai_memory.store.memory import Memory
from ai_memory.text.sanitize import sanitize
from ai_memory.text.times import DAY_US

BEGIN_US = 1_764_000_000_000_000
"""2025-11-24: when a house is built."""
PROSE = (
    "The heron stands in shallow water and waits for fish, which it takes with a quick thrust of its long bill every"
    " morning before the sun has reached the far bank of the river, and nobody has ever seen it miss one of them."
)


@dataclass
class House:
    """One memory; `shop` is the project of the folder it is looked at from."""

    root: Path
    now_us: int = BEGIN_US
    environ: dict[str, str] = field(default_factory=dict)
    face: str = "cli"

    @property
    def checkout(self) -> Path:
        return self.root / "shop"

    @property
    def memory(self) -> Memory:
        caller = Caller(cwd=str(self.checkout), environ=self.environ, home=str(self.root), face=self.face)
        return Memory.open(DataDir(self.root / "data"), caller=caller, clock=lambda: self.now_us)

    def wait(self, days: float) -> None:
        self.now_us += int(days * DAY_US)

    def put(self, pages: dict[str, str], *, project: str = "shop") -> None:
        """Write pages, `path → text`, in one commit; secrets are labelled as anywhere."""
        with self.memory.writing("write") as change:
            change.ensure_project_named("default", project)
            for path, text in pages.items():
                change.put(PageRef("default", project, path), sanitize(text))

    def by_hand(self, path: str, text: str | bytes, *, project: str = "shop") -> None:
        """A file that a person put there, taken in."""
        self.memory.create()
        file = self.root / "data" / "wiki" / "default" / project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
        self.memory.adopt()

    def say(self, path: str, signal: Signal, reason: str = "") -> None:
        """Feedback on the page as it stands."""
        ref = PageRef("default", "shop", path)
        one = Feedback(ref, self.version(path), signal, reason, "codex", "", self.now_us)
        with self.memory.state_transaction() as connection:
            put(connection, one, reason=sanitize(reason), agent=sanitize("codex"), session=sanitize(""))

    def read(self, path: str) -> None:
        """An agent reads the page now."""
        with self.memory.state_transaction() as connection:
            usage.note_read(connection, PageRef("default", "shop", path), harness="codex", at_us=self.now_us)

    def show(self, paths: Iterable[str]) -> None:
        """A search shows the pages now."""
        refs = [PageRef("default", "shop", path) for path in paths]
        with self.memory.state_transaction() as connection:
            usage.note_shown(connection, refs, harness="codex", at_us=self.now_us)

    def version(self, path: str, *, project: str = "shop") -> str:
        with self.memory.reading() as snapshot:
            page = snapshot.page(PageRef("default", project, path))
            assert page is not None
            return page.version

    def text(self, path: str, *, project: str = "shop") -> str | None:
        with self.memory.reading() as snapshot:
            page = snapshot.page(PageRef("default", project, path))
            return None if page is None else page.text

    def paths(self, *, project: str = "shop", prefix: str = "") -> list[str]:
        with self.memory.reading() as snapshot:
            found = snapshot.pages(workspace="default", project=project, prefix=prefix, sort="path", limit=1000)
            return [page.ref.path for page in found.pages]

    def lint(self, **words: Any) -> Linted:
        return lint(self.memory, **words)

    def found(self, kind: str, **words: Any) -> list[FindingRow]:
        """The findings of one kind."""
        return list(self.lint(kind=(kind,), **words).findings)

    def about(self, kind: str, **words: Any) -> list[str]:
        """The pages that they are about."""
        return [row.path for row in self.found(kind, **words)]
