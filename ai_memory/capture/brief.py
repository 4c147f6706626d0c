"""The brief of a project: what holds and what its standing pages say, packed into so many characters. Pure, no clock.

Facts come first, in half of the room at most. Every page first gets a short excerpt (level 0), then a longer one
(level 1), then its whole body, all or nothing: pinned pages and slots first, then whatever upgrade costs least. Pages
without room are named by path, others counted. *Source*: decision C10 for the bounds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from ai_memory.capture.words import count
from ai_memory.model import Page
from ai_memory.text.facts import Fact
from ai_memory.text.fences import fence, neutralise
from ai_memory.text.plain import clip, plain, plain_line
from ai_memory.text.sanitize import sanitize
from ai_memory.text.told_facts import sections

MAX_PAGES = 24
"""Pages that a brief tells of; the others are counted."""
MAX_FACTS = 100
"""Facts that a brief may tell: the hook looks at the file of each."""
MAX_RECENT = 10
SHORT_BYTES = 256
LONG_BYTES = 500
"""Of the excerpts of level 0 and level 1."""
TITLE_BYTES = 120
GROUPED_FROM = 4
"""So many excerpts of one family stand under one heading."""

FOOTER = "Read a page whole with memory_read_page, or with `ai-memory read-page PATH`."
_COUNTED = ("rule", "gotcha", "decision", "slot", "procedure", "concept", "note", "fact", "preference")
"""Kinds that the status names, in this order; any other is a page."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One page as a brief may tell it. All texts are neutralised."""

    path: str
    title: str
    kind: str
    is_first: bool
    """Pinned or a slot: deepened before the others."""
    levels: tuple[str, ...]
    """Excerpts from short to long, then the body. Each is longer than the one before; a short body stands alone."""

    @property
    def family(self) -> str:
        """First folder of the path, as a heading."""
        folder, slash, _ = self.path.partition("/")
        return (folder if slash else "pages").strip("_").capitalize()

    def is_whole(self, level: int) -> bool:
        return level == len(self.levels) - 1


@dataclass(frozen=True, slots=True)
class Material:
    """What a brief is made of."""

    scope: str
    """`workspace/project`."""
    entries: tuple[Entry, ...]
    """At most `MAX_PAGES`, most important first."""
    more: int = 0
    """Standing pages beyond these."""
    facts: tuple[Fact, ...] = ()
    """What holds, in the order in which it is told; at most `MAX_FACTS`."""
    more_facts: int = 0
    """Facts beyond these."""
    recent: tuple[tuple[str, str], ...] = ()
    """(path, title) of pages changed last, neutralised, newest first; none that is an entry."""


def entry(page: Page) -> Entry:
    """The page's excerpts and body. A body no longer than the excerpt that would stand for it is told whole.

    Sanitised before it is cut: a page that a person edited by hand may hold anything.
    """
    abstract = _key(page.frontmatter, "abstract")
    summary = _key(page.frontmatter, "summary") or _key(page.frontmatter, "description")
    body = neutralise(sanitize(_without_title(page.body, page.title))).strip()
    lead = _line(plain(body))
    short = clip(abstract or summary or lead, SHORT_BYTES)
    longer = clip(summary or lead or abstract, LONG_BYTES)
    return Entry(
        path=_line(page.ref.path),
        title=clip(_line(plain_line(sanitize(page.title))) or _line(page.ref.path), TITLE_BYTES),
        kind=page.kind,
        is_first=page.pinned or page.ref.path.startswith("_slots/"),
        levels=tuple(_levels(short, longer, body, is_told=bool(abstract or summary))),
    )


def _levels(short: str, longer: str, body: str, *, is_told: bool) -> list[str]:
    """`is_told`: the frontmatter gives the excerpt. Else a body that is no longer than one is told as it stands."""
    size_bytes = len(body.encode("utf-8", "replace"))
    if len(body) <= len(short) or size_bytes <= (len(short.encode("utf-8", "replace")) if is_told else SHORT_BYTES):
        return [body]
    return [short, longer, body] if len(short) < len(longer) < len(body) else [short, body]


def recent_line(path: str, title: str) -> tuple[str, str]:
    """Path and title as a brief lists them."""
    return _line(path), clip(_line(plain_line(sanitize(title))), TITLE_BYTES)


def _key(frontmatter: Mapping[str, object], key: str) -> str:
    value = frontmatter.get(key)
    return _line(plain_line(sanitize(value))) if isinstance(value, str) else ""


def _line(text: str) -> str:
    return " ".join(neutralise(text).split())


def _without_title(body: str, title: str) -> str:
    """The body without the heading that only repeats the title."""
    head, _, rest = body.strip().partition("\n")
    return rest if head.startswith("# ") and _line(plain_line(head[2:])) == _line(plain_line(title)) else body


def status(material: Material) -> str:
    """`3 rules, 2 gotchas, 1 fact`; empty without any."""
    kinds = [one.kind if one.kind in _COUNTED else "page" for one in material.entries]
    kinds += ["fact"] * (len(material.facts) + material.more_facts)
    return ", ".join(count(kinds.count(kind), kind) for kind in (*_COUNTED, "page") if kind in kinds)


