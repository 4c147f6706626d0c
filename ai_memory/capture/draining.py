"""Applying the spool: events in batches to `state.db`, then pages and handoffs, then the files go.

Crash: safe at any point. An event's file is removed only after the transaction that holds it; the file that ended a
session stays until its page is committed; what is repeated is recognised by the event's id.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ai_memory.capture.attribution import Attribution, within
from ai_memory.capture.batches import COMPACTING, Batch, apply_batch
from ai_memory.capture.claims import Claims
from ai_memory.capture.counting import add_up
from ai_memory.capture.crediting import creditor
from ai_memory.capture.declaring import declare
from ai_memory.capture.handoffs import HandoffState
from ai_memory.capture.lookup import Lookups
from ai_memory.capture.order import GROUP, HEAD_BYTES, Glance, batches, glance
from ai_memory.capture.page_work import Done, PageWork, expired
from ai_memory.capture.policy_file import RENEW_S, renew_policy
from ai_memory.capture.rules import Rules, read_rules
from ai_memory.capture.spooled import Event, Poison, parse_event
from ai_memory.capture.starts import Starts
from ai_memory.errors import MemoryFault, StoreFault
from ai_memory.model import MACHINE
from ai_memory.scope.known import KnownProjects
from ai_memory.store import audit, messages, state, state_sessions
from ai_memory.store.driver import DatabaseError, OperationalError
from ai_memory.store.leftovers import sweep
from ai_memory.store.log import Log, remove_old
from ai_memory.store.memory import Memory, no_step
from ai_memory.store.outbox import Outbox, Provisional
from ai_memory.store.spool import Spool, event_id, named_at_us
from ai_memory.store.state import Drain
from ai_memory.store.state_sessions import Session

MAX_DIRECTORIES = 64
"""Directories a pass whose markers are looked for; the others' turn comes with their next event."""
MAX_KEPT_BYTES = 32 * 1024 * 1024
"""Of files that the glance read whole; the others are opened again when their turn comes."""
TELL_NO_END = frozenset(
    "opencode antigravity-cli crush zcode kiro-cli kiro-cli-v3 command-code pool vscode windsurf".split()  # noqa: SIM905
)
"""Harnesses whose sessions never end: each finished turn brings the page up to date."""
TELL_NO_PROMPT = frozenset({"antigravity-cli"})
"""Harnesses whose prompts stand in a file of their own. Both are those of the records; a test keeps them equal."""
LOOK_EVERY_S = 60.0
"""The whole tree is walked once a minute at most (decision A6)."""


@dataclass(slots=True)
class _Count:
    applied: int = 0
    repeated: int = 0
    quarantined: int = 0
    done: Done = field(default_factory=Done)


