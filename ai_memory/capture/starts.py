"""What starts of sessions are told beside handoffs: briefs, the session that has not ended, recaps; kept in `outbox/`.

Three kinds of files, which the hook prints from without knowing anything of pages (`ai_memory.hook_packet`):

    starts/<key>.json                 of one directory: {"v": 1, "folder", "base", "markers": [[path, size, mtime_ns]],
                                      "workspace", "project", "told": name of the next file, "chars": 0 without opt-in}
    starts/<project key>.brief.json   of one project: {"v": 1, "workspace", "project", "made_of", "status",
                                      "sizes", "briefs": {"4000": text, …}, "until_us",
                                      "shows": [[git path, size, mtime_ns]],
                                      "open": {"session", "at_us", "text"} or null}
    recaps/<session>.md               of one session that was compacted
    mail/<project key>.json           of one project for which messages wait: see `ai_memory.capture.mail`

`base` and `markers` say by which markers a directory belongs to its project and opted in, `shows` which files the texts
come from: where one of these is gone or another one now, the hook shows nothing of it, and the drain renews it.
Crash: safe at any point. Each file is whole or not there, and `starts/made.json`, written last, says what is done.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ai_memory.capture import brief, recap
from ai_memory.capture.attribution import Attribution
from ai_memory.capture.brief import Material
from ai_memory.capture.handoffs import named
from ai_memory.capture.mail import tell_waiting
from ai_memory.capture.page_files import file_holds, stamp_of
from ai_memory.capture.words import minute
from ai_memory.hook_packet import CONTINUITY_US, KEPT_S, rows_in
from ai_memory.model import Page, PageRef
from ai_memory.scope.markers import nearest_markers
from ai_memory.scope.policy import briefing_at
from ai_memory.store import session_lookup, standing, state_sessions
from ai_memory.store.driver import Connection
from ai_memory.store.fact_rows import FactRow, told_facts
from ai_memory.store.head import read_head
from ai_memory.store.memory import Memory, no_step
from ai_memory.store.outbox import MADE, Outbox, brief_name, recap_name, start_name
from ai_memory.store.snapshot import Snapshot
from ai_memory.store.state_sessions import Session
from ai_memory.text.sanitize import sanitize

FORMAT = 1
SMALLER_CHARS = (4_000, 2_500, 1_500)
"""Sizes in which a brief is packed too, for a start whose handoff leaves no more room."""
MAX_SESSIONS = 256
"""Sessions whose directories are entered where nothing is known yet."""

Project = tuple[str, str]
"""Workspace and name."""
Record = dict[str, object]


@dataclass(frozen=True, slots=True)
class _Done:
    """Up to where the files were made."""

    head: str = ""
    seq: int = -1
    """Number of the last observation; -1: nothing is known."""


@dataclass(slots=True)
class _Chosen:
    """Pages and titles of one brief, and the stamps of their files."""

    more: int
    pages: list[Page] = field(default_factory=list)
    facts: list[FactRow] = field(default_factory=list)
    more_facts: int = 0
    turns_us: tuple[int | None, ...] = ()
    """When the next fact or page begins to hold, or ends to."""
    recent: list[tuple[str, str]] = field(default_factory=list)
    shows: list[object] = field(default_factory=list)

    def names(self) -> object:
        """What decides the brief's bytes: the same names, the same brief."""
        told = [*((page.ref, page.version) for page in self.pages), *((fact.ref, fact.version) for fact in self.facts)]
        return told, self.recent, self.more, self.more_facts

    def material(self, scope: str) -> Material:
        entries = tuple(brief.entry(page) for page in self.pages)
        recent = tuple(brief.recent_line(path, title) for path, title in self.recent)
        facts = tuple(row.fact for row in self.facts)
        return Material(scope, entries, more=self.more, facts=facts, more_facts=self.more_facts, recent=recent)

    def over_us(self) -> int:
        """When the brief is no longer true by itself; 0 is never."""
        times = [*self.turns_us, *(page.expires_at_us for page in self.pages)]
        return min((time for time in times if time is not None), default=0)


