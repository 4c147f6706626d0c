"""Bringing in sessions that agents recorded by themselves: by policy and sanitiser, into sessions with their pages.

A session comes in whole, in one transaction, with nothing to hand over; the drain makes its page. Killed at any point,
another run does what is left: what is there is known by the session's id, and its events by theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ai_memory.capture.attribution import Attribution
from ai_memory.capture.batches import Place, apply_batch
from ai_memory.capture.crediting import creditor
from ai_memory.capture.drain import Outcome, drain_all
from ai_memory.capture.finalizing import as_drain
from ai_memory.capture.missing import missing
from ai_memory.capture.off_record import OffRecord, off_record
from ai_memory.capture.policy_file import renewed
from ai_memory.capture.retelling import Reteller
from ai_memory.capture.rules import read_rules
from ai_memory.capture.spooled import Event
from ai_memory.capture.survey import OLD, Candidate, Progress, Wanted, around_of
from ai_memory.errors import MemoryFault
from ai_memory.store import audit, state, state_sessions
from ai_memory.store.memory import Memory
from ai_memory.text.sanitize import sanitize_line
from ai_memory.transcripts.record import Losses

WITHOUT_IDS = "copilot-cli"
"""Some versions tell their hooks no session id, so that a captured session cannot be told by it."""

UNREADABLE = "sessions that cannot be read"
EMPTY = "sessions in which nothing was said or done that may be kept"
KNOWN_BY_TIME = "sessions that hooks captured under another id"


@dataclass(slots=True)
class Filled:
    """What a run brought in."""

    sessions: list[tuple[Candidate, int]] = field(default_factory=list)
    """Each with the number of its events."""
    losses: Losses = field(default_factory=Losses)
    notes: list[str] = field(default_factory=list)


class Filling:
    """One run over one data dir. `memory.step` is called at named instants, for tests that kill there."""

    def __init__(self, memory: Memory, attribution: Attribution, wanted: Wanted, *, is_allowlist: bool) -> None:
        self._memory = memory
        self._attribution = attribution
        self._wanted = wanted
        self._is_allowlist = is_allowlist
        self._step = memory.step
        self._rules = read_rules(memory)
        self._folders: dict[str, list[str]] = {}
        self.filled = Filled()

    def run(self, candidates: Sequence[Candidate], progress: Progress) -> Filled:
        """Bring these in, the oldest first, then make their pages. *Errors*: MemoryFault; what is done stays done."""
        self._drain()  # what hooks left of these sessions counts first; pages that a killed run owes are made
        reteller = self._reteller(candidates)
        for number, candidate in enumerate(sorted(candidates, key=lambda one: one.found.changed_us)):
            progress(number, len(candidates))
            try:
                self._bring_in(candidate, reteller)
            except (ValueError, RecursionError):  # nobody's transcript stops the others
                self.filled.losses.add(UNREADABLE)
            self._memory.give_way()
        if self.filled.sessions:
            self._make_pages()
        progress(len(candidates), len(candidates))
        return self.filled

    def _reteller(self, candidates: Sequence[Candidate]) -> Reteller:
        folders = dict.fromkeys(one.header.cwd for one in candidates)
        if not renewed(self._memory, folders):
            self.filled.notes.append("a marker cannot be read: of what its policy governs only metadata is kept")
        return Reteller(
            str(self._memory.data_dir.root),
            self._rules,
            pauses=self._pauses(),
            is_allowlist=self._is_allowlist,
            folders_of=self._folders_of,
        )

    def _pauses(self) -> tuple[OffRecord, ...]:
        with self._memory.state_reading() as connection:
            return off_record(connection) if connection is not None else ()

    def _folders_of(self, folder: str) -> list[str]:
        if folder not in self._folders:
            self._folders[folder] = [folder, *self._attribution.handoff_directories(folder)]
        return self._folders[folder]

    def _bring_in(self, candidate: Candidate, reteller: Reteller) -> None:
        losses = self.filled.losses
        around = around_of(self._memory, self.filled.notes)
        header = candidate.header
        told = candidate.source.told(candidate.found, header, around, losses, latest_us=self._memory.clock())
        if told and told[-1].at_us < self._wanted.since_us:
            losses.add(OLD)
            return
        retold = reteller.retell(candidate.source.agent, header, told, losses, path=candidate.found.path)
        self._step("retold")
        if not retold.events or not any(event.kind not in ("stop", "other") for event in retold.events):
            losses.add(EMPTY)
            return
        number = self._apply(candidate, retold.whole, retold.events)
        if number:
            self.filled.sessions.append((candidate, number))
        self._step("brought-in")

    def _apply(self, candidate: Candidate, whole: Sequence[Event], events: Sequence[Event]) -> int:
        """The session in one transaction; how many events of it are new. Whether it is known is asked inside."""
        identifier = events[0].session
        place = self._place(candidate)
        with self._memory.state_transaction() as connection:
            if state.is_purged(connection, identifier):
                return 0
            session = state_sessions.session(connection, identifier)
            if session is None and candidate.source.agent == WITHOUT_IDS:
                span = {"since_us": events[0].at_us, "until_us": events[-1].at_us}
                cwd = candidate.header.cwd
                if state_sessions.is_told_of_by_process(connection, WITHOUT_IDS, cwd, **span):
                    self.filled.losses.add(KNOWN_BY_TIME)
                    return 0
            if session is not None:
                if not self._wanted.takes_known:
                    return 0
                known = state_sessions.observations(connection, identifier)
                whole = missing(session, known, events, whole[-1])
            if not whole:
                return 0
            credit = creditor(self._attribution.place, follows_folders=self._rules.follows_folders)
            batch = apply_batch(connection, whole, place_of=lambda _: place, credit=credit)
            after = state_sessions.session(connection, identifier)
            before_work = session.work if session is not None else 0
            if after is not None:
                state_sessions.hand_over_nothing(connection, identifier, work=after.work - before_work)
            audit.put(connection, self._memory.mutation("backfill", session=identifier, count=batch.applied))
            self._step("filled")
        return batch.applied

    def _place(self, candidate: Candidate) -> Place:
        """Its project as of now, its branch and commit as the transcript tells them."""
        header = candidate.header
        return Place(candidate.scope, sanitize_line(header.branch), sanitize_line(header.commit))

    def _drain(self) -> None:
        if self._memory.data_dir.state.exists() or self._memory.data_dir.spool.is_dir():
            patience_s = self._memory.lock_timeout_s
            drain_all(self._memory.data_dir, Outcome(), patience_s=patience_s, memory=as_drain(self._memory))

    def _make_pages(self) -> None:
        """By a drain; what it cannot do now, the next one does."""
        try:
            self._drain()
        except MemoryFault as fault:
            self.filled.notes.append(f"the sessions are kept, their pages follow with the next drain: {fault.message}")
