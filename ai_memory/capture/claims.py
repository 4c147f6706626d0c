"""Claims of handoffs: written into their pages once the session said that it printed them, else given back."""

from dataclasses import dataclass

from ai_memory.capture import handoffs
from ai_memory.capture.batches import scope_of
from ai_memory.capture.digest import digest
from ai_memory.capture.handoffs import Handoff, HandoffState
from ai_memory.capture.page_work import PageWork, find_handoff, open_automatic, spliced
from ai_memory.capture.session_page import composed
from ai_memory.clock import rfc3339
from ai_memory.model import MACHINE, Page, PageRef
from ai_memory.store import state_sessions
from ai_memory.store.change import Change
from ai_memory.store.log import Log
from ai_memory.store.memory import Memory
from ai_memory.store.outbox import Claim, Outbox, open_name
from ai_memory.store.state_sessions import Observation, Session


@dataclass(frozen=True, slots=True)
class Taker:
    """Who took a handoff, from where, and when. `agent` and `session` are empty where nobody said them."""

    agent: str
    session: str
    cwd: str
    at_us: int


@dataclass(frozen=True, slots=True)
class Found:
    """A handoff that is taken: its page, the session that it tells of, and older handoffs for the same place."""

    handoff: str
    page: PageRef | None
    source: Session | None
    older: tuple[PageRef, ...] = ()


