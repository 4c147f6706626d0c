"""Moving whole projects and single sessions: what would go where, and doing it in one change.

Pages, sessions, messages, evidence, handoffs that wait and the log follow; links from everywhere do, too.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ai_memory.errors import Conflict, MemoryFault
from ai_memory.model import Page, PageRef, Sanitized
from ai_memory.operations.page_state import carry_feedback, carry_state, forget_state
from ai_memory.operations.rows import EVERYTHING
from ai_memory.store.addresses import MOVED_PROJECTS
from ai_memory.text.links import rewrite_links
from ai_memory.text.sanitize import sanitize, sanitize_again, sanitize_edit

if TYPE_CHECKING:
    from ai_memory.operations.handoff_desk import HandoffDesk
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

Place = tuple[str, str]
"""Workspace and name of a project."""
OnConflict = Literal["block", "overwrite", "duplicate"]


@dataclass(slots=True)
class Plan:
    """What shall be moved. `look` fills in what follows from `projects` and `sessions`."""

    message: str
    projects: dict[Place, Place] = field(default_factory=dict)
    """Whole projects."""
    sessions: dict[str, tuple[Place, Place]] = field(default_factory=dict)
    """Single sessions, each from its project to another."""
    identities: dict[Place, tuple[str, str]] = field(default_factory=dict)
    """What repository a moved project is of from now on, and what told it."""
    pages: dict[PageRef, PageRef] = field(default_factory=dict)
    replaced: set[PageRef] = field(default_factory=set)
    """Pages that give way."""
    conflicts: list[PageRef] = field(default_factory=list)
    """Other pages where pages shall go: with one of them nothing is moved."""
    leads: dict[PageRef, PageRef] = field(default_factory=dict)
    """Where links lead from now on; also to pages that nobody wrote yet."""
    sources: set[PageRef] = field(default_factory=set)
    """Pages that stay and link to what moves."""

    @property
    def pairs(self) -> dict[Place, Place]:
        """Per project where it, or what of it moves, goes."""
        return {**self.projects, **dict(self.sessions.values())}


SESSION_KEYS = {"session": "session_id", "handoff": "from_session"}
"""Which key of a page's frontmatter names its session, by kind."""


@dataclass(slots=True)
class Done:
    commit: str | None
    relinked: list[PageRef]
    gaps: list[str]


# --- looking ---


def look(snapshot: "Snapshot", plan: Plan, *, conflict: OnConflict = "block") -> None:
    """Find out which pages go where, what is in their way, and who links to them."""
    for old, new in plan.projects.items():
        pages = snapshot.pages(workspace=old[0], project=old[1], sort="path", limit=EVERYTHING).pages
        _place_pages(snapshot, plan, pages, new, conflict)
        for link in snapshot.links_into(*old):
            plan.leads.setdefault(link.target, PageRef(*new, link.target.path))
            plan.sources.add(link.source)
    owned = pages_by_session(snapshot) if plan.sessions else {}
    for session, (old, new) in plan.sessions.items():
        pages = [page for page in owned.get(session, ()) if (page.ref.workspace, page.ref.project) == old]
        _place_pages(snapshot, plan, pages, new, conflict)
        plan.sources |= {link.source for page in pages for link in snapshot.backlinks(page.ref)}
    plan.leads |= plan.pages
    plan.sources -= plan.pages.keys()


def pages_by_session(snapshot: "Snapshot") -> dict[str, list[Page]]:
    """The page and the handoffs of each session, wherever they lie."""
    found: dict[str, list[Page]] = {}
    for kind, key in SESSION_KEYS.items():
        for page in snapshot.pages(kind=kind, sort="path", limit=EVERYTHING).pages:
            session = page.frontmatter.get(key)
            if isinstance(session, str):
                found.setdefault(session, []).append(page)
    return found


def _place_pages(snapshot: "Snapshot", plan: Plan, pages: Iterable[Page], new: Place, conflict: OnConflict) -> None:
    taken = set(plan.pages.values())
    for page in pages:
        target = PageRef(*new, page.ref.path)
        there = snapshot.page(target)
        if there is None and target not in taken:
            plan.pages[page.ref] = target
        elif conflict == "duplicate":
            plan.pages[page.ref] = _beside(snapshot, page.ref, target, taken)
        elif conflict == "overwrite" or (there is not None and there.version == page.version):
            plan.pages[page.ref] = target
            plan.replaced.add(target)
        else:
            plan.conflicts.append(target)
        taken.add(plan.pages.get(page.ref, target))


