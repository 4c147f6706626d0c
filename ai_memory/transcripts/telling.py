"""What a session tells, gathered record by record: the same for all harnesses.

A call is told when its result comes, as a hook after the tool would; one without a result as a hook before it would.
A turn that ends with an answer is told as a stop.
"""

from typing import Any

from ai_memory.transcripts.instants import instant
from ai_memory.transcripts.record import Losses, Told

MAX_ANSWER = 64 << 10
"""Characters of an answer that are kept: an excerpt of 2 KiB is made of them, if any (facts of the hooks' caps)."""


class Telling:
    """One session being read. `first_us` stands for the time of what comes before the first time that is told."""

    def __init__(self, native_id: str, losses: Losses, *, first_us: int, latest_us: int, cwd: str = "") -> None:
        self.native_id = native_id
        self.losses = losses
        self.cwd = cwd
        self._at_us = first_us - 1
        self._latest_us = latest_us
        self._told: list[Told | None] = []
        self._calls: dict[str, int] = {}
        """Call id → place in `_told` of a call without a result."""
        self._pending: dict[int, Told] = {}
        self._answer: tuple[str, str] | None = None
        self._last_prompt = ""

    @property
    def is_empty(self) -> bool:
        return not self._told and self._answer is None

    def prompt(self, key: str, text: str, at: object = None) -> None:
        """What the person typed. The same text once more, with nothing between, is the same prompt told twice."""
        if not text.strip() or (text == self._last_prompt and self._answer is None):
            return
        self._end_turn()
        self._put(Told("user-prompt", self._time(at), key, self.cwd, text=text))
        self._last_prompt = text

    def answer(self, key: str, text: str, at: object = None, *, more: bool = False) -> None:
        """What the agent said. `more`: the text continues the one before."""
        if not text.strip():
            return
        self._time(at)
        before = self._answer[1] if more and self._answer is not None else ""
        self._answer = (key, (before + text)[:MAX_ANSWER])

    def call(self, key: str, call_id: str, tool: str, given: Any, at: object = None) -> None:
        """The agent calls a tool. A second telling of a call that has no result yet is passed over."""
        if not tool or (call_id and call_id in self._calls):
            return
        self._answer = None
        self._last_prompt = ""
        place = len(self._told)
        self._told.append(None)
        self._pending[place] = Told(
            "pre-tool-use", self._time(at), key, self.cwd, tool=tool, call_id=call_id, input=given
        )
        self._calls[call_id or f"\0{key}"] = place

    def result(
        self,
        key: str,
        call_id: str,
        output: Any,
        at: object = None,
        *,
        is_error: bool | None = None,
        tool: str = "",
        given: Any = None,
    ) -> None:
        """What came out. Without a call before, `tool` and `given` are all that is known of it."""
        place = self._calls.pop(call_id, None)
        begun = self._pending.pop(place, None) if place is not None else None
        name = begun.tool if begun is not None else tool
        if not name:
            self.losses.add("results of calls that are not told")
            return
        self._answer = None
        self._last_prompt = ""
        self._put(
            Told(
                "post-tool-use",
                self._time(at),
                key,
                begun.cwd if begun is not None else self.cwd,
                tool=name,
                call_id=call_id,
                input=begun.input if begun is not None else given,
                output=output,
                is_error=is_error,
            )
        )

    def compaction(self, key: str, summary: str, at: object = None) -> None:
        """The context was compacted; what the agent goes on with, where it says so."""
        kind = "post-compaction" if summary.strip() else "pre-compact"
        self._put(Told(kind, self._time(at), key, self.cwd, text=summary))

    def told(self) -> tuple[Told, ...]:
        """All of it, in the order of the records. Call it once, at the end."""
        self._end_turn()
        for place, begun in self._pending.items():
            self._told[place] = begun
        self._pending.clear()
        return tuple(one for one in self._told if one is not None)

    def _end_turn(self) -> None:
        if self._answer is None:
            return
        key, text = self._answer
        self._answer = None
        self._put(Told("stop", self._time(None), f"{key}:stop", self.cwd, text=text))

    def _put(self, told: Told) -> None:
        self._told.append(told)

    def _time(self, at: object) -> int:
        """The time told if it is one, never before what came before: real files go backwards in time (2026-11-30)."""
        told_us = instant(at)
        if told_us > self._latest_us:
            told_us = 0
        self._at_us = max(self._at_us + 1, told_us)
        return self._at_us
