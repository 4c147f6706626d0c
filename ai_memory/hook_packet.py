"""What a hook prints to an agent: handoff, brief and notices, at most 10,000 characters. Stdlib only, light.

The texts are rendered by the drain (`ai_memory.capture.starts` says how they lie in `outbox/`). Here they are chosen
and put together, not cut inside: a brief lies there in several sizes, and one that has no room is named. Nothing is
shown of a page that is gone or was changed since its text was rendered.
"""

# ruff: noqa: PTH113, PTH116, PTH118 (pathlib is not loaded in a hook)

import json
import os
import time

from ai_memory.hook_outbox import MAX_INJECTED, POLL_S
from ai_memory.hook_places import read_regular
from ai_memory.hook_policy import may_hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ai_memory.hook_outbox import Start

CONTINUITY_US = 7 * 86_400 * 1_000_000
"""A session that was silent for longer is no news."""
KEPT_S = 172_800.0
"""How long a recap is kept."""
MAX_LISTED = 5
"""Open handoffs that a reload lists."""
_FILE_BYTES = 1 << 20
_NO_ROOM = "The project brief is left out: the handoff takes the room. Ask memory_query, or `ai-memory recent`."
_OUTDATED = "The project brief is left out: its pages are being read anew. Ask memory_query, or `ai-memory recent`."
_CUT = "\n\n(cut: the page holds the rest)\n"
_NOTHING = "Nothing to reload: memory saw no compaction of this session, and no handoff is open here."


class Told:
    """What the drain left for starts in one directory. `is_current`: it tells of the pages and markers of now."""

    __slots__ = ("briefs", "chars", "is_current", "mail_for", "messages", "open", "status")

    def __init__(self) -> None:
        self.briefs: dict[str, str] = {}
        self.chars = 0
        self.status = ""
        self.open: Mapping[str, Any] = {}
        self.messages = 0
        self.mail_for = ""
        """The project for which so many messages wait."""
        self.is_current = False


