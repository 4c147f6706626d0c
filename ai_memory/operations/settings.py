"""The configuration, as `config show|get|set|unset|path` tells and changes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.config import SETTINGS, Loaded, find_setting, load, set_value, unset_value
from ai_memory.errors import StoreFault
from ai_memory.operations.cleaning import refuse_secrets
from ai_memory.operations.configured import tell_hooks
from ai_memory.operations.field import Field
from ai_memory.plainfile import read_plain
from ai_memory.scope.hook_policy import HOOK_SETTINGS
from ai_memory.settings import literal

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

Key = Annotated[str, Field("setting, such as capture.prompts", positional=True)]


@dataclass(frozen=True, slots=True)
class SettingRow:
    key: str
    value: object
    """None: not set."""
    shown: str
    origin: str


@dataclass(frozen=True, slots=True)
class Settings:
    settings: tuple[SettingRow, ...]
    path: str
    origins_shown: bool
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def config_show(
    memory: "Memory", *, origin: Annotated[bool, Field("say where each value comes from")] = False
) -> Settings:
    """Show every setting as it holds now.
    Use it to see what the file and the environment made of the defaults.
    """
    loaded = _loaded(memory)
    rows = tuple(_row(loaded, setting.key) for setting in SETTINGS)
    return Settings(rows, str(memory.data_dir.config), origin, loaded.warnings)


def _loaded(memory: "Memory") -> Loaded:
    return load(memory.data_dir.config, memory.caller.environ)


def _row(loaded: Loaded, key: str) -> SettingRow:
    value = loaded.values[key]
    shown = literal(value) if value is not None else find_setting(key).unset_text
    return SettingRow(key, value, shown, loaded.origins[key].value)


def config_show_text(result: Settings) -> str:
    """One line a setting; with the origin, the environment's name for it would be `AI_MEMORY_<SECTION>__<KEY>`."""
    width = max(len(row.key) for row in result.settings)
    lines = [f"{row.key:<{width}} = {row.shown}" for row in result.settings]
    if not result.origins_shown:
        return "\n".join(lines)
    return "\n".join(f"{line}  # {row.origin}" for line, row in zip(lines, result.settings, strict=True))


@dataclass(frozen=True, slots=True)
class OneSetting:
    settings: tuple[SettingRow, ...]
    description: str
    values: str
    default: str
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def config_get(memory: "Memory", *, key: Key) -> OneSetting:
    """Print the value of one setting."""
    setting = find_setting(key)
    loaded = _loaded(memory)
    return OneSetting((_row(loaded, key),), setting.description, setting.values, setting.default_text, loaded.warnings)


def config_get_text(result: OneSetting) -> str:
    """The value alone, for `$(…)`."""
    return result.settings[0].shown


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    settings: tuple[SettingRow, ...]
    path: str
    changed: bool
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def config_set(
    memory: "Memory", *, key: Key, value: Annotated[str, Field("new value", positional=True)]
) -> ChangedSetting:
    """Set one setting in config.toml; comments and order stay.
    A value that does not fit is refused and says what would.
    """
    if key != "sanitize.allowlist":  # which names what is no secret
        refuse_secrets(memory, value=value)
    return _change(memory, "config-set", key, lambda text, name: set_value(text, key, value, name=name))


def config_unset(memory: "Memory", *, key: Key) -> ChangedSetting:
    """Take one setting out of config.toml, so that its default holds again."""
    return _change(memory, "config-unset", key, lambda text, name: unset_value(text, key, name=name))


def _change(memory: "Memory", verb: str, key: str, edited: Callable[[str, str], str]) -> ChangedSetting:
    """Edit the file under the writer lock. An edit that changes nothing creates nothing."""
    from ai_memory.store.filesystem import write_whole  # the writing side, not needed to show
    from ai_memory.store.writing import writer_lock

    path = memory.data_dir.config
    if edited(_text(memory), path.name) == _text(memory):
        return _changed(memory, key, changed=False)
    memory.create()
    with writer_lock(memory).held(memory.lock_timeout_s):
        text = edited(_text(memory), path.name)
        write_whole(path, text.encode("utf-8"))
        tell_hooks(memory)
    return _changed(memory, key, changed=True, gaps=memory.tell(verb, subject=key))


def _text(memory: "Memory") -> str:
    path = memory.data_dir.config
    try:
        return read_plain(path).decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as fault:
        raise StoreFault(f"{path} cannot be read: {fault}", hint="check its permissions and encoding") from fault


def _changed(memory: "Memory", key: str, *, changed: bool, gaps: tuple[str, ...] = ()) -> ChangedSetting:
    loaded = _loaded(memory)
    row = _row(loaded, key)
    hidden = (_hidden(key),) if row.origin == "env" else ()
    return ChangedSetting((row,), str(memory.data_dir.config), changed, (*loaded.warnings, *hidden, *gaps))


def _hidden(key: str) -> str:
    exception = ", except in hooks" if key in HOOK_SETTINGS.values() else ""
    return f"{find_setting(key).environment} is set and wins over the file{exception}"


def config_changed_text(result: ChangedSetting) -> str:
    """The setting as it holds now."""
    row = result.settings[0]
    return f"{row.key} = {row.shown} ({row.origin}{'' if result.changed else ', nothing to change'})"


@dataclass(frozen=True, slots=True)
class ConfigPath:
    path: str
    exists: bool
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def config_path(memory: "Memory") -> ConfigPath:
    """Print where config.toml lies; it need not exist."""
    return ConfigPath(str(memory.data_dir.config), memory.data_dir.config.exists())


def config_path_text(result: ConfigPath) -> str:
    """The path alone, for `$(…)`."""
    return result.path
