"""A scripted model on loopback that speaks as much of the Responses API as Codex needs. It keeps every request."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_SHELLS = {
    "exec_command": lambda line: {"cmd": line},
    "shell_command": lambda line: {"command": line},
    "shell": lambda line: {"command": ["bash", "-lc", line]},
}
"""Shell tools that versions of Codex have offered → their arguments for a command line."""


@dataclass
class Model:
    """Answers each turn with one command, then with one sentence. `requests`: what it was asked, in order."""

    command: str
    sentence: str
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def texts(self) -> str:
        """Everything that stood in the inputs of the requests, as one text."""
        return "\n".join(_text(request.get("input")) for request in self.requests)

    def item(self, request: dict[str, Any]) -> dict[str, Any]:
        given = request.get("input") or []
        tools = [tool.get("name") for tool in request.get("tools") or []]
        shell = next((name for name in _SHELLS if name in tools), None)
        if shell is None or any(str(one.get("type", "")).endswith("_call_output") for one in given):
            said = {"type": "output_text", "text": self.sentence, "annotations": []}
            return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said]}
        arguments = json.dumps(_SHELLS[shell](self.command))
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": shell, "arguments": arguments}
        return call | {"status": "completed"}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(text for part in parts if (text := _text(part)))


@contextmanager
def serving(command: str, sentence: str) -> Iterator[Model]:
    """The model, reachable at its `url` inside the block."""
    model = Model(command, sentence)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Silence."""

        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"object": "list", "data": [], "models": []}))

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if "/responses" not in self.path:
                return self._send("application/json", "{}")
            request = json.loads(content)
            model.requests.append(request)
            return self._send("text/event-stream", _events(model.item(request), number=len(model.requests)))

        def _send(self, kind: str, text: str) -> None:
            content = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _events(item: dict[str, Any], *, number: int) -> str:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    identifier = f"resp_{number}"
    whole = {"id": identifier, "object": "response", "status": "completed", "output": [item], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": identifier, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
