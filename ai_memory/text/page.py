"""A page file: what its frontmatter and its body say.

*Source*: decision C6 for its keys, decision C7 for times.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ai_memory.errors import MemoryFault
from ai_memory.model import Tier
from ai_memory.text.faults import BadPage
from ai_memory.text.frontmatter import Parts, read_block, split
from ai_memory.text.limits import LARGEST_PAGE_BYTES, check_limit, counted_body
from ai_memory.text.names import default_kind
from ai_memory.text.outline import Leaf, outline
from ai_memory.text.plain import plain_line
from ai_memory.text.splice import compose, splice
from ai_memory.text.times import parse_expiry

__all__ = ["BadPage", "ParsedPage", "check_size", "compose", "parse", "parse_leniently", "plain_page", "splice"]


_Read = TypeVar("_Read")
_TITLE_CHARS = 120
"""Of a statement that stands for a title."""


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """One page, read."""

    frontmatter: Mapping[str, object]
    """Every key; values are str, bool, int, float, None, lists and dicts. Dates are str."""
    body: str
    """All after the closing line of the block, untouched."""
    body_line: int
    """1-based line of the file on which the body begins."""
    title: str
    kind: str
    tier: Tier
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    pinned: bool = False
    expires_at_us: int | None = None
    abstract: str = ""
    summary: str = ""
    problems: tuple[str, ...] = field(default=())
    """What `parse_leniently` passed over, each one line with file and line."""


def parse(text: str, *, path: str) -> ParsedPage:
    """The page of that text. *Errors*: BadPage naming file and line: broken YAML, or a key with a bad value."""
    return _Reading(text, path, forgive=False).page()


def parse_leniently(text: str, *, path: str) -> ParsedPage:
    """The page as far as it can be read; never refuses. For the index: a person's broken page stays findable.

    Broken frontmatter counts as none, its text as body.
    """
    return _Reading(text, path, forgive=True).page()


def check_size(text: str) -> None:
    """Refuse a page that is too large, before anything costly looks at it. *Errors*: TooLarge."""
    if len(text) > LARGEST_PAGE_BYTES:
        check_limit("body", text)
    check_limit("body", counted_body(text[split(text).body_start :]))


def plain_page(text: str, *, path: str) -> ParsedPage:
    """The page of a text that says nothing but itself. Looks at no character of it."""
    kind = default_kind(path)
    tier = Tier.EPISODIC if kind == "session" else Tier.SEMANTIC
    return ParsedPage({}, text, 1, _stem(path), kind, tier, pinned=path.startswith("_slots/"))


class _Reading:
    """One parse: the parts, the keys, and what was wrong with them."""

    def __init__(self, text: str, path: str, *, forgive: bool) -> None:
        self.text = text
        self.path = path
        self.forgive = forgive
        self.problems: list[str] = []
        self.parts = split(text)
        self.keys = self._read_keys()

    def page(self) -> ParsedPage:
        keys, parts = self.keys, self.parts
        body = self.text[parts.body_start :]
        kind = self._word("kind").lower() or default_kind(self.path)
        pinned = self._checked("pinned", _boolean) if "pinned" in keys else None
        return ParsedPage(
            frontmatter=keys,
            body=body,
            body_line=parts.body_line,
            title=self._word("title") or first_heading(body) or self._statement() or _stem(self.path),
            kind=kind,
            tier=self._tier(kind),
            tags=self._words("tags"),
            entities=tuple(dict.fromkeys(word.lower() for word in self._words("entities"))),
            aliases=self._words("aliases"),
            pinned=self.path.startswith("_slots/") if pinned is None else pinned,
            expires_at_us=self._checked("expires_at", _expiry) if keys.get("expires_at") is not None else None,
            abstract=self._word("abstract"),
            summary=self._word("summary") or self._word("description"),
            problems=tuple(self.problems),
        )

    def _read_keys(self) -> dict[str, object]:
        parts = self.parts
        if not parts.has_block:
            return {}
        try:
            return read_block(self.text[parts.block_start : parts.block_end], path=self.path)
        except BadPage as fault:
            self._report(fault)
        start = 1 if self.text.startswith("\ufeff") else 0
        self.parts = Parts(has_block=False, block_start=start, block_end=start, body_start=start, body_line=1)
        return {}

    def _statement(self) -> str:
        """What a fact says names it, shortened where it is long."""
        statement = self._word("statement") if "fact_kind" in self.keys else ""
        return statement if len(statement) <= _TITLE_CHARS else f"{statement[: _TITLE_CHARS - 1]}…"

    def _tier(self, kind: str) -> Tier:
        tier = self._checked("tier", _tier) if self.keys.get("tier") is not None else None
        return tier or (Tier.EPISODIC if kind == "session" else Tier.SEMANTIC)

    def _word(self, key: str) -> str:
        value = self.keys.get(key)
        return "" if value is None else self._checked(key, _line) or ""

    def _words(self, key: str) -> tuple[str, ...]:
        value = self.keys.get(key)
        return () if value is None else self._checked(key, _lines) or ()

    def _checked(self, key: str, read: Callable[[object], _Read]) -> _Read | None:
        """The key's value as `read` gives it; None when it is bad and we forgive."""
        try:
            return read(self.keys[key])
        except (MemoryFault, TypeError, ValueError) as fault:
            what = fault.message if isinstance(fault, MemoryFault) else str(fault)
            hint = fault.hint if isinstance(fault, MemoryFault) else ""
            self._report(BadPage(self.path, self._line_of(key), f"{key}: {what}", hint=hint))
        return None

    def _line_of(self, key: str) -> int:
        """1-based line of the file on which the key stands."""
        lines = self.text[: self.parts.block_end].split("\n")
        named = (f"{key}:", f'"{key}":', f"'{key}':")
        return next((number for number, line in enumerate(lines, 1) if line.strip().startswith(named)), 1)

    def _report(self, fault: BadPage) -> None:
        if not self.forgive:
            raise fault
        self.problems.append(fault.message)


def first_heading(body: str) -> str:
    """Text of the first level-1 heading outside of code, lists and quotes; empty without one."""
    if "# " not in body and "#\t" not in body and "===" not in body and "\n=" not in body:
        return ""
    for block in outline(body):
        if block.kind is Leaf.HEADING and block.level == 1 and not block.depth:
            title = plain_line(block.text(body))
            if title:
                return title
    return ""


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _line(value: object) -> str:
    if isinstance(value, (list, dict)):
        raise TypeError("a text is expected here, not a list or mapping")
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(str(value).split())


def _lines(value: object) -> tuple[str, ...]:
    """A list of words; one text is cut at its commas."""
    if isinstance(value, dict):
        raise TypeError("a list is expected here, not a mapping")
    values = value if isinstance(value, list) else _line(value).split(",")
    words = (_line(one) for one in values if one is not None)
    return tuple(dict.fromkeys(word for word in words if word))


def _boolean(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise ValueError(f"write true or false, not {str(value)[:40]!r}")


def _tier(value: object) -> Tier:
    word = str(value).strip().lower()
    try:
        return Tier(word)
    except ValueError as fault:
        raise ValueError(f"no such tier {word[:40]!r}: use working, episodic, semantic or procedural") from fault


def _expiry(value: object) -> int:
    return parse_expiry(_line(value))
