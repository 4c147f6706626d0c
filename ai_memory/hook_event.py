"""From a payload to the event that is spooled: policy, private parts, secrets, caps, in this order. Stdlib only, light.

*Source*: decisions B1, B4, B5, B10.
"""

# ruff: noqa: PTH118 (pathlib is not loaded in a hook)

import json
import os
import re
import time

from ai_memory import hook_payload, hook_places, hook_policy
from ai_memory.scrub import MARK, UNSCANNED, TooSlow, cut_middle, scrub, scrub_together, strip_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ai_memory.hook_policy import Policy

PROMPT_BYTES = 16 << 10
EXCERPT_BYTES = 2 << 10
INPUT_BYTES = 16 << 10
"""Caps, in UTF-8: prompts and compaction summaries; outputs, notifications, answers and each text of an input; the
texts of one input together."""
WINDOW = 16 << 10
"""Characters beyond the cap that are scrubbed too, so that no secret is split where the cut will be (decision B5)."""
SCRUB_CPU_S = 0.3
MAX_NODES = 512
MAX_DEPTH = 8
_TELLING = ("pass", "pwd", "secret", "token", "cred", "key", "auth", "cookie", "salt", "pepper", "bearer", '"-')
"""Parts of names and flags that tell what the next member or argument is."""
_HOLDERS = ("value", "default", "content", "data")
"""Names of members that say nothing: their value belongs to the name of the object around it."""
INJECTED = "ai-memory:untrusted-history"
"""As in `ai_memory.text.fences.MARK`: text that holds it came from memory and is not fed back to it."""

_NAMES = {
    "source_event": hook_payload.NAME_LENGTH,
    "session": hook_payload.SESSION_LENGTH,
    "cwd": hook_payload.CWD_LENGTH,
    "route": hook_payload.CWD_LENGTH,
    "workspace": hook_payload.NAME_LENGTH,
    "project": hook_payload.NAME_LENGTH,
    "agent_id": hook_payload.NAME_LENGTH,
    "tool": hook_payload.NAME_LENGTH,
    "call_id": hook_payload.CALL_ID_LENGTH,
}
"""Members of an event that name something, and how much of each is kept."""
_IDS = ("session", "call_id")
_PLACES = ("cwd", "route")
"""What is a path: a line end is a part of it."""

_OWN_TOOL = r"(?:^|[_:.])ai[-_]memory(?:[_:.]|$)|(?:^|__|:)memory_"
"""Clients put the server's name before a tool's, with `__`, `_` (OpenCode, Gemini CLI), `:` or `.` between them."""
_OWN_COMMAND = r"(?:^|[\s;&|(`'\"/\\])ai-memory(?:\.exe|\.cmd)?(?:[\s'\"]|$)|-m[ \t]+ai_memory\b"
_ECHO_KEPT = ("query", "path", "file_path", "filePath", "name", "workspace", "project")


