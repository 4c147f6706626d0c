"""The hook: one event of one agent, from stdin to the spool, in a few milliseconds. Stdlib only, imports nothing heavy.

It never fails, never waits for a lock, opens no database, and prints only what the harness that called expects: the
context of a starting session in that harness's form, else its empty form. It always ends with 0. It creates no data
dir: without one that was initialised it does nothing. The drain does the rest.

    ai-memory hook --event E --agent A [--data-dir D] [--check-capture] [--capture-mode allowlist]
        [--extension NS] [--source-event NAME] [--ingest-key KEY] [--occurred-at T]

*Source*: decisions B4, B5, B8, B9; the harnesses' own pages about hooks.
"""

# ruff: noqa: BLE001 (no pathlib in a hook; whatever is raised, the agent must not notice)

import os
import sys

from ai_memory import hook_harnesses, hook_payload, hook_places
from ai_memory.hook_answer import Answer
from ai_memory.hook_call import Call, Options, is_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

MAX_BYTES = 8 << 20
TAIL_BYTES = 64 << 10
STDIN_S = 2.0
"""Bounds of decision B5: what is kept of stdin, and how long a writer may take."""


class Stdin:
    """What stdin gave within its deadline: at most 8 MiB of its head, and the end of what came beyond."""

    __slots__ = ("head", "is_late", "is_oversize", "tail")

    def __init__(self) -> None:
        self.head = bytearray()
        self.tail = b""
        self.is_oversize = False
        self.is_late = False

    def read(self, deadline_s: float = STDIN_S) -> "Stdin":
        """Read to the end. A thread does, since a pipe can't be waited for with a deadline everywhere."""
        import _thread  # built in; threading would cost 3 ms

        done = _thread.allocate_lock()
        done.acquire()
        _thread.start_new_thread(self._read_all, (done,))
        self.is_late = not done.acquire(timeout=deadline_s)
        return self

    def _read_all(self, done: "Any") -> None:
        try:
            while part := os.read(0, 1 << 20):
                room = MAX_BYTES - len(self.head)
                self.head += part[:room]
                if len(part) > room:
                    self.is_oversize = True
                    self.tail = (self.tail + part[room:])[-TAIL_BYTES:]
        except OSError:
            pass
        finally:
            done.release()


def main(argv: "Sequence[str]") -> int:
    """Take one event. Ends the process, with 0."""
    after: Callable[[], None] | None = None
    try:
        answer, after = respond(Options(argv))
    except BaseException:
        answer = b"" if _agent_of(argv) in hook_harnesses.SILENT else b"{}"
    if _write(answer) and after is not None:
        try:
            after()
        except BaseException:
            os._exit(0)
    os._exit(0)  # no tear-down: it costs 2 ms, and a closed stdout would turn into another exit code


def _agent_of(argv: "Sequence[str]") -> str:
    words = list(argv)
    at = words.index("--agent") + 1 if "--agent" in words else len(words)
    return hook_harnesses.canonical_agent(words[at]) if at < len(words) else "other"


def _write(answer: bytes) -> bool:
    try:
        while answer:
            answer = answer[os.write(1, answer) :]
    except OSError:
        return False
    return True


def respond(options: Options) -> "tuple[bytes, Callable[[], None] | None]":
    """(what to print, what to do once it is printed)."""
    environ = os.environ
    agent = hook_harnesses.canonical_agent(options.agent)
    stdin = Stdin().read() if not options.payload else Stdin()
    data_dir = hook_places.find_data_dir(options.data_dir, environ)
    if (is_off(environ) or not hook_places.is_initialised(data_dir)) and not options.is_check:
        return hook_harnesses.empty_answer(agent, hook_harnesses.canonical_event(options.event)), None
    flags: list[str] = []
    raw = options.payload.encode() if options.payload else bytes(stdin.head)
    payload = hook_payload.parse(raw) if raw.strip() else {}
    if stdin.is_oversize or (payload is None and stdin.is_late):
        payload = hook_payload.salvage(raw, stdin.tail)
        flags.append("oversize" if stdin.is_oversize else "late")
    if payload is None:
        return hook_harnesses.empty_answer(agent, hook_harnesses.canonical_event(options.event)), None
    answer = Answer(Call(options, payload, agent=agent, data_dir=data_dir, flags=flags, is_off=is_off(environ)))
    return answer.check() if options.is_check else answer.take()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
