"""A scripted model on loopback that speaks as much of four providers' APIs as agents need. It keeps every request."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from model_dialects import Plan, answer


@dataclass
class Model:
    """Answers each turn with what it plans, then with one sentence. `requests`: what it was asked, in order."""

    command: Plan
    sentence: str
    url: str = ""
    """With `/v1`, as the APIs of OpenAI have it; `root` is without."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    """Paths at which no model is asked, such as lists of models."""

    @property
    def root(self) -> str:
        return self.url.removesuffix("/v1")

    def texts(self) -> str:
        """Everything that was said to the model, as one text."""
        return "\n".join(said_in(request) for request in self.requests)


def said_in(request: dict[str, Any]) -> str:
    """What one request tells the model: its conversation and its instructions, not the tools."""
    return _text([request.get(key) for key in _SAID])


_SAID = ("instructions", "system", "systemInstruction", "system_instruction", "input", "messages", "contents")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(text for part in parts if (text := _text(part)))


@contextmanager
def serving(command: Plan, sentence: str) -> Iterator[Model]:
    """The model, reachable at its `url` inside the block."""
    model = Model(command, sentence)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Silence."""

        def do_GET(self) -> None:
            model.other.append(f"GET {self.path}")
            self._send("application/json", json.dumps({"object": "list", "data": _MODELS, "models": []}))

        do_HEAD = do_GET

        def do_POST(self) -> None:
            content = self._content()
            path = self.path.partition("?")[0]
            try:
                request = json.loads(content)
            except ValueError:
                request = None
            with lock:
                number = len(model.requests) + 1
                found = isinstance(request, dict) and answer(
                    path, request, command=model.command, sentence=model.sentence, number=number
                )
                if not found:
                    model.other.append(f"POST {self.path}")
                    return self._send("application/json", '{"input_tokens": 10, "totalTokens": 10}')
                model.requests.append(request)
            return self._send(*found)

        def _content(self) -> bytes:
            if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
                content = b""
                while size := int(self.rfile.readline().strip() or b"0", 16):
                    content += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            return gzip.decompress(content) if self.headers.get("Content-Encoding") == "gzip" else content

        def _send(self, kind: str, text: str) -> None:
            content = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


_MODELS = [{"id": "mock-1", "object": "model", "created": 1, "owned_by": "test"}]
