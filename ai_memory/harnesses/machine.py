"""Where programs keep a person's settings on a machine. The machine is a value, so every platform is testable."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath


@dataclass(frozen=True, slots=True)
class Machine:
    """A person's machine as far as paths depend on it. Injected in tests."""

    home: str
    """Absolute path of the person's home."""
    environ: Mapping[str, str]
    platform: str
    """As `sys.platform` says: linux, darwin, win32."""
    checkout: str = ""
    """Absolute path of the checkout whose own files are meant (`--scope project`), else empty."""

    @property
    def is_windows(self) -> bool:
        return self.platform == "win32"

    def path(self, text: str) -> PurePath:
        """`text` as a path of that platform."""
        return PureWindowsPath(text) if self.is_windows else PurePosixPath(text)

    def variable(self, name: str) -> str:
        """Value of an environment variable; one that is blank counts as unset."""
        return self.environ.get(name, "").strip()

    def base(self, name: str) -> PurePath:
        """What `{name}` at the start of a place stands for: home, config, appdata, localappdata, checkout."""
        home = self.path(self.home)
        match name:
            case "home":
                return home
            case "config":
                return self.path(self.variable("XDG_CONFIG_HOME") or str(home / ".config"))
            case "data":
                return self.path(self.variable("XDG_DATA_HOME") or str(home / ".local" / "share"))
            case "appdata":
                return self.path(self.variable("APPDATA") or str(home / "AppData" / "Roaming"))
            case "localappdata":
                return self.path(self.variable("LOCALAPPDATA") or str(home / "AppData" / "Local"))
            case "checkout":
                return self.path(self.checkout)
            case _:
                raise ValueError(f"no base is called {name!r}")


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder of a harness, on every platform: `{home}/.claude/settings.json`."""

    path: str
    """Begins with a base in braces; slashes on every platform."""
    variable: str = ""
    """Environment variable that moves the folder `moved`."""
    moved: str = ""
    """The part at the start of `path` for which the variable's value stands: `{home}/.claude`."""
    darwin: str = ""
    """`path` on macOS, where it differs."""
    win32: str = ""
    """`path` on Windows, where it differs."""

    def at(self, machine: Machine) -> PurePath:
        """Where it is on that machine."""
        text = {"darwin": self.darwin, "win32": self.win32}.get(machine.platform, "") or self.path
        named = machine.variable(self.variable) if self.variable else ""
        if named and self.moved and text.startswith(self.moved):
            folder, rest = machine.path(_under_home(machine, named)), text[len(self.moved) :]
        else:
            name, _, rest = text.removeprefix("{").partition("}")
            folder = machine.base(name)
        return folder.joinpath(*[part for part in rest.split("/") if part])


def _under_home(machine: Machine, text: str) -> str:
    return str(machine.path(machine.home) / text[2:]) if text.startswith(("~/", "~\\")) else text
