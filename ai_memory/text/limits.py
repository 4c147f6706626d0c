"""How large a page and its parts may be, in one table, and the refusals that name limit and value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ai_memory.errors import MemoryFault


class Unit(StrEnum):
    """What a limit counts."""

    CHARACTERS = "characters"
    BYTES = "bytes"
    ITEMS = "items"


@dataclass(frozen=True, slots=True)
class Limit:
    """One row of the table: at most `most` of `unit`."""

    what: str
    most: int
    unit: Unit


class TooLarge(MemoryFault):
    """A value is over its limit."""


class BadText(MemoryFault):
    """A value holds a character that no page may hold."""


LIMITS: Mapping[str, Limit] = {
    "title": Limit("a title", 512, Unit.CHARACTERS),
    "tags": Limit("the list of tags", 50, Unit.ITEMS),
    "tag": Limit("a tag", 128, Unit.BYTES),
    "entities": Limit("the list of entities", 10, Unit.ITEMS),
    "entity": Limit("an entity", 64, Unit.CHARACTERS),
    "aliases": Limit("the list of aliases", 50, Unit.ITEMS),
    "alias": Limit("an alias", 512, Unit.CHARACTERS),
    "abstract": Limit("an abstract", 1024, Unit.CHARACTERS),
    "summary": Limit("a summary", 8192, Unit.CHARACTERS),
    "kind": Limit("a kind", 64, Unit.CHARACTERS),
    "body": Limit("a body", 1_048_576, Unit.BYTES),
    "frontmatter": Limit("a frontmatter block", 65_536, Unit.BYTES),
    "path": Limit("a page path", 512, Unit.BYTES),
    "segment": Limit("one segment of a page path", 200, Unit.BYTES),
    "name": Limit("a workspace or project name", 100, Unit.CHARACTERS),
    "session": Limit("a session id", 200, Unit.CHARACTERS),
    "statement": Limit("a statement", 8192, Unit.BYTES),
    "subject": Limit("a subject", 512, Unit.CHARACTERS),
    "predicate": Limit("a predicate", 256, Unit.CHARACTERS),
    "object": Limit("an object", 1024, Unit.CHARACTERS),
    "quote": Limit("a quote", 8192, Unit.BYTES),
    "citation": Limit("a citation", 1024, Unit.BYTES),
    "reason": Limit("a reason", 500, Unit.CHARACTERS),
}
"""Every limit on what is written. Reading is never refused by size: a person's file stays readable."""

LARGEST_PAGE_BYTES = LIMITS["body"].most + LIMITS["frontmatter"].most + 1024
"""Nobody need read more of what is to become a page: it is refused whatever follows."""

_ALLOWED_CONTROLS = "\t\n\r"
_FORBIDDEN = {
    code: None
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000))
    if chr(code) not in _ALLOWED_CONTROLS
}


def check_limit(name: str, value: str | Sequence[object]) -> None:
    """Refuse a value over the limit `name`. *Errors*: TooLarge, naming limit and value."""
    limit = LIMITS[name]
    size = _size(value, limit.unit)
    if size > limit.most:
        # A body may hold secrets: it is refused before anybody looks for them.
        shown = f" ({_start_of(value)})" if isinstance(value, str) and name != "body" else ""
        raise TooLarge(
            f"{limit.what} has {size:,} {limit.unit}, at most {limit.most:,} are allowed{shown}",
            hint=f"make it shorter: the limit '{name}' is {limit.most:,} {limit.unit}",
        )


def counted_body(body: str) -> str:
    """What of a body counts: its final newline is set by whoever writes a page."""
    return body[:-2] if body.endswith("\r\n") else body.removesuffix("\n")


def check_line(name: str, value: str) -> None:
    """Refuse a one-line value that is too long or holds a control character or line break."""
    check_limit(name, value)
    for at, character in enumerate(value):
        if character in _ALLOWED_CONTROLS or ord(character) in _FORBIDDEN:
            raise _bad(LIMITS[name].what, character, f"at character {at + 1}")


def check_text(name: str, value: str) -> None:
    """Refuse a text of several lines that is too long or holds NUL or a control character."""
    check_characters(LIMITS[name].what, value)
    check_limit(name, value)


def check_characters(what: str, value: str) -> None:
    """Refuse NUL, control characters, lone surrogates and a CR that ends no line."""
    if value.isascii() and value.isprintable():
        return
    clean = value.translate(_FORBIDDEN)
    if len(clean) != len(value):
        at = next(place for place, character in enumerate(value) if ord(character) in _FORBIDDEN)
        raise _bad(what, value[at], f"in line {value.count(chr(10), 0, at) + 1}")
    if "\r" in value and value.count("\r") != value.count("\r\n"):
        raise _bad(what, "\r", "outside a line end")


def check_page(
    *, title: str, tags: Sequence[str], entities: Sequence[str], body: str, aliases: Sequence[str] = (), kind: str = ""
) -> None:
    """Refuse a page whose parts break the table. *Errors*: TooLarge, BadText."""
    check_line("title", title)
    check_line("kind", kind)
    for plural, single, values in (
        ("tags", "tag", tags),
        ("entities", "entity", entities),
        ("aliases", "alias", aliases),
    ):
        check_limit(plural, values)
        for value in values:
            check_line(single, value)
    check_text("body", counted_body(body))


def _size(value: str | Sequence[object], unit: Unit) -> int:
    if unit is Unit.BYTES and isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    return len(value)


def _start_of(value: str) -> str:
    start = "".join(character if character.isprintable() else " " for character in value[:40])
    return f"it begins “{start}…”"


def _bad(what: str, character: str, where: str) -> BadText:
    return BadText(
        f"{what} holds the character U+{ord(character):04X} {where}, which no page may hold",
        hint="remove it: NUL, control characters and lone surrogates are refused",
    )
