"""One call of the hook: its words, who really called, about what, what may be kept of it. Stdlib only, light.

`ai_memory.hook_front` reads stdin, and `ai_memory.hook_answer` tells what is printed.
"""

# ruff: noqa: PTH118 (no pathlib in a hook)

import os
import time

from ai_memory import hook_harnesses, hook_payload, hook_places, hook_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ai_memory.hook_outbox import Start
    from ai_memory.hook_places import Surroundings
    from ai_memory.hook_policy import Policy
    from ai_memory.hook_producer import Producer
    from ai_memory.hook_session import Unnamed

SILENT = "cwd-silent"
"""Flag of an event whose folder did not answer in time."""
LOOK_S = 1.0
"""How long the folders of an event may take to be looked at."""

PRODUCER_FLAGS = ("--extension", "--source-event", "--ingest-key", "--occurred-at")
"""What only a producer that is no harness says: see `ai_memory.hook_producer`."""

_OFF = ("off", "0", "false", "no")


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


class Call:
    """One call of the hook: who called, about what, and what may be kept of it."""

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
        self.compile: Callable[[str], None] | None = None
        """Makes the policy in a folder known. A hook has no time for it: it leaves that to the drain, and to an unknown
        policy it gives only metadata."""
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

    def judged(self) -> "tuple[Policy, Surroundings]":
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
        self.flags.append(SILENT)
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

    def verdict(self, policy: "Policy") -> "tuple[str, str]":
        """What is kept of the event, `keep`, `metadata` or nothing, and why; pauses aside."""
        if policy.decision == "keep" and self.kind == "user-prompt" and not policy.keeps_prompts:
            return "metadata", "prompts are not captured"
        return policy.decision, policy.reason

    def put(self) -> "tuple[str, str]":
        """Spool the event without a drain and without an answer; `accepted`, `dropped` or `refused`, and why.

        Of one that is accepted: why only metadata is kept, else nothing.

        *Errors*: OSError when the spool cannot be written.
        """
        outcome, reason, event = self.judged_event()
        if event is not None:
            self.leave(event)
        return outcome, reason

    def judged_event(self) -> "tuple[str, str, dict[str, Any] | None]":
        """The same without the spool: the event is given, as its file would hold it. Writes nothing."""
        if self.refusal or not self.session:
            return "refused", self.refusal or "it names no session", None
        pause = self.pause()
        if pause:
            return "dropped", pause, None
        policy, _ = self.judged()
        if policy.uncompiled and self.compile is not None and SILENT not in self.flags:
            self.compile(os.path.dirname(policy.uncompiled))
            policy, _ = self.judged()
        decision, reason = self.verdict(policy)
        if decision == "drop":
            return "dropped", reason, None
        return "accepted", reason if decision == "metadata" else "", self.event(policy)

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

    def leave(self, event: "dict[str, Any]") -> None:
        """Put it into the spool. *Errors*: OSError."""
        from ai_memory import hook_spool

        hook_spool.put(self.data_dir, event)
        if self.unnamed is not None:
            self.unnamed.forget() if self.kind == "session-end" else self.unnamed.keep()

    def event(self, policy: "Policy") -> "dict[str, Any]":
        """The event, cleaned and capped."""
        from ai_memory import hook_event

        if policy.is_unknown:
            self.flags.append("policy-unknown")
        if self.subagent:
            self.flags.append("subagent")
        if self.kind == "user-prompt" and self._is_unattended():
            self.flags.append(hook_harnesses.UNATTENDED)
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

    def _is_unattended(self) -> bool:
        if self.options.is_batch:
            return True
        from ai_memory import hook_attendance  # only for a prompt

        return hook_attendance.is_unattended(self.agent, os.environ, process=hook_process.id_of(self.process))

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
