"""What is to stand in a file of somebody else: the parts that are ours, and nothing about the rest. Pure data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


class Syntax(StrEnum):
    """How a file is written, and so which editor may touch it."""

    JSON = "json"
    """With comments and trailing commas, which stay as they are."""
    TOML = "toml"
    MARKDOWN = "markdown"
    """Ours is one block between two marker lines."""
    WHOLE = "whole"
    """The file is ours from the first byte to the last."""


@dataclass(frozen=True, slots=True)
class Member:
    """An object's member (TOML: a table) that is ours alone: set when installing, removed when uninstalling."""

    keys: tuple[str, ...]
    """The way from the root; objects that are missing on it are made."""
    value: Json


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a list that others share: appended after theirs; ours are known by `is_ours`."""

    keys: tuple[str, ...]
    """The way from the root to the list."""
    value: Json
    is_ours: Callable[[Json], bool]
    """Also knows what former versions wrote. An element that holds more than ours is not ours: see `inner`."""
    inner: str = ""
    """Key of the list inside an element in which ours may stand beside others': `hooks` of a Claude group. Ours are
    removed from it one by one, and the element itself only once nothing else is left."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A member that the file must have for ours to count (`"version": 1`), but which is not ours.

    Set where it is missing, kept where it has that value, and another value is a reason to refuse.
    """

    keys: tuple[str, ...]
    value: Json


Part: TypeAlias = Member | Element | Requirement


@dataclass(frozen=True, slots=True)
class FileEdit:
    """All that is ours in one file."""

    path: PurePath
    syntax: Syntax
    parts: tuple[Part, ...] = ()
    """Of JSON and TOML."""
    text: str = ""
    """Of MARKDOWN: the block without its marker lines; of WHOLE: the file."""
    is_executable: bool = False
    must_exist: bool = False
    """Never created by us: an agent's own definition, say. Missing, the edit is left out and said."""
