"""Conditions on a JSON record, as a mapping states them."""

import re
from dataclasses import dataclass

from ai_memory.errors import MemoryFault
from ai_memory.text.json_paths import Path, Scalar, as_text, values_at
from ai_memory.text.times import parse_time

LONGEST_SEARCHED = 8_000
"""Characters of a value that a regular expression is held against."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What the values of one field must be; every part that is given must hold, each for some value of it."""

    field: Path
    equals: Scalar | None = None
    one_of: tuple[Scalar, ...] = ()
    matches: re.Pattern[str] | None = None
    exists: bool = False
    absent: bool = False
    gt: Scalar | None = None
    lt: Scalar | None = None

    def holds(self, record: object) -> bool:
        """Whether the record is as the rule says. Null, and what is an object or a list, counts as absent."""
        values = values_at(record, self.field)
        if self.absent:
            return not values
        if self.exists and not values:
            return False
        return (
            (self.equals is None or any(_same(one, self.equals) for one in values))
            and (not self.one_of or any(_same(one, other) for one in values for other in self.one_of))
            and (self.matches is None or any(self.matches.search(as_text(one)[:LONGEST_SEARCHED]) for one in values))
            and (self.gt is None or any(_order(one, self.gt) == 1 for one in values))
            and (self.lt is None or any(_order(one, self.lt) == -1 for one in values))
        )


def _same(one: Scalar, other: Scalar) -> bool:
    """Equal as JSON has it: true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _order(one: Scalar, other: Scalar) -> int | None:
    """1 if the first is more, -1 if it is less, 0 if equal; None where the two cannot be compared.

    Numbers compare with numbers, times with times.
    """
    left, right = _number(one), _number(other)
    if left is None or right is None:
        return None
    if isinstance(one, str) != isinstance(other, str):
        return None
    return (left > right) - (left < right)


def _number(value: Scalar) -> int | float | None:
    if isinstance(value, bool):
        return None
    if not isinstance(value, str):
        return value
    try:
        return parse_time(value)
    except MemoryFault:
        return None
