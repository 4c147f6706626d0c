"""This installation on this machine: which command lines are written, and where settings lie."""

import os
import shutil
import sys
from pathlib import Path

import ai_memory
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Machine
from ai_memory.harnesses.record import Harness
from ai_memory.model import Caller
from ai_memory.scope.repository import find_repository, never_checkouts

_CELLAR = f"{os.sep}Cellar{os.sep}"


def launch_here(data_dir: Path, *, capture_prompts: bool = True) -> Launch:
    """How harnesses start this very installation, by names that survive an upgrade of it."""
    return Launch(
        python=lasting(sys.executable),
        package=lasting(str(Path(ai_memory.__file__).parent)),
        data_dir=str(data_dir),
        platform=sys.platform,
        capture_prompts=capture_prompts,
    )


def lasting(path: str, *, prefix: str = sys.prefix) -> str:
    """The path by the name that stays when the program is upgraded; links of the interpreter are not followed.

    Our installer makes an environment an install and a link `current` to the one in use; Homebrew makes a folder a
    version below `Cellar` and a link to the one in use below `opt`.
    """
    path = os.path.abspath(path)
    current = Path(prefix).parent / "current"
    for whole in {prefix, os.path.realpath(prefix)}:
        is_below = path == whole or path.startswith(whole + os.sep)
        if is_below and current.is_symlink() and os.path.realpath(current) == os.path.realpath(whole):
            return str(current) + path[len(whole) :]
    if _CELLAR in path:
        brew, _, rest = path.partition(_CELLAR)
        formula, _, below = rest.partition(os.sep)
        linked = os.path.join(brew, "opt", formula, below.partition(os.sep)[2])  # noqa: PTH118 a name, no file yet
        if os.path.exists(linked):  # noqa: PTH110
            return linked
    return path


def machine_here(caller: Caller, *, checkout: str = "") -> Machine:
    """The machine of that caller."""
    return Machine(home=caller.home, environ=caller.environ, platform=sys.platform, checkout=checkout)


def checkout_here(caller: Caller) -> str:
    """The checkout around the caller's folder, else that folder; empty where it is gone or is the home."""
    if not caller.cwd:
        return ""
    found = find_repository(caller.cwd, never=never_checkouts(caller.home))
    if found is not None:
        return found.root
    folder = os.path.realpath(caller.cwd)
    return "" if folder in (os.path.realpath(caller.home), os.path.abspath(os.sep)) else folder


def is_present(harness: Harness, machine: Machine) -> bool:
    """Whether the agent is on this machine: its program on PATH, or a folder that it made."""
    path = machine.variable("PATH")
    has_program = any(shutil.which(name, path=path) for name in harness.programs) if path else False
    return has_program or any(os.path.exists(place.at(machine)) for place in harness.homes)  # noqa: PTH110
