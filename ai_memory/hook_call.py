"""One call of the hook: its words, who really called, what may be kept, what is told. Stdlib only, light.

`ai_memory.hook_front` reads stdin and prints what is answered here.
"""

# ruff: noqa: PTH112, PTH118 (no pathlib in a hook)

import os
import time

from ai_memory import hook_payload, hook_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ai_memory.hook_outbox import Start
    from ai_memory.hook_packet import Packet
    from ai_memory.hook_places import Surroundings
    from ai_memory.hook_policy import Policy
    from ai_memory.hook_producer import Producer

LOOK_S = 1.0
"""How long the folders of an event may take to be looked at."""

PRODUCER_FLAGS = ("--extension", "--source-event", "--ingest-key", "--occurred-at")
"""What only a producer that is no harness says: see `ai_memory.hook_producer`."""

_OFF = ("off", "0", "false", "no")
_NAMES = {"session-start": "SessionStart", "post-tool-use": "PostToolUse", "user-prompt": "UserPromptSubmit"}
_NAMES_OF = {"gemini-cli": {"user-prompt": "BeforeAgent"}}
_RELOAD = "reload context"
"""A prompt that begins so asks for what was compacted."""
_WITHOUT_IDS = ("copilot-cli", "devin", "zcode")
"""Some versions of these tell no session id: their process stands for it."""
_PROJECT_FOLDERS = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "DEVIN_PROJECT_DIR", "QWEN_PROJECT_DIR")
"""Where a harness says that its session began, wherever its agent went since: a pause of that folder holds."""


