"""Telling a session again what its start was told, where the harness does not wait for it. Part of the hook, light.

Cursor takes up what `sessionStart` prints whenever that comes; a prompt that is sent at once leaves without it, and
some of its versions refuse the event. So the first prompt tells it again, unless the start ended long enough before.
"""

# ruff: noqa: PTH118 (pathlib, contextlib: not loaded in a hook)

import os

from ai_memory import hook_spool
from ai_memory.hook_places import read_regular

PROVEN_S = 2.0
"""What was printed so long before a prompt went with it. Cursor's own hooks take up to 1.3 s on Windows."""
_TEXT_BYTES = 256 << 10


class Retelling:
    """What one session was told, beside the mark of its first start hook."""

    __slots__ = ("_prompted", "_told")

    def __init__(self, data_dir: str, session: str) -> None:
        started = os.path.join(data_dir, "locks", "started", session)
        self._told = f"{started}.told"
        self._prompted = f"{started}.prompted"

    def note(self, text: str) -> None:
        """This was printed just now. Never raises."""
        try:
            handle = os.open(self._told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                os.write(handle, text.encode("utf-8", "replace"))
            finally:
                os.close(handle)
        except OSError:
            pass

    def is_due(self) -> bool:
        """Whether this prompt is the session's first, and nothing proves that it goes with what the start was told."""
        try:
            os.makedirs(os.path.dirname(self._prompted), 0o700, exist_ok=True)  # noqa: PTH103
            os.close(os.open(self._prompted, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError:
            return False
        is_proven = PROVEN_S <= hook_spool.age_s(self._told) < float("inf")
        if is_proven:
            hook_spool.remove(self._told)
        return not is_proven

    def take(self) -> str:
        """What the start was told, which is kept no longer; empty where none told anything."""
        content = read_regular(self._told, _TEXT_BYTES) or b""
        hook_spool.remove(self._told)
        return content.decode("utf-8", "ignore")