class Packet:
    """What one start is given. `base`: folder of the nearest marker, or nothing; `markers`: where markers may lie;
    `told`: the project's file, where it is named and no folder leads to it; `most_bytes`: what the person set as the
    most, 0 where they did not."""

    def __init__(self, start: "Start", *, base: str, markers: "list[str]", told: str = "", most_bytes: int = 0) -> None:
        self._start = start
        self._most_bytes = most_bytes
        self._named = told
        self._base = base
        self._markers = markers
        self.handoff = ""
        """Id of the handoff that was taken."""
        self.text = ""
        self.status = ""
        """One line for the person; empty when nothing is given."""

    def at_start(self, *, claims: bool, was_pending: bool, is_renewed: bool) -> None:
        """Fill it for a starting session. `is_renewed`: a drain is on its way or at work."""
        start = self._start
        if start.source == "resume":
            return  # the conversation holds what its first start was given
        recap = start.recap() if start.source == "compact" else ""
        text = ""
        if claims and start.source != "compact":
            self.handoff, text = start.take(was_pending)
        told = self._told(is_renewed)
        waiting = start.waiting() if not self.handoff and start.source != "compact" else None
        notices = self._notices(told, waiting)
        self.text = _joined([recap, text], told, notices, self._most_bytes)
        self.status = _status(text, recap, told, waiting, is_given=bool(self.text))

    def at_reload(self) -> None:
        """Fill it for a person who asks for what was compacted. Takes nothing."""
        recap = self._start.recap()
        handoffs = [_waiting(head, one) for one, head in self._start.open_handoffs()[:MAX_LISTED]]
        text = "\n".join(part for part in (recap, *handoffs) if part) or _NOTHING
        self.text = text if _has_room(text, self._most_bytes) else _cut([recap], "\n".join(handoffs), self._most_bytes)
        self.status = ""

    def _told(self, is_renewed: bool) -> Told:
        """What lies there; where a brief was asked for and is not up to date, a drain at work is waited for."""
        told = self._read()
        if told.is_current or not is_renewed or not (told.chars or self._may_be_asked()):
            return told
        while not told.is_current and time.monotonic() < self._start.deadline:
            time.sleep(POLL_S)
            told = self._read()
        return told

    def _may_be_asked(self) -> bool:
        """Whether a marker could ask for a brief that nobody rendered yet."""
        present = (path for path in self._markers if os.path.isfile(path))
        return any(may_hold(path, (b"briefing",)) for path in present)

    def _read(self) -> Told:
        told = Told()
        entry = self._entry()
        chars = entry.get("chars")
        if entry.get("base") != self._base or not all(_is_same(row) for row in rows_in(entry, "markers")):
            return told
        told.chars = chars if isinstance(chars, int) else 0
        if not entry.get("told"):  # of no project
            told.is_current = True
            return told
        name = os.path.basename(str(entry["told"]))
        self._count_mail(told, name)
        brief = self._json(f"starts/{name}")
        if not brief:
            return told
        session = brief.get("open")
        told.open = session if isinstance(session, dict) else {}
        is_true = self._is_true(brief)
        told.is_current = not told.chars or (is_true and self._is_of_now())
        briefs = brief.get("briefs")
        if told.chars and is_true and isinstance(briefs, dict):
            told.briefs = briefs
            told.status = str(brief.get("status") or "")
        return told

    def _count_mail(self, told: Told, brief_name: str) -> None:
        """How many messages wait for the project, as their senders left it (`ai_memory.capture.mail`)."""
        mail = self._json(f"mail/{brief_name.partition('.')[0]}.json")
        now_us = time.time_ns() // 1000
        told.messages = sum(isinstance(until_us, int) and until_us > now_us for until_us in rows_in(mail, "until_us"))
        told.mail_for = " ".join(str(mail.get("place") or "").split())[:200]

    def project_key(self) -> str:
        """Key of the folder's project; empty where none is sure, as after a change of a marker."""
        entry = self._entry()
        is_current = entry.get("base") == self._base and all(_is_same(row) for row in rows_in(entry, "markers"))
        return os.path.basename(str(entry.get("told") or "")).partition(".")[0] if is_current else ""

    def _entry(self) -> "Mapping[str, Any]":
        if self._named:
            return {"base": self._base, "told": self._named}
        for key in self._start.keys:
            found = self._json(f"starts/{key}.json")
            if found:
                return found
        return {}

    def _json(self, name: str) -> "Mapping[str, Any]":
        try:
            found = json.loads(read_regular(os.path.join(self._start.outbox, name), _FILE_BYTES) or b"")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) and found.get("v") == 1 else {}

    def _is_true(self, brief: "Mapping[str, Any]") -> bool:
        """Whether every page that it shows lies there as it did, and none has expired."""
        wiki = os.path.join(self._start.data_dir, "wiki")
        until_us = brief.get("until_us")
        if isinstance(until_us, int) and 0 < until_us < time.time_ns() // 1000:
            return False
        return all(_is_same(row, wiki) for row in rows_in(brief, "shows"))

    def _is_of_now(self) -> bool:
        """Whether no commit was made since; unknown counts as none: git may keep the branch elsewhere."""
        path = os.path.join(self._start.data_dir, "wiki", ".git", "refs", "heads", "main")
        head = (read_regular(path, 64) or b"").decode("ascii", "replace").strip()
        return not head or self._json("starts/made.json").get("head") == head

    def _notices(self, told: Told, waiting: "tuple[str, str] | None") -> "list[str]":
        found = []
        if waiting is not None:
            found.append(_waiting(waiting[1], waiting[0]))
        elif not self.handoff and self._start.source != "compact" and self._is_news(told.open):
            found.append(str(told.open.get("text") or ""))
        if told.chars and not told.is_current and not told.briefs:
            found.append(_OUTDATED)
        return [*found, _mail(told)]

    def _is_news(self, session: "Mapping[str, Any]") -> bool:
        at_us = session.get("at_us")
        is_recent = isinstance(at_us, int) and time.time_ns() // 1000 - at_us < CONTINUITY_US
        return is_recent and session.get("session") != self._start.session


def rows_in(record: "Mapping[str, Any]", key: str) -> "list[Any]":
    """The list under that key of a record that was read, empty for anything else."""
    value = record.get(key)
    return value if isinstance(value, list) else []


def _is_same(row: "Any", folder: str = "") -> bool:
    """Whether the file of a row [path, size, mtime in ns] is the one that was looked at."""
    try:
        path, size, mtime_ns = row
        status = os.stat(os.path.join(folder, path))
    except (OSError, ValueError, TypeError):
        return False
    return (status.st_size, status.st_mtime_ns) == (size, mtime_ns)


