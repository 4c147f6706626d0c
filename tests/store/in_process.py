"""Commands run inside the test's own process: `__main__` itself ends a process, with interrupts turned off."""

import pytest
from wiki_room import WikiRoom

from ai_memory.capture.drain import main as drain
from ai_memory.cli.app import main as commands

SCOPE = ("--workspace", "default", "--project", "shop")
OF_ALL = ("reindex", "compact", "reset", "rename-workspace")
"""Commands that take no project."""


def run(room: WikiRoom, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command on the project `shop`."""
    root = ("--data-dir", str(room.data_dir.root))
    if words[0] == "drain":
        code = drain([*words[1:], *root])
    else:
        code = commands([*root, *words, *(() if words[0] in OF_ALL else SCOPE)])
    out, err = capsys.readouterr()
    return code, out, err
