"""What becomes of sessions that ended or paused: pages, handoffs, and the outbox that the next start looks into."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from ai_memory.capture import crediting, handoffs, session_page
from ai_memory.capture.attribution import Attribution
from ai_memory.capture.batches import scope_of
from ai_memory.capture.digest import Taken, digest
from ai_memory.capture.handoffs import Handoff, HandoffState
from ai_memory.capture.rules import Rules
from ai_memory.capture.session_page import SessionPage, composed
from ai_memory.capture.visits import Visit, counted, put_visit, visited
from ai_memory.errors import LockBusy, MemoryFault, StoreFault
from ai_memory.model import MACHINE, Page, PageRef, Sanitized
from ai_memory.store import session_lookup, state_sessions
from ai_memory.store.blobs import blob_id
from ai_memory.store.change import Change
from ai_memory.store.log import Log
from ai_memory.store.memory import Memory
from ai_memory.store.outbox import Outbox, Provisional, directory_names, open_name, project_name
from ai_memory.store.session_lookup import SessionFilter
from ai_memory.store.snapshot import Filter, Snapshot
from ai_memory.store.state_sessions import Observation, Session
from ai_memory.text.page import splice
from ai_memory.text.sanitize import OwnPatterns, sanitize, sanitize_again, sanitize_edit

REFRESH_US = 60_000_000
"""A session's page is committed at most this often while it runs (decision A14)."""
MAX_OPEN_LOOKED_AT = 200
MAX_SESSIONS_LOOKED_AT = 20
"""Of a project, for the folders in which its next session may start."""


@dataclass(slots=True)
class Done:
    """What page work did."""

    pages: int = 0
    handoffs: int = 0
    reopened: int = 0
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Ready:
    """One ended session, computed before the lock is taken."""

    session: Session
    page: SessionPage | None
    handoff: Handoff | None
    directories: tuple[str, ...] = ()
    visits: tuple[Visit, ...] = ()
    given_back: tuple[PageRef, ...] = ()
    """Pages of handoffs that this session took although it did nothing."""


@dataclass(frozen=True, slots=True)
class _Rivals:
    """Other automatic handoffs of a session's directory. Only the one that ended last stays open."""

    earlier: tuple[PageRef, ...]
    has_later: bool


