"""What the bridge answers before the SDK is there, and what it hands on. Stdlib only: the front door imports it."""

import json
import re
from collections.abc import Callable

TYPE_CHECKING = False  # importing typing costs 5 ms (2026-11-30)
if TYPE_CHECKING:
    from typing import Any

REPLAYED_ID = "ai-memory/initialize"
"""Id of the client's `initialize` when it is replayed into the SDK, whose answer to it nobody is to see."""

ENVELOPE = "io.modelcontextprotocol/protocolVersion"
"""Key in `_meta` that marks a request of the protocols from 2026-07-28 on, which know no `initialize`."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601


class Desk:
    """Answers `initialize`, `ping` and `tools/list` out of the manifest and forwards everything else byte for byte.

    Without a manifest, after a protocol version that it does not list, and for clients that open with the envelope of
    the newer protocols, the SDK answers everything.
    """

    def __init__(
        self,
        manifest: "dict[str, Any] | None",
        tools: "list[dict[str, Any]]",
        *,
        reply: Callable[[bytes], None],
        forward: "Callable[[bytes, Any], None]",
        forget: "Callable[[Any], None]",
    ) -> None:
        """`forward` takes a line and, of a request, its id; `forget` the id of a request that the client cancelled."""
        self._manifest = manifest or {}
        self._tools = tools
        self._reply = reply
        self._forward = forward
        self._forget = forget
        self._is_plain = manifest is None
        self._is_open = False

    def take(self, line: bytes) -> None:
        """One line from the client. Never raises: what cannot be understood is answered as JSON-RPC says."""
        try:
            message = json.loads(line)
        except RecursionError:
            request_id = _id_within(line)
            code = PARSE_ERROR if request_id is None else INVALID_REQUEST
            self._refuse(request_id, code, "this line is nested too deeply to be read")
            return
        except ValueError:
            self._refuse(None, PARSE_ERROR, "this line is not JSON")
            return
        if not isinstance(message, dict):
            self._refuse(None, INVALID_REQUEST, "one JSON-RPC object a line; batches are not supported")
            return
        if "method" not in message and ("result" in message or "error" in message):
            self._forward(line, None)
        elif not isinstance(message.get("method"), str):
            self._refuse(_id(message), INVALID_REQUEST, "a message has a method, a result or an error")
        elif "id" not in message:
            self._notified(message, line)
        elif _id(message) is None:
            self._refuse(None, INVALID_REQUEST, "an id is a text or a whole number")
        else:
            self._asked(message, line)

    def _notified(self, message: "dict[str, Any]", line: bytes) -> None:
        params = message.get("params")
        if message["method"] == "notifications/cancelled" and isinstance(params, dict):
            self._forget(params.get("requestId"))
        self._forward(line, None)

    def _asked(self, message: "dict[str, Any]", line: bytes) -> None:
        method, params = message["method"], message.get("params")
        params = params if isinstance(params, dict) else {}
        if not self._is_open:
            self._is_open = True
            self._is_plain |= method != "initialize" and _has_envelope(params)
        if self._is_plain or (method != "initialize" and _has_envelope(params)):
            self._forward(line, message["id"])
        elif method == "initialize":
            self._initialize(message, params, line)
        elif method == "ping":
            self._answer(message["id"], {})
        elif method == "tools/list" and params.get("cursor") is None:
            self._answer(message["id"], {"tools": self._tools})
        elif method not in self._manifest["methods"]:
            self._refuse(message["id"], METHOD_NOT_FOUND, "Method not found", method)
        else:
            self._forward(line, message["id"])

    def _initialize(self, message: "dict[str, Any]", params: "dict[str, Any]", line: bytes) -> None:
        version, client = params.get("protocolVersion"), params.get("clientInfo")
        is_known = version in self._manifest["protocol_versions"] and isinstance(params.get("capabilities"), dict)
        is_named = (
            isinstance(client, dict) and isinstance(client.get("name"), str) and isinstance(client.get("version"), str)
        )
        if not is_known or not is_named:
            self._is_plain = True
            self._forward(line, message["id"])
            return
        self._answer(message["id"], {"protocolVersion": version, **self._manifest["initialize"]})
        self._forward(encoded({**message, "id": REPLAYED_ID}), None)

    def _answer(self, request_id: "Any", result: "dict[str, Any]") -> None:
        self._reply(encoded({"jsonrpc": "2.0", "id": request_id, "result": result}))

    def _refuse(self, request_id: "Any", code: int, text: str, about: str | None = None) -> None:
        error: dict[str, Any] = {"code": code, "message": text}
        if about is not None:
            error["data"] = about
        self._reply(encoded({"jsonrpc": "2.0", "id": request_id, "error": error}))


def encoded(message: "dict[str, Any]") -> bytes:
    """One frame, ASCII, without its line end."""
    return json.dumps(message, separators=(",", ":")).encode()


def _id(message: "dict[str, Any]") -> "int | str | None":
    found = message.get("id")
    return found if type(found) in (int, str) else None


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]')
_ID = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.)*+"|-?[0-9]{1,20})\s*[,}]')


def _id_within(line: bytes) -> "int | str | None":
    """The `id` of an object that is nested too deeply for the JSON reader, so that its caller gets an answer."""
    depth = 0
    for found in _TOKEN.finditer(line):
        token = found.group()
        if token in b"[{":
            depth += 1
        elif token in b"]}":
            depth -= 1
        elif depth == 1 and token == b'"id"' and (value := _ID.match(line, found.end())):
            try:
                return _id({"id": json.loads(value.group(1))})
            except ValueError:
                return None
    return None


def _has_envelope(params: "dict[str, Any]") -> bool:
    meta = params.get("_meta")
    return isinstance(meta, dict) and ENVELOPE in meta
