"""The configuration: `config.toml`, then `AI_MEMORY_<SECTION>__<KEY>`, then flags, over the defaults.

Nothing here writes to disk: `set_value` and `unset_value` give a new text for the file, the store writes it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ai_memory.config_table import DROPPED, RESERVED_ENVIRONMENT, SETTINGS, Config
from ai_memory.errors import MemoryFault, NotFound, StoreFault, echo
from ai_memory.plainfile import open_plain
from ai_memory.settings import Setting, Unfit, build, literal
from ai_memory.toml_text import BrokenToml, assign, layout, read, remove

__all__ = [
    "SETTINGS",
    "Config",
    "Loaded",
    "Origin",
    "Setting",
    "combine",
    "file_values",
    "find_setting",
    "load",
    "parse_value",
    "set_value",
    "unset_value",
]

MAX_FILE_BYTES = 1 << 20

_BY_KEY: Mapping[str, Setting] = {one.key: one for one in SETTINGS}


class Origin(StrEnum):
    """Where a value comes from; later ones win."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "env"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The configuration as it holds for one run."""

    config: Config
    values: Mapping[str, object]
    """By dotted key."""
    origins: Mapping[str, Origin]
    warnings: tuple[str, ...] = ()
    """Variables that mean nothing; shown by doctor."""


def load(
    path: str | Path,
    environ: Mapping[str, str],
    flags: Mapping[str, object] | None = None,
    *,
    strict_environ: bool = True,
) -> Loaded:
    """The configuration from file, environment and flags (by dotted key; text as a person types it, or a value).

    `strict_environ` False turns a bad value in the environment into a warning: a hook's environment is never a fault
    (decision C2). *Errors*: MemoryFault naming file and line, variable or flag.
    """
    return combine(_text(Path(path)), environ, flags or {}, name=str(path), strict_environ=strict_environ)


def combine(
    text: str, environ: Mapping[str, str], flags: Mapping[str, object], *, name: str, strict_environ: bool = True
) -> Loaded:
    """As `load`, from the text of the file; `name` is what faults call it. Touches no disk."""
    values: dict[str, object] = {one.key: one.default for one in SETTINGS}
    origins: dict[str, Origin] = dict.fromkeys(values, Origin.DEFAULT)
    warnings: list[str] = []
    for origin, found in (
        (Origin.FILE, file_values(text, name=name)),
        (Origin.ENVIRONMENT, _environment_values(environ, warnings, strict=strict_environ)),
        (Origin.FLAG, {key: parse_value(key, value) for key, value in flags.items()}),
    ):
        values.update(found)
        origins.update(dict.fromkeys(found, origin))
    return Loaded(build(Config, values), values, origins, tuple(warnings))


def find_setting(key: str) -> Setting:
    """The row of that key. *Errors*: NotFound naming the nearest one."""
    found = _BY_KEY.get(key)
    if found:
        return found
    dropped = _dropped(key)
    if dropped:
        raise NotFound(f"no setting {echo(key)}: {dropped}")
    raise NotFound(f"no setting {echo(key)}", hint=_nearest_text(key) or "`ai-memory config show` lists them all")


def parse_value(key: str, value: object) -> object:
    """A checked value for the key, from text as a person types it or from a TOML value. *Errors*: MemoryFault."""
    row = find_setting(key)
    try:
        return row.from_text(value) if isinstance(value, str) else row.checked(value)
    except Unfit as fault:
        raise MemoryFault(f"{key} takes {fault}, not {_shown(value)}") from fault


def file_values(text: str, *, name: str) -> dict[str, object]:
    """The settings that the text of a file holds, checked. *Errors*: MemoryFault naming file and line."""
    try:
        tables = read(text)
    except BrokenToml as fault:
        place = f"{name}, line {fault.line}" if fault.line else name
        raise MemoryFault(f"{place}: not valid TOML: {fault.reason}", hint="correct the file by hand") from fault
    found: dict[str, object] = {}
    for path, value in _leaves(tables):
        key = ".".join(path)
        row = _BY_KEY.get(key)
        if row is None or len(path) != key.count(".") + 1:  # a quoted key may hold dots
            raise _unknown(text, name, path)
        try:
            found[key] = row.checked(value)
        except Unfit as fault:
            message = f"{_place(text, name, path)}: {key} takes {fault}, not {_shown(value)}"
            raise MemoryFault(message, hint=f"the default is {row.default_text}") from fault
    return found