def pack(material: Material, max_chars: int) -> str:
    """The brief in at most `max_chars` characters (1,500 or more), fence and notice included; empty without pages.

    The same material gives the same bytes.
    """
    if not material.entries and not material.facts and not material.recent:
        return ""
    packing = _Packing(material, max_chars)
    packing.tell_facts(max_chars // 2)
    packing.admit()
    packing.name_the_others()
    packing.deepen()
    packing.tell_facts(max_chars)
    packing.tell_recent()
    return packing.text()


class _Packing:
    """Which level each page has reached. Every step is taken only if the whole text still fits."""

    def __init__(self, material: Material, max_chars: int) -> None:
        self._material = material
        self._max_chars = max_chars
        self._levels: dict[int, int] = {}
        self._named: list[str] = []
        self._facts = 0
        self._recent = 0

    def tell_facts(self, most_chars: int) -> None:
        """The first facts, as long as the whole stays within so many characters."""
        while self._facts < len(self._material.facts):
            self._facts += 1
            if not self._fits(most_chars):
                self._facts -= 1
                return

    def admit(self) -> None:
        """Level 0 for each page that has room, most important first."""
        for number in range(len(self._material.entries)):
            self._levels[number] = 0
            if not self._fits():
                del self._levels[number]

    def name_the_others(self) -> None:
        """Paths of pages without room. Their count has its place already."""
        for number, one in enumerate(self._material.entries):
            if number in self._levels:
                continue
            self._named.append(one.path)
            if not self._fits():
                self._named.pop()
                return

    def deepen(self) -> None:
        """Pinned pages and slots in their order, level by level; then the cheapest upgrade of any other page."""
        first = [number for number in self._levels if self._material.entries[number].is_first]
        for _ in range(2):
            for number in first:
                self._upgrade(number)
        waiting = [self._cost(number) for number in self._levels if number not in first]
        waiting = [one for one in waiting if one[0] > 0]
        heapify(waiting)
        while waiting:
            _, number = heappop(waiting)
            if self._upgrade(number) and self._cost(number)[0] > 0:
                heappush(waiting, self._cost(number))

    def _cost(self, number: int) -> tuple[int, int]:
        """Characters that the next level costs, 0 where there is none; the page's place breaks ties."""
        levels, level = self._material.entries[number].levels, self._levels[number]
        return (len(levels[level + 1]) - len(levels[level]) if level + 1 < len(levels) else 0), number

    def _upgrade(self, number: int) -> bool:
        if self._cost(number)[0] <= 0:
            return False
        self._levels[number] += 1
        if self._fits():
            return True
        self._levels[number] -= 1
        return False

    def tell_recent(self) -> None:
        """Titles of what changed last, from the room that is left."""
        for _ in self._material.recent[:MAX_RECENT]:
            self._recent += 1
            if not self._fits():
                self._recent -= 1
                return

    def _fits(self, most_chars: int | None = None) -> bool:
        return len(self.text()) <= (most_chars or self._max_chars)

    def text(self) -> str:
        told = status(self._material)
        head = f"Project brief{f': {told}' if told else ''}\n\n"
        inside = "\n\n".join(self._sections())
        return f"{head}{fence(inside, source=self._material.scope)}\n{FOOTER}\n"

    def _sections(self) -> Iterator[str]:
        yield from sections(self._material.facts[: self._facts])
        hidden_facts = len(self._material.facts) - self._facts + self._material.more_facts
        if hidden_facts:
            yield f"## Not shown: {count(hidden_facts, 'fact')}"
        shown = [(self._material.entries[number], level) for number, level in sorted(self._levels.items())]
        yield from (_single(one, level) for one, level in shown if one.is_first)
        rest = [(one, level) for one, level in shown if not one.is_first]
        for family in dict.fromkeys(one.family for one, _ in rest):
            yield from _family(family, [(one, level) for one, level in rest if one.family == family])
        hidden = len(self._material.entries) - len(self._levels) + self._material.more
        if hidden:
            yield _hidden(self._named, hidden)
        if self._recent:
            lines = (f"- {path}: {title}" for path, title in self._material.recent[: self._recent])
            yield "## Changed last\n\n" + "\n".join(lines)


def _family(family: str, members: Sequence[tuple[Entry, int]]) -> Iterator[str]:
    """Four or more excerpts under one heading, a line each; whole bodies by themselves."""
    excerpts = [(one, level) for one, level in members if not one.is_whole(level)]
    is_grouped = len(excerpts) >= GROUPED_FROM
    if is_grouped:
        yield f"## {family}\n\n" + "\n".join(f"- {one.path}: {one.levels[level]}" for one, level in excerpts)
    yield from (_single(one, level) for one, level in members if not is_grouped or one.is_whole(level))


def _single(one: Entry, level: int) -> str:
    head = f"## {one.title} ({one.path})"
    return f"{head}\n\n{one.levels[level]}" if one.levels[level] else head


def _hidden(named: Sequence[str], hidden: int) -> str:
    """Paths, then how many more there are."""
    left = hidden - len(named)
    lines = [f"- {path}" for path in named] + ([f"and {count(left, 'more page')}"] if named and left else [])
    if not named:
        return f"## Not shown: {count(hidden, 'page')}"
    return f"## Not shown: {count(hidden, 'page')}\n\n" + "\n".join(lines)