class PageWork:
    """Turns session rows into pages. Compute first, then write under the lock, comparing versions."""

    def __init__(
        self,
        memory: Memory,
        outbox: Outbox,
        attribution: Attribution,
        rules: Rules,
        *,
        log: Log,
    ) -> None:
        self._memory = memory
        self._outbox = outbox
        self._attribution = attribution
        self._rules = rules
        self.own = rules.own
        self._log = log

    def finish(self, sessions: Sequence[Session]) -> Done:
        """Page and handoff of ended sessions, all in one commit; one that cannot be done is set aside.

        Crash: safe at any point. Until the commit the sessions stay due; a repetition makes the same ids.
        Errors: LockBusy and StoreFault, which concern all sessions.
        """
        done = Done()
        ready = list(self._prepared(sessions, done))
        if not ready:
            return done
        try:
            self._commit(ready, done)
        except (LockBusy, StoreFault):
            raise
        except MemoryFault as fault:
            if len(ready) == 1:
                self._set_aside(ready[0].session, fault, done)
            else:
                for one in ready:
                    done = _sum(done, self.finish([one.session]))
        return done

    def _prepared(self, sessions: Sequence[Session], done: Done) -> Iterable[_Ready]:
        for session in sessions:
            try:
                yield self._prepare(session)
            except (LockBusy, StoreFault):
                raise
            except Exception as fault:  # noqa: BLE001 (one session's text must not stop the others)
                self._set_aside(session, fault, done)

    def _prepare(self, session: Session) -> _Ready:
        observations, elsewhere = crediting.split(self._all_observations(session))
        if not session.work:
            return _Ready(session, None, None, given_back=self._given_back(observations))
        root = scope_of(session).root or session.cwd
        visits = visited(self._memory, self._attribution, session, elsewhere)
        page = session_page.session_page(
            session,
            observations,
            root=root,
            taken=self.taken(session, observations),
            elsewhere=counted(visits),
        )
        identifier = session.handoff or handoffs.handoff_id(session.ended_at_us or 0, f"{session.id}:end")
        is_handed_over = not session.handoff and session.work <= session.handed_work
        handoff = None if is_handed_over else self.automatic(session, observations, identifier, ended=True)
        directories = self._attribution.handoff_directories(session.cwd)
        return _Ready(session, page, handoff, tuple(directories), visits=visits)

    def automatic(
        self, session: Session, observations: Sequence[Observation], identifier: str, *, ended: bool
    ) -> Handoff | None:
        """The handoff that a session leaves; None where the settings or its folder's marker want none."""
        if not self._rules.makes_handoffs or not self._attribution.makes_handoffs(session.cwd):
            return None
        root = scope_of(session).root or session.cwd
        told = digest(session, observations, root=root, taken=self.taken(session, observations))
        return handoffs.automatic(told, identifier, ended=ended, lifetime_us=self._rules.handoff_lifetime_us)

    def taken(self, session: Session, observations: Sequence[Observation]) -> Taken | None:
        """The last handoff that the session was given, None when it was given none or its page is no more."""
        claimed = [row.text for row in observations if row.kind == "handoff-claimed" and row.text]
        if not claimed:
            return None
        with self._memory.reading() as snapshot:
            page = find_handoff(snapshot, claimed[-1])
        if page is None:
            return None
        is_here = (page.ref.workspace, page.ref.project) == (session.workspace, session.project)
        return handoffs.taken_over(handoffs.from_page(page.frontmatter, page.body), page.ref.path if is_here else "")

    def observations(self, session: Session) -> list[Observation]:
        """What a session did for its own project, in order."""
        return crediting.split(self._all_observations(session))[0]

    def _all_observations(self, session: Session) -> list[Observation]:
        with self._memory.state_reading() as connection:
            return state_sessions.observations(connection, session.id) if connection is not None else []

    def _given_back(self, observations: Sequence[Observation]) -> tuple[PageRef, ...]:
        taken = {row.text for row in observations if row.kind == "handoff-claimed" and row.text}
        if not taken:
            return ()
        with self._memory.reading() as snapshot:
            found = (find_handoff(snapshot, handoff) for handoff in sorted(taken))
            return tuple(page.ref for page in found if page is not None)

    def _commit(self, ready: Sequence[_Ready], done: Done) -> None:
        rivals = self._rivals(ready)
        counted = Done()
        with self._memory.writing(_message(ready), author=MACHINE, trailers=_trailers(ready)) as change:
            for one in ready:
                self._write(change, one, rivals, counted)
        done.pages += counted.pages
        done.handoffs += counted.handoffs
        done.reopened += counted.reopened

    def _write(self, change: Change, one: _Ready, rivals: dict[str, _Rivals], counted: Done) -> None:
        session = one.session
        version = session.page_version
        if one.page is not None:
            change.ensure_project(scope_of(session))
            version = put_page(change, session, one.page, self.own)
            counted.pages += 1
        if one.handoff is not None:
            counted.handoffs += self._write_handoff(change, one, one.handoff, rivals[session.id])
        else:
            for name in self._provisional_names(session.handoff):
                change.outbox_remove(name)
        for visit in one.visits:
            change.ensure_project(visit.scope)
            put_visit(change, visit, self.own)
        for ref in one.given_back:
            counted.reopened += self._give_back(change, ref, session)
        change.state("session-covered", session=session.id, observations=session.observations, page_version=version)

    def _write_handoff(self, change: Change, one: _Ready, handoff: Handoff, rivals: _Rivals) -> int:
        """1 when a new handoff was made; an open one of the same end is brought up to date, a taken one left alone.

        One that a later end in the same directory overtook is expired from the start: who comes next gets the later.
        """
        session = one.session
        handoff = handoffs.expired_by(handoff, self._memory.clock())
        ref = PageRef(session.workspace, session.project, handoffs.page_path(handoff.id))
        text = composed(handoffs.frontmatter(handoff), handoffs.body(handoff), self.own)
        present = change.page(ref)
        if present is not None:
            is_ours = present.version == session.handoff_version and not present.pinned
            if is_ours and present.frontmatter.get("state") == HandoffState.OPEN:
                change.put(ref, text, expected_version=present.version)
                self._note_handoff(change, session, handoff, text)
                if handoff.state is HandoffState.OPEN:
                    self.publish(change, handoff, ref, one.directories)
            return 0
        is_news = session.work > session.handed_work and session.ended_at_us != session.handed_end_us
        if not is_news:
            return 0
        for other in rivals.earlier:
            if other != ref:
                self.close(change, other, HandoffState.EXPIRED)
        if rivals.has_later:
            handoff = replace(handoff, state=HandoffState.EXPIRED)
            text = composed(handoffs.frontmatter(handoff), handoffs.body(handoff), self.own)
        change.put(ref, text)
        self._note_handoff(change, session, handoff, text)
        for name in self._provisional_names(handoff.id):
            change.outbox_remove(name)
        if handoff.state is HandoffState.OPEN:
            self.publish(change, handoff, ref, one.directories)
        return 1

    def _note_handoff(self, change: Change, session: Session, handoff: Handoff, text: str) -> None:
        change.state(
            "session-handoff",
            session=session.id,
            handoff=handoff.id,
            work=session.work,
            end_us=session.ended_at_us or 0,
            version=blob_id(text.encode("utf-8")),
        )

    def publish(self, change: Change, handoff: Handoff, ref: PageRef, directories: Sequence[str]) -> None:
        """Let starts in those directories find the handoff, and everyone in its project one that is made by hand or
        in no directory."""
        change.outbox_put(open_name(handoff.id), sanitize_again(handoffs.render(handoff, ref), self.own))
        names = directory_names(handoff.id, directories)
        project = change.project(ref.workspace, ref.project)
        if (handoff.origin == "manual" or not handoff.cwd) and project is not None:
            names.append(project_name(handoff.id, project.id))
        for name in names:
            change.outbox_put(name, sanitize(handoffs.mark(handoff)))

    def directories(self, handoff: Handoff, ref: PageRef) -> list[str]:
        """Directories whose starts shall be shown the handoff. One that was made elsewhere for a project goes to where
        that project's last sessions worked."""
        if handoff.cwd or handoff.origin != "manual":
            return self._attribution.handoff_directories(handoff.cwd)
        with self._memory.state_reading() as connection:
            if connection is None:
                return []
            of_project = SessionFilter(workspace=ref.workspace, project=ref.project)
            known = session_lookup.sessions(connection, of_project, limit=MAX_SESSIONS_LOOKED_AT)
        folders = dict.fromkeys(session.cwd for session in known if session.cwd)
        return [found for folder in folders for found in self._attribution.handoff_directories(folder)]

    def close(self, change: Change, ref: PageRef, state: HandoffState) -> bool:
        """Set an open handoff's state and take it out of the outbox. False when it is not open."""
        page = change.page(ref)
        if page is None or page.frontmatter.get("state") != HandoffState.OPEN or not change.is_utf8(ref):
            return False
        change.put(ref, spliced(page, {"state": state.value}), expected_version=page.version)
        for name in self._outbox.names_of(str(page.frontmatter.get("id", ""))):
            change.outbox_remove(name)
        return True

    def _give_back(self, change: Change, ref: PageRef, session: Session) -> int:
        page = change.page(ref)
        if page is None or str(page.frontmatter.get("accepted_by_session", "")) != session.id:
            return 0
        if page.frontmatter.get("state") != HandoffState.ACCEPTED:
            return 0
        given = handoffs.reopened(handoffs.from_page(page.frontmatter, page.body))
        handoff = handoffs.expired_by(given, self._memory.clock())
        changes: dict[str, object] = {"state": handoff.state.value, **handoffs.claim_keys(handoff)}
        change.put(ref, spliced(page, changes), expected_version=page.version)
        if handoff.state is HandoffState.OPEN:
            self.publish(change, handoff, ref, self.directories(handoff, ref))
        return 1

    def _rivals(self, ready: Sequence[_Ready]) -> dict[str, _Rivals]:
        """For each session the handoffs of its directory that ended before, and whether one ended after: of those that
        are open, and of those that this change makes.
        """
        ends = {one.session.id: _end_of(one.handoff) for one in ready if one.handoff is not None}
        found: dict[str, _Rivals] = {}
        with self._memory.reading() as snapshot:
            of_project = cache(partial(open_automatic, snapshot))
            for one in ready:
                session = one.session
                if one.handoff is None:
                    continue
                mine = ends[session.id]
                known = [
                    (_end_of(handoffs.from_page(page.frontmatter, page.body)), page.ref)
                    for page in of_project(session.workspace, session.project)
                    if str(page.frontmatter.get("cwd", "")) == session.cwd
                ]
                mates = [ends[other.session.id] for other in ready if other.handoff and _is_beside(other, one)]
                later = [end for end in (*(end for end, _ in known), *mates) if end > mine]
                found[session.id] = _Rivals(tuple(ref for end, ref in known if end < mine), bool(later))
        return found

    def pause(self, session: Session, *, render: bool) -> None:
        """Keep the handoff that a running session would leave if it were killed now. No commit.

        Without `render` one that is there is only marked as that of a session at work.
        Errors: StoreFault, OSError.
        """
        if not session.work > session.handed_work or not session.handoff:
            return
        mine = Provisional(session.handoff, session.process)
        self._outbox.demote(mine)
        if not render and mine in self._outbox.provisionals():
            self._outbox.touch(mine)
            return
        handoff = self.automatic(session, self.observations(session), session.handoff, ended=False)
        if handoff is None or handoffs.expired_by(handoff, self._memory.clock()).state is not HandoffState.OPEN:
            for name in self._provisional_names(session.handoff):
                self._outbox.remove(name)
            return
        ref = PageRef(session.workspace, session.project, handoffs.page_path(handoff.id))
        for name in self._provisional_names(handoff.id):
            if name != mine.name:
                self._outbox.remove(name)
        self._outbox.put(mine.name, sanitize_again(handoffs.render(handoff, ref), self.own))
        for name in directory_names(handoff.id, self._attribution.handoff_directories(session.cwd)):
            self._outbox.put(name, handoffs.mark(handoff))

    def _provisional_names(self, handoff: str) -> list[str]:
        return [name for name in self._outbox.names_of(handoff, claims=False) if name.startswith("provisional/")]

    def refresh(self, session: Session, *, now_us: int) -> bool:
        """Commit the page of a running session, at most once a minute. False when it was not due."""
        if 0 <= now_us - session.refreshed_at_us < REFRESH_US or not session.work:  # below 0: the clock was set back
            return False
        root = scope_of(session).root or session.cwd
        seen = self.observations(session)
        page = session_page.session_page(session, seen, root=root, taken=self.taken(session, seen))
        trailers = {"Pass": "session-refresh", "Session": session.id, "Agent": session.agent}
        with self._memory.writing(f"Session so far: {page.title}", author=MACHINE, trailers=trailers) as change:
            change.ensure_project(scope_of(session))
            version = put_page(change, session, page, self.own)
            change.state(
                "session-refreshed",
                session=session.id,
                observations=session.observations,
                at_us=now_us,
                page_version=version,
            )
        return True

    def _set_aside(self, session: Session, fault: Exception, done: Done) -> None:
        reason = f"session {session.id}: {type(fault).__name__}: {str(fault).splitlines()[0] if str(fault) else ''}"
        done.faults.append(reason)
        self._log.error(f"page work failed, {reason}")
        with self._memory.state_transaction() as connection:
            state_sessions.note_failure(connection, session.id)


