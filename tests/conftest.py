"""Every test lives in a scratch home: touching the real one fails."""

import os
import signal
import sys
from pathlib import Path

import pytest

from ai_memory.harnesses.machine import Machine
from ai_memory.harnesses.registry import HARNESSES

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a script. Children would inherit it, and tests that interrupt them wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)


REAL_HOME = os.path.realpath(os.path.expanduser("~"))
_SHARED = {".config", ".local", "Library", "AppData", "Documents"}
"""Folders of a home in which programs have folders of their own."""


def _agents_places(home: str) -> tuple[str, ...]:
    """Where agents keep a person's settings below a home, and where our own data lies."""
    machine = Machine(home, {}, sys.platform)
    found = {os.path.join(home, ".local", "share", "ai-memory")}  # noqa: PTH118
    for one in HARNESSES:
        places = [*one.homes, one.instructions, one.skills, *(file.place for file in (one.hooks, one.mcp) if file)]
        for place in filter(None, places):
            parts = place.at(machine).relative_to(home).parts
            found.add(os.path.join(home, *parts[: 3 if parts[0] in _SHARED else 1]))  # noqa: PTH118
    return tuple(sorted(found))


_WATCHED = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "os.symlink"}
_NEVER = _agents_places(REAL_HOME)


def _refuse_the_real_home(event: str, details: tuple[object, ...]) -> None:
    if event in _WATCHED:
        for path in details[:2]:
            if isinstance(path, str) and path.startswith(_NEVER):
                raise AssertionError(f"a test touches {path}: settings of the person who runs it")


sys.addaudithook(_refuse_the_real_home)


@pytest.fixture(autouse=True)
def scratch_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, named by every variable that leads to one."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("AI_MEMORY_", "XDG_", "GIT_", "CLAUDE_", "CODEX_", "GEMINI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home
