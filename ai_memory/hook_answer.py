"""What one call of the hook is answered: the event goes into the spool, and a start is given what waits for it.

Stdlib only, light. `ai_memory.hook_call` says who called and what may be kept.
"""

from ai_memory import hook_harnesses, hook_payload, hook_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ai_memory.hook_call import Call
    from ai_memory.hook_packet import Packet
    from ai_memory.hook_places import Surroundings
    from ai_memory.hook_policy import Policy
    from ai_memory.hook_retell import Retelling

_NAMES = {
    "session-start": "SessionStart",
    "pre-tool-use": "PreToolUse",
    "post-tool-use": "PostToolUse",
    "user-prompt": "UserPromptSubmit",
}
_NAMES_OF = {"gemini-cli": {"user-prompt": "BeforeAgent"}}
_RELOAD = "reload context"
"""A prompt that begins so asks for what was compacted."""


class Answer:
    """The answer to a call, and what it does on the way."""

    def __init__(self, call: "Call") -> None:
        self._call = call

    def check(self) -> "tuple[bytes, None]":
        """The decision for this payload, as JSON; nothing is written."""
        import json

        call = self._call
        policy, _ = call.policy()
        pause = call.pause()
        decision, reason = ("drop", pause) if pause else call.verdict(policy)
        if not hook_places.is_initialised(call.data_dir):
            decision, reason = "drop", f"{call.data_dir} is no data dir"
        elif not call.session:
            decision, reason = "drop", "the event names no session"
        found = {"v": 1, "decision": decision, "reason": reason, "event": call.kind, "agent": call.agent}
        return json.dumps(found).encode() + b"\n", None

    def take(self) -> "tuple[bytes, Callable[[], None] | None]":
        """Spool the event, start a drain, and give a starting session what waits for it."""
        call = self._call
        from ai_memory import hook_spool

        empty = hook_harnesses.empty_answer(call.agent, call.kind)
        if not call.session or self._is_repeated_start() or self._is_no_prompt():
            return empty, None
        is_start = self._is_start()
        pause = call.pause()
        if pause:
            return (self._told_person(f"off the record: memory is {pause}") if is_start else b"") or empty, None
        policy, around = call.judged()
        is_reload = self._asks_to_reload()
        is_retold = self._is_retold() and not is_reload
        start = call.start_in(around) if (is_start or is_reload or is_retold) and around.folders else None
        is_start = is_start or (is_retold and start is not None)
        was_pending = is_start and start is not None and (start.is_ending() or hook_spool.is_drain_alive(call.data_dir))
        is_renewed, is_kept = was_pending, True
        if policy.decision != "drop":
            try:
                is_renewed = self._spool(policy) or was_pending
            except OSError:  # full or read-only: what lies there can be told, but nothing taken
                is_renewed, is_kept = False, False
        if call.agent in hook_harnesses.DRAINING and is_kept:
            return empty, self._drain
        if self._resumes_silently() and around.folders:
            resumed = call.start_in(around)
            resumed.source = "resume"
            resumed.is_first()  # so that no later prompt is
        if start is None or (policy.decision == "drop" and call.options.is_allowlist):
            return self._recalled(policy, around) or (empty, None)
        is_start = is_start and (start.is_first() or is_retold)
        if not is_start and not is_reload:
            return self._recalled(policy, around) or (empty, None)
        from ai_memory import hook_packet  # only where something is told

        packet = hook_packet.Packet(start, base=policy.base, markers=around.markers(), most_bytes=policy.start_bytes)
        if is_retold:
            packet.text = self._told_before()
        if packet.text:
            return self._printed(packet, policy)
        if is_start:
            packet.at_start(claims=policy.claims and is_kept, was_pending=was_pending, is_renewed=is_renewed)
        else:
            packet.at_reload()
        return self._printed(packet, policy) if packet.text else (empty, None)

    def _recalled(self, policy: "Policy", around: "Surroundings") -> "tuple[bytes, Callable[[], None]] | None":
        """What the project's pages say of a prompt, where prompts are looked up; None where that is nothing."""
        call = self._call
        if not policy.recalls or call.kind != "user-prompt" or policy.decision == "drop" or policy.is_unknown:
            return None
        if call.subagent or call.agent not in hook_harnesses.RELOADING or not around.folders:
            return None
        from ai_memory import hook_lookup, hook_packet  # only where somebody wants it

        packet = hook_packet.Packet(call.start_in(around), base=policy.base, markers=around.markers())
        session = hook_places.session_uuid(call.agent, call.session)
        found = hook_lookup.Lookup(
            call.data_dir, key=packet.project_key(), session=session, most_bytes=policy.prompt_bytes
        )
        text = found.find(hook_payload.prompt_of(call.payload))

        def after() -> None:
            self._count("hook:prompt", text)
            found.note()

        return (self._in_form(text), after) if text else None

    def _printed(self, packet: "Packet", policy: "Policy") -> "tuple[bytes, Callable[[], None] | None]":
        """The packet in the form of the harness, and what confirms its handoff."""
        call = self._call
        status = packet.status if call.agent in hook_harnesses.TELLING else ""
        return self._in_form(packet.text, status), lambda: self._after_telling(packet, policy)

    def _in_form(self, text: str, status: str = "") -> bytes:
        call = self._call
        from ai_memory.hook_packet import in_form  # loaded already

        form = hook_harnesses.INJECTION[call.agent][1]
        event = _NAMES_OF.get(call.agent, _NAMES).get(call.kind, "SessionStart")
        if call.source_event == "PostToolUseFailure":  # the name that a harness compares with its own
            event = call.source_event
        return in_form(form, text, event=event, status=status)

    def _count(self, name: str, text: str) -> None:
        """How much was told, for the drain to add up: it is what memory costs an agent."""
        call = self._call
        from ai_memory import hook_usage  # only where something is told

        size = len(text.encode("utf-8", "replace"))
        hook_usage.put(call.data_dir, {"v": 1, "client": call.agent, "face": "hook", "name": name, "bytes": size})

    def _after_telling(self, packet: "Packet", policy: "Policy") -> None:
        call = self._call
        self._count("hook:start", packet.text)
        if call.agent in hook_harnesses.RETELLING and call.kind == "session-start":
            self._retelling().note(packet.text)
        if packet.handoff:
            call.confirm(packet.handoff, policy)

    def _retelling(self) -> "Retelling":
        call = self._call
        from ai_memory import hook_retell  # only for a harness that may lose what its start was told

        return hook_retell.Retelling(call.data_dir, hook_places.session_uuid(call.agent, call.session))

    def _is_retold(self) -> bool:
        """Whether this first prompt of a session has to be told what its start may have lost."""
        call = self._call
        if call.kind != "user-prompt" or call.subagent or call.agent not in hook_harnesses.RETELLING:
            return False
        return self._retelling().is_due()

    def _told_before(self) -> str:
        return self._retelling().take()

    def _drain(self) -> None:
        """Once the answer is out; tool events in between wait for the session's end."""
        if self._call.kind in ("session-start", "session-end"):
            from ai_memory import hook_drain  # only for a harness that ends what a hook leaves running

            hook_drain.drain_here(self._call.data_dir)

    def _asks_to_reload(self) -> bool:
        call = self._call
        if call.kind != "user-prompt" or call.subagent or call.agent not in hook_harnesses.RELOADING:
            return False
        return hook_payload.prompt_of(call.payload).lstrip()[: len(_RELOAD)].lower() == _RELOAD

    def _resumes_silently(self) -> bool:
        """A start that may take nothing, of a harness that takes context later: with a prompt."""
        call = self._call
        takes_at = hook_harnesses.INJECTION.get(call.agent, ("",))[0]
        is_later = takes_at not in ("", "session-start") and call.kind == "session-start"
        return is_later and not call.subagent and call.source in ("resume", "compact")

    def _is_repeated_start(self) -> bool:
        """Antigravity tells of every model call; only the first starts a session."""
        return self._call.kind == "session-start" and bool(self._call.payload.get("invocationNum"))

    def _is_no_prompt(self) -> bool:
        """Qwen Code says before each model call that a prompt was submitted; after a tool there is none."""
        call = self._call
        return call.agent == "qwen-code" and call.kind == "user-prompt" and call.payload.get("prompt") == ""

    def _is_start(self) -> bool:
        """Whether context of a starting session can be given with this event: `Start.is_first` says if it is one."""
        call = self._call
        kinds = [hook_harnesses.INJECTION.get(call.agent, ("",))[0]]
        if call.agent in hook_harnesses.BEGINNING_WITH_PROMPT:
            kinds.append("user-prompt")
        return call.kind in kinds and not call.subagent

    def _told_person(self, line: str) -> bytes:
        """One line for the person alone, where the harness shows one; else nothing."""
        import json

        return json.dumps({"systemMessage": line}).encode() if self._call.agent in hook_harnesses.TELLING else b""

    def _spool(self, policy: "Policy") -> bool:
        """Leave the event; whether it started a drain."""
        call = self._call
        from ai_memory import hook_spool

        is_tool = call.kind in ("pre-tool-use", "post-tool-use")
        load = hook_spool.Load(call.data_dir, policy.max_files, policy.max_mib << 20, must_look=False)
        if load.is_full and is_tool:
            hook_spool.count_dropped(call.data_dir)
            return False
        call.leave(call.event(policy))
        if call.agent in hook_harnesses.DRAINING:
            return False
        return hook_spool.kick(call.data_dir, call.kind, load.waiting)
