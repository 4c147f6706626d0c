"""What was purged since a backup was made does not come back with it."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.errors import MemoryFault
from ai_memory.model import PageRef
from ai_memory.operations.purge import forget, purge_session
from ai_memory.operations.rows import EVERYTHING
from ai_memory.store import session_lookup, state

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class Tombstones:
    """Those of a memory that are younger than an instant, and which pages hold the same text on purpose."""

    ids: frozenset[str] = frozenset()
    kept: frozenset[tuple[PageRef, str]] = frozenset()


def tombstones_since(memory: "Memory", at_us: int) -> Tombstones:
    """What was purged at that instant or later; nothing where the memory cannot be read, since it is replaced then."""
    with suppress(MemoryFault, OSError), memory.state_reading() as connection:
        ids = frozenset(state.purged_since(connection, at_us)) if connection is not None else frozenset()
        if not ids:
            return Tombstones()
        with memory.reading() as snapshot:
            pages = snapshot.pages(sort="path", limit=EVERYTHING).pages
        return Tombstones(ids, frozenset((page.ref, page.version) for page in pages if page.version in ids))
    return Tombstones()


def purge_again(memory: "Memory", tombstones: Tombstones) -> tuple[str, ...]:
    """Remove it from a memory that was unpacked and is not in place yet, and say so. Git's history keeps it: nobody
    knows whether that was purged, too.
    """
    sessions = _sessions_back(memory, tombstones)
    done = [purge_session(memory, session=one, confirm=True) for one in sessions]
    pages = _pages_back(memory, tombstones)
    if pages:
        done.append(forget(memory, pages=pages, confirm=True))
    if not done:
        return ()
    number = sum(len(one.pages) for one in done)
    return (
        f"{number} pages and {len(sessions)} sessions of the backup were purged since it was made, and are removed"
        " again; its git history holds their pages: say the purge once more, with --history",
    )


def _sessions_back(memory: "Memory", tombstones: Tombstones) -> list[str]:
    if not tombstones.ids:
        return []
    with memory.state_reading() as connection:
        found = session_lookup.sessions(connection) if connection is not None else []
    return sorted(one.id for one in found if one.id in tombstones.ids)


def _pages_back(memory: "Memory", tombstones: Tombstones) -> tuple[str, ...]:
    if not tombstones.ids:
        return ()
    with memory.reading() as snapshot:
        pages = snapshot.pages(sort="path", limit=EVERYTHING).pages
    return tuple(
        str(page.ref)
        for page in pages
        if page.version in tombstones.ids and (page.ref, page.version) not in tombstones.kept
    )
