"""One call of the hook: its words, who really called, what may be kept, what is told. Stdlib only, light.

`ai_memory.hook_front` reads stdin and prints what is answered here.
"""

# ruff: noqa: PTH112, PTH118 (no pathlib in a hook)

import os
import time

from ai_memory import hook_harnesses, hook_payload, hook_places, hook_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ai_memory.hook_outbox import Start
    from ai_memory.hook_packet import Packet
    from ai_memory.hook_places import Surroundings
    from ai_memory.hook_policy import Policy
    from ai_memory.hook_producer import Producer
    from ai_memory.hook_retell import Retelling
    from ai_memory.hook_session import Unnamed

LOOK_S = 1.0
"""How long the folders of an event may take to be looked at."""

PRODUCER_FLAGS = ("--extension", "--source-event", "--ingest-key", "--occurred-at")
"""What only a producer that is no harness says: see `ai_memory.hook_producer`."""

_OFF = ("off", "0", "false", "no")
_NAMES = {
    "session-start": "SessionStart",
    "pre-tool-use": "PreToolUse",
    "post-tool-use": "PostToolUse",
    "user-prompt": "UserPromptSubmit",
}
_NAMES_OF = {"gemini-cli": {"user-prompt": "BeforeAgent"}}
_RELOAD = "reload context"
"""A prompt that begins so asks for what was compacted."""


class Options:
    """The words of the command. Unknown ones are no fault: an installed command may be older or newer."""

    __slots__ = ("agent", "data_dir", "event", "is_allowlist", "is_batch", "is_check", "payload", "producer")

    def __init__(self, argv: "Sequence[str]") -> None:
        values = {"--event": "", "--agent": "", "--data-dir": "", "--capture-mode": ""}
        self.producer: dict[str, str] = {}
        self.is_check = "--check-capture" in argv
        self.is_batch = False
        self.payload = ""
        words = iter(argv)
        for word in words:
            name, equals, value = word.partition("=")
            if name in values:
                values[name] = value if equals else next(words, "")
            elif name in PRODUCER_FLAGS:
                self.producer[name[2:]] = value if equals else next(words, "")
            elif word[:1] == "{":  # Codex's `notify` gives the payload as its last argument
                self.payload = word
        self.event = values["--event"]
        self.agent = values["--agent"]
        self.data_dir = values["--data-dir"]
        self.is_allowlist = values["--capture-mode"] == "allowlist"


def is_off(environ: "Mapping[str, str]") -> bool:
    """Whether the caller's environment wants no capture."""
    return environ.get("AI_MEMORY_CAPTURE", "").strip().lower() in _OFF


def is_initialised(data_dir: str) -> bool:
    return os.path.isdir(os.path.join(data_dir, "wiki")) or os.path.isdir(os.path.join(data_dir, "spool"))


def empty_answer(agent: str, kind: str) -> bytes:
    """What says nothing to that harness."""
    if agent in hook_harnesses.SILENT:
        return b""
    if agent == "antigravity-cli" and kind == "pre-tool-use":
        return b'{"decision":"allow"}'
    if agent == "cline":
        return b'{"cancel":false}'
    return b"{}"


