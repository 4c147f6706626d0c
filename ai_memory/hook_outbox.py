"""What waits for a session: a handoff, claimed by rename, and its own recap. Part of the hook: stdlib only, light.

The layout is that of `ai_memory.store.outbox`, which says it with more comfort; a test keeps both equal. A claim is
`rename(open/x.md, claimed/x.<session>)`: one winner among any number of racers.
"""

# ruff: noqa: PTH102, PTH103, PTH104, PTH112, PTH113, PTH118, PTH208, SIM105 (pathlib, contextlib: not loaded)

import json
import os
import time

from ai_memory import hook_process, hook_spool
from ai_memory.hook_places import read_regular, real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_INJECTED = 10_000
"""Characters of everything injected at a start (decision C10)."""
MAX_HANDOFF = 9_200
"""Of these a handoff: what is left has room for the notices."""
COMPACTION_S = 30
"""Start hooks of one session within this time tell of one compaction."""
POLL_S = 0.025
WAIT_S = 1.5
SILENT_S = 600.0
KEPT_S = 172_800.0
_HEAD_BYTES = 6_144
"""The members up to `cwd` stand in the first bytes of a spooled event."""
_MARK_BYTES = 512
_TEXT_BYTES = 1 << 20
"""Far more of a rendered handoff than is ever shown."""