class Drainer:
    """One drain over one data dir. `step` is called at named instants, for tests that kill there."""

    def __init__(self, memory: Memory, *, step: Callable[[str], None] = no_step) -> None:
        self._memory = memory
        self._step = step
        self._spool = Spool(memory.data_dir)
        self._outbox = Outbox(memory.data_dir)
        with memory.reading() as snapshot:
            projects = KnownProjects(snapshot.projects())
        self._attribution = Attribution(memory.caller, projects)
        self._log = Log(memory.data_dir.logs, "drain", memory.clock)
        self._rules = self._read_rules()
        self._log = replace(self._log, least=self._rules.log_least)
        self._work = PageWork(memory, self._outbox, self._attribution, self._rules, log=self._log)
        self._claims = Claims(memory, self._outbox, self._work, log=self._log)
        self._starts = Starts(memory, self._outbox, self._attribution, step=step)
        self._lookups = Lookups(memory, self._outbox, self._rules.own)
        self._count = _Count()
        self._contents: dict[str, bytes] = {}
        """Files of this pass that the glance read whole: opening each of 10,000 again costs a tenth of the drain."""
        self._held: set[str] = set()
        """Files that ended a session whose page is not written yet."""
        self._batch = Batch()
        """Sessions that grew since the last page work."""
        self._unread: set[str] = set()
        """Sessions whose prompts have to be looked for elsewhere."""

    def run(self) -> Drain:
        """Apply what waits until nothing is left that can be applied; the outcome stands in `state.db` and the log."""
        started_us = self._memory.clock()
        fault = ""
        try:
            with self._memory.state_reading():  # held open, or each batch that closes `state.db` checkpoints all of it
                self._spool.sweep()
                self._apply_all()
                self._settle()
                self._apply_all()  # what came while the tree was walked
                self._step("declaring")
                self._count.done.pages += declare(self._memory, self._rules, self._log)
        except (MemoryFault, DatabaseError, OSError) as raised:
            fault = str(raised).replace("\n", " ") or type(raised).__name__
        self._renew_starts()
        self._add_up()
        return self._record(started_us, fault or "; ".join(self._count.done.faults[:3]))

    def _read_rules(self) -> Rules:
        try:
            return read_rules(self._memory)
        except MemoryFault as fault:
            self._log.error(f"config.toml cannot be read, the defaults hold: {fault.message}")
            return Rules()

    # --- one pass over the spool ---

    def _apply_all(self) -> None:
        while self._pass() or self._fetch_prompts():
            pass

    def _fetch_prompts(self) -> bool:
        """Whether prompts came that no hook was told of."""
        sessions, self._unread = self._unread, set()
        if not sessions:
            return False
        from ai_memory.capture.prompts_elsewhere import spool_prompts  # only for such a harness

        try:
            return spool_prompts(self._memory, sorted(sessions)) > 0
        except (OSError, ValueError) as fault:
            self._log.warning(f"prompts that stand in their harness's own file could not be read: {fault}")
            return False

    def _pass(self) -> bool:
        """Apply every file that is listed now. False when there was none."""
        names = [name for name in self._spool.names() if name not in self._held]
        if not names:
            return False
        self._attribution.forget()
        waiting = list(self._glanced_at(names))
        self._renew_policy(waiting)
        for batch, is_end in batches(waiting):
            if batch:
                self._apply(batch)
            if is_end:
                self._finish_ended()
            self._memory.give_way()
        self._finish_ended()
        return True

    def _renew_policy(self, waiting: Sequence[Glance]) -> None:
        """First of all: hooks keep no content under a policy that they do not know."""
        asked = [os.path.dirname(one.uncompiled) for one in reversed(waiting) if one.uncompiled]
        directories = dict.fromkeys([*asked, *(one.cwd for one in reversed(waiting) if one.cwd)])
        if not within(RENEW_S, lambda: self._compile(list(directories)[:MAX_DIRECTORIES])):
            self._log.warning("the capture policy could not be compiled: a folder of an agent does not answer")

    def _compile(self, directories: list[str]) -> None:
        try:
            if renew_policy(self._memory, directories):
                self._log.info("compiled the capture policy anew")
        except (MemoryFault, OSError, ValueError) as fault:
            reason = str(fault).partition("\n")[0]
            self._log.warning(f"the capture policy could not be compiled, hooks keep metadata only: {reason}")

    def _glanced_at(self, names: Sequence[str]) -> Iterator[Glance]:
        oldest_us = self._memory.clock() - state.EVENT_MEMORY_US
        self._contents.clear()
        kept_bytes = 0
        for name in names:
            if named_at_us(name) < oldest_us:
                self._quarantine(name, "older than 90 days: whether it was applied is no longer known")
                continue
            head = self._spool.head(name, HEAD_BYTES)
            if head is None:
                continue
            if 0 < len(head) < HEAD_BYTES and kept_bytes < MAX_KEPT_BYTES:
                self._contents[name] = head
                kept_bytes += len(head)
            yield glance(name, head)

    def _read(self, name: str) -> Event | None:
        """The event, or None when it is gone or was set aside."""
        try:
            content = self._contents.pop(name, None) or self._spool.read(name)
            return parse_event(name, content, self._rules.own) if content is not None else None
        except (Poison, ValueError, PermissionError, IsADirectoryError) as fault:
            self._quarantine(name, str(fault))
        except OSError:
            raise  # the disk, not this file
        except Exception as fault:  # noqa: BLE001 (the drain's loop per event: one file must not stop the others)
            self._quarantine(name, f"{type(fault).__name__}: {fault}")
        return None

    def _quarantine(self, name: str, reason: str) -> None:
        self._spool.quarantine(name, reason, at_us=self._memory.clock())
        self._count.quarantined += 1
        self._log.warning(f"quarantined {event_id(name)}: {reason}")

    def _apply(self, names: Sequence[str]) -> None:
        """One transaction, then the files go. A batch that the data breaks is tried event by event."""
        events = [event for event in map(self._read, names) if event is not None]
        try:
            batch = self._transaction(events)
        except (OperationalError, StoreFault, OSError):
            raise  # the disk, a lock or the database itself, not the data: what waits, waits on
        except Exception as fault:  # noqa: BLE001 (as above)
            if len(events) > 1:
                for event in events:
                    self._apply([f"{event.id}.json"])
                return
            for event in events:
                self._quarantine(f"{event.id}.json", f"{type(fault).__name__}: {fault}")
            return
        self._take_note(batch)
        self._unread |= {one.session for one in events if one.agent in TELL_NO_PROMPT and one.kind != "user-prompt"}
        ends = {f"{event.id}.json" for event in events if event.kind == "session-end"}
        self._held |= ends
        self._spool.remove([f"{event.id}.json" for event in events if event.kind != "session-end"])
        self._step("files-removed")

    def _transaction(self, events: Sequence[Event]) -> Batch:
        self._step("batch-begin")
        credit = creditor(self._attribution.place, follows_folders=self._rules.follows_folders)
        with self._memory.state_transaction() as connection:
            batch = apply_batch(
                connection,
                events,
                place_of=self._attribution.place_of,
                credit=credit,
                reads_declarations=self._rules.declarations != "off",
            )
            self._step("batch-filled")
        self._step("batch-committed")
        return batch

    def _take_note(self, batch: Batch) -> None:
        self._count.applied += batch.applied
        self._count.repeated += batch.repeated
        self._batch.touched |= batch.touched
        self._batch.pausing |= batch.pausing
        self._batch.compacting |= batch.compacting

    # --- pages ---

    def _finish_ended(self) -> None:
        """Claims, then pages and handoffs of all sessions that ended; then the files that said so go."""
        hindrance = self._memory.hindrance()
        if hindrance is not None:
            raise hindrance
        self._claims.settle()
        self._step("claims-settled")
        while due := self._due():
            done = self._work.finish(due)
            self._count.done.pages += done.pages
            self._count.done.handoffs += done.handoffs
            self._count.done.faults += done.faults
            self._step("pages-committed")
            self._memory.give_way()
        self._pause_grown()
        self._spool.remove(sorted(self._held))
        self._held.clear()
        self._spool.note_room()
        self._step("ends-removed")

    def _due(self) -> list[Session]:
        with self._memory.state_reading() as connection:
            return state_sessions.due_sessions(connection, limit=GROUP) if connection is not None else []

    def _pause_grown(self) -> None:
        """Bring provisional handoffs of running sessions up to date; commit pages of those that compact or went on."""
        known, self._batch = self._batch, Batch()
        tried: set[str] = set()
        while grown := [session for session in self._grown() if session.id not in tried]:
            tried.update(session.id for session in grown)
            for session in grown:
                try:
                    self._pause(session, known if session.id in known.touched else self._untold(session))
                except (MemoryFault, OSError) as fault:
                    reason = str(fault).partition("\n")[0]
                    self._log.error(f"session {session.id}: its provisional handoff failed: {reason}")
                self._step("paused")

    def _grown(self) -> list[Session]:
        with self._memory.state_reading() as connection:
            return state_sessions.grown_sessions(connection) if connection is not None else []

    def _untold(self, session: Session) -> Batch:
        """As a batch of all that no page tells of yet: an earlier drain was killed, or its minute was not over."""
        with self._memory.state_reading() as connection:
            untold = session.observations - session.refreshed
            rows = state_sessions.latest(connection, session.id, limit=untold) if connection is not None else []
        kinds = {row.kind for row in rows}
        return Batch(pausing={session.id}, compacting={session.id} if kinds & COMPACTING else set())

    def _pause(self, session: Session, news: Batch) -> None:
        """One that is owed a page and has one of less than a minute ago stays grown: the next drain's turn."""
        self._work.pause(session, render=session.id in news.pausing)
        is_owed_a_page = session.end_seen_us > 0 and not session.page_version  # it ended, and went on
        is_turn_over = session.agent in TELL_NO_END and session.id in news.pausing
        is_due = is_owed_a_page or is_turn_over or session.id in news.compacting
        if is_due and not self._work.refresh(session, now_us=self._memory.clock()):
            return
        with self._memory.state_transaction() as connection:
            state_sessions.note_rendered(connection, session.id, session.observations)

    def _settle(self) -> None:
        """What has no event of its own: work that a killed drain left, handoffs of killed sessions, edits by hand."""
        self._finish_ended()
        self._outbox.leave_the_future()
        for provisional in self._outbox.provisionals():
            if self._outbox.may_hand_over(provisional):
                self._hand_over(provisional)
        if self._end_idle():
            self._finish_ended()
        self._claims.settle()
        self._outbox.remove_empty_folders()
        self._finish_left_over()
        self._look_around()

    def _hand_over(self, provisional: Provisional) -> None:
        with self._memory.state_reading() as connection:
            session = (
                state_sessions.session_of_handoff(connection, provisional.handoff) if connection is not None else None
            )
        if session is not None and session.is_open:
            self._work.pause(session, render=True)  # what it did after its last stop belongs in, too
        if self._outbox.promote(provisional):
            self._memory.tell("handoff-opened", subject=provisional.handoff, session=session.id if session else "")
            self._log.info(f"handoff {provisional.handoff}: its session is gone or silent, open now")

    def _renew_starts(self) -> None:
        """Last of all: a handoff must not wait for it. Also where pages cannot be written: starts read only."""
        try:
            self._starts.renew()
            self._lookups.renew()
        except (MemoryFault, DatabaseError, OSError, ValueError) as fault:
            reason = str(fault).partition("\n")[0]
            self._log.error(f"what starts and prompts are told could not be renewed: {reason}")

    def _add_up(self) -> None:
        """Count what was read and asked. Nothing waits for it, and it keeps nothing from being applied."""
        try:
            add_up(self._memory, step=self._step)
        except (MemoryFault, DatabaseError, OSError) as fault:
            reason = str(fault).partition("\n")[0]
            self._log.error(f"reads and calls could not be counted: {reason}")

    def _end_idle(self) -> int:
        if not self._rules.idle_end_us:
            return 0
        with self._memory.state_reading() as connection:
            if connection is None or not state_sessions.idle_sessions(connection, self._idle_limit_us()):
                return 0
        with self._memory.state_transaction() as connection:
            ended = state_sessions.end_idle(connection, self._idle_limit_us())
            if ended:
                audit.put(connection, self._memory.mutation(audit.IDLE_END, subject="silent sessions", count=ended))
            return ended

    def _idle_limit_us(self) -> int:
        return self._memory.clock() - self._rules.idle_end_us

    def _finish_left_over(self) -> None:
        """A change that a killed writer left. Errors: MemoryFault that says what keeps it from being finished."""
        if self._memory.data_dir.pending.exists():
            with self._memory.writing(""):
                pass  # whoever opens the wiki for writing finishes it first

    def _look_around(self) -> None:
        """Take edits by hand and pack git's loose objects, once a minute at most."""
        looked = self._memory.data_dir.locks / "looked-around"
        try:
            is_due = abs(time.time() - looked.stat().st_mtime) > LOOK_EVERY_S  # in the future: the clock was set back
        except FileNotFoundError:
            is_due = True
        if not is_due or not self._memory.exists or self._memory.hindrance() is not None:
            return
        looked.touch(mode=0o600)
        adopted = self._memory.adopt()
        for sentence in (*adopted.asked, *adopted.skipped):
            self._log.warning(sentence)
        self._claims.withdraw()
        self._close_expired()
        self._memory.tidy()
        sweep(self._memory.data_dir)

    def _close_expired(self) -> None:
        now_us = self._memory.clock()
        with self._memory.reading() as snapshot:
            over = expired(snapshot, now_us)
        if not over:
            return
        with self._memory.writing(
            f"Expire {len(over)} handoffs that nobody took", author=MACHINE, trailers={"Pass": "expire"}
        ) as change:
            for ref in over:
                self._work.close(change, ref, HandoffState.EXPIRED)
        self._log.info(f"{len(over)} handoffs expired")

    # --- telling ---

    def _record(self, started_us: int, fault: str) -> Drain:
        now_us = self._memory.clock()
        drain = Drain(
            started_at_us=started_us,
            ended_at_us=now_us,
            applied=self._count.applied,
            repeated=self._count.repeated,
            quarantined=self._count.quarantined,
            pages=self._count.done.pages,
            handoffs=self._count.done.handoffs,
            fault=fault[:300],
        )
        is_worth_telling = drain.applied or drain.repeated or drain.quarantined or drain.pages or fault
        if is_worth_telling:
            (self._log.error if drain.fault else self._log.info)(_sentence(drain))
            try:
                with self._memory.state_transaction() as connection:
                    state.record_drain(connection, drain)
                    state.forget_old_events(connection, now_us)
                    audit.forget_old(connection, now_us)
                    messages.forget_old(connection, now_us)
                    if drain.quarantined:
                        told = self._memory.mutation("quarantine", subject="events", count=drain.quarantined)
                        audit.put(connection, told)
            except (MemoryFault, DatabaseError, OSError) as raised:
                self._log.error(f"the outcome could not be kept: {raised}")
        remove_old(self._memory.data_dir.logs, now_us=now_us)
        return drain


def _sentence(drain: Drain) -> str:
    spent_ms = (drain.ended_at_us - drain.started_at_us) // 1000
    told = (
        f"applied {drain.applied}, known already {drain.repeated}, quarantined {drain.quarantined},"
        f" pages {drain.pages}, handoffs {drain.handoffs}, {spent_ms} ms"
    )
    return f"{told}; {drain.fault}" if drain.fault else told