class Call:
    """One call of the hook: who called, about what, and what becomes of it."""

    def __init__(
        self,
        options: Options,
        payload: "Mapping[str, Any]",
        *,
        agent: str,
        data_dir: str,
        flags: "list[str]",
        is_off: bool,
    ) -> None:
        self.options = options
        self.payload = payload
        self.data_dir = data_dir
        self.flags = flags
        self.is_off = is_off
        self.is_staying = False
        """Whether this process goes on after the call: see `hook_spool.kick`."""
        self.now_us = time.time_ns() // 1000
        self.process = self._agent_process()
        self.route = ""
        self.named: dict[str, str] = {}
        """The project that the event says it is of, by workspace and project; of most the folder tells."""
        self.unnamed: Unnamed | None = None
        """Of a harness that names no session."""
        names = ("hook_event_name", "hookEventName", "agent_action_name", "hookName")
        told = next((payload[name] for name in names if payload.get(name)), None)
        named = str(told or options.event or payload.get("type") or "")
        self.producer, self.refusal = self._producer()
        if self.producer is not None and self.producer.source_event:
            named = self.producer.source_event
        self.source_event = named[: hook_payload.NAME_LENGTH + hook_payload.REACH]
        kind = hook_harnesses.canonical_event(options.event or self.source_event)
        self.kind = hook_payload.kind_of(payload, kind)
        self.caller = hook_harnesses.detect(payload, agent, os.environ)
        self.agent = self.caller or agent
        self.subagent = hook_payload.subagent_of(payload)
        self.source = str(hook_payload.find(payload, ("source",)) or "").lower()
        if self.source_event.lower() == "taskresume":
            self.source = "resume"
        self.session = hook_payload.session_of(payload) or self._session_from_elsewhere()
        self.cwd = self._own_cwd() or hook_payload.cwd_of(payload)
        if not self.cwd and not hook_payload.names_cwd(payload):
            self.cwd = self._cwd_from_elsewhere()

    def _producer(self) -> "tuple[Producer | None, str]":
        """What somebody other than a harness says of the event, or why that cannot be."""
        if not self.options.producer:
            return None, ""
        from ai_memory import hook_producer  # only where one of its flags is given

        try:
            return hook_producer.Producer(self.options.producer, now_us=self.now_us), ""
        except hook_producer.Refused as fault:
            return None, str(fault)

    def _agent_process(self) -> int:
        """What runs a producer is not the agent of its sessions: it may be gone while they go on."""
        return 0 if self.options.is_batch or self.options.producer else hook_process.agent_process()

    def _session_from_elsewhere(self) -> str:
        environ = os.environ
        if "conversation_id" in self.payload:  # Cursor's placeholder before there is a conversation
            return ""
        own = environ.get(hook_harnesses.SESSION_VARIABLES.get(self.agent, ""), "")
        named = environ.get("AI_MEMORY_SESSION_ID", "") or own
        if named:
            return named[: hook_payload.SESSION_LENGTH + hook_payload.REACH]
        if self.agent in hook_harnesses.ANONYMOUS:
            from ai_memory import hook_session  # only where neither payload nor environment names the session

            is_start = self.kind == "session-start" and self.source not in ("resume", "compact")
            folder = environ.get("DEVIN_PROJECT_DIR", "") or hook_payload.cwd_of(self.payload) or _process_folder()
            process = hook_process.id_of(self.process) or os.getppid()
            self.unnamed = hook_session.Unnamed(
                self.data_dir,
                self.agent,
                folder=folder,
                process=process,
                is_start=is_start,
            )
            return self.unnamed.id
        if self.kind == "session-start":
            return os.urandom(16).hex()
        return ""

    def _own_cwd(self) -> str:
        """The folder that counts more than that of the payload: Hermes runs its tools in one of its own."""
        if self.agent != "hermes":
            return ""
        profile = hook_payload.find(self.payload, ("profile",))
        is_of_another = os.environ.get("_HERMES_GATEWAY") == "1" and profile not in (None, "", "default")
        return "" if is_of_another else os.environ.get("TERMINAL_CWD", "")

    def _cwd_from_elsewhere(self) -> str:
        named = os.environ.get("DEVIN_PROJECT_DIR", "") if self.agent == "devin" else ""
        return named or _process_folder()

    def _judged(self) -> "tuple[Policy, Surroundings]":
        """`policy`, within a deadline: a folder on a mount whose server is gone answers to no call on it.

        Then only metadata is kept, with the folder as it was told; the drain finds out where it belongs.
        """
        found: tuple[Policy, Surroundings] | None = _in_time(self.policy)
        if found is not None:
            return found
        from ai_memory import hook_policy

        policy, _ = hook_policy.read_settings(self.data_dir)
        policy.unknown(self.cwd)
        if self.is_off or self.refusal:
            policy.drop(self.refusal or "AI_MEMORY_CAPTURE is off")
        self.flags.append("cwd-silent")
        return policy, hook_places.Surroundings("", "/")

    def policy(self) -> "tuple[Policy, Surroundings]":
        """What may be kept of this event, and the folders around it."""
        from ai_memory import hook_policy

        home = os.environ.get("AI_MEMORY_HOME") or hook_places.user_home()
        around = hook_places.Surroundings(self.cwd, home)
        policy = hook_policy.read_policy(self.data_dir, around)
        policy.use_agent(self.agent)
        tool, given, call_id = ("", None, "")
        is_tool = self.kind in ("pre-tool-use", "post-tool-use")
        if is_tool:
            tool, given, call_id = hook_payload.tool_of(self.payload)
        owner = os.environ.get("AI_MEMORY_CAPTURE_OWNER", "").strip()
        origin = os.environ.get("AI_MEMORY_HOOK_ORIGIN", "").strip() or "ai-memory"
        if self.options.is_allowlist and not policy.base:
            policy.drop("no marker, and this install captures only where one is")
        elif policy.drops_subagents and self.subagent:
            policy.drop("drop_subagent_captures")
        elif owner not in ("", origin):
            policy.drop(f"AI_MEMORY_CAPTURE_OWNER names {owner}")
        else:
            policy.judge_tool(self.kind, tool, call_id)
            if is_tool:
                policy.judge_paths(tool, given, cwd=self.cwd, base=policy.base, home=home)
            if is_tool and policy.decision != hook_policy.DROP:
                self._follow(policy, tool, given, around)
        if self.is_off:
            policy.drop("AI_MEMORY_CAPTURE is off")
        elif self.refusal:
            policy.drop(self.refusal)
        return policy, around

    def _follow(self, policy: "Policy", tool: str, given: "Any", around: "Surroundings") -> None:
        """Credit a call whose paths all lie in one other repository to that one, under its policy too."""
        from ai_memory import hook_policy

        there = hook_policy.other_checkout(given, around, cwd=self.cwd)
        if there is None:
            return
        self.route = there.root
        its = hook_policy.read_policy(self.data_dir, there)
        pause = self._pause_in([there.root])
        if pause:
            its.drop(pause)
        elif self.options.is_allowlist and not its.base:
            its.drop("no marker in the repository of its paths, and this install captures only where one is")
        elif its.drops_subagents and self.subagent:
            its.drop("drop_subagent_captures of the repository of its paths")
        else:
            its.judge_paths(tool, given, cwd=self.cwd, base=its.base, home=around.home)
        hook_policy.join(policy, its)

    def pause(self) -> str:
        """Why nothing may be kept now, not even that there was an event; empty when no pause holds here.

        A folder that never answers may be a paused one.
        """
        if not os.path.lexists(os.path.join(self.data_dir, "paused.json")):
            return ""
        folders = [self.cwd, _process_folder(), *map(os.environ.get, hook_harnesses.PROJECT_FOLDERS)]
        named = [folder for folder in folders if folder] if self.cwd else [""]
        found = _in_time(lambda: self._pause_in(named))
        return "paused somewhere, and this folder does not answer" if found is None else str(found)

    def _pause_in(self, folders: "list[str]") -> str:
        """Why nothing may be kept of what happens in any of these folders; empty when it may."""
        if not os.path.lexists(os.path.join(self.data_dir, "paused.json")):
            return ""
        from ai_memory import hook_pause  # only while there is a pause somewhere

        home = os.environ.get("AI_MEMORY_HOME") or hook_places.user_home()
        return hook_pause.read_pauses(self.data_dir, self.now_us).holding(folders, home)

    def _told_person(self, line: str) -> bytes:
        """One line for the person alone, where the harness shows one; else nothing."""
        import json

        return json.dumps({"systemMessage": line}).encode() if self.agent in hook_harnesses.TELLING else b""

    def check(self) -> "tuple[bytes, None]":
        """The decision for this payload, as JSON; nothing is written."""
        import json

        policy, _ = self.policy()
        pause = self.pause()
        decision, reason = ("drop", pause) if pause else (policy.decision, policy.reason)
        if not is_initialised(self.data_dir):
            decision, reason = "drop", f"{self.data_dir} is no data dir"
        elif not self.session:
            decision, reason = "drop", "the event names no session"
        elif decision == "keep" and self.kind == "user-prompt" and not policy.keeps_prompts:
            decision, reason = "metadata", "prompts are not captured"
        found = {"v": 1, "decision": decision, "reason": reason, "event": self.kind, "agent": self.agent}
        return json.dumps(found).encode() + b"\n", None

    def put(self) -> "tuple[str, str]":
        """Spool the event without a drain and without an answer; `accepted`, `dropped` or `refused`, and why.

        *Errors*: OSError when the spool cannot be written.
        """
        outcome, reason, event = self.judged_event()
        if event is not None:
            self._leave(event)
        return outcome, reason

    def judged_event(self) -> "tuple[str, str, dict[str, Any] | None]":
        """The same without the spool: the event is given, as its file would hold it. Writes nothing."""
        if self.refusal or not self.session:
            return "refused", self.refusal or "it names no session", None
        pause = self.pause()
        if pause:
            return "dropped", pause, None
        policy, _ = self.policy()
        if policy.decision == "drop":
            return "dropped", policy.reason, None
        return "accepted", policy.reason, self._event(policy)

    def take(self) -> "tuple[bytes, Callable[[], None] | None]":
        """Spool the event, start a drain, and give a starting session what waits for it."""
        from ai_memory import hook_spool

        empty = empty_answer(self.agent, self.kind)
        if not self.session or self._is_repeated_start() or self._is_no_prompt():
            return empty, None
        is_start = self._is_start()
        pause = self.pause()
        if pause:
            return (self._told_person(f"off the record: memory is {pause}") if is_start else b"") or empty, None
        policy, around = self._judged()
        is_reload = self._asks_to_reload()
        is_retold = self._is_retold() and not is_reload
        start = self.start_in(around) if (is_start or is_reload or is_retold) and around.folders else None
        is_start = is_start or (is_retold and start is not None)
        was_pending = is_start and start is not None and (start.is_ending() or hook_spool.is_drain_alive(self.data_dir))
        is_renewed, is_kept = was_pending, True
        if policy.decision != "drop":
            try:
                is_renewed = self._spool(policy) or was_pending
            except OSError:  # full or read-only: what lies there can be told, but nothing taken
                is_renewed, is_kept = False, False
        if self.agent in hook_harnesses.DRAINING and is_kept:
            return empty, self._drain
        if self._resumes_silently() and around.folders:
            resumed = self.start_in(around)
            resumed.source = "resume"
            resumed.is_first()  # so that no later prompt is
        if start is None or (policy.decision == "drop" and self.options.is_allowlist):
            return empty, None
        is_start = is_start and (start.is_first() or is_retold)
        if not is_start and not is_reload:
            return empty, None
        from ai_memory import hook_packet  # only where something is told

        packet = hook_packet.Packet(start, base=policy.base, markers=around.markers())
        if is_retold:
            packet.text = self._told_before()
        if packet.text:
            return self._printed(packet, policy)
        if is_start:
            packet.at_start(claims=policy.claims and is_kept, was_pending=was_pending, is_renewed=is_renewed)
        else:
            packet.at_reload()
        return self._printed(packet, policy) if packet.text else (empty, None)

    def _printed(self, packet: "Packet", policy: "Policy") -> "tuple[bytes, Callable[[], None] | None]":
        """The packet in the form of the harness, and what confirms its handoff."""
        from ai_memory.hook_packet import in_form  # loaded already

        form = hook_harnesses.INJECTION[self.agent][1]
        event = _NAMES_OF.get(self.agent, _NAMES).get(self.kind, "SessionStart")
        if self.source_event == "PostToolUseFailure":  # the name that a harness compares with its own
            event = self.source_event
        status = packet.status if self.agent in hook_harnesses.TELLING else ""
        answer = in_form(form, packet.text, event=event, status=status)
        return answer, lambda: self._after_telling(packet, policy)

    def _after_telling(self, packet: "Packet", policy: "Policy") -> None:
        if self.agent in hook_harnesses.RETELLING and self.kind == "session-start":
            self._retelling().note(packet.text)
        if packet.handoff:
            self.confirm(packet.handoff, policy)

    def _retelling(self) -> "Retelling":
        from ai_memory import hook_retell  # only for a harness that may lose what its start was told

        return hook_retell.Retelling(self.data_dir, hook_places.session_uuid(self.agent, self.session))

    def _is_retold(self) -> bool:
        """Whether this first prompt of a session has to be told what its start may have lost."""
        if self.kind != "user-prompt" or self.subagent or self.agent not in hook_harnesses.RETELLING:
            return False
        return self._retelling().is_due()

    def _told_before(self) -> str:
        return self._retelling().take()

    def _drain(self) -> None:
        """Once the answer is out; tool events in between wait for the session's end."""
        if self.kind in ("session-start", "session-end"):
            from ai_memory import hook_drain  # only for a harness that ends what a hook leaves running

            hook_drain.drain_here(self.data_dir)

    def _asks_to_reload(self) -> bool:
        if self.kind != "user-prompt" or self.subagent or self.agent not in hook_harnesses.RELOADING:
            return False
        return hook_payload.prompt_of(self.payload).lstrip()[: len(_RELOAD)].lower() == _RELOAD

    def _resumes_silently(self) -> bool:
        """A start that may take nothing, of a harness that takes context later: with a prompt."""
        takes_at = hook_harnesses.INJECTION.get(self.agent, ("",))[0]
        is_later = takes_at not in ("", "session-start") and self.kind == "session-start"
        return is_later and not self.subagent and self.source in ("resume", "compact")

    def _is_repeated_start(self) -> bool:
        """Antigravity tells of every model call; only the first starts a session."""
        return self.kind == "session-start" and bool(self.payload.get("invocationNum"))

    def _is_no_prompt(self) -> bool:
        """Qwen Code says before each model call that a prompt was submitted; after a tool there is none."""
        return self.agent == "qwen-code" and self.kind == "user-prompt" and self.payload.get("prompt") == ""

    def _is_start(self) -> bool:
        """Whether context of a starting session can be given with this event: `Start.is_first` says if it is one."""
        kinds = [hook_harnesses.INJECTION.get(self.agent, ("",))[0]]
        if self.agent in hook_harnesses.BEGINNING_WITH_PROMPT:
            kinds.append("user-prompt")
        return self.kind in kinds and not self.subagent

    def start_in(self, around: "Surroundings") -> "Start":
        """This session's start in those folders."""
        from ai_memory import hook_outbox  # only where context can be given

        return hook_outbox.Start(
            self.data_dir,
            session=hook_places.session_uuid(self.agent, self.session),
            keys=around.keys(),
            folders=around.folders,
            source=self.source if self.kind == "session-start" else "clear",  # a prompt does not tell: see `clear`
            process=self.process,
        )

    def _head(self, kind: str) -> "dict[str, Any]":
        """The members that every event has, not clean yet. They stand first: a reader of a file's head finds them."""
        return {
            "v": 1,
            "agent": self.agent,
            "caller": self.caller,
            "event": kind,
            "source_event": self.source_event,
            "at_us": self._at_us(),
            "session": self.session,
            "cwd": self.cwd,
            "agent_id": self.subagent,
            **self.named,
        }

    def _at_us(self) -> int:
        told = self.producer.occurred_us if self.producer is not None else 0
        return told or hook_payload.time_of(self.payload, self.now_us)

    def _spool(self, policy: "Policy") -> bool:
        """Leave the event; whether it started a drain."""
        from ai_memory import hook_spool

        is_tool = self.kind in ("pre-tool-use", "post-tool-use")
        load = hook_spool.Load(self.data_dir, policy.max_files, policy.max_mib << 20, must_look=False)
        if load.is_full and is_tool:
            hook_spool.count_dropped(self.data_dir)
            return False
        self._write(policy)
        if self.agent in hook_harnesses.DRAINING:
            return False
        return hook_spool.kick(self.data_dir, self.kind, load.waiting)

    def _write(self, policy: "Policy") -> None:
        self._leave(self._event(policy))

    def _leave(self, event: "dict[str, Any]") -> None:
        from ai_memory import hook_spool

        hook_spool.put(self.data_dir, event)
        if self.unnamed is not None:
            self.unnamed.forget() if self.kind == "session-end" else self.unnamed.keep()

    def _event(self, policy: "Policy") -> "dict[str, Any]":
        """The event, cleaned and capped."""
        from ai_memory import hook_event

        if policy.is_unknown:
            self.flags.append("policy-unknown")
        if self.subagent:
            self.flags.append("subagent")
        event = self._head(self.kind)
        if self.producer is not None:
            event["ingest_key"] = self.producer.ingest_key
            event["occurred_at_us"] = self.producer.occurred_us or None
        event |= hook_event.build(
            self.payload, self.kind, policy, data_dir=self.data_dir, cwd=self.cwd, flags=self.flags
        )
        event["route"] = self.route
        event["flags"] = self.flags
        event["extra"] = self._extra(policy)
        hook_event.clean_names(event, policy)
        return {key: value for key, value in event.items() if value not in (None, "", [], {})}

    def _extra(self, policy: "Policy") -> "dict[str, Any]":
        kept = hook_payload.kept_members(self.payload)
        if policy.decision != "keep":
            kept = {key: value for key, value in kept.items() if key in ("source", "reason", "trigger", "model")}
        if self.options.agent and hook_harnesses.canonical_agent(self.options.agent) != self.agent:
            kept["installed_for"] = hook_harnesses.canonical_agent(self.options.agent)
        if self.producer is not None and self.producer.extension:
            kept["extension"] = self.producer.extension
        if policy.uncompiled:
            kept["uncompiled"] = policy.uncompiled
        if not self.options.is_batch and self.producer is None:
            kept["up_ms"] = _up_ms()
            kept["booted_ms"] = self.now_us // 1000 - kept["up_ms"]
        if self.process:
            kept["process"] = self.process
        return kept

    def confirm(self, handoff: str, policy: "Policy") -> None:
        """The handoff was printed: only now it is taken for good."""
        from ai_memory import hook_event, hook_spool

        event = self._head("handoff-claimed")
        event["at_us"] = time.time_ns() // 1000
        event["text"] = handoff
        event["extra"] = {"handoff": handoff}
        hook_event.clean_names(event, policy)
        hook_spool.put(self.data_dir, {key: value for key, value in event.items() if value not in (None, "")})
        hook_spool.kick(self.data_dir, "handoff-claimed", 0, is_staying=self.is_staying)


def _in_time(look: "Callable[[], Any]") -> "Any":
    """What the look gives; None when it takes too long, or raises: it goes on in a thread of its own."""
    import _thread  # built in

    done = _thread.allocate_lock()
    done.acquire()
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(look())
        finally:
            done.release()

    _thread.start_new_thread(run, ())
    return found[0] if done.acquire(timeout=LOOK_S) and found else None


def _up_ms() -> int:
    """For how long this machine has been up, whatever its clock says."""
    at = getattr(time, "CLOCK_BOOTTIME", None)  # counts sleep, too
    return int((time.monotonic() if at is None else time.clock_gettime(at)) * 1000)


def _process_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed under us
        return ""
