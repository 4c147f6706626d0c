"""Events as they are stored, the last ones and those that come."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.clock import LATEST_US
from ai_memory.operations.log import known_session_of
from ai_memory.operations.sessions import ObservationRow, observation_row
from ai_memory.operations.unscoped import resolve_for
from ai_memory.store.span import Span

if TYPE_CHECKING:
    from ai_memory.model import Scope
    from ai_memory.store.driver import Connection
    from ai_memory.store.journal import StoredEvent
    from ai_memory.store.memory import Memory

AT_ONCE = 500
"""Events that one look takes: what is more comes with the next."""
SHOWN_CHARS = 400
"""Of one text in the readable form; `--json` has all that is stored."""


@dataclass(frozen=True, slots=True)
class TailRow:
    """One stored event: whole, as it was sanitised and capped."""

    agent: str
    session: str
    workspace: str
    project: str
    event: ObservationRow


class Tail:
    """Looks at what is stored, again and again. Reads `state.db` only when its files changed since the last look."""

    def __init__(
        self,
        memory: "Memory",
        *,
        session: str | None,
        everywhere: bool,
        workspace: str | None,
        project: str | None,
    ) -> None:
        """Errors: as `resolve`; NotFound and Conflict for the session."""
        self._memory = memory
        with memory.reading() as snapshot:
            self.scope: Scope | None
            self.scope, self.gaps = resolve_for(
                memory, workspace, project, everywhere=everywhere or session is not None, snapshot=snapshot
            )
        is_one_project = not everywhere and session is None and self.scope is not None
        self._place = (self.scope.workspace, self.scope.project) if is_one_project and self.scope else None
        with memory.state_reading() as connection:
            self._session = known_session_of(connection, session) if session is not None else None
        self._seq = 0
        self._seen: tuple[object, ...] = ()

    def last(self, count: int) -> list[TailRow]:
        """The last events, in order of time; what is stored later comes with `more`."""
        from ai_memory.store import journal

        self._seen = self._stamp()  # before the look: what comes during it is found by the next
        with self._memory.state_reading() as connection:
            if connection is None:
                return []
            self._seq = journal.last_seq(connection)
            found = journal.newest(connection, Span((LATEST_US + 1, ""), count, self._place, self._session))
        return [_row(one) for one in reversed(found) if one.seq <= self._seq]

    def more(self) -> list[TailRow]:
        """What was stored since the last look, in the order of storing."""
        stamp = self._stamp()
        if stamp == self._seen:
            return []
        with self._memory.state_reading() as connection:
            found = self._after(connection) if connection is not None else []
        if len(found) < AT_ONCE:
            self._seen = stamp
        return [_row(one) for one in found]

    def _after(self, connection: "Connection") -> "list[StoredEvent]":
        from ai_memory.store import journal

        end = journal.last_seq(connection)
        found = journal.stored_after(connection, self._seq, place=self._place, session=self._session, limit=AT_ONCE)
        self._seq = found[-1].seq if len(found) == AT_ONCE else end  # smaller than before when the last were purged
        return found

    def _stamp(self) -> tuple[object, ...]:
        """Size and time of `state.db` and its log: a commit of another process changes one of them."""
        path = self._memory.data_dir.state
        return tuple(map(_stat, (path, path.with_name(f"{path.name}-wal"))))


def _stat(path: "os.PathLike[str]") -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 (twice a second)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _row(one: "StoredEvent") -> TailRow:
    return TailRow(one.agent, one.observation.session, one.workspace, one.project, observation_row(one.observation))


def tail_text(row: TailRow, scope: "Scope | None") -> str:
    """A line that says what it is, then what was kept of its texts, indented."""
    from ai_memory.store.state_sessions import short_id

    one = row.event
    is_here = scope is not None and (row.workspace, row.project) == (scope.workspace, scope.project)
    place = "" if is_here else f"{row.workspace}/{row.project}"
    subagent = f"subagent {one.agent_id}" if one.agent_id else ""
    who = f"{row.agent} {short_id(row.session)}"
    head = " ".join(filter(None, (one.at[:19] + "Z", one.kind, one.tool)))
    line = " · ".join(filter(None, (head, one.outcome, who, subagent, one.flags, place)))
    texts = (("", one.text), ("input: ", one.input), ("output: ", one.output))
    return "\n".join([" ".join(line.splitlines()), *(_indented(f"{name}{_cut(text)}") for name, text in texts if text)])


def _cut(text: str) -> str:
    left = len(text) - SHOWN_CHARS
    return text if left <= 0 else f"{text[:SHOWN_CHARS]}… ({left} more characters are stored)"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def tail_json(row: TailRow) -> dict[str, object]:
    """One JSON object with stable keys, flat."""
    one = row.event
    told = {name: getattr(one, name) for name in ObservationRow.__dataclass_fields__}
    where = {"agent": row.agent, "session": row.session, "workspace": row.workspace, "project": row.project}
    return {"v": 1, **where, **told}
