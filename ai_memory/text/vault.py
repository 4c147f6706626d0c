"""A folder of markdown that another program kept: where its files may lie here, and what its links mean.

*Source*: Obsidian and Foam link by the end of a path, upper and lower case alike, as their vaults show (2026-11-30).
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ai_memory.errors import MemoryFault
from ai_memory.model import PageRef
from ai_memory.text.links import links, relations_of, rewrite_links
from ai_memory.text.names import check_page_path, path_key, slug
from ai_memory.text.page import parse_leniently

ENDINGS = (".md", ".markdown")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]+')
_MOST_BYTES = 190


def portable_paths(paths: Iterable[str]) -> dict[str, str]:
    """Per path of a file the path under which its page may be written: itself where every disk can hold it.

    No two get one that some disk takes for another.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for path in sorted(paths):
        stem = _portable(path).removesuffix(".md")
        made, number = f"{stem}.md", 2
        while path_key(made) in taken:
            made, number = f"{stem}-{number}.md", number + 1
        taken.add(path_key(made))
        found[path] = made
    return found


def _portable(path: str) -> str:
    segments = [_segment(segment) for segment in _bare(path).split("/")]
    try:
        return check_page_path("/".join(segments) + ".md")
    except MemoryFault:
        segments = [slug(segment) for segment in segments]
    try:
        return check_page_path("/".join(segments) + ".md")
    except MemoryFault:
        return check_page_path("/".join(["imported", *(f"{slug(segment)}-page" for segment in segments[-3:])]) + ".md")


def _segment(segment: str) -> str:
    """The name without what some disk cannot hold; names that are reserved are left to the check."""
    kept = "".join(
        one for one in _UNSAFE.sub("-", segment) if unicodedata.category(one) not in ("Cf", "Cs", "Zl", "Zp")
    )
    kept = kept.strip(" .").lstrip(".")
    return kept.encode()[:_MOST_BYTES].decode(errors="ignore").strip(" .") or "page"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A file as it shall stand, how many of its links were changed, and those that say no single page."""

    text: str
    changed: int
    ambiguous: tuple[str, ...]


class Vault:
    """The links of one folder. `places`: per path of a file where its page will lie."""

    def __init__(self, places: Mapping[str, str], *, at: tuple[str, str]) -> None:
        self._at = at
        self._moved = {self._ref(_as_page(path)): self._ref(new) for path, new in places.items()}
        self._by_end: dict[str, list[str]] = {}
        for path in sorted(places):
            parts = _as_page(path).split("/")
            for start in range(len(parts)):
                self._by_end.setdefault(path_key("/".join(parts[start:])), []).append(_as_page(path))

    def rewritten(self, path: str, new: str, text: str) -> Rewritten:
        """The file at `path`, as it shall stand at `new`, with its links leading to the same pages."""
        source, target = self._ref(_as_page(path)), self._ref(new)
        moved, ambiguous = dict(self._moved), []
        page = parse_leniently(text, path=path)
        for link in links(page.body, at=source, relations=relations_of(page.frontmatter)):
            if link.ref in self._moved or (link.workspace, link.project) != self._at:
                continue
            meant = self._meant(link.path, source.path)
            if meant:
                moved[link.ref] = self._moved[self._ref(meant[0])]
                if len(meant) > 1:
                    ambiguous.append(link.path.removesuffix(".md"))
        try:
            made = rewrite_links(text, at=source, moved=moved, now_at=target)
        except MemoryFault:  # relations in a frontmatter that cannot be read: the body's links still follow
            made = text
        return Rewritten(made, _changes(text, made), tuple(ambiguous))

    def _meant(self, path: str, source: str) -> list[str]:
        """Files whose path ends so, the likeliest first: beside the page that links, then nearest to the root."""
        found = self._by_end.get(path_key(path)) or self._by_end.get(path_key(path.rpartition("/")[2])) or []
        folder = source.rpartition("/")[0]
        return sorted(found, key=lambda one: (one.rpartition("/")[0] != folder, one.count("/"), one))

    def _ref(self, path: str) -> PageRef:
        return PageRef(*self._at, path)


def _as_page(path: str) -> str:
    """The path as a link resolves to it."""
    return f"{_bare(path)}.md"


def _bare(path: str) -> str:
    """The path without its ending, composed."""
    bare = next((path[: -len(ending)] for ending in ENDINGS if path.lower().endswith(ending)), path)
    return unicodedata.normalize("NFC", bare)


def _changes(before: str, after: str) -> int:
    """How many links differ: only targets were changed, so lines are counted."""
    pairs = zip(before.split("\n"), after.split("\n"), strict=True)
    return sum(old != new for old, new in pairs)
