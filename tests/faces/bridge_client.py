"""A client that speaks raw JSON-RPC over pipes, and the commands that the bridge's tests start."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import bridge_trial
import forked

import ai_memory.bridge.server  # noqa: F401 (what every forked bridge needs, a second of work)

WORDS = ["--profile", "full"]
TRIAL = [sys.executable, str(Path(__file__).with_name("bridge_trial.py")), *WORDS]
"""The bridge with the tools of `bridge_trial.py` beside the real ones, in an interpreter that has yet to import all."""
DEADLINE_S = 30.0


def initialize(version: str = "2025-06-18", **capabilities: Any) -> dict[str, Any]:
    """Parameters of an `initialize` request."""
    return {
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": {"name": "raw", "version": "0"},
    }


class RawClient:
    """One bridge process. Every wait has a deadline; what is not JSON on its stdout is kept in `noise`."""

    def __init__(self, command: list[str], *, cwd: Path) -> None:
        pipe = subprocess.PIPE
        self._follow(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd))

    @classmethod
    def forked(cls, words: list[str], *, cwd: Path) -> "RawClient":
        """Of the bridge that `TRIAL` starts, with the SDK there from the beginning."""
        made = cls.__new__(cls)
        made._follow(forked.Process([*WORDS, *words], cwd=cwd, main=bridge_trial.main))
        return made

    def _follow(self, process: Any) -> None:
        self.process = process
        self.noise: list[bytes] = []
        self.stderr = b""
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._early: list[dict[str, Any]] = []
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_stderr)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):
                pipe.close()

    def _read(self) -> None:
        for line in self.process.stdout:
            try:
                self._messages.put(json.loads(line))
            except ValueError:
                self.noise.append(line)
        self._messages.put(None)

    def _read_stderr(self) -> None:
        for line in self.process.stderr:
            self.stderr += line

    def send(self, message: Any) -> None:
        """One line: bytes as they are, anything else as JSON."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, request_id: Any, method: str, params: dict[str, Any] | None = None) -> None:
        """Sends a request and does not wait."""
        self.send(
            {"jsonrpc": "2.0", "id": request_id, "method": method} | ({} if params is None else {"params": params})
        )

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))

    def answer_to(self, request_id: Any, timeout_s: float = DEADLINE_S) -> dict[str, Any]:
        """The response with that id; others are kept for later."""
        return self.message(lambda m: "method" not in m and m.get("id") == request_id, timeout_s)

    def message(self, wanted: Any, timeout_s: float = DEADLINE_S) -> dict[str, Any]:
        """The first message for which `wanted` holds."""
        for early in self._early:
            if wanted(early):
                self._early.remove(early)
                return early
        deadline = time.monotonic() + timeout_s
        while True:
            found = self._messages.get(timeout=max(0.01, deadline - time.monotonic()))
            assert found is not None, f"the bridge ended: {self.stderr.decode(errors='replace')[-2000:]}"
            if wanted(found):
                return found
            self._early.append(found)

    def request(self, request_id: Any, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The whole response message."""
        self.ask(request_id, method, params)
        return self.answer_to(request_id)

    def greet(self, version: str = "2025-06-18", **capabilities: Any) -> dict[str, Any]:
        """The handshake; returns the result of `initialize`."""
        result = self.request("hello", "initialize", initialize(version, **capabilities))["result"]
        self.notify("notifications/initialized")
        return result

    def call(self, request_id: Any, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool call."""
        return self.request(request_id, "tools/call", {"name": tool, "arguments": arguments})["result"]

    def unread(self) -> list[dict[str, Any]]:
        """What came and was not asked for, up to now."""
        while not self._messages.empty():
            if (message := self._messages.get()) is not None:
                self._early.append(message)
        return self._early

    def seconds_to_end(self, timeout_s: float = DEADLINE_S) -> float:
        """How long the process goes on from now; fails when it does not end."""
        started = time.monotonic()
        self.process.wait(timeout_s)
        return time.monotonic() - started


def wait_until(condition: Any, timeout_s: float = DEADLINE_S) -> None:
    """Polls until the condition holds; fails at the deadline."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        threading.Event().wait(0.01)


def is_alive(pid: int) -> bool:
    """The process runs: it is neither gone nor a zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