class Start:
    """One start of a session: `session` its UUID, `keys` those of its folders, most specific first."""

    __slots__ = ("data_dir", "deadline", "folders", "keys", "outbox", "process", "session", "source")

    def __init__(
        self, data_dir: str, *, session: str, keys: "list[str]", folders: "list[str]", source: str, process: int
    ) -> None:
        self.data_dir = data_dir
        self.outbox = os.path.join(data_dir, "outbox")
        self.session = session
        self.keys = keys
        self.folders = folders
        self.source = source
        self.process = process
        self.deadline = time.monotonic() + WAIT_S
        """Until when this start waits for what a drain is about to leave (decision B8)."""

    def is_first(self) -> bool:
        """Whether this is the session's first start hook: of several that are installed one prints (decision B9).

        After each compaction one prints again.
        """
        folder = os.path.join(self.data_dir, "locks", "started")
        again = f".compact-{int(time.time()) // COMPACTION_S}" if self.source == "compact" else ""
        path = os.path.join(folder, self.session + again)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            try:
                handle = os.open(path, flags, 0o600)
            except FileNotFoundError:
                os.makedirs(folder, 0o700, exist_ok=True)
                handle = os.open(path, flags, 0o600)
            try:
                os.write(handle, str(self.process).encode())
            finally:
                os.close(handle)
        except FileExistsError:
            _touch(path)  # else the mark of a session that goes on for days would be forgotten
            return False
        except OSError:
            return True
        if os.urandom(1)[0] % 8 == 0:
            self._forget_old(folder)
        return True

    def _forget_old(self, folder: str) -> None:
        for name in _list(folder):
            if hook_spool.age_s(os.path.join(folder, name)) > KEPT_S:
                hook_spool.remove(os.path.join(folder, name))

    def take(self, was_pending: bool) -> "tuple[str, str]":
        """(handoff id, text) now taken by this session; two empty strings when there is none.

        `was_pending`: a stop or an end lay in the spool, or a drain was at work, before this start's own event: the
        handoff may be on its way, so it is waited for, 1.5 s at most (decision B8).
        """
        while True:
            is_ending = was_pending and self.is_ending()
            if not is_ending or time.monotonic() >= self.deadline:
                found = self._claim_newest()
                if found[0] or not was_pending or time.monotonic() >= self.deadline:
                    return found
                if not is_ending and not hook_spool.is_drain_alive(self.data_dir):
                    return self._claim_newest()
            time.sleep(POLL_S)

    def is_ending(self) -> bool:
        """Whether the stop or end of another session in these folders still waits in the spool."""
        spool = os.path.join(self.data_dir, "spool")
        names = sorted((name for name in _list(spool) if name.endswith(".json")), reverse=True)[:128]
        return any(self._ends_near(os.path.join(spool, name)) for name in names)

    def _ends_near(self, path: str) -> bool:
        head = read_regular(path, _HEAD_BYTES) or b""
        if b'"event":"session-end"' not in head and b'"event":"stop"' not in head:
            return False
        cwd = _member(head, b'"cwd":')
        return bool(cwd) and real_path(cwd) in self.folders

    def _claim_newest(self) -> "tuple[str, str]":
        """In the order of `_candidates`. Losing a race tries the next."""
        for handoff in self._candidates():
            for name in () if self._is_over(handoff) else self._rendered(handoff):
                text = self._claim(name, handoff)
                if text is not None:
                    return handoff, text
        return "", ""

    def _candidates(self) -> "list[str]":
        """Ids of what is meant for these folders: what was left on purpose first, then newest first.

        Never what this session left itself; after `clear` nor what an earlier one of this process left.
        """
        own = self._own_sessions() if self.source == "clear" else (self.session,)
        found: dict[str, bool] = {}
        for key in self.keys:
            folder = os.path.join(self.outbox, "by-dir", key)
            for name in _list(folder):
                if len(name) != 32:
                    continue
                origin, _, session = (_text_of(os.path.join(folder, name), _MARK_BYTES) or "").partition(" ")
                if session not in own:
                    found[name] = found.get(name, False) or origin == "manual"
        return sorted(found, key=lambda one: (found[one], one), reverse=True)

    def _rendered(self, handoff: str) -> "Iterable[str]":
        yield f"open/{handoff}.md"
        for name in _list(os.path.join(self.outbox, "provisional")):
            if name.startswith(handoff + ".") and self._may_hand_over(name):
                yield f"provisional/{name}"

    def _may_hand_over(self, name: str) -> bool:
        """The running session's process is gone, or it was silent for ten minutes; never our own process."""
        process = name.removesuffix(".md").rpartition(".")[2]
        number = int(process) if process.isdecimal() else 0
        if number and number == self.process:
            return False
        if hook_spool.age_s(os.path.join(self.outbox, "provisional", name)) > SILENT_S:
            return True
        return number > 0 and not hook_process.is_running(number)

    def _claim(self, name: str, handoff: str) -> "str | None":
        taken = os.path.join(self.outbox, "claimed", f"{handoff}.{self.session}")
        if not os.path.isfile(os.path.join(self.outbox, name)):
            return None  # gone, or nothing that could be shown
        try:
            os.rename(os.path.join(self.outbox, name), taken)
        except FileNotFoundError:
            if os.path.isdir(os.path.dirname(taken)):
                return None
            try:
                os.mkdir(os.path.dirname(taken), 0o700)
                os.rename(os.path.join(self.outbox, name), taken)
            except OSError:
                return None
        except OSError:
            return None
        _touch(taken)  # the claim's own time, where a rename leaves the times alone
        return _text_of(taken, _TEXT_BYTES)

    def _own_sessions(self) -> "tuple[str, ...]":
        """Sessions of this very process: `clear` ends one and starts the next, which must not get its handoff."""
        folder = os.path.join(self.data_dir, "locks", "started")
        found = [self.session]
        for name in _list(folder):
            if read_regular(os.path.join(folder, name), 32) == str(self.process).encode():
                found.append(name)
        return tuple(found)

    def _is_over(self, handoff: str) -> bool:
        """Whether the handoff's page says that it is open no more. No drain may have looked since, so the hook does."""
        head = _text_of(os.path.join(self.outbox, "open", f"{handoff}.md"), 4096)
        place = (head or "").partition("\nSource: ")[2].partition("\n")[0].strip()
        scope, _, page = place.partition(":")
        text = _text_of(os.path.join(self.data_dir, "wiki", scope, page), 16_384) or ""  # none yet: of a killed session
        lines = (line.partition(":") for line in text.partition("\n---")[0].splitlines())
        told = {name: value.strip().strip("\"'") for name, _, value in lines}
        return told.get("state", "open") != "open" or _is_past(told.get("expires_at", ""))

    def open_handoffs(self) -> "list[tuple[str, str]]":
        """(id, first bytes of the text) of the open handoffs for these folders, newest first. Takes none."""
        heads = ((one, _text_of(os.path.join(self.outbox, "open", f"{one}.md"), 512)) for one in self._candidates())
        return [(one, head) for one, head in heads if head is not None and not self._is_over(one)]

    def waiting(self) -> "tuple[str, str] | None":
        """The newest of these: what a start that may not take it can tell of."""
        return next(iter(self.open_handoffs()), None)

    def recap(self) -> str:
        """What was asked in this session before its last compaction, or nothing."""
        return _text_of(os.path.join(self.outbox, "recaps", f"{self.session}.md"), _TEXT_BYTES) or ""


def _touch(path: str) -> None:
    try:
        os.utime(path)
    except OSError:
        pass


def _is_past(text: str) -> bool:
    """Whether a time in a page's frontmatter is over: UTC, or a day, of which the end counts (decision C7).

    Compared as text, which spares a start the 2 ms of datetime; another form is left to the drain.
    """
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    if len(text) == len("2026-11-30"):
        return text < now[:10]
    return text.endswith("Z") and text.upper().replace(" ", "T") <= now


def _text_of(path: str, limit_bytes: int) -> "str | None":
    """The beginning of a file as text; what is not UTF-8, as where a sign is cut at the limit, is left out."""
    content = read_regular(path, limit_bytes)
    return None if content is None else content.decode("utf-8", "ignore")


def _member(head: bytes, name: bytes) -> str:
    """A string member near the start of a spooled event."""
    at = head.find(name)
    if at < 0:
        return ""
    try:
        value, _ = json.JSONDecoder().raw_decode(head[at + len(name) :].decode("utf-8", "ignore"))
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""


def _list(folder: str) -> "list[str]":
    try:
        return [name for name in os.listdir(folder) if name[0] != "."]
    except OSError:
        return []