class Claims:
    """Settles what lies in `outbox/claimed/`. The page is the lasting truth; state.db holds no claims."""

    def __init__(self, memory: Memory, outbox: Outbox, work: PageWork, *, log: Log) -> None:
        self._memory = memory
        self._outbox = outbox
        self._work = work
        self._log = log

    def settle(self) -> int:
        """Write confirmed claims into their pages, re-open those that a minute did not confirm; how many changed.

        Crash: safe at any point; what is half done is done again. Call after the spool's events are applied.
        """
        unconfirmed = set(self._outbox.unconfirmed())
        settled = 0
        for claim in self._outbox.claims():
            confirmation, claimer = self._confirmation(claim)
            if confirmation is not None and claimer is not None:
                self._confirm(claim, confirmation, claimer)
                settled += 1
            elif claim in unconfirmed:
                settled += self._give_back(claim)
        return settled

    def withdraw(self) -> int:
        """Take out of the outbox what its page no longer offers: deleted, or closed on another machine or by hand.

        Crash: safe at any point. A provisional handoff has no page yet and stays.
        """
        waiting = self._outbox.open_handoffs()
        if not waiting:
            return 0
        with self._memory.reading() as snapshot:
            if snapshot.gaps:  # not all that is there can be seen
                return 0
            pages = {one: find_handoff(snapshot, one) for one in waiting}
        gone = [one for one, page in pages.items() if not self._is_offered(one, page)]
        for handoff in gone:
            for name in self._outbox.names_of(handoff, claims=False):
                self._outbox.remove(name)
            self._log.info(f"handoff {handoff}: its page is closed or gone, it is offered no more")
        return len(gone)

    def _is_offered(self, handoff: str, page: Page | None) -> bool:
        """Whether it may be given. That of a killed session has no page until it is taken or counts as ended."""
        if page is not None:
            return page.frontmatter.get("state") == HandoffState.OPEN
        source = self._source(handoff)
        return source is not None and source.is_open

    def _confirmation(self, claim: Claim) -> tuple[Observation | None, Session | None]:
        with self._memory.state_reading() as connection:
            if connection is None:
                return None, None
            row = state_sessions.claim_of(connection, claim.handoff, claim.session)
            return row, state_sessions.session(connection, row.session) if row else None

    def _confirm(self, claim: Claim, said: Observation, claimer: Session) -> None:
        """One commit: the page's state and claimer, older handoffs for the same place expired, the outbox cleared."""
        taker = Taker(claimer.agent, claimer.id, claimer.cwd, said.at_us)
        found = self.look(claim.handoff, claimer.cwd)
        trailers = {"Pass": "handoff-claimed", "Session": claimer.id, "Agent": claimer.agent}
        with self._memory.writing(f"Handoff taken by {claimer.agent}", author=MACHINE, trailers=trailers) as change:
            self.accept(change, found, taker)

    def look(self, handoff: str, cwd: str) -> "Found":
        """What belongs to the taking of a handoff by someone in that directory. Call before the lock is taken."""
        with self._memory.reading() as snapshot:
            page = find_handoff(snapshot, handoff)
            project = (page.ref.workspace, page.ref.project) if page else None
            older = [
                other.ref
                for other in (open_automatic(snapshot, *project) if project else [])
                if str(other.frontmatter.get("id", "")) < handoff
                and handoffs.covers(str(other.frontmatter.get("cwd", "")), cwd)
            ]
        return Found(handoff, page.ref if page else None, self._source(handoff), tuple(older))

    def accept(self, change: Change, found: "Found", taker: "Taker") -> PageRef | None:
        """Fill the change with all that a taken handoff changes; gives its page, None when nothing tells of it."""
        ref = found.page
        if ref is not None:
            self._accept(change, ref, taker)
        elif found.source is not None:
            ref = self._write_accepted(change, found.source, taker)
        for other in found.older:
            self._work.close(change, other, HandoffState.EXPIRED)
        if found.source is not None:
            change.state("session-handed-over", session=found.source.id, handoff=found.handoff, work=found.source.work)
        self.clear(change, found.handoff)
        return ref

    def clear(self, change: Change, handoff: str) -> None:
        """Take a handoff out of the outbox: what stands there now, and what a claim given back would put there."""
        for name in sorted({open_name(handoff), *self._outbox.names_of(handoff)}):
            change.outbox_remove(name)

    def _accept(self, change: Change, ref: PageRef, taker: "Taker") -> None:
        page = change.page(ref)
        if page is None or page.frontmatter.get("state") != HandoffState.OPEN:
            return
        taken: dict[str, object] = {
            "state": HandoffState.ACCEPTED.value,
            "accepted_by_agent": taker.agent or None,
            "accepted_by_session": taker.session or None,
            "accepted_at": rfc3339(taker.at_us),
        }
        change.put(ref, spliced(page, taken), expected_version=page.version)

    def sources(self, handoff: str, page: Page | None) -> set[str]:
        """By which ids the session is known that left the handoff."""
        source = self._source(handoff)
        found = {source.id, str(source.native_id)} if source is not None else set()
        return found | ({str(page.frontmatter.get("from_session", ""))} if page is not None else set())

    def _source(self, handoff: str) -> Session | None:
        with self._memory.state_reading() as connection:
            return state_sessions.session_of_handoff(connection, handoff) if connection is not None else None

    def _write_accepted(self, change: Change, source: Session, taker: "Taker") -> PageRef:
        """The page of a provisional handoff that was taken before its session ended: it has none yet."""
        handoff = self._as_shown(source)
        taken = handoffs.accepted(handoff, agent=taker.agent, session=taker.session, at_us=taker.at_us)
        change.ensure_project(scope_of(source))
        ref = PageRef(source.workspace, source.project, handoffs.page_path(handoff.id))
        change.put(ref, composed(handoffs.frontmatter(taken), handoffs.body(taken), self._work.own))
        return ref

    def _as_shown(self, source: Session) -> Handoff:
        seen = self._work.observations(source)
        root = scope_of(source).root or source.cwd
        told = digest(source, seen, root=root, taken=self._work.taken(source, seen))
        return handoffs.automatic(told, source.handoff, ended=False)

    def _give_back(self, claim: Claim) -> int:
        with self._memory.reading() as snapshot:
            page = find_handoff(snapshot, claim.handoff)
        if page is not None and page.frontmatter.get("state") != HandoffState.OPEN:
            for name in self._outbox.names_of(claim.handoff):
                self._outbox.remove(name)
            return 1
        if self._outbox.reopen(claim):
            self._memory.tell("handoff-given-back", subject=claim.handoff, session=claim.session)
            self._log.info(f"handoff {claim.handoff}: its claim was never confirmed, {open_name(claim.handoff)} again")
            return 1
        return 0
