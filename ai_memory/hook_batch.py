"""`hook --batch`: many events from one producer, a JSON object a line. No harness runs it: it may take its time.

The events go the way of every other one: policy, sanitiser and caps of the hook, the spool, the drain.
`docs/capture.md` is the contract.
"""

import json
import os
import sys
import time

from ai_memory import hook_call, hook_front, hook_harnesses, hook_payload, hook_places, hook_policy, hook_spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, BinaryIO

LOOK_EVERY = 256
"""Lines between two looks at how full the spool is."""
ROOM_S = 20.0
"""How long a full spool is waited for: the drain that was started makes room."""
SHOWN = 20
"""Lines whose reasons are told; of more only the number is."""


class Batch:
    """One call. `accepted` events lie in the spool; `dropped` ones the person's own policy keeps out."""

    def __init__(self, options: "hook_call.Options", compile: "Callable[[str, str], None]") -> None:
        self.options = options
        self._compile = compile
        self._compiled: set[str] = set()
        self.data_dir = hook_places.find_data_dir(options.data_dir, os.environ)
        self.accepted = self.dropped = self.refused = 0
        self.reasons: list[dict[str, Any]] = []
        self.next_line = 0
        """The first line that was not looked at; 0 when all were."""

    def run(self, lines: "BinaryIO") -> None:
        """Take the events line by line; ends early when the spool has no room."""
        if not hook_places.is_initialised(self.data_dir):
            self._refuse(1, f"{self.data_dir} is no data dir: run ai-memory init")
            self.next_line = 1
            return
        number = 0
        while line := lines.readline(hook_front.MAX_BYTES + 1):
            number += 1
            if len(line) > hook_front.MAX_BYTES:
                self._skip_rest(lines, line)
                self._refuse(number, f"the line is longer than {hook_front.MAX_BYTES >> 20} MiB")
            elif line.strip():
                why = self._room(number) or self._take(number, line)
                if why:
                    self._refuse(number, why)
                    self.next_line = number
                    break
        hook_spool.kick(self.data_dir, "user-prompt", self.accepted)

    def _room(self, number: int) -> str:
        """Why no more can be taken; nothing while there is room."""
        if number % LOOK_EVERY != 1:
            return ""
        settings, _ = hook_policy.read_settings(self.data_dir)
        bounds = (settings.max_files, settings.max_mib << 20)
        deadline = time.monotonic() + ROOM_S
        while hook_spool.Load(self.data_dir, *bounds, must_look=True).is_full:
            hook_spool.kick(self.data_dir, "stop", 0)
            if time.monotonic() > deadline:
                return "the spool is full: run ai-memory drain, then send this line and those after it again"
            time.sleep(0.1)
        return ""

    def _take(self, number: int, line: bytes) -> str:
        """Why the call has to end here; a line that only this producer can mend is counted and passed over."""
        told = hook_payload.parse(line)
        if told is None:
            self._refuse(number, "it is no JSON object")
            return ""
        try:
            outcome, reason = self._call(told).put()
        except OSError as fault:
            return f"the spool cannot be written: {fault.strerror or fault}"
        if outcome == "refused":
            self._refuse(number, reason)
        elif outcome == "dropped":
            self.dropped += 1
        else:
            self.accepted += 1
        return ""

    def _call(self, told: "Mapping[str, Any]") -> "hook_call.Call":
        given = self.options
        options = hook_call.Options([])
        options.event = _word(told, "event") or given.event
        options.agent = _word(told, "agent") or given.agent
        options.is_allowlist = given.is_allowlist
        options.is_batch = True
        options.producer = dict(given.producer)
        for flag in hook_call.PRODUCER_FLAGS:
            name = flag.removeprefix("--")
            if value := _word(told, name.replace("-", "_")):
                options.producer[name] = value
        inner = told.get("payload")
        call = hook_call.Call(
            options,
            inner if isinstance(inner, dict) else told,
            agent=hook_harnesses.canonical_agent(options.agent),
            data_dir=self.data_dir,
            flags=[],
            is_off=hook_call.is_off(os.environ),
        )
        call.compile = self._make_known
        return call

    def _make_known(self, folder: str) -> None:
        """Compile the policy there, once a call: of what it governs the drain could not give the text back."""
        if folder not in self._compiled:
            self._compiled.add(folder)
            self._compile(self.data_dir, folder)

    def _refuse(self, number: int, reason: str) -> None:
        self.refused += 1
        if len(self.reasons) < SHOWN:
            self.reasons.append({"line": number, "reason": reason})

    def _skip_rest(self, lines: "BinaryIO", line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = lines.readline(hook_front.MAX_BYTES)

    def answer(self) -> "dict[str, Any]":
        """What became of the lines, as the one object that is printed."""
        return {
            "v": 1,
            "ok": not self.refused,
            "accepted": self.accepted,
            "dropped": self.dropped,
            "refused": self.refused,
            "reasons": self.reasons,
            "next_line": self.next_line or None,
        }


def _word(told: "Mapping[str, Any]", name: str) -> str:
    value = told.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def main(argv: "Sequence[str]", compile: "Callable[[str, str], None]") -> int:
    """Take the lines of stdin; 0 when each was accepted or dropped by policy, else 1.

    `compile` makes the policy in a folder known to the hooks of a data dir.
    """
    batch = Batch(hook_call.Options(argv), compile)
    batch.run(sys.stdin.buffer)
    sys.stdout.write(json.dumps(batch.answer(), ensure_ascii=False) + "\n")
    sys.stdout.flush()
    return 1 if batch.refused else 0