def put_page(change: Change, session: Session, page: SessionPage, own: OwnPatterns) -> str:
    """Write the session's page unless someone rewrote it; gives the version that rules last wrote."""
    ref = PageRef(session.workspace, session.project, page.path)
    text = composed(page.frontmatter, page.body, own)
    present = change.page(ref)
    if present is not None and (present.pinned or not change.is_utf8(ref) or present.version != session.page_version):
        return session.page_version
    change.put(ref, text, expected_version=present.version if present is not None else None)
    change.state(
        "page-session",
        workspace=ref.workspace,
        project=ref.project,
        path=ref.path,
        session=session.id,
        role="about",
        at_us=session.last_at_us,
    )
    return blob_id(text.encode("utf-8"))


def spliced(page: Page, changes: dict[str, object]) -> Sanitized:
    """The page with those frontmatter keys changed; None takes one out. Their values are of our own making."""
    return sanitize_edit(page.text, splice(page.text, changes, path=page.ref.path))


def find_handoff(snapshot: Snapshot, handoff: str) -> Page | None:
    """The page of a handoff in whatever project, by its id."""
    wanted = Filter(kind="handoff", prefix=handoffs.page_path(handoff))
    found = snapshot.select(wanted, sort="path", limit=1).pages
    return found[0] if found else None


