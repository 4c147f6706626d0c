"""Front door of `ai-memory mcp-bridge`: answers before the SDK is imported. Stdlib only, no typing, no dataclasses.

Source: decision C12: importing the SDK alone takes 850 to 1,060 ms, and one client asks for the tools in its first
100 ms and then never again (2026-11-30).

Threads: the main one waits for an end, one reads, one writes, one runs the SDK.
"""

import json
import os
import signal
import sys
import threading
import time
from queue import Empty, SimpleQueue

from ai_memory import __version__
from ai_memory.bridge.desk import Desk, encoded
from ai_memory.bridge.options import HELP, MANIFEST_FORMAT, BadUsage, Options, parse, selected
from ai_memory.bridge.wire import Wire

TYPE_CHECKING = False  # importing typing costs 5 ms (2026-11-30)
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

GRACE_S = 8.0
"""How long calls may go on after the client closed the pipe: what came whole is answered. The SDK's import takes 1 s,
2 s on a busy machine (2026-11-30), a call waits 5 s for a lock. A write that is killed then, the next one finishes."""
FINISH_S = 2.0
"""How long a write that has begun may go on when the client is gone: killed in the middle it would leave files."""
FLUSH_S = 0.2
INPUT_ENDED = -1
"""Why the bridge ends, beside exit codes."""
PARENT_WATCH_S = 0.5
BUG = 70
CONNECTION_CLOSED = -32000
"""The SDK's own code for it."""
CLOSED = "the input ended, and this call was not done in time; what it had begun to write, the next one finishes"


def main(argv: list[str]) -> int:
    """Serves one client and ends the process; returns only for `--help` and a wrong command line."""
    try:
        options = parse(argv)
        if options is None:
            sys.stdout.write(HELP)
            return 0
        manifest = load_manifest()
        tools = selected(manifest["tools"], options.profile) if manifest else []
        manifest = None if options.structured else manifest  # output schemas are made, not kept
    except BadUsage as fault:
        sys.stderr.write(f"{fault}\n")
        return 2
    bridge = Bridge(options, manifest, tools)
    os._exit(bridge.run())


def load_manifest() -> "dict[str, Any] | None":
    """What is answered without the SDK; None when the file is missing, damaged, or of another version."""
    try:
        with open(f"{os.path.dirname(os.path.abspath(__file__))}/manifest.json", encoding="utf-8") as file:
            manifest: dict[str, Any] = json.load(file)
        is_ours = manifest["format"] == MANIFEST_FORMAT and manifest["version"] == __version__
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return manifest if is_ours else None


class Bridge:
    """One client, from its first line to the end of the process."""

    def __init__(self, options: Options, manifest: "dict[str, Any] | None", tools: "list[dict[str, Any]]") -> None:
        self._options = options
        self._tools = tools if manifest else None
        self._parent = os.getppid()
        self._ends: SimpleQueue[int] = SimpleQueue()  # put() is safe in a signal handler, Event.set() is not
        self._wire = Wire()
        self._relay = Relay()
        self._desk = Desk(
            manifest,
            tools,
            reply=self._wire.write,
            forward=self._relay.put,
            forget=self._relay.settle,
        )

    def run(self) -> int:
        """The exit code, once the client is gone or somebody ends the process."""
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), lambda number, _: self._ends.put(128 + number))
        self._wire.start(lambda: self._ends.put(0))
        threading.Thread(target=self._read, daemon=True, name="reader").start()
        code = self._wait()
        if code == INPUT_ENDED:
            code = self._answer_the_last()
        self._wire.finish(FLUSH_S)
        if (lock := sys.modules.get("ai_memory.store.lock")) is not None:  # a call has written, or writes just now
            lock.leave(FINISH_S)
        return code

    def _wait(self) -> int:
        while self._has_parent():
            try:
                return self._ends.get(timeout=PARENT_WATCH_S)
            except Empty:
                pass
        return 0

    def _has_parent(self) -> bool:
        return os.name == "nt" or os.getppid() == self._parent

    def _answer_the_last(self) -> int:
        """Wait for the calls that came before the input ended; those that take too long are answered with an error."""
        deadline = time.monotonic() + GRACE_S
        while self._relay.is_busy and self._has_parent() and time.monotonic() < deadline:
            try:
                return self._ends.get(timeout=0.005)
            except Empty:
                pass
        for request_id in self._relay.abandon():
            error = {"code": CONNECTION_CLOSED, "message": CLOSED}
            self._wire.write(encoded({"jsonrpc": "2.0", "id": request_id, "error": error}))
        return 0

    def _read(self) -> None:
        is_started = False
        while (line := self._wire.read_line()) is not None:
            self._desk.take(line)
            if not is_started:
                is_started = True
                threading.Thread(target=self._serve, daemon=True, name="sdk").start()
        self._ends.put(INPUT_ENDED)

    def _serve(self) -> None:
        """Imports the SDK, a second of work, and runs it until the process ends."""
        try:
            from ai_memory.bridge import server

            server.serve(self._options, self._tools, attach=self._relay.attach, send=self._send)
        except BaseException:  # noqa: BLE001 a bridge without its SDK must end, or the client waits for ever
            sys.excepthook(*sys.exc_info())
            self._ends.put(BUG)

    def _send(self, frame: bytes, answered: "Any") -> None:
        self._relay.answer(answered, lambda: self._wire.write(frame))


class Relay:
    """Lines for the SDK, kept until it is there. Knows the requests that have no answer yet."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # `deliver` may settle a request on the spot
        self._kept: list[bytes] = []
        self._deliver: Callable[[bytes], None] = self._kept.append
        self._open: dict[str, Any] = {}
        self._is_over = False

    @property
    def is_busy(self) -> bool:
        return bool(self._open)

    def put(self, line: bytes, request_id: "Any") -> None:
        """One line, and its id when it is a request."""
        with self._lock:
            if request_id is not None:
                self._open[repr(request_id)] = request_id
            self._deliver(line)

    def settle(self, request_id: "Any") -> None:
        """The request got its answer, or wants none any more."""
        if request_id is not None:
            with self._lock:
                self._open.pop(repr(request_id), None)

    def answer(self, request_id: "Any", write: "Callable[[], None]") -> None:
        """Hand out an answer, or a message that answers nothing; none any more once the requests were abandoned."""
        with self._lock:
            if self._is_over:
                return
            write()  # before the request is settled: nobody may end in between
            self.settle(request_id)

    def abandon(self) -> "list[Any]":
        """The ids that have no answer; from now on nobody else answers them."""
        with self._lock:
            self._is_over = True
            return list(self._open.values())

    def attach(self, deliver: "Callable[[bytes], None]") -> None:
        """From now on lines go to `deliver`, beginning with those that were kept."""
        with self._lock:
            for line in self._kept:
                deliver(line)
            self._kept = []
            self._deliver = deliver


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
