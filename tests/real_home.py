"""Sees when a test reaches into the home of the person who runs it."""

import os
import sys

from ai_memory.harnesses.machine import Machine
from ai_memory.harnesses.registry import HARNESSES

_HOME = os.path.realpath(os.path.expanduser("~"))
_OURS = (".local/share/ai-memory", "Library/Application Support/ai-memory", "AppData/Local/ai-memory")
_SHARED = {".config", ".local", "Library", "AppData", "Documents"}
"""Folders of a home in which programs have folders of their own."""


def _of_agents() -> set[str]:
    machine = Machine(_HOME, {}, sys.platform)
    found = {".ai-memory.toml"}
    for one in HARNESSES:
        places = [*one.homes, one.instructions, one.skills, *(file.place for file in (one.hooks, one.mcp) if file)]
        paths = [place.at(machine) for place in places if place is not None]
        for path in paths:
            if path.is_relative_to(_HOME):  # else a checkout's own file
                parts = path.relative_to(_HOME).parts
                found.add("/".join(parts[: 3 if parts[0] in _SHARED else 1]))
    return found


_PLACES = [os.path.join(_HOME, name) for name in (*_OURS, *sorted(_of_agents()))]  # noqa: PTH118 (compared as text)
REAL = tuple(place for place in _PLACES if not __file__.startswith(place))
"""What lies in the real home and is none of a test's business. A checkout may lie there."""
_TOUCHING = frozenset(
    (
        "open",
        "os.listdir",
        "os.scandir",
        "os.mkdir",
        "os.rename",
        "os.remove",
        "os.rmdir",
        "os.chmod",
        "os.link",
        "os.symlink",
    )
)

touched: list[str] = []
"""Where this process reached into `REAL`, also where the fault was caught. A child is kept out by its variables."""


def watch(event: str, arguments: tuple[object, ...]) -> None:
    if event in _TOUCHING and arguments and isinstance(arguments[0], (str, os.PathLike)):
        path = os.fspath(arguments[0])
        if isinstance(path, str) and path.startswith(REAL):
            touched.append(f"{event} {path}")
            raise AssertionError(f"a test touches {path}: settings of the person who runs it")


sys.addaudithook(watch)