def set_value(text: str, key: str, value: object, *, name: str = "config.toml") -> str:
    """The text of the file with the key set; comments, order and line ends stay. *Errors*: MemoryFault, NotFound.

    The text is checked before and after; what could not be edited safely is refused and says so.
    """
    checked = parse_value(key, value)
    mark, plain = _without_mark(text)
    before = file_values(plain, name=name)
    edited = assign(plain, tuple(key.split(".")), literal(checked))
    return mark + _verified(edited, {**before, key: checked}, key, name)


def unset_value(text: str, key: str, *, name: str = "config.toml") -> str:
    """The text of the file without the key, so that its default holds again. *Errors*: MemoryFault, NotFound."""
    find_setting(key)
    mark, plain = _without_mark(text)
    before = file_values(plain, name=name)
    before.pop(key, None)
    return mark + _verified(remove(plain, tuple(key.split("."))), before, key, name)


def _verified(text: str, expected: Mapping[str, object], key: str, name: str) -> str:
    try:
        if file_values(text, name=name) == expected:
            return text
    except MemoryFault:
        pass  # the file was valid before the edit, so the edit did not fit its form
    table = key.rpartition(".")[0]
    raise MemoryFault(f"{name}: {key} stands in a form that cannot be edited", hint=f"write a [{table}] table by hand")


def _leaves(tables: Mapping[str, object], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value with its path; an empty table that no setting lies in counts as a value."""
    for name, value in tables.items():
        path = (*above, name)
        if isinstance(value, Mapping) and (value or _is_section(path)):
            yield from _leaves(value, path)
        else:
            yield path, value


def _is_section(path: tuple[str, ...]) -> bool:
    start = ".".join(path) + "."
    return any(key.startswith(start) for key in _BY_KEY)


def _unknown(text: str, name: str, path: tuple[str, ...]) -> MemoryFault:
    key = ".".join(path)
    place = _place(text, name, path)
    if _is_section(path):
        return MemoryFault(f"{place}: `{key}` is a table of settings", hint=f"write it as [{key}]")
    dropped = _dropped(key)
    if dropped:
        return MemoryFault(f"{place}: `{key}` has no place here: {dropped}", hint="remove the line")
    hint = _nearest_text(key) or "`ai-memory config show` lists all settings"
    return MemoryFault(f"{place}: unknown setting `{key}`", hint=hint)


def _dropped(key: str) -> str | None:
    return next((why for start, why in DROPPED.items() if key == start or key.startswith(start + ".")), None)


def _nearest_text(key: str) -> str:
    """A hint that names the nearest setting; empty when none is near."""
    last = key.rpartition(".")[2]
    same_end = [known for known in _BY_KEY if known.rpartition(".")[2] == last]
    import difflib  # 3 ms CPU, only for a fault (2026-11-30)

    near = same_end or difflib.get_close_matches(key, _BY_KEY, n=1, cutoff=0.6)
    return f"the nearest setting is {near[0]}" if near else ""


def _place(text: str, name: str, path: tuple[str, ...]) -> str:
    line = layout(text).line_of(path)
    return f"{name}, line {line}" if line else name


def _environment_values(environ: Mapping[str, str], warnings: list[str], *, strict: bool) -> dict[str, object]:
    by_variable = {one.environment: one for one in SETTINGS}
    found: dict[str, object] = {}
    for variable in sorted(environ):
        upper = variable.upper()  # Windows holds names in capitals, a shell in any
        if not upper.startswith("AI_MEMORY_") or upper in RESERVED_ENVIRONMENT:
            continue
        row = by_variable.get(upper)
        if row is None:
            warnings.append(_unknown_variable(variable))
            continue
        try:
            found[row.key] = row.from_text(environ[variable])
        except Unfit as fault:
            message = f"{variable} takes {fault}, not {_shown(environ[variable])}"
            if strict:
                raise MemoryFault(message, hint=f"unset it, or see {row.key}") from fault
            warnings.append(f"{message}; it is ignored")
    return found


def _unknown_variable(variable: str) -> str:
    key = variable.upper().removeprefix("AI_MEMORY_").lower().replace("__", ".")
    reason = _dropped(key) or _nearest_text(key) or "no setting has that name"
    return f"{variable} is ignored: {reason}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"


def _without_mark(text: str) -> tuple[str, str]:
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _text(path: Path) -> str:
    """The text of the file, empty when there is none. *Errors*: MemoryFault, StoreFault."""
    try:
        with open_plain(path) as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as fault:
        raise StoreFault(f"{path} cannot be read: {fault.strerror}", hint="check its permissions") from fault
    if len(content) > MAX_FILE_BYTES:
        raise MemoryFault(f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB", hint="it should hold a few settings")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise MemoryFault(f"{path} is not UTF-8", hint="save it as UTF-8") from fault
