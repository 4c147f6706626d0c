"""Sees when a test reaches into the home of the person who runs it."""

import os
import sys

_HOME = os.path.expanduser("~")
_OURS = (".local/share/ai-memory", "Library/Application Support/ai-memory", "AppData/Local/ai-memory")
_OF_AGENTS = (".ai-memory.toml", ".claude", ".codex", ".gemini", ".cursor", ".config/opencode")
_PLACES = [os.path.join(_HOME, name) for name in (*_OURS, *_OF_AGENTS)]  # noqa: PTH118 (compared as text)
REAL = tuple(place for place in _PLACES if not __file__.startswith(place))
"""What lies in the real home and is none of a test's business. A checkout may lie there."""
_TOUCHING = frozenset(("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "os.rmdir"))

touched: list[str] = []
"""Where this process reached into `REAL`. A child is kept out by its variables."""


def watch(event: str, arguments: tuple[object, ...]) -> None:
    if event in _TOUCHING and arguments and isinstance(arguments[0], (str, os.PathLike)):
        path = os.fspath(arguments[0])
        if isinstance(path, str) and path.startswith(REAL):
            touched.append(f"{event} {path}")


sys.addaudithook(watch)