def _beside(snapshot: "Snapshot", ref: PageRef, target: PageRef, taken: set[PageRef]) -> PageRef:
    """A free name beside the page that is in the way: `<name>-from-<where it came from>.md`, then `-2`."""
    origin = ref.workspace if ref.workspace != target.workspace else ref.project
    stem, number = target.path.removesuffix(".md"), 1
    while True:
        path = f"{stem}-from-{origin}{'' if number == 1 else f'-{number}'}.md"
        found = PageRef(target.workspace, target.project, path)
        if snapshot.page(found) is None and found not in taken:
            return found
        number += 1


# --- doing ---


def carry_out(memory: "Memory", plan: Plan) -> Done:
    """Move all of it in one change, or nothing. No drain works meanwhile: it writes rows without the writer lock.

    Errors: Conflict where a page came or went since the look.
    """
    from ai_memory.capture.mail import told_or_gap
    from ai_memory.operations.handoff_desk import HandoffDesk  # few commands need handoffs
    from ai_memory.store.drain_lock import no_drain

    moved = ", ".join(f"{'/'.join(old)} to {'/'.join(new)}" for old, new in sorted(plan.pairs.items()))
    first = {"Moved-From": min(plan.pages).git_path} if plan.pages else {}
    trailers = {"Pass": plan.message.partition(" ")[0], MOVED_PROJECTS: moved, **first}
    done = Done(None, [], [])
    desk = HandoffDesk(memory)
    with (
        no_drain(memory.data_dir.locks, timeout_s=memory.lock_timeout_s),
        memory.writing(plan.message, trailers=trailers) as change,
    ):
        _refuse_news(change, plan)
        for target in sorted(plan.replaced):  # first: what is known of the pages that come is to stay
            given_way = change.page(target)
            if given_way is not None:
                forget_state(memory, change, given_way)
        _move_state(memory, change, plan)
        for ref, target in plan.pages.items():
            _move_page(change, plan, ref, target, done)
        done.relinked = [source for source in sorted(plan.sources) if _relink(change, plan, source, done)]
        _move_waiting(change, plan, desk)
        _tell_starts(memory, change, plan, desk)
    done.commit = change.committed.commit if change.committed else None
    done.gaps += change.committed.asked if change.committed else ()
    for place in sorted({*plan.projects, *plan.projects.values()}):
        done.gaps += told_or_gap(memory, place)
    done.gaps += _left_behind(memory, plan.projects)
    return done


def _refuse_news(change: "Change", plan: Plan) -> None:
    """Nothing, if the projects hold the pages that were looked at."""
    for place in plan.projects:
        seen = {ref for ref in plan.pages if (ref.workspace, ref.project) == place}
        if change.pages_of(*place) != seen:
            raise Conflict(f"pages of {'/'.join(place)} came or went meanwhile", hint="run it again: it looks anew")


_KEPT_BY_PROJECT = (
    *("sessions", "pages", "evidence", "access", "feedback", "tombstones"),
    *("inbox", "outbox", "audit"),
)


def _move_state(memory: "Memory", change: "Change", plan: Plan) -> None:
    """Everything that `state.db` and the outbox keep by the name of a project."""
    from ai_memory.store.state import purged_project

    for old, new in plan.projects.items():
        before = change.project(*old)
        after = change.move_project(old, new, identity=plan.identities.get(old))
        change.state("project-not-purged", project=purged_project(*new))
        for what in _KEPT_BY_PROJECT:
            change.state(f"project-{what}-moved", **_from_to(old, new))
        if before is not None and before.id != after.id:
            _move_project_key(memory, change, before.id, after.id)
    for place, identity in plan.identities.items():
        if place not in plan.projects:
            change.move_project(place, place, identity=identity)
    for session, (_, new) in plan.sessions.items():
        change.ensure_project_named(*new)
        change.state("session-moved", session=session, new_workspace=new[0], new_project=new[1])
    for ref, target in plan.pages.items():
        if ref.path != target.path or (ref.workspace, ref.project) not in plan.projects:
            carry_state(change, ref, target)


def _from_to(old: Place, new: Place) -> dict[str, str]:
    return {"workspace": old[0], "project": old[1], "new_workspace": new[0], "new_project": new[1]}


def _move_project_key(memory: "Memory", change: "Change", old_id: str, new_id: str) -> None:
    """Handoffs that wait for a project wait for the one that took it up."""
    from ai_memory.store.outbox import Outbox, project_key, project_name

    outbox = Outbox(memory.data_dir)
    for handoff in outbox.meant_for([project_key(old_id)]):
        mark = outbox.read(project_name(handoff, old_id)) or ""
        change.outbox_put(project_name(handoff, new_id), sanitize(mark))
        change.outbox_remove(project_name(handoff, old_id))


