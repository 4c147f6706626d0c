"""Telling our own files and entries from those of others, also without a record."""

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import is_our_hook
from ai_memory.harnesses.plugin_files import is_our_plugin

MANAGED = "ai-memory-managed"
"""Stands in a comment of every whole file that we write: a file of that name without it is somebody else's."""

_BRIDGES = ("ai_memory/mcp_bridge.py", "ai_memory/__main__.py mcp-bridge", "ai-memory mcp-bridge")


def is_our_entry(value: Json) -> bool:
    """Whether an entry under our name, in any form ever written, starts us: the bridge or a hook."""
    words = " ".join(_words(value)).replace("\\", "/")
    return any(one in words for one in _BRIDGES) or is_our_hook(words)


def is_our_text(text: str) -> bool:
    """Whether a whole file is one that we wrote: it says so, or it runs our hook."""
    return MANAGED in text or is_our_plugin(text) or any(is_our_hook(line) for line in text.splitlines())


def _words(value: Json) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [word for one in value.values() for word in _words(one)]
    if isinstance(value, list | tuple):
        return [word for one in value for word in _words(one)]
    return []
