"""A service that makes vectors out of hashes of words, over real HTTP, and does on demand what services do."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIM = 64


def hashed(text: str, dim: int = DIM) -> list[float]:
    """A vector of the words of a text: equal texts get equal ones, texts that share words lie near."""
    numbers = [0.0] * dim
    for word in text.lower().split():
        digest = hashlib.blake2b(word.strip(".,:;!?#").encode(), digest_size=8).digest()
        numbers[digest[0] % dim] += 1 if digest[1] % 2 else -1
        numbers[digest[2] % dim] += 0.5
    return numbers if any(numbers) else [1.0] * dim


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Stub:
    """What it was asked, and what it answers."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str], object]] = field(default_factory=list)
    """Answers to give first, in order: status, headers, JSON."""
    before: Callable[[Asked], None] = lambda _: None
    """Called in the middle of a request."""
    dim: int = DIM

    @property
    def texts(self) -> list[str]:
        """All texts that it was given, in order."""
        return [text for one in self.asked for text in texts_of(one.body)]

    def answer(self, asked: Asked) -> object:
        made = [hashed(text, self.dim) for text in texts_of(asked.body)]
        if "requests" in asked.body:
            return {"embeddings": [{"values": row} for row in made]}
        rows = [{"index": number, "embedding": row} for number, row in enumerate(made)]
        return {"data": rows[::-1]}  # a service may answer in any order


def texts_of(body: Any) -> list[str]:
    if "requests" in body:
        return [one["content"]["parts"][0]["text"] for one in body["requests"]]
    return list(body["input"])


@contextmanager
def serving(stub: Stub) -> Iterator[Stub]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.path, headers, json.loads(self.rfile.read(length)))
            stub.asked.append(asked)
            stub.before(asked)
            status, more, answer = stub.answers.pop(0) if stub.answers else (200, {}, stub.answer(asked))
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
