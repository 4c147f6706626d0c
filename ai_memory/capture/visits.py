"""Pages for projects that a session of another one worked in: see `ai_memory.capture.crediting`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ai_memory.capture import crediting
from ai_memory.capture.attribution import Attribution
from ai_memory.capture.batches import Place
from ai_memory.capture.session_page import SessionPage, composed, session_page
from ai_memory.model import PageRef, Scope
from ai_memory.store.blobs import blob_id
from ai_memory.store.change import Change
from ai_memory.store.memory import Memory
from ai_memory.store.state import PageSession, pages_of_session
from ai_memory.store.state_sessions import Observation, Session
from ai_memory.text.sanitize import OwnPatterns

_IN_ORDER = attrgetter("at_us", "event_id")
_ROLE = "visit "
"""Role of such a page in `state.db`; the version that rules wrote follows."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What a session did in another project, as a page of that one."""

    session: Session
    """As that project sees it."""
    page: SessionPage
    scope: Scope
    versions: frozenset[str]
    """Those that rules wrote of it before: any other is a person's."""


def visited(
    memory: Memory, attribution: Attribution, session: Session, elsewhere: Mapping[str, Sequence[Observation]]
) -> tuple[Visit, ...]:
    """One page a project, however many of its folders were worked in. `elsewhere`: observations by folder."""
    if not elsewhere:
        return ()
    rows: dict[tuple[str, str], list[Observation]] = {}
    places: dict[tuple[str, str], Place] = {}
    for folder, some in elsewhere.items():
        place = attribution.place(folder)
        name = (place.scope.workspace, place.scope.project)
        rows.setdefault(name, []).extend(some)
        places.setdefault(name, place)
    with memory.state_reading() as connection:
        written = pages_of_session(connection, session.id) if connection is not None else []
    return tuple(_visit(session, sorted(rows[name], key=_IN_ORDER), places[name], written) for name in rows)


def _visit(session: Session, rows: Sequence[Observation], place: Place, written: Iterable[PageSession]) -> Visit:
    there = crediting.visit(session, rows, place)
    page = session_page(there, rows, root=place.scope.root or there.cwd)
    ref = PageRef(there.workspace, there.project, page.path)
    versions = {one.role.removeprefix(_ROLE) for one in written if one.page == ref and one.role.startswith(_ROLE)}
    return Visit(there, page, place.scope, frozenset(versions))


def put_visit(change: Change, visit: Visit, own: OwnPatterns) -> None:
    """Write the page in the project that was worked in, unless someone rewrote it."""
    session = visit.session
    ref = PageRef(session.workspace, session.project, visit.page.path)
    text = composed(visit.page.frontmatter, visit.page.body, own)
    present = change.page(ref)
    if present is not None and (present.pinned or present.version not in visit.versions):
        return
    change.put(ref, text, expected_version=present.version if present is not None else None)
    role = f"{_ROLE}{blob_id(text.encode('utf-8'))}"
    place = {"workspace": ref.workspace, "project": ref.project, "path": ref.path}
    change.state("page-session", **place, session=session.id, role=role, at_us=session.last_at_us)


def counted(visits: Sequence[Visit]) -> dict[str, int]:
    """Observations by the project in which they were made."""
    return {f"{one.session.workspace}/{one.session.project}": one.session.observations for one in visits}
