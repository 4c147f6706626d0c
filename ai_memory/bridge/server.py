"""The SDK's low-level server behind the front door: how lines come in and frames go out."""

import asyncio
import json
import math
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ai_memory.bridge.calls import warm
from ai_memory.bridge.desk import INVALID_REQUEST, REPLAYED_ID, encoded
from ai_memory.bridge.face import Face
from ai_memory.bridge.options import Options, selected

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

        tools = selected(tool_rows(structured=options.structured), options.profile)
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
