"""What agents were told to remember about a checkout: their instruction files, and memory that they keep themselves."""

import os
from dataclasses import dataclass

from ai_memory.transcripts import claude_code
from ai_memory.transcripts.record import Around
from ai_memory.transcripts.scan import Scan, folder_slug

MAX_BYTES = 256 << 10
MAX_OF_ONE = 200
"""Files of one memory folder."""

_IN_A_CHECKOUT = (
    ("CLAUDE.md", ("claude-code",)),
    (".claude/CLAUDE.md", ("claude-code",)),
    ("AGENTS.md", ("codex", "opencode", "pi", "copilot-cli")),
    ("GEMINI.md", ("gemini-cli",)),
    (".github/copilot-instructions.md", ("copilot-cli",)),
)
"""Path, and the harnesses that read it."""


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One file, not opened yet."""

    path: str
    name: str
    """For people, and for the name of its page: below the checkout, or below the memory folder."""
    agents: tuple[str, ...]
    is_own: bool
    """The agent wrote it by itself; else a person did, in the checkout."""
    size_bytes: int


def find(root: str, around: Around, scan: Scan) -> list[MemoryFile]:
    """The files of one checkout, those in it first. Links are left out: they may lead anywhere."""
    found = []
    for name, agents in _IN_A_CHECKOUT:
        path = f"{root.rstrip('/')}/{name}"
        try:
            is_plain = os.path.isfile(path) and not os.path.islink(path)  # noqa: PTH113, PTH114 (may hold any bytes)
            is_inside = os.path.realpath(path).startswith(os.path.realpath(root).rstrip(os.sep) + os.sep)
            size = os.stat(path).st_size if is_plain and is_inside else -1  # noqa: PTH116 (as above)
        except (OSError, ValueError):
            continue
        if size >= 0:
            found.append(MemoryFile(path, name, agents, is_own=False, size_bytes=size))
    folder = f"{claude_code.projects_folder(around)}/{folder_slug(root)}/memory"
    kept = sorted(scan.files(claude_code.AGENT, folder, (".md",)), key=lambda one: one.path)
    for one in kept[:MAX_OF_ONE]:
        name = os.path.basename(one.path)
        found.append(MemoryFile(one.path, name, (claude_code.AGENT,), is_own=True, size_bytes=one.size_bytes))
    return found
