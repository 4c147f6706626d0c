"""Reading a table of a mapping key by key, so that no unknown one is passed over."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from ai_memory.errors import UsageFault, echo
from ai_memory.text.json_paths import BadPath, Path, Scalar, parse_path
from ai_memory.toml_text import BrokenToml, read

MOST_ENTRIES = 64
"""Of a list or table of a mapping."""
LONGEST_TEXT = 512


def read_table(text: str, *, name: str) -> "Table":
    """The whole file as a table. *Errors*: UsageFault with the line where it is no TOML."""
    try:
        return Table(read(text), name, "")
    except BrokenToml as fault:
        place = f"{name}, line {fault.line}" if fault.line else name
        raise UsageFault(f"{place}: {fault.reason}", hint="a mapping is TOML: see docs/sources.md") from fault
    except ValueError as fault:  # a number of thousands of digits
        raise UsageFault(f"{name}: {fault}", hint="a mapping is TOML: see docs/sources.md") from fault


class Table:
    """One table of the mapping: each key is asked for by name; one that nobody asked for is a fault."""

    def __init__(self, table: Mapping[str, object], file: str, where: str) -> None:
        self._table = table
        self._file = file
        self._where = where
        self._asked: set[str] = set()

    def fault(self, key: str, why: str, *, hint: str = "") -> UsageFault:
        return UsageFault(f"{self._file}: {self._where}{key[:80]} {why}", hint=hint)

    def names(self) -> list[str]:
        return list(self._table)

    def get(self, key: str) -> object:
        """What stands there; None for nothing."""
        self._asked.add(key)
        return self._table.get(key)

    def done(self) -> None:
        """Refuse what nobody asked for. *Errors*: UsageFault with the nearest name."""
        for key in self._table:
            if key not in self._asked:
                near = get_close_matches(key, self._asked, 1, 0.5)
                hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(sorted(self._asked))}"
                raise self.fault(key, "is no key of a mapping", hint=hint)

    def text(self, key: str, default: str | None = None) -> str:
        value = self._given(key, default)
        if not isinstance(value, str) or len(value) > LONGEST_TEXT or (not value and default is None):
            raise self.fault(key, "is no short text", hint="write it in quotes")
        return value

    def word(self, key: str, known: Sequence[str], default: str | None) -> str:
        value = self.text(key, default)
        if value not in known:
            raise self.fault(key, f"cannot be {echo(value)}", hint=f"choose one of {', '.join(known)}")
        return value

    def matching(self, key: str, shape: re.Pattern[str], of_what: str) -> str:
        value = self.text(key)
        if not shape.fullmatch(value):
            raise self.fault(key, f"cannot be {echo(value)}", hint=f"use up to 64 of {of_what}")
        return value

    def whole(self, key: str, default: int, *, most: int) -> int:
        value = self._given(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise self.fault(key, f"is no number from 0 to {most:,}")
        return value

    def truth(self, key: str) -> bool:
        value = self._given(key, False)
        if not isinstance(value, bool):
            raise self.fault(key, "is neither true nor false")
        return value

    def scalar(self, key: str) -> Scalar | None:
        value = self.get(key)
        if value is not None and not isinstance(value, (str, int, float)):
            raise self.fault(key, "is no text, number or truth value", hint="write a time in quotes")
        return value

    def scalars(self, key: str) -> tuple[Scalar, ...]:
        values = self.get(key)
        if values is None:
            return ()
        if not isinstance(values, list) or not 0 < len(values) <= MOST_ENTRIES:
            raise self.fault(key, f"is no list of up to {MOST_ENTRIES} values")
        if not all(isinstance(one, (str, int, float)) for one in values):
            raise self.fault(key, "holds what is no text, number or truth value")
        return tuple(values)

    def path(self, key: str, default: Path | None) -> Path:
        value = self.get(key)
        if value is None and default is not None:
            return default
        return self._path(key, self.text(key))

    def paths(self, key: str, names: Sequence[str] | None) -> tuple[Path, ...]:
        """One path or a list of them; without any those names. None for the names: it must be given."""
        value = self.get(key)
        if value is None and names is not None:
            return tuple((name,) for name in names)
        values = value if isinstance(value, list) else [self.text(key)]
        if not 0 < len(values) <= MOST_ENTRIES or not all(isinstance(one, str) for one in values):
            raise self.fault(key, f"is no list of up to {MOST_ENTRIES} paths")
        return tuple(self._path(key, one) for one in values)

    def table(self, key: str, default: Mapping[str, object]) -> "Table":
        value = self._given(key, default)
        if not isinstance(value, Mapping) or len(value) > MOST_ENTRIES:
            raise self.fault(key, f"is no table of up to {MOST_ENTRIES} keys")
        return Table(value, self._file, f"{self._where}{key}.")

    def tables(self, key: str) -> list["Table"]:
        value = self._given(key, [])
        if not isinstance(value, list) or len(value) > MOST_ENTRIES:
            raise self.fault(key, f"is no list of up to {MOST_ENTRIES} tables")
        if not all(isinstance(one, Mapping) for one in value):
            raise self.fault(key, "holds what is no table", hint="write each as { field = …, equals = … }")
        return [Table(one, self._file, f"{self._where}{key}.{at}.") for at, one in enumerate(value)]

    def _given(self, key: str, default: object) -> object:
        value = self.get(key)
        if value is None and default is None:
            raise self.fault(key, "is missing")
        return default if value is None else value

    def _path(self, key: str, text: str) -> Path:
        try:
            return parse_path(text)
        except BadPath as fault:
            raise self.fault(key, f"is {fault.message}", hint=fault.hint) from fault