class Cleaner:
    """Cleans the texts of one event, within one allowance of CPU time."""

    __slots__ = ("_until", "allow", "extra", "flags")

    def __init__(self, policy: "Policy", flags: "list[str]") -> None:
        self.extra = policy.extra
        self.allow = policy.allow
        self.flags = flags
        self._until = time.process_time() + SCRUB_CPU_S

    def text(self, text: str, limit_bytes: int) -> str:
        """The text without private parts and secrets, in at most so many bytes."""
        text = strip_private(text)
        reach = limit_bytes + WINDOW
        if len(text) <= 2 * reach:
            whole = self._scrubbed(text)
            short = cut_middle(whole, limit_bytes)
            self._note("truncated", short is not whole)
            return short
        missing = text[reach:-reach]
        head, tail = self._scrubbed(text[:reach]), self._scrubbed(text[-reach:])
        self._note("truncated", True)
        missing_bytes = len(missing) if missing.isascii() else len(missing.encode("utf-8", "replace"))
        return cut_middle(head, limit_bytes, tail=tail, missing_bytes=missing_bytes)

    def as_one(self, given: "Any") -> "Any":
        """A cleaned input looked at as a whole, as the drain will store it: a name, a flag or a pair gives away what
        stands in the next member (`["--password", "…"]`, `{"name": "DB_PASSWORD", "value": "…"}`)."""
        if not isinstance(given, (dict, list)):
            return given
        whole = json.dumps(given, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        low = whole.lower()
        if not any(part in low for part in _TELLING):
            return given
        clean = self._scrubbed(whole)
        if clean == whole:
            return given
        try:
            return json.loads(clean)
        except ValueError:  # a secret over several members took quotes along
            return clean

    def _scrubbed(self, text: str) -> str:
        try:
            if time.process_time() <= self._until:
                return scrub(text, extra=self.extra, allow=self.allow)
        except TooSlow:
            self.extra = self.allow = []  # never again in this event: what follows is out of time
            self._until = 0.0
        self._note("unscanned", True)
        return UNSCANNED

    def _note(self, flag: str, holds: bool) -> None:
        if holds and flag not in self.flags:
            self.flags.append(flag)


class _InputCleaner:
    """Cleans a tool's input, member by member, within the bounds of one event."""

    def __init__(self, cleaner: Cleaner) -> None:
        self._cleaner = cleaner
        self._room = INPUT_BYTES
        self._nodes = MAX_NODES

    def value(self, given: "Any", name: str = "", depth: int = 0) -> "Any":
        self._nodes -= 1
        if self._nodes < 0 or depth > MAX_DEPTH:
            return None
        if isinstance(given, str):
            return self._text(given, name)
        if isinstance(given, dict):
            pairs = list(given.items())[:MAX_NODES]
            told = {key: name if key in _HOLDERS and name else str(key) for key, _ in pairs}
            return {self._key(key): self.value(one, told[key], depth + 1) for key, one in pairs if self._nodes > 0}
        if isinstance(given, list):
            return [self.value(one, name, depth + 1) for one in given[:MAX_NODES] if self._nodes > 0]
        if isinstance(given, float) and given - given != 0:  # JSON knows neither NaN nor infinity
            return None
        if isinstance(given, int) and given > 999 and ("passw" in name.lower() or "passcode" in name.lower()):
            return f"{MARK}password]"
        return given

    def _key(self, key: "Any") -> str:
        return self._cleaner.text(str(key), 1024)

    def _text(self, text: str, name: str) -> str:
        if not text or self._room <= 0:
            return ""
        short = self._cleaner.text(text, min(EXCERPT_BYTES, self._room) if self._room > 64 else 64)
        low = name.lower()
        if any(word in low for word in ("pass", "pwd", "secret", "token", "credential", "key")):
            from ai_memory.scrub_named import kind_of

            kind = kind_of(name, short)
            short = f"{MARK}{kind}]" if kind else short
        self._room -= len(short.encode())
        return short


def is_own_tool(name: str) -> bool:
    """A tool of our own bridge, whatever the client calls it."""
    return ("memory" in name) and re.search(_OWN_TOOL, name) is not None


def is_self_echo(tool: str, given: "Any", *, data_dir: str, cwd: str) -> bool:
    """Whether the result is memory itself: our tools, our command, files of the data dir (decision B10)."""
    if is_own_tool(tool):
        return True
    command = given if isinstance(given, str) else ""
    if isinstance(given, dict):
        for key in ("command", "cmd", "script"):
            value = given.get(key)
            if isinstance(value, list):
                value = " ".join(one for one in value if isinstance(one, str))
            command = value if isinstance(value, str) else command
    if ("ai-memory" in command or "ai_memory" in command) and re.search(_OWN_COMMAND, command[:65_536]):
        return True
    roots = {data_dir, os.path.realpath(data_dir)}
    if any(root in command for root in roots):
        return True
    named, _ = hook_policy.candidates(given)
    for path in named:
        full = os.path.normpath(os.path.join(cwd, hook_places.expanded(path)))
        if any(full == root or full.startswith(root.rstrip("/\\") + os.sep) for root in roots):
            return True
    return False


def build(
    payload: "Mapping[str, Any]", kind: str, policy: "Policy", *, data_dir: str, cwd: str, flags: "list[str]"
) -> "dict[str, Any]":
    """The members of the event that hold what was said and done, cleaned and capped; `flags` grows."""
    event: dict[str, Any] = {}
    is_tool = kind in ("pre-tool-use", "post-tool-use")
    if is_tool:
        tool, given, call_id = hook_payload.tool_of(payload)
        output, outcome = hook_payload.result_of(payload) if kind == "post-tool-use" else ("", "")
        if kind == "post-tool-use" and not output and "stepIdx" in payload:
            from ai_memory import hook_antigravity  # only for a harness that leaves results in files

            output = hook_antigravity.output_of(payload)
        event.update(tool=tool, call_id=call_id, outcome=outcome)
    if policy.decision == hook_policy.METADATA:
        flags.append("metadata-only")
        return event
    cleaner = Cleaner(policy, flags)
    if is_tool:
        if is_self_echo(tool, given, data_dir=data_dir, cwd=cwd):
            flags.append("self-echo")
            given, output = _echo_input(given), ""
        event["input"] = cleaner.as_one(_InputCleaner(cleaner).value(given))
        if INJECTED in output:
            flags.append("injected")
            output = ""
        event["output"] = cleaner.text(output, EXCERPT_BYTES)
    elif kind == "user-prompt":
        if policy.keeps_prompts:
            event["prompt"] = cleaner.text(_without_injected(hook_payload.prompt_of(payload), flags), PROMPT_BYTES)
        else:
            flags.append("metadata-only")
    else:
        text, limit = _said(payload, kind, policy)
        event["text"] = cleaner.text(_without_injected(text, flags), limit)
    return event


def clean_names(event: "dict[str, Any]", policy: "Policy") -> None:
    """Clean and cut what the event names, and the texts of its `extra`, in place and in one look: without private
    parts and secrets, each on one line.

    The id of a session or call that cannot stay gives way to a UUID made of it: so that of a session remains what it
    would have been (decision B2), and two calls do not become one.
    """
    extra = event.get("extra") or {}
    places = [(event, name, most) for name, most in _NAMES.items() if event.get(name)]
    places += [(extra, name, hook_payload.MEMBER_LENGTH) for name, value in extra.items() if isinstance(value, str)]
    given = [holder[name] for holder, name, _ in places]
    lines = [
        strip_private(text) if name in _PLACES else " ".join(strip_private(text).splitlines())
        for (_, name, _), text in zip(places, given, strict=True)
    ]
    try:
        cleaned = scrub_together(lines, extra=policy.extra, allow=policy.allow)
    except TooSlow:
        cleaned = [UNSCANNED] * len(given)
    for (holder, name, most), text, clean in zip(places, given, cleaned, strict=True):
        if name in _IDS and (clean != text or len(text) > most):
            clean = hook_places.session_uuid(event["agent"], text)
        elif name == "call_id":
            clean = "".join(sign for sign in text if sign.isalnum() or sign in "_.-")
        holder[name] = clean[:most]


def _said(payload: "Mapping[str, Any]", kind: str, policy: "Policy") -> "tuple[str, int]":
    if kind == "post-compaction":
        return hook_payload.summary_of(payload), PROMPT_BYTES
    if kind == "pre-compact":
        return hook_payload.text_of(hook_payload.find(payload, ("custom_instructions",))), EXCERPT_BYTES
    if kind == "notification":
        return hook_payload.text_of(hook_payload.find(payload, ("message", "title", "text"))), EXCERPT_BYTES
    if kind == "stop" and policy.keeps_answers:
        return hook_payload.answer_of(payload), EXCERPT_BYTES
    return "", EXCERPT_BYTES


def _without_injected(text: str, flags: "list[str]") -> str:
    """The text less what memory put into it. That it only speaks of the marker is no reason to lose it."""
    if f"{INJECTED}:" not in text:
        return text
    from ai_memory.text.fences import FENCE_END, without_fences  # imports nothing; only for a text of this kind

    flags.append("injected")
    text = without_fences(text)
    begun_before = text.rfind(FENCE_END)
    text = text[begun_before + len(FENCE_END) :] if begun_before >= 0 else text
    return "" if f"{INJECTED}:" in text else text  # a marker in another spelling: who knows how far it goes


def _echo_input(given: "Any") -> "Any":
    if not isinstance(given, dict):
        return given[:200] if isinstance(given, str) else None
    kept = {key: given[key] for key in _ECHO_KEPT if isinstance(given.get(key), str)}
    command = given.get("command")
    if isinstance(command, list):
        command = " ".join(one for one in command if isinstance(one, str))
    if isinstance(command, str):
        kept["command"] = command.partition("\n")[0][:200]
    return kept
