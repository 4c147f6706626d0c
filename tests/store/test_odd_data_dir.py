"""A FIFO in place of any file of the data dir keeps no command waiting."""

import os
from pathlib import Path

import forked
import pytest
from wiki_room import WikiRoom

NAMES = (
    "config.toml",
    "pending",
    "born.json",
    "hook-policy.json",
    "locks/write.holder",
    "locks/drain.beat",
    "logs/2026-11-29.log",
    "wiki/.git/HEAD",
    "wiki/.git/refs/heads/main",
    "wiki/.git/index",
    "wiki/default/shop/notes/a.md",
)
COMMANDS = (("status",), ("read-page", "notes/a.md"), ("write-page", "notes/z.md", "-b", "z"), ("drain",), ("logs",))


@pytest.mark.parametrize("name", NAMES)
def test_no_command_waits_for_a_fifo(room: WikiRoom, name: str) -> None:
    odd = room.data_dir.root / name
    odd.unlink(missing_ok=True)
    odd.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(odd)
    for command in COMMANDS:
        words = ["--data-dir", str(room.data_dir.root), *command]
        scope = [] if command[0] in ("drain", "logs", "status") else ["--workspace", "default", "--project", "shop"]
        done = forked.run([*words, *scope], cwd=Path(room.root))
        assert done.returncode in (0, 1, 3), (command, done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr, (command, done.stderr)
