"""The SDK's low-level server behind the front door: tool calls in worker threads, text answers only (decision C11)."""

import asyncio
import json
import math
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ai_memory import __version__
from ai_memory.bridge.calls import Answer, Pins, call, warm
from ai_memory.bridge.desk import INVALID_REQUEST, REPLAYED_ID, encoded
from ai_memory.bridge.instructions import INSTRUCTIONS
from ai_memory.bridge.options import Options, selected
from ai_memory.model import Caller
from ai_memory.paths import find_data_dir

PARALLEL_CALLS = 8
ROOTS_TIMEOUT_S = 2.0
"""A client that offers roots and does not answer costs this much, once."""

Send = Callable[[bytes, Any], None]
"""Takes a frame for the client, and the id of the request that it answers, if any. Any thread may call it."""
Deliver = Callable[[bytes], None]
"""Takes one line from the client. Any thread may call it, one at a time."""


def serve(
    options: Options, tools: list[dict[str, Any]] | None, *, attach: Callable[[Deliver], None], send: Send
) -> None:
    """Runs the server in the calling thread as long as the process lives; `attach` gets the way in once it is up."""
    if tools is None:
        from ai_memory.bridge.manifest import tool_rows  # imports every operation; needed only without a manifest

        tools = selected(tool_rows(), options.profile)
    anyio.run(_serve, options, tools, attach, send)


async def _serve(options: Options, tools: list[dict[str, Any]], attach: Callable[[Deliver], None], send: Send) -> None:
    inbox, source = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    loop = asyncio.get_running_loop()

    def put(message: types.JSONRPCMessage) -> None:
        with suppress(RuntimeError):  # the loop has ended, and the process with it
            loop.call_soon_threadsafe(inbox.send_nowait, SessionMessage(message))

    attach(partial(_deliver, put=put, send=send))
    server = Face(options, tools).server()
    async with anyio.create_task_group() as group:
        group.start_soon(partial(anyio.to_thread.run_sync, warm, abandon_on_cancel=True))
        await server.run(source, Outlet(put, send), server.create_initialization_options())


def _deliver(line: bytes, *, put: Callable[[types.JSONRPCMessage], None], send: Send) -> None:
    """Parses one line for the SDK. The SDK drops what it cannot parse; a request gets its answer all the same."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        request_id = json.loads(line).get("id")
        if request_id is not None:
            error = {"code": INVALID_REQUEST, "message": "not a JSON-RPC 2.0 request in valid Unicode"}
            send(encoded({"jsonrpc": "2.0", "id": request_id, "error": error}), request_id)
        return
    put(message)


class Outlet:
    """Where the SDK writes: everything goes to the client but its answer to the replayed `initialize`."""

    def __init__(self, put: Callable[[types.JSONRPCMessage], None], send: Send) -> None:
        self._put = put
        self._send = send

    async def send(self, item: SessionMessage, /) -> None:
        """Hands over one message."""
        message = item.message
        answered = message.id if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) else None
        if answered == REPLAYED_ID:
            if isinstance(message, types.JSONRPCError):
                self._greet_again(message.error.message)
            return
        self._send(message.model_dump_json(by_alias=True, exclude_unset=True).encode(), answered)

    def _greet_again(self, reason: str) -> None:
        """The client has its answer already, so the SDK must accept it: without the capabilities it could not read."""
        sys.stderr.write(f"the client's capabilities are ignored: {reason}\n")
        params = {
            "protocolVersion": types.LATEST_PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "unknown", "version": "0"},
        }
        self._put(types.JSONRPCRequest(jsonrpc="2.0", id=REPLAYED_ID, method="initialize", params=params))

    async def aclose(self) -> None:
        """Nothing to close: the wire belongs to the front door."""

    async def __aenter__(self) -> "Outlet":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Face:
    """The handlers of one connection."""

    def __init__(self, options: Options, tools: list[dict[str, Any]]) -> None:
        self._tools = tools
        self._names = [tool["name"] for tool in tools]
        self._data_dir = find_data_dir(options.data_dir, os.environ)
        self._agent = options.agent
        self._pins = Pins(options.workspace, options.project)
        self._cwd = _cwd()
        self._limiter = anyio.CapacityLimiter(PARALLEL_CALLS)
        self._roots: tuple[str, ...] | None = None
        self._asking = anyio.Lock()

    def server(self) -> "Server[Any]":
        """The SDK's server around the handlers."""
        server: Server[Any] = Server(
            "ai-memory",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )
        server.middleware.clear()
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self.roots_changed
        )
        return server

    async def list_tools(
        self, _context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """All tools at once: there is no second page."""
        if params is not None and params.cursor is not None:
            raise MCPError(code=types.INVALID_PARAMS, message="there is one page of tools: leave out cursor")
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in self._tools])

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """The answer as one text. A cancelled call is left alone: what it began to write, it finishes."""
        if params.name not in self._names:
            answer = Answer(f"error invalid: no tool {params.name!r}\ntools: {', '.join(self._names)}", is_error=True)
        else:
            caller = await self._caller(context.session)
            work = partial(
                call, params.name, params.arguments or {}, data_dir=self._data_dir, caller=caller, pins=self._pins
            )
            answer = await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        return types.CallToolResult(content=[types.TextContent(text=answer.text)], is_error=answer.is_error)

    async def roots_changed(self, _context: ServerRequestContext[Any], _params: types.NotificationParams) -> None:
        """Asks again before the next call."""
        self._roots = None

    async def _caller(self, session: ServerSession) -> Caller:
        async with self._asking:
            if self._roots is None:
                self._roots = await _offered_roots(session)
        return Caller(
            cwd=self._cwd,
            environ=os.environ,
            home=os.path.expanduser("~"),
            face="bridge",
            roots=self._roots,
            agent=self._agent,
        )


async def _offered_roots(session: ServerSession) -> tuple[str, ...]:
    """URIs of the folders that the client works in; none when it offers none or does not answer."""
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return ()
    try:
        listed = await session.send_request(
            types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=ROOTS_TIMEOUT_S
        )
    except (MCPError, ValidationError):
        return ()
    return tuple(str(root.uri) for root in listed.roots)


def _cwd() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None