def _joined(parts: "list[str]", told: Told, notices: "list[str]", most_bytes: int = 0) -> str:
    """Parts, the largest brief that has room beside them, notices."""
    notices = [one for one in notices if one]
    before = [part for part in parts if part]
    sizes = sorted((int(size) for size in told.briefs if size.isdecimal() and int(size) <= told.chars), reverse=True)
    for size in sizes:
        text = "\n".join(part for part in (*before, told.briefs[str(size)], *notices) if part)
        if _has_room(text, most_bytes):
            return text
    tail = "\n".join([_NO_ROOM, *notices] if told.briefs else notices)
    text = "\n".join(part for part in (*before, tail) if part)
    return text if _has_room(text, most_bytes) else _cut(before, tail, most_bytes)


def _has_room(text: str, most_bytes: int) -> bool:
    return len(text) <= MAX_INJECTED and (not most_bytes or len(text.encode("utf-8", "replace")) <= most_bytes)


def _cut(before: "list[str]", tail: str, most_bytes: int) -> str:
    """For a handoff that is longer than today's, or than the person wants: cut, with a mark, and its fence closed."""
    from ai_memory.text.fences import FENCE_END, FENCE_START  # imports nothing; only for such a text

    text = "\n".join(before) or tail
    closed = _CUT + (f"{FENCE_END}\n" if FENCE_START in text else "")
    end = closed + (f"\n{tail}" if tail and before else "")
    if most_bytes and len(end.encode("utf-8", "replace")) > most_bytes // 2:
        end = closed  # the handoff comes before what waits besides
    kept = text[: MAX_INJECTED - len(end)]
    if most_bytes:
        room = most_bytes - len(end.encode("utf-8", "replace"))
        kept = kept.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return kept + end


def _from(head: str) -> str:
    """Who left a handoff, as its first line says: `Handoff from Claude Code, 2026-…` gives `claude-code`."""
    name = head.partition("\n")[0].removeprefix("Handoff from ").partition(",")[0].partition(" for ")[0]
    if not head.startswith("Handoff from ") or name == "An agent" or len(name) > 60:
        return ""
    return name.lower().replace(" ", "-")


def _waiting(head: str, handoff: str) -> str:
    line = head.partition("\n")[0]
    what = line if line.startswith("Handoff from ") and len(line) < 200 else "A handoff"
    return f"{what}: open, not taken. memory_handoff_accept or `ai-memory handoff accept {handoff}` takes it."


def _mail(told: Told) -> str:
    """How many messages wait; nothing when none does, and never a word of them."""
    if not told.messages:
        return ""
    what = "1 message waits" if told.messages == 1 else f"{told.messages} messages wait"
    return f"{what} for {told.mail_for}: memory_message_pop or `ai-memory message pop` takes the oldest."


def _status(text: str, recap: str, told: Told, waiting: "tuple[str, str] | None", *, is_given: bool) -> str:
    if not is_given:
        return ""
    parts = []
    if recap:
        parts.append("recap")
    if text:
        name = _from(text)
        parts.append(f"handoff from {name}" if name else "handoff")
    elif waiting is not None:
        name = _from(waiting[1])
        parts.append(f"handoff from {name} waits" if name else "a handoff waits")
    if told.briefs and told.status:
        parts.append(told.status)
    if told.messages:
        parts.append(f"{told.messages} message{'' if told.messages == 1 else 's'}")
    return f"memory: {', '.join(parts) or 'a note'}"


def in_form(form: str, text: str, *, event: str, status: str = "") -> bytes:
    """The context in the form of the harness that called, and `status` for the person. `event`: name of it there."""
    if form == "text":
        return text.encode("utf-8", "replace")
    asked = {} if event == "SessionStart" else {"continue": True}  # Cursor asks at a prompt whether it may go on
    shapes: dict[str, Any] = {
        "envelope": {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}},
        "camel": {"additionalContext": text},
        "snake": {**asked, "additional_context": text},
        "context": {"context": text},
        "steps": {"injectSteps": [{"ephemeralMessage": text}]},
        "cline": {"cancel": False, "contextModification": text},
    }
    answer = shapes[form]
    return json.dumps({"systemMessage": status} | answer if status else answer).encode()