class Options:
    """The words of the command. Unknown ones are no fault: an installed command may be older or newer."""

    __slots__ = ("agent", "data_dir", "event", "is_allowlist", "is_check", "payload", "producer")

    def __init__(self, argv: "Sequence[str]") -> None:
        values = {"--event": "", "--agent": "", "--data-dir": "", "--capture-mode": ""}
        self.producer: dict[str, str] = {}
        self.is_check = "--check-capture" in argv
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
    if agent in hook_payload.SILENT:
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
        self.now_us = time.time_ns() // 1000
        self.process = os.getppid()
        self.route = ""
        told = payload.get("hook_event_name") or payload.get("hookEventName") or payload.get("agent_action_name")
        named = str(told or options.event or payload.get("type") or "")
        self.producer, self.refusal = self._producer()
        if self.producer is not None and self.producer.source_event:
            named = self.producer.source_event
        self.source_event = named[: hook_payload.NAME_LENGTH + hook_payload.REACH]
        self.kind = hook_payload.kind_of(payload, options.event or self.source_event)
        self.caller = hook_payload.detect(payload, agent, os.environ)
        self.agent = self.caller or agent
        self.subagent = hook_payload.subagent_of(payload)
        self.source = str(hook_payload.find(payload, ("source",)) or "").lower()
        if self.source_event.lower() == "taskresume":
            self.source = "resume"
        self.session = hook_payload.session_of(payload) or self._session_from_elsewhere()
        self.cwd = hook_payload.cwd_of(payload)
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

    def _session_from_elsewhere(self) -> str:
        environ = os.environ
        if "conversation_id" in self.payload:  # Cursor's placeholder before there is a conversation
            return ""
        own = environ.get("CLAUDE_CODE_SESSION_ID", "") if self.agent == "claude-code" else ""
        named = environ.get("AI_MEMORY_SESSION_ID", "") or own
        if named:
            return named[: hook_payload.SESSION_LENGTH + hook_payload.REACH]
        if self.agent in _WITHOUT_IDS:
            return f"process-{self.process}-{_started(self.process)}"
        if self.kind == "session-start":
            return os.urandom(16).hex()
        return ""

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
        tool, given, call_id = ("", None, "")
        is_tool = self.kind in ("pre-tool-use", "post-tool-use")
        if is_tool:
            tool, given, call_id = hook_payload.tool_of(self.payload)
        owner = os.environ.get("AI_MEMORY_CAPTURE_OWNER", "").strip()
        if self.options.is_allowlist and not policy.base:
            policy.drop("no marker, and this install captures only where one is")
        elif policy.drops_subagents and self.subagent:
            policy.drop("drop_subagent_captures")
        elif owner not in ("", "ai-memory", os.environ.get("AI_MEMORY_HOOK_ORIGIN", "")):
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
        folders = [self.cwd, _process_folder(), *(os.environ.get(name, "") for name in _PROJECT_FOLDERS)]
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

        return json.dumps({"systemMessage": line}).encode() if self.agent in hook_payload.TELLING else b""

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
        if self.refusal or not self.session:
            return "refused", self.refusal or "it names no session"
        pause = self.pause()
        if pause:
            return "dropped", pause
        policy, _ = self.policy()
        if policy.decision == "drop":
            return "dropped", policy.reason
        self._write(policy)
        return "accepted", policy.reason

    def take(self) -> "tuple[bytes, Callable[[], None] | None]":
        """Spool the event, start a drain, and give a starting session what waits for it."""
        from ai_memory import hook_spool

        empty = empty_answer(self.agent, self.kind)
        if not self.session or self._is_repeated_start():
            return empty, None
        is_start = hook_payload.INJECTION.get(self.agent, ("",))[0] == self.kind and not self.subagent
        pause = self.pause()
        if pause:
            return (self._told_person(f"off the record: memory is {pause}") if is_start else b"") or empty, None
        policy, around = self._judged()
        is_reload = self._asks_to_reload()
        start = self._start(around) if (is_start or is_reload) and around.folders else None
        was_pending = is_start and start is not None and (start.is_ending() or hook_spool.is_drain_alive(self.data_dir))
        is_renewed, is_kept = was_pending, True
        if policy.decision != "drop":
            try:
                is_renewed = self._spool(policy) or was_pending
            except OSError:  # full or read-only: what lies there can be told, but nothing taken
                is_renewed, is_kept = False, False
        if start is None or (policy.decision == "drop" and self.options.is_allowlist):
            return empty, None
        is_start = is_start and start.is_first()
        if not is_start and not is_reload:
            return empty, None
        from ai_memory import hook_packet  # only where something is told

        packet = hook_packet.Packet(start, base=policy.base, markers=around.markers())
        if is_start:
            packet.at_start(claims=policy.claims and is_kept, was_pending=was_pending, is_renewed=is_renewed)
        else:
            packet.at_reload()
        return self._printed(packet, policy) if packet.text else (empty, None)

    def _printed(self, packet: "Packet", policy: "Policy") -> "tuple[bytes, Callable[[], None] | None]":
        """The packet in the form of the harness, and what confirms its handoff."""
        from ai_memory.hook_packet import in_form  # loaded already

        form = hook_payload.INJECTION[self.agent][1]
        event = _NAMES_OF.get(self.agent, _NAMES).get(self.kind, "SessionStart")
        status = packet.status if self.agent in hook_payload.TELLING else ""
        answer = in_form(form, packet.text, event=event, status=status)
        return answer, (lambda: self._confirm(packet.handoff, policy)) if packet.handoff else None

    def _asks_to_reload(self) -> bool:
        if self.kind != "user-prompt" or self.subagent or self.agent not in hook_payload.RELOADING:
            return False
        return hook_payload.prompt_of(self.payload).lstrip()[: len(_RELOAD)].lower() == _RELOAD

    def _is_repeated_start(self) -> bool:
        """Antigravity tells of every model call; only the first starts a session."""
        return self.kind == "session-start" and bool(self.payload.get("invocationNum"))

    def _start(self, around: "Surroundings") -> "Start":
        from ai_memory import hook_outbox  # only where context can be given

        return hook_outbox.Start(
            self.data_dir,
            session=hook_places.session_uuid(self.agent, self.session),
            keys=around.keys(),
            folders=around.folders,
            source=self.source,
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
        return hook_spool.kick(self.data_dir, self.kind, load.waiting)

    def _write(self, policy: "Policy") -> None:
        from ai_memory import hook_event, hook_spool

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
        kept = {key: value for key, value in event.items() if value not in (None, "", [], {})}
        hook_spool.put(self.data_dir, kept)

    def _extra(self, policy: "Policy") -> "dict[str, Any]":
        kept = hook_payload.kept_members(self.payload)
        if policy.decision != "keep":
            kept = {key: value for key, value in kept.items() if key in ("source", "reason", "trigger", "model")}
        if self.options.agent and hook_payload.canonical_agent(self.options.agent) != self.agent:
            kept["installed_for"] = hook_payload.canonical_agent(self.options.agent)
        if self.producer is not None and self.producer.extension:
            kept["extension"] = self.producer.extension
        kept["process"] = self.process
        return kept

    def _confirm(self, handoff: str, policy: "Policy") -> None:
        """The handoff was printed: only now it is taken for good."""
        from ai_memory import hook_event, hook_spool

        event = self._head("handoff-claimed")
        event["at_us"] = time.time_ns() // 1000
        event["text"] = handoff
        event["extra"] = {"handoff": handoff, "process": self.process}
        hook_event.clean_names(event, policy)
        hook_spool.put(self.data_dir, {key: value for key, value in event.items() if value not in (None, "")})
        hook_spool.kick(self.data_dir, "handoff-claimed", 0)


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


def _process_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed under us
        return ""


def _started(process: int) -> str:
    """When a process started, in the system's own ticks, so that a process id used again is another session."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return "0"