def _move_page(change: "Change", plan: Plan, ref: PageRef, target: PageRef, done: Done) -> None:
    page = change.page(ref)
    if page is None:
        raise Conflict(f"{ref} went meanwhile", hint="run it again: it looks anew")
    if target in plan.replaced:
        change.delete(target)
    change.move(ref, target, text=_rewritten(page, plan, now_at=target, done=done))
    now = change.page(target)
    if now is not None and now.version != page.version:
        carry_feedback(change, target, page.version)
        note_version(change, page, now.version)


def _relink(change: "Change", plan: Plan, source: PageRef, done: Done) -> bool:
    """Point the links of a page that stays to the new places; False when there were none after all."""
    page = change.page(source)
    if page is None or not change.is_utf8(source):
        return False
    text = _rewritten(page, plan, now_at=source, done=done)
    if text is None or text == page.text:
        return False
    change.put(source, text, expected_version=page.version)
    carry_feedback(change, source, page.version)
    now = change.page(source)
    if now is not None:
        note_version(change, page, now.version)
    return True


def _rewritten(page: Page, plan: Plan, *, now_at: PageRef, done: Done) -> Sanitized | None:
    """The page with its links as they must be there; None for one whose frontmatter cannot be read."""
    try:
        text = rewrite_links(page.text, at=page.ref, moved=plan.leads, now_at=now_at)
    except MemoryFault as fault:
        done.gaps.append(f"links in {now_at} were left as they are: {fault.message}")
        return None
    return sanitize_edit(page.text, text)


def note_version(change: "Change", page: Page, version: str) -> None:
    """A session's page that only had its links changed is still written anew by its session."""
    key = SESSION_KEYS.get(page.kind)
    session = page.frontmatter.get(key) if key else None
    if isinstance(session, str):
        change.state("session-page-relinked", session=session, version=page.version, new_version=version)


def _move_waiting(change: "Change", plan: Plan, desk: "HandoffDesk") -> None:
    """Render handoffs that wait anew: their text names the page, and a hook looks there whether it is still open."""
    from ai_memory.capture import handoffs
    from ai_memory.store.outbox import open_name

    waiting = set(desk.outbox.open_handoffs())
    for target in plan.pages.values():
        page = change.page(target) if target.path.startswith("handoffs/") else None
        if page is None or page.frontmatter.get("id") not in waiting:
            continue
        handoff = handoffs.from_page(page.frontmatter, page.body)
        change.outbox_put(open_name(handoff.id), sanitize_again(handoffs.render(handoff, target), desk.work.own))


def _tell_starts(memory: "Memory", change: "Change", plan: Plan, desk: "HandoffDesk") -> None:
    """What starts of sessions read by the name of a project: folders lead to the new one, mail and brief follow."""
    from ai_memory.capture.mail import waiting_text
    from ai_memory.store.outbox import MADE, brief_name, lookup_name, mail_name

    for name in desk.outbox.names_in("starts"):
        if name == MADE or name.endswith(".brief.json"):
            continue
        entry = _object(desk.outbox.read(name))
        new = plan.projects.get((str(entry.get("workspace")), str(entry.get("project"))))
        if new is not None:
            entry |= {"workspace": new[0], "project": new[1], "told": brief_name(*new)}
            change.outbox_put(name, sanitize(json.dumps(entry, ensure_ascii=False, separators=(",", ":"))))
    for new in sorted(set(plan.projects.values())):
        joined = [new, *(old for old, target in plan.projects.items() if target == new)]
        text = waiting_text(memory, joined, named=new)
        if text is not None:
            change.outbox_put(mail_name(*new), sanitize(text))
    for old in plan.projects:
        change.outbox_remove(mail_name(*old))
        change.outbox_remove(brief_name(*old))
        change.outbox_remove(lookup_name(*old))


def _object(text: str | None) -> dict[str, object]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _left_behind(memory: "Memory", projects: Mapping[Place, Place]) -> list[str]:
    """Files in the old folders that are no pages: nothing but pages is moved."""
    gaps = []
    for old in projects:
        folder = memory.data_dir.wiki.joinpath(*old)
        try:
            count = sum(1 for path in folder.rglob("*") if path.is_file() or path.is_symlink())
        except OSError:
            continue
        if count:
            gaps.append(f"{count} files that are no pages stay in {folder}")
    return gaps
