"""Values in JSON by dotted path: `a.b`, `rows.0.name`, `people.*.name`."""

from collections.abc import Iterator

from ai_memory.errors import MemoryFault, echo

MOST_STEPS = 16
MOST_VALUES = 1_000
"""That one path may fan out to; what follows is not looked at."""
FAN_OUT = "*"

Scalar = str | int | float | bool
Path = tuple[str, ...]


class BadPath(MemoryFault):
    """A text is no dotted path."""


def parse_path(text: str) -> Path:
    """The steps of a dotted path. *Errors*: BadPath."""
    steps = tuple(text.split("."))
    if not all(steps) or len(steps) > MOST_STEPS:
        raise BadPath(
            f"no dotted path: {echo(text)}", hint=f"write it like a.b, rows.0.name or people.*.name, {MOST_STEPS} steps"
        )
    return steps


def values_at(value: object, path: Path) -> list[Scalar]:
    """The texts, numbers and truth values that lie there, in their order; null, lists and objects are none."""
    found: list[Scalar] = []
    for one in _reached(value, path):
        if isinstance(one, (str, int, float)) and one != "":
            found.append(one)
        if len(found) == MOST_VALUES:
            break
    return found


def first_hit(value: object, paths: tuple[Path, ...]) -> list[Scalar]:
    """What the first of the paths that leads anywhere leads to."""
    return next((found for path in paths if (found := values_at(value, path))), [])


def as_text(value: Scalar) -> str:
    """As JSON writes it, a text without its quotes."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _reached(value: object, path: Path) -> Iterator[object]:
    if not path:
        yield value
        return
    step, rest = path[0], path[1:]
    if step == FAN_OUT and isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _reached(one, rest)
    elif isinstance(value, dict) and step in value:
        yield from _reached(value[step], rest)
    elif isinstance(value, list) and step.isascii() and step.isdecimal() and len(step) < 10 and int(step) < len(value):
        yield from _reached(value[int(step)], rest)
