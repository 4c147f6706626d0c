"""Pages in an index of their own, asked through the engine without a data dir."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ai_memory.model import PageRef, ResolvedBy, Scope
from ai_memory.search.engine import answer
from ai_memory.search.request import Hits, Request
from ai_memory.store import driver, index
from ai_memory.store.snapshot import Filter, Snapshot

SHOP = Scope("default", "shop", ResolvedBy.FLAG)
DAY_US = 86_400_000_000
NOW_US = 1_764_504_000_000_000
"""Sunday, 2025-11-30, 12:00 UTC."""

FILLER = (
    "The harbour office keeps its ledgers in oak drawers, and every drawer carries a brass number.",
    "Lanterns along the quay are trimmed at dusk by two men with a ladder.",
    "A bakery near the mill sells rye loaves on market mornings.",
    "Weavers dye their wool with madder and weld before the frost.",
    "The ferry crosses at seven, at noon, and once more before nightfall.",
)


def ref(path: str, project: str = "shop") -> PageRef:
    return PageRef("default", project, path)


@dataclass
class Shelf:
    """What is indexed, and how it is asked."""

    connection: driver.Connection = field(default_factory=driver.in_memory)

    def __post_init__(self) -> None:
        index.create(self.connection)

    def put(self, path: str, text: str, *, project: str = "shop", at_us: int = NOW_US - 100 * DAY_US) -> None:
        content = text.encode()
        version = f"{hash_of(content):040x}"
        with driver.transaction(self.connection):
            file = index.IndexedFile(f"default/{project}/{path}", version, content, at_us)
            index.put_files(self.connection, [file])

    def fill(self, pages: int = 40) -> None:
        """Pages about other things, so that words have a rarity."""
        for number in range(pages):
            lines = [FILLER[(number + step) % len(FILLER)] for step in range(3)]
            self.put(f"notes/filler-{number:03}.md", f"# Filler {number}\n\n" + "\n\n".join(lines))

    def ask(self, *queries: str, scopes: Sequence[Scope] | None = (SHOP,), **more: Any) -> Hits:
        wanted = more.pop("wanted", Filter())
        return answer(Snapshot(self.connection), Request(queries, scopes, wanted, **more))

    def paths(self, *queries: str, **more: Any) -> list[str]:
        return [hit.ref.path for hit in self.ask(*queries, **more).hits]


def hash_of(content: bytes) -> int:
    """A version that is the same in every run."""
    number = 7
    for byte in content:
        number = (number * 31 + byte) % (1 << 160)
    return number