class Starts:
    """Renews the files of one data dir, at the end of a drain. `step` is called at named instants."""

    def __init__(
        self, memory: Memory, outbox: Outbox, attribution: Attribution, *, step: Callable[[str], None] = no_step
    ) -> None:
        self._memory = memory
        self._outbox = outbox
        self._attribution = attribution
        self._step = step

    def renew(self) -> int:
        """Bring the files up to date with pages, markers and sessions; how many were written.

        Looks only at directories and projects in which something happened since the last time. Errors: MemoryFault,
        DatabaseError, OSError; the next call does what is left.
        """
        if not self._memory.exists:
            return 0
        before = self._done()
        sessions, compacted, seq = self._seen(before.seq)
        head = read_head(self._memory.data_dir.git) or ""
        if not sessions and head == before.head:
            return 0
        written = self._enter(sessions) + self._recap(compacted)
        self._step("starts-entered")
        entries = self._entries()
        wanted = _projects(entries.values()) if head != before.head else self._of(sessions, entries.values())
        self._take_edits(wanted)
        with self._memory.reading() as snapshot:
            for project in wanted:
                chars = _chars(project, entries.values())
                written += self._renew_project(snapshot, project, chars, is_news=snapshot.head != before.head)
                self._step("starts-told")
            head = snapshot.head or ""
        self._prune(entries)
        self._put(MADE, {"v": FORMAT, "head": head, "seq": seq})
        self._step("starts-made")
        return written

    def _done(self) -> _Done:
        found = self._read(MADE)
        head, seq = found.get("head"), found.get("seq")
        return _Done(head, seq) if isinstance(head, str) and isinstance(seq, int) else _Done()

    def _seen(self, seq: int) -> tuple[list[Session], list[Session], int]:
        """Sessions with events since then, those of them that compacted, and the number of the last observation."""
        with self._memory.state_reading() as connection:
            if connection is None:
                return [], [], 0
            last = state_sessions.last_seq(connection)
            if seq < 0 or last < seq:  # nothing is known, or what was known is purged
                recent = session_lookup.sessions(connection, limit=MAX_SESSIONS)
                return recent, recent, last
            seen = state_sessions.seen_since(connection, seq)
            known = {name: state_sessions.session(connection, name) for name in seen}
        sessions = [session for session in known.values() if session is not None]
        return sessions, [session for session in sessions if seen[session.id]], last

    # --- directories ---

    def _enter(self, sessions: Iterable[Session]) -> int:
        """Say for each directory in which such a session may start what it is told of."""
        cwds = dict.fromkeys(str(session.cwd) for session in sessions if session.cwd)
        folders = dict.fromkeys(folder for cwd in cwds for folder in self._attribution.handoff_directories(cwd))
        return sum(self._put(start_name(folder), self._entry(folder)) for folder in folders)

    def _entry(self, folder: str) -> Record:
        caller = self._memory.caller
        home = caller.environ.get("AI_MEMORY_HOME") or caller.home
        sources = nearest_markers(folder, home)
        asked = briefing_at(sources, home=home)
        scope = self._attribution.place(folder).scope
        is_told = not scope.is_guess
        return {
            "v": FORMAT,
            "folder": folder,
            "base": os.path.dirname(sources[0].path) if sources else "",
            "markers": [[source.path, source.size, source.mtime_ns] for source in asked.sources],
            "workspace": scope.workspace if is_told else "",
            "project": scope.project if is_told else "",
            "told": brief_name(scope.workspace, scope.project) if is_told else "",
            "chars": asked.max_chars or 0 if is_told else 0,
        }

    def _entries(self) -> dict[str, Record]:
        names = (name for name in self._outbox.names_in("starts") if not name.endswith(".brief.json") and name != MADE)
        return {name: self._read(name) for name in names}

    def _of(self, sessions: Sequence[Session], entries: Iterable[Record]) -> list[Project]:
        """Projects that such sessions, or sessions in their directories, belong to."""
        folders = {folder for one in sessions for folder in self._attribution.handoff_directories(str(one.cwd))}
        near = _projects(entry for entry in entries if entry.get("folder") in folders)
        known = set(_projects(entries))
        own = [(str(one.workspace), str(one.project)) for one in sessions]
        return sorted({*near, *(project for project in own if project in known)})

    # --- projects ---

    def _take_edits(self, projects: Iterable[Project]) -> None:
        """Take edits by hand of pages that a brief shows: else it would tell of what stood there before."""
        if self._memory.hindrance() is not None:
            return
        for workspace, project in projects:
            present = self._read(brief_name(workspace, project))
            for path in _git_paths(present):
                if not self._is_as_shown(present, path) and (self._memory.data_dir.wiki / path).is_file():
                    self._memory.fresh(PageRef(workspace, project, path.split("/", 2)[2]))

    def _is_as_shown(self, present: Record, git_path: str) -> bool:
        return self._stamp(git_path) in rows_in(present, "shows")

    def _stamp(self, git_path: str) -> list[object]:
        return [git_path, *stamp_of(self._memory.data_dir.wiki, git_path)]

    def _renew_project(self, snapshot: Snapshot, project: Project, chars: set[int], *, is_news: bool) -> int:
        workspace, name = project
        present = self._read(brief_name(workspace, name))
        now_us = self._memory.clock()
        record: Record = {"v": FORMAT, "workspace": workspace, "project": name}
        record |= self._briefs(snapshot, project, chars, present=present, now_us=now_us, is_news=is_news)
        with self._memory.state_reading() as connection:
            record["open"] = _open_session(connection, project, now_us=now_us) if connection is not None else None
        return tell_waiting(self._memory, self._outbox, project) + self._put(brief_name(workspace, name), record)

    def _briefs(
        self, snapshot: Snapshot, project: Project, chars: set[int], *, present: Record, now_us: int, is_news: bool
    ) -> Record:
        """The texts in every size that may be asked for; those that are there stay where they tell of the same."""
        if not chars:
            return {"made_of": "", "status": "", "sizes": [], "briefs": {}, "shows": [], "until_us": 0}
        sizes = sorted(chars | {size for size in SMALLER_CHARS if size < max(chars)})
        if not is_news and present.get("sizes") == sizes and self._is_true(present, now_us):
            return {key: present[key] for key in ("made_of", "status", "sizes", "briefs", "shows", "until_us")}
        chosen = self._choose(snapshot, project, now_us=now_us)
        made_of = hashlib.sha256(repr((FORMAT, sizes, chosen.names())).encode("utf-8", "replace")).hexdigest()[:32]
        if present.get("made_of") == made_of:
            status, briefs = present.get("status"), present.get("briefs")
        else:
            material = chosen.material("/".join(project))
            status, briefs = brief.status(material), _packed(material, sizes)
        return {
            "made_of": made_of,
            "status": status,
            "sizes": sizes,
            "briefs": briefs,
            "shows": chosen.shows,
            "until_us": chosen.over_us(),
        }

    def _is_true(self, present: Record, now_us: int) -> bool:
        """Whether all that it shows lies there as it did, and nothing of it has expired."""
        until_us = present.get("until_us")
        is_over = not isinstance(until_us, int) or 0 < until_us < now_us
        return not is_over and all(self._is_as_shown(present, path) for path in _git_paths(present))

    def _choose(self, snapshot: Snapshot, project: Project, *, now_us: int) -> _Chosen:
        """What a brief shows. A page whose file is gone or holds something else is left out: the commit that takes
        that edit renews the brief."""
        refs = standing.standing_pages(snapshot, *project, now_us=now_us)
        chosen = _Chosen(more=max(0, len(refs) - brief.MAX_PAGES))
        for ref in refs[: brief.MAX_PAGES]:
            stamp = self._stamp(ref.git_path)
            page = snapshot.page(ref)
            if page is not None and self._holds(ref, page.version):
                chosen.pages.append(page)
                chosen.shows.append(stamp)
        told = told_facts(snapshot.index, *project, at_us=now_us)
        chosen.turns_us = (told.until_us, standing.next_turn_us(snapshot, *project, now_us=now_us))
        chosen.more_facts = max(0, len(told.facts) - brief.MAX_FACTS)
        for row in told.facts[: brief.MAX_FACTS]:
            stamp = self._stamp(row.ref.git_path)
            if row.ref not in refs and self._holds(row.ref, row.version):
                chosen.facts.append(row)
                chosen.shows.append(stamp)
        limit = brief.MAX_RECENT + len(refs)
        recent = standing.recent_titles(snapshot, *project, now_us=now_us, limit=limit, has_facts=False)
        for ref, title in recent:
            stamp = self._stamp(ref.git_path)
            if ref in refs or stamp[1] == -1 or len(chosen.recent) == brief.MAX_RECENT:
                continue
            chosen.recent.append((ref.path, title))
            chosen.shows.append(stamp)
        return chosen

    def _holds(self, ref: PageRef, version: str) -> bool:
        return file_holds(self._memory.data_dir.wiki, ref.git_path, version)

    # --- sessions ---

    def _recap(self, sessions: Iterable[Session]) -> int:
        """The recap of each that was compacted."""
        written = 0
        for session in sessions:
            with self._memory.state_reading() as connection:
                assert connection is not None  # it told of the session
                rows = state_sessions.observations(connection, session.id, kinds=recap.TOLD)
            text = recap.render(rows, source=f"{session.workspace}/{session.project}, session {session.id}")
            if text and text != self._outbox.read(recap_name(session.id)):
                self._outbox.put(recap_name(session.id), sanitize(text))
                written += 1
        return written

    # --- files ---

    def _prune(self, entries: Mapping[str, Record]) -> None:
        """Remove what is about a directory that is gone, a project without directories, a session of long ago."""
        told = {str(entry.get("told")) for entry in entries.values()}
        for name, entry in entries.items():
            if not os.path.isdir(str(entry.get("folder"))):  # noqa: PTH112 (may hold any bytes)
                self._outbox.remove(name)
        for name in self._outbox.names_in("starts"):
            if name.endswith(".brief.json") and name not in told:
                self._outbox.remove(name)
        for name in self._outbox.names_in("recaps"):
            if self._outbox.age_s(name) > KEPT_S or self._is_purged(name[len("recaps/") :].removesuffix(".md")):
                self._outbox.remove(name)

    def _is_purged(self, session: str) -> bool:
        with self._memory.state_reading() as connection:
            return connection is not None and state_sessions.session(connection, session) is None

    def _read(self, name: str) -> Record:
        """One of our files, empty where it is none that we know."""
        try:
            found = json.loads(self._outbox.read(name) or "")
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) and found.get("v") == FORMAT else {}

    def _put(self, name: str, record: Record) -> bool:
        """Write the file unless it says that already."""
        if record == self._read(name):
            return False
        self._outbox.put(name, json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
        return True


def _packed(material: Material, sizes: Sequence[int]) -> dict[str, str]:
    """Size → brief. Of equal texts the smallest size stays."""
    found: dict[str, str] = {}
    for size in sizes:
        text = brief.pack(material, size)
        if text and text not in found.values():
            found[str(size)] = text
    return found


def _projects(entries: Iterable[Record]) -> list[Project]:
    found = {(str(entry.get("workspace")), str(entry.get("project"))) for entry in entries if entry.get("project")}
    return sorted(found)


def _chars(project: Project, entries: Iterable[Record]) -> set[int]:
    """The sizes of brief that directories of the project ask for."""
    found = set()
    for entry in entries:
        chars = entry.get("chars")
        if (entry.get("workspace"), entry.get("project")) == project and isinstance(chars, int) and chars > 0:
            found.add(chars)
    return found


def _git_paths(record: Record) -> list[str]:
    return [str(row[0]) for row in rows_in(record, "shows") if isinstance(row, list) and row]


def _open_session(connection: Connection, project: Project, *, now_us: int) -> Record | None:
    """The project's newest session, if it has not ended and left work that no handoff passed on. No captured text."""
    session = state_sessions.newest_at_work(connection, *project, since_us=now_us - CONTINUITY_US)
    if session is None or not session.is_open or session.work <= session.handed_work:
        return None
    return {"session": session.id, "at_us": session.last_at_us, "text": continuity_notice(session)}


def continuity_notice(session: Session) -> str:
    """Who, since when, and where to look: nothing of what was said or done."""
    name = state_sessions.short_id(session.id)
    return (
        f"A session of {named(session.agent)} in {session.workspace}/{session.project} has not ended. Its last event is"
        f" of {minute(session.last_at_us)}; it may still be running, and what it did was not handed over. "
        f"`ai-memory session {name}` or memory_read_session_observations tells what it did."
    )
