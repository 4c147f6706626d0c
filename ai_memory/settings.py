"""What one setting of the configuration is, and which values it takes."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any, TypeVar

from ai_memory.patterns import repeats_a_repetition
from ai_memory.toml_text import BrokenToml, read

_T = TypeVar("_T")
TRUE_WORDS = frozenset(("true", "1", "yes", "on"))
FALSE_WORDS = frozenset(("false", "0", "no", "off"))


class Kind(StrEnum):
    """Type of a setting's value."""

    SWITCH = "true or false"
    NUMBER = "whole number"
    FRACTION = "number"
    CHOICE = "one of"
    TEXT = "text"
    WORDS = "list of words"
    PATTERNS = "list of regular expressions"


class Unfit(Exception):
    """The value is not one for the setting; the text says what would be."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table of settings."""

    key: str
    """Dotted, as in `config set`: `capture.prompts`."""
    kind: Kind
    default: object
    """None: not set, which differs from every value."""
    description: str
    lowest: int = 0
    highest: int = 0
    clamps: bool = False
    """A number out of range is moved to the nearer end instead of refused."""
    choices: tuple[str, ...] = ()
    max_items: int = 0
    max_chars: int = 0
    unset_text: str = ""
    """What None stands for."""

    @property
    def environment(self) -> str:
        """Name of the environment variable."""
        return "AI_MEMORY_" + self.key.upper().replace(".", "__")

    @property
    def values(self) -> str:
        """The values that it takes, for a person."""
        match self.kind:
            case Kind.SWITCH:
                return self.kind.value
            case Kind.NUMBER | Kind.FRACTION:
                return f"{self.lowest} to {self.highest}"
            case Kind.CHOICE:
                return ", ".join(self.choices)
            case Kind.WORDS if self.choices:
                return f"list of {', '.join(self.choices)}"
            case Kind.TEXT:
                return f"{self.kind.value}, at most {self.max_chars} characters"
            case _:
                return f"{self.kind.value}, at most {self.max_items} of {self.max_chars} characters"

    @property
    def default_text(self) -> str:
        """The default as it would be written, or what its absence means."""
        return literal(self.default) if self.default is not None else self.unset_text

    def checked(self, value: object) -> object:
        """A value from TOML as the configuration holds it (lists become tuples). *Errors*: Unfit."""
        match self.kind:
            case Kind.SWITCH:
                if isinstance(value, bool):
                    return value
                raise Unfit("true or false")
            case Kind.NUMBER:
                return self._number(value)
            case Kind.FRACTION:
                return self._fraction(value)
            case Kind.CHOICE:
                if isinstance(value, str) and value in self.choices:
                    return value
                raise Unfit(f"one of {', '.join(self.choices)}")
            case Kind.TEXT:
                if isinstance(value, str) and len(value) <= self.max_chars:
                    return value
                raise Unfit(f"a {self.values}")
            case Kind.WORDS | Kind.PATTERNS:
                return self._list(value)

    def from_text(self, text: str) -> object:
        """A value that a person typed: `on`, `42`, `a,b` or `["a", "b"]`. *Errors*: Unfit."""
        plain = text.strip()
        match self.kind:
            case Kind.SWITCH:
                word = plain.lower()
                return self.checked(word in TRUE_WORDS if word in TRUE_WORDS | FALSE_WORDS else plain)
            case Kind.NUMBER:
                return self.checked(int(plain) if re.fullmatch(r"[+-]?[0-9]{1,18}", plain) else plain)
            case Kind.FRACTION:
                return self.checked(float(plain) if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", plain) else plain)
            case Kind.CHOICE:
                return self.checked(plain.strip("\"'"))
            case Kind.TEXT:
                return self.checked(_unquoted(text))
            case Kind.WORDS | Kind.PATTERNS:
                return self.checked(self._split(plain))

    def _number(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Unfit(f"a whole number from {self.values}")
        if self.clamps:
            return min(max(value, self.lowest), self.highest)
        if not self.lowest <= value <= self.highest:
            raise Unfit(f"a whole number from {self.values}")
        return value

    def _fraction(self, value: object) -> float:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not self.lowest <= float(str(value)) <= self.highest:
            raise Unfit(f"a number from {self.values}")
        return float(str(value))

    def _list(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) and one for one in value):
            raise Unfit(f"a {self.kind.value}")
        words = tuple(str(one) for one in value)
        if len(words) > self.max_items or any(len(one) > self.max_chars for one in words):
            raise Unfit(self.values)
        if self.choices and (strange := [one for one in words if one not in self.choices]):
            raise Unfit(f"a {self.values}; {strange[0]!r} is none of them")
        if self.kind is Kind.PATTERNS:
            for one in words:
                try:
                    re.compile(one)
                except (re.error, RecursionError, OverflowError) as fault:
                    raise Unfit(f"a {self.kind.value}; {one!r} is none: {fault}") from fault
                if repeats_a_repetition(one):
                    why = "it repeats what repeats itself, which can take for ever"
                    raise Unfit(f"a {self.kind.value}; {one!r} is refused: {why} (`(?:a++b)+` gives nothing back)")
        return words

    def _split(self, plain: str) -> object:
        """Brackets hold a TOML list; else words end at commas, and a pattern is one alone (it may hold commas)."""
        if plain.startswith("["):
            try:
                return read(f"value = {plain}").get("value")
            except BrokenToml as fault:
                if self.kind is not Kind.PATTERNS:
                    raise Unfit(f'a {self.kind.value}, such as ["a", "b"]') from fault
        if self.kind is Kind.PATTERNS:
            return [plain] if plain else []
        return [word for part in plain.split(",") if (word := part.strip())]


def _unquoted(text: str) -> object:
    """The text as it stands, blanks and all; one in double quotes as TOML reads it."""
    plain = text.strip()
    if len(plain) < 2 or not plain.startswith('"') or not plain.endswith('"'):
        return text
    try:
        return read(f"value = {plain}").get("value")
    except BrokenToml:
        return text


def setting(default: object, kind: Kind, description: str, **bounds: Any) -> Any:
    """A dataclass field that is a setting. Its key comes from where the field stands."""
    return field(default=default, metadata={"setting": (kind, default, description, bounds)})


def section(kind: type) -> Any:
    """A dataclass field that is a table of settings."""
    return field(default_factory=kind, metadata={"section": kind})


def key_of(name: str) -> str:
    """The key of a field: `lambda` is a word of Python's, and so its field is `lambda_`."""
    return name.removesuffix("_")


def settings_of(kind: type, prefix: str = "") -> tuple[Setting, ...]:
    """The settings of a dataclass and its sections, in order."""
    assert is_dataclass(kind)
    found: list[Setting] = []
    for one in fields(kind):
        if "section" in one.metadata:
            found += settings_of(one.metadata["section"], f"{prefix}{key_of(one.name)}.")
        else:
            value_kind, default, description, bounds = one.metadata["setting"]
            found.append(Setting(prefix + key_of(one.name), value_kind, default, description, **bounds))
    return tuple(found)


def build(kind: type[_T], values: Mapping[str, object], prefix: str = "") -> _T:
    """The dataclass with each setting's value."""
    assert is_dataclass(kind)
    filled = {
        one.name: build(one.metadata["section"], values, f"{prefix}{key_of(one.name)}.")
        if "section" in one.metadata
        else values[prefix + key_of(one.name)]
        for one in fields(kind)
    }
    return kind(**filled)


def literal(value: object) -> str:
    """A setting's value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(literal(one) for one in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
