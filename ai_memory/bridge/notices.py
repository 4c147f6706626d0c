"""What the client is told beside its answers: log messages at the level that it asked for, and progress."""

import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import anyio
import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

import ai_memory

LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
"""From the least to the most severe."""
LOGGER = "ai-memory"
LOOK_S = 30.0
"""How often a call looks at the version on disk: one `stat`, and a short file where it changed."""
PROGRESS_S = 1.0
"""How often a call that takes long is told to be at work."""

Result = TypeVar("Result")

_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)


class Notices:
    """Log messages of one connection. Until the client sets a level it gets `info` and above."""

    def __init__(self) -> None:
        self._least: types.LoggingLevel = "info"

    def set_level(self, level: types.LoggingLevel) -> None:
        """What is less severe is kept back from now on."""
        self._least = level

    async def tell(self, context: ServerRequestContext[Any], level: types.LoggingLevel, text: str) -> None:
        """One message. Of the newer protocols each request says by itself what it wants to hear."""
        is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        if level not in allowed_log_levels(context.protocol_version, context.meta):
            return
        if not is_modern and LEVELS.index(level) < LEVELS.index(self._least):
            return
        message = types.LoggingMessageNotification(
            params=types.LoggingMessageNotificationParams(level=level, logger=LOGGER, data=text)
        )
        await context.session.send_notification(message, context.request_id if is_modern else None)


class Release:
    """Which version lies on disk. An upgrade in place leaves this process running the old one."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or Path(ai_memory.__file__)
        self._looked_at = time.monotonic()
        self._stamp = self._stamped()
        self._told = ai_memory.__version__

    def news(self) -> str:
        """One sentence when another version lies there now, once for each; else nothing."""
        if time.monotonic() - self._looked_at < LOOK_S:
            return ""
        self._looked_at = time.monotonic()
        stamp = self._stamped()
        if stamp == self._stamp:
            return ""
        self._stamp = stamp
        found = self._version()
        if found in ("", self._told):
            return ""
        self._told = found
        return (
            f"ai-memory {found} was installed, and this bridge still runs {ai_memory.__version__}:"
            " restart it, with the client or by the client's list of MCP servers"
        )

    def _stamped(self) -> tuple[int, int]:
        try:
            found = self._file.stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_ino

    def _version(self) -> str:
        try:
            found = _VERSION.search(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ""
        return found.group(1) if found else ""


class Progress:
    """How far a call is. A worker thread reports, the loop tells the client once a second while it has not ended.

    `counts`: the operation reports by itself. Of others the client learns for how many seconds they have been at work.
    """

    def __init__(self, context: ServerRequestContext[Any], *, counts: bool) -> None:
        self._session = context.session
        self._is_wanted = context.meta is not None and context.meta.get("progress_token") is not None
        self._counts = counts
        self._reported = (0, 0)

    def report(self, done: int, total: int) -> None:
        """What the operation says of itself. Any thread may call it."""
        self._reported = done, total

    async def during(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """The result of the work. A client that gave no token is told nothing."""
        if not self._is_wanted:
            return await work()
        async with anyio.create_task_group() as group:
            group.start_soon(self._tell)
            result = await work()
            group.cancel_scope.cancel()
        return result

    async def _tell(self) -> None:
        """Numbers that only rise, as the protocol wants them."""
        told, started = 0, time.monotonic()
        while True:
            await anyio.sleep(PROGRESS_S)
            if not self._counts:
                await self._session.report_progress(round(time.monotonic() - started, 3), None, "at work")
                continue
            done, total = self._reported
            if done > told:
                told = done
                await self._session.report_progress(done, total or None)
