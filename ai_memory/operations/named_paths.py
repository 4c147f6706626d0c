"""Files and folders that a caller names."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ai_memory.errors import UsageFault

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


def named_path(memory: "Memory", name: str) -> Path:
    """Where it lies: seen from the caller's folder, with `~` for the home."""
    return Path(memory.caller.cwd or memory.caller.home) / Path(name).expanduser()


def new_archive(memory: "Memory", output: str | None, *, at_us: int, stem: str = "ai-memory") -> Path:
    """Where to write an archive: the file or folder of that name, else among the backups. Never over a file that is
    there. Errors: UsageFault.
    """
    from ai_memory.store.backup import new_name  # the git library comes with the call, not with help and schema

    path = memory.data_dir.backups if output is None else named_path(memory, output)
    if output is None or path.is_dir():
        return new_name(path, at_us=at_us, stem=stem)
    if os.path.lexists(path):
        raise UsageFault(f"{path} is there already", hint="name another file, or a folder")
    return path
