"""What a transcript tells, as the events that hooks would have left: by the same policy, cleaned by the same code.

Nothing is spooled: the events go straight to `apply_batch`. Their ids are made of what they tell, so the same
transcript gives the same events each time.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ai_memory import hook_call
from ai_memory.capture.off_record import OffRecord
from ai_memory.capture.prompts import substance
from ai_memory.capture.rules import Rules
from ai_memory.capture.spooled import Event, parse_event
from ai_memory.transcripts.record import Header, Losses, Told

EXTENSION = "ai-memory-backfill"
"""Marks every such event, in `extra`."""
MAX_EVENTS = 4_096
KEPT_HEAD = 1_024
"""Of a longer session the beginning, which says what it was about, and the end are kept."""
MAX_BYTES = 32 << 20
"""Of the events of one session together."""

OFF_RECORD = "events of a time that was off the record"
NOT_TYPED = "prompts that the program made"
MIDDLE = "events in the middle of long sessions"
TOO_MUCH = "events of sessions that hold more than 32 MiB"


@dataclass(frozen=True, slots=True)
class Retold:
    """The events of one session, in order. Empty where nothing of it may be kept."""

    events: tuple[Event, ...]
    start: Event | None = None
    end: Event | None = None
    """What harnesses tell by hooks alone: made up, at the first and the last thing that is told."""

    @property
    def whole(self) -> tuple[Event, ...]:
        """With start and end."""
        around = (self.start, *self.events, self.end)
        return tuple(event for event in around if event is not None)


class Reteller:
    """Judges and cleans, for one data dir. `data_dir` holds the compiled policy: renew it first."""

    def __init__(
        self,
        data_dir: str,
        rules: Rules,
        *,
        pauses: Sequence[OffRecord],
        is_allowlist: bool,
        folders_of: Callable[[str], Sequence[str]],
    ) -> None:
        self._data_dir = data_dir
        self._rules = rules
        self._pauses = pauses
        self._is_allowlist = is_allowlist
        self._folders_of = folders_of
        """A folder, and those that belong to the same repository."""

    def retell(self, agent: str, header: Header, told: Sequence[Told], losses: Losses, *, path: str) -> Retold:
        """The session as events. `path`: where it lies, which its first event names."""
        kept = self._shortened([one for one in told if self._is_on_record(one, header, losses)], losses)
        events: list[Event] = []
        spent = 0
        for number, one in enumerate(kept):
            event, size = self._event(agent, header, one, losses)
            spent += size
            if spent > MAX_BYTES:
                losses.add(TOO_MUCH, len(kept) - number)
                break
            if event is not None:
                events.append(event)
        if not events:
            return Retold(())
        first, last = events[0], events[-1]
        begin = Told("session-start", first.at_us - 1, "start", first.cwd or header.cwd)
        finish = Told("session-end", last.at_us + 1, "end", last.cwd or header.cwd)
        start, _ = self._event(agent, header, begin, Losses(), source="backfill", transcript_path=path)
        end, _ = self._event(agent, header, finish, Losses(), reason="backfill")
        return Retold(tuple(events), start, end)

    def _is_on_record(self, told: Told, header: Header, losses: Losses) -> bool:
        if not self._pauses:
            return True
        folders = [*self._folders_of(told.cwd), *self._folders_of(header.cwd)]
        if any(pause.covers(told.at_us, folders) for pause in self._pauses):
            losses.add(OFF_RECORD)
            return False
        return True

    def _shortened(self, told: list[Told], losses: Losses) -> list[Told]:
        room = MAX_EVENTS - 2
        if len(told) <= room:
            return told
        losses.add(MIDDLE, len(told) - room)
        return told[:KEPT_HEAD] + told[len(told) - (room - KEPT_HEAD) :]

    def _event(self, agent: str, header: Header, told: Told, losses: Losses, **more: str) -> tuple[Event | None, int]:
        """(the event, bytes of it); None for one that is not kept."""
        payload = _payload(header, told) | more
        if told.kind == "user-prompt":
            text = typed(told.text)
            if not text:
                losses.add(NOT_TYPED)
                return None, 0
            payload["prompt"] = text
        options = hook_call.Options([])
        options.event, options.agent, options.is_allowlist = told.kind, agent, self._is_allowlist
        options.producer = {
            "extension": EXTENSION,
            "source-event": "transcript",
            "occurred-at": str(told.at_us),
        }
        is_off = hook_call.is_off(os.environ)
        call = hook_call.Call(options, payload, agent=agent, data_dir=self._data_dir, flags=[], is_off=is_off)
        call.process = 0  # the agent's is long gone
        outcome, reason, event = call.judged_event()
        if event is None:
            losses.add(f"events that may not be kept: {reason}" if outcome == "dropped" else f"events: {reason}")
            return None, 0
        content = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return parse_event(f"{event_id(agent, header, told)}.json", content, self._rules.own), len(content)


def typed(text: str) -> str:
    """What the person typed, as a hook would have been told it; nothing where the program made it all."""
    found = substance(text)
    return text if found == text.strip() else found


def event_id(agent: str, header: Header, told: Told) -> str:
    """The id of what is told: its time, and a digest of agent, session, record and kind."""
    whole = "\0".join((agent, header.native_id, told.key, told.kind))
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{told.at_us * 1000:019d}-0-{digest[:8]}"


def _payload(header: Header, told: Told) -> dict[str, object]:
    """As a harness would send it."""
    payload: dict[str, object] = {"session_id": header.native_id, "cwd": told.cwd or header.cwd}
    match told.kind:
        case "pre-tool-use" | "post-tool-use":
            payload |= {"tool_name": told.tool, "tool_use_id": told.call_id, "tool_input": told.input}
        case "post-compaction":
            payload["summary"] = told.text
        case "stop":
            payload["last_assistant_message"] = told.text
    if told.kind == "post-tool-use":
        payload["tool_response"] = _response(told)
        if told.is_error:
            payload["is_error"] = True
    return payload


def _response(told: Told) -> object:
    """The output, in a form from which the outcome can be read where the transcript says it."""
    if told.is_error is False and isinstance(told.output, str):
        return {"output": told.output, "success": True}
    return told.output