def expired(snapshot: Snapshot, now_us: int) -> list[PageRef]:
    """Open handoffs whose time is over, in every project; the oldest, if there are very many."""
    wanted = Filter(kind="handoff", prefix="handoffs/", state=HandoffState.OPEN, expired_at_us=now_us)
    return [page.ref for page in snapshot.select(wanted, sort="path", limit=MAX_OPEN_LOOKED_AT).pages]


def _end_of(handoff: Handoff) -> tuple[int, str]:
    return handoff.created_at_us, handoff.id


def _is_beside(one: _Ready, other: _Ready) -> bool:
    """Whether two sessions of one change worked in the same directory of the same project."""
    a, b = one.session, other.session
    return a.id != b.id and (a.workspace, a.project, a.cwd) == (b.workspace, b.project, b.cwd)


def open_automatic(snapshot: Snapshot, workspace: str, project: str) -> list[Page]:
    """The open automatic handoffs of a project, newest first."""
    wanted = Filter(workspace, project, kind="handoff", prefix="handoffs/", state=HandoffState.OPEN, origin="auto")
    return snapshot.select(wanted, sort="-path", limit=MAX_OPEN_LOOKED_AT).pages


def _message(ready: Sequence[_Ready]) -> str:
    titles = [one.page.title for one in ready if one.page is not None]
    if not titles:
        return "Handoffs given back by sessions that did nothing"
    return f"Session: {titles[0]}" if len(titles) == 1 else f"{len(titles)} sessions: {titles[0]}, …"


def _trailers(ready: Sequence[_Ready]) -> dict[str, str]:
    agents = {one.session.agent for one in ready}
    trailers = {"Pass": "session-end", "Session": " ".join(one.session.id for one in ready)}
    return trailers | ({"Agent": agents.pop()} if len(agents) == 1 else {})


def _sum(one: Done, other: Done) -> Done:
    return Done(
        one.pages + other.pages,
        one.handoffs + other.handoffs,
        one.reopened + other.reopened,
        one.faults + other.faults,
    )
