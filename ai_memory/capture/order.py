"""In which order the spool is applied, from a glance at each file's head: parsing 5,000 events first costs 1.5 s."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ai_memory.store.spool import named_at_us

BATCH = 256
"""Events a transaction: about 60 ms, so that a waiting command is never kept long (decision A12)."""
GROUP = 16
"""Ended sessions a commit."""
HEAD_BYTES = 6_144
"""Hooks write the members that count here first; the rest of an event may be long."""

_EVENT = re.compile(rb'"event":\s?"([^"\\]{1,64})"')
_SESSION = re.compile(rb'"session":\s?"([^"\\]{1,512})"')
_UNCOMPILED = re.compile(rb'"uncompiled":\s?("(?:[^"\\]|\\.){1,4096}")')
_CWD = re.compile(rb'"cwd":\s?("(?:[^"\\]|\\.){1,4096}")')


@dataclass(frozen=True, slots=True)
class Glance:
    """What the head of a spool file tells. Good enough to choose an order by; nothing is stored from it."""

    name: str
    session: str
    kind: str
    cwd: str
    uncompiled: str = ""
    """A source of the policy that its hook did not know; such events are short, so their head tells."""

    @property
    def at_us(self) -> int:
        return named_at_us(self.name)


def glance(name: str, head: bytes) -> Glance:
    """Session, kind and directory of an event and its like, each empty where the head does not tell."""
    event, session, cwd = _EVENT.search(head), _SESSION.search(head), _CWD.search(head)
    uncompiled = _UNCOMPILED.search(head)
    return Glance(
        name,
        session[1].decode("utf-8", "replace") if session else "",
        event[1].decode("utf-8", "replace") if event else "",
        _string(cwd[1]) if cwd else "",
        _string(uncompiled[1]) if uncompiled else "",
    )


def _string(literal: bytes) -> str:
    try:
        found = json.loads(literal)
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""


def batches(waiting: Sequence[Glance]) -> Iterator[tuple[list[str], bool]]:
    """Names in batches, and whether page work shall follow each at once.

    Sessions that ended come before those that run on, the newest first, and the first one's page is not kept waiting
    for the rest (decision B8). Within a session by time.
    """
    sessions: dict[str, list[Glance]] = {}
    for one in waiting:
        sessions.setdefault(one.session, []).append(one)
    ended = {one.session for one in waiting if one.kind in ("session-end", "stop")}
    order = sorted(sessions, key=lambda session: (session not in ended, -max(one.at_us for one in sessions[session])))
    batch: list[str] = []
    for rank, session in enumerate(order):
        for one in sorted(sessions[session], key=lambda one: one.name):
            batch.append(one.name)
            if len(batch) == BATCH:
                yield batch, False
                batch = []
        if session in ended and rank % GROUP == 0:
            yield batch, True
            batch = []
    yield batch, False
