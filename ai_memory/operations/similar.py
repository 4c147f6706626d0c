"""Pages whose titles say nearly the same: told to whoever writes a new one."""

import re
from typing import TYPE_CHECKING

from ai_memory.model import Page
from ai_memory.operations.rows import Address

if TYPE_CHECKING:
    from ai_memory.store.snapshot import Snapshot

AT_MOST = 3
LIKE = 0.5
"""Share of common words, of all words of both titles, from which two titles are called similar."""

_TITLES = "SELECT path, title FROM pages WHERE workspace = ? AND project = ? AND path <> ?"
_NOT_ASCII = "length(title) <> length(CAST(title AS BLOB))"
"""SQLite folds letters of ASCII alone: which words such a title holds is asked here."""
_WORD = re.compile(r"\w+")


def similar_pages(snapshot: "Snapshot", page: Page) -> tuple[tuple[Address, str], ...]:
    """Address and title of the most similar ones of the project, best first; 4 ms for 10,000 titles.

    SQLite leaves out those that hold too few of the words: making rows of all took five times as long (2026-12-01).
    """
    words = title_words(page.title)
    if not words:
        return ()
    ref = page.ref
    held = " + ".join("(title LIKE ?)" for _ in words)
    # An underscore stands for any character there: a title too many, which is rated like the others.
    near = snapshot.index.execute(
        f"{_TITLES} AND ({held} >= ? OR {_NOT_ASCII})",
        (ref.workspace, ref.project, ref.path, *(f"%{word}%" for word in words), LIKE * len(words)),
    )
    rated = [(likeness(words, title_words(title)), path, title) for path, title in near]
    best = sorted((row for row in rated if row[0] >= LIKE), key=lambda row: (-row[0], row[1]))[:AT_MOST]
    return tuple((Address(ref.workspace, ref.project, path), title) for _, path, title in best)


def title_words(title: str) -> frozenset[str]:
    """The words of a title, folded, without the shortest."""
    return frozenset(word for word in _WORD.findall(title.casefold()) if len(word) > 2 or not word.isascii())


def likeness(words: frozenset[str], others: frozenset[str]) -> float:
    """Share of the words that both have, of those that either has: 0 to 1."""
    either = len(words | others)
    return len(words & others) / either if either else 0.0
