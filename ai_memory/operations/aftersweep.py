"""The rest of a sweep: versions that went long ago, what sessions saw, vectors and projects of no use any more."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ai_memory.config_table import Config
from ai_memory.model import MACHINE, Project
from ai_memory.operations.archive import due_for_erasing, erase, kept_for_others
from ai_memory.store import audit, pruning, state, vectors
from ai_memory.store.cache import Cache
from ai_memory.store.page_heads import page_heads
from ai_memory.store.snapshot import Filter
from ai_memory.store.sources import sources
from ai_memory.store.tombstones import tombstones
from ai_memory.text.times import DAY_US, SECOND_US

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

Place = tuple[str | None, str | None]
Erasing = Literal["due", "monthly", "never"]
LAZY_DAYS = 30
"""History that is written anew by itself waits until so many days' worth of versions are due."""
EMPTY_DAYS = 7
UNUSED_DAYS = 90
NAMED = 3
PASS = "forget-sweep"


@dataclass(slots=True)
class Rest:
    """What was done, or would be."""

    hard_deleted: int = 0
    observations_prunable: int = 0
    observations_pruned: int = 0
    vectors_dropped: int = 0
    projects_dropped: tuple[str, ...] = ()
    commits: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)


def rest(memory: "Memory", config: Config, place: Place, *, now_us: int, dry_run: bool, erasing: Erasing) -> Rest:
    """Do it for one project, or all. Crash: safe; the next run does what is left."""
    found = Rest()
    _prune(memory, config, place, found, now_us=now_us, dry_run=dry_run)  # first: what is erased is a copy
    _erase(memory, config, place, found, now_us=now_us, dry_run=dry_run, erasing=erasing)
    if place == (None, None) and not dry_run:
        _drop_vectors(memory, config, found)
        _drop_cached(memory, now_us=now_us)
        _drop_projects(memory, found, now_us=now_us)
    return found


def _prune(memory: "Memory", config: Config, place: Place, found: Rest, *, now_us: int, dry_run: bool) -> None:
    """Drop what sessions saw where a page tells of it: one that stands, or that can be brought back."""
    days = config.decay.observation_retention_days
    if not days:
        return
    before_us = now_us - days * DAY_US
    with memory.reading() as snapshot, memory.state_reading() as connection:
        if connection is None:
            return
        told = {page.ref for page in page_heads(snapshot.index, Filter(kind="session"))}
        told |= {one.ref for one in tombstones(connection) if one.kind == "session"}
        due = pruning.prunable(connection, before_us=before_us, kept=told, workspace=place[0], project=place[1])
    found.observations_prunable = sum(one.observations for one in due)
    if dry_run or not due:
        return
    sessions, most = [one.session for one in due], config.decay.observation_prune_batch
    while True:
        with memory.state_transaction() as connection:
            gone = pruning.prune(connection, sessions, before_us=before_us, most=most)
            if gone:
                audit.put(connection, memory.mutation(PASS, subject="observations", count=gone))
        found.observations_pruned += gone
        if gone < most:
            return


def _erase(
    memory: "Memory", config: Config, place: Place, found: Rest, *, now_us: int, dry_run: bool, erasing: Erasing
) -> None:
    """Erase versions that went so long ago that nobody brings them back."""
    days = config.decay.hard_delete_after_days
    if not days or erasing == "never":
        return
    before_us = now_us - days * DAY_US
    due = due_for_erasing(memory, before_us=before_us, place=place)
    if not due or (erasing == "monthly" and all(one.at_us >= before_us - LAZY_DAYS * DAY_US for one in due)):
        return
    why_not = kept_for_others(memory)
    if why_not:
        found.gaps.append(f"{len(due)} versions of long ago stay in git's history: {why_not}")
        return
    if dry_run:
        found.hard_deleted = len(due)
        return
    done = erase(memory, due)
    found.hard_deleted = done.count
    found.gaps += done.gaps


def _drop_vectors(memory: "Memory", config: Config, found: Rest) -> None:
    """Vectors of a former encoder leave the index, once the present one has made all of its own."""
    from ai_memory.providers.choose import choose  # few have more than one encoder
    from ai_memory.providers.embedder import ModelFault

    with memory.reading() as snapshot:
        rows = vectors.encoders(snapshot.index)
        if len(rows) < 2:
            return
        try:
            choice = choose(config)
        except ModelFault as fault:
            found.gaps.append(f"vectors of former encoders stay: {fault}")
            return
        own = next((row for row in rows if choice is not None and choice.made(row.encoder)), None)
        if own is None or vectors.missing(snapshot.index, own.id):
            return
    found.vectors_dropped = memory.change_index(lambda connection: vectors.drop_others(connection, own.encoder))


def _drop_cached(memory: "Memory", *, now_us: int) -> None:
    """What was cached of encoders that nobody used for months, and of which the index holds nothing any more."""
    if memory.data_dir.cache.exists():
        with memory.reading() as snapshot:
            kept = [row.encoder for row in vectors.encoders(snapshot.index)]
        Cache(memory.data_dir).drop_unused(kept, before_s=(now_us - UNUSED_DAYS * DAY_US) // SECOND_US)


def _drop_projects(memory: "Memory", found: Rest, *, now_us: int) -> None:
    """Projects that were begun a week ago or earlier and hold nothing: no page, no session, no message, no source."""
    empty = [one for one in _empty(memory) if now_us - one.created_at_us >= EMPTY_DAYS * DAY_US]
    if not empty:
        return
    names = ", ".join(f"{one.workspace}/{one.name}" for one in empty[:NAMED])
    dropped = []
    with memory.writing(f"{PASS}: drop empty {names}", author=MACHINE, trailers={"Pass": PASS}) as change:
        for one in empty:
            if not change.pages_of(one.workspace, one.name):
                change.drop_project(one.workspace, one.name)
                dropped.append(f"{one.workspace}/{one.name}")
    found.projects_dropped = tuple(dropped)
    if change.committed is not None and change.committed.commit is not None:
        found.commits.append(change.committed.commit)


def _empty(memory: "Memory") -> list[Project]:
    """What was renamed or has another name stays: its `_meta.md` is how it is found."""
    with memory.reading() as snapshot, memory.state_reading() as connection:
        used = snapshot.projects_with_pages()
        sources_of: set[str] = set()
        if connection is not None:
            used |= state.places(connection)
            used |= {(one.ref.workspace, one.ref.project) for one in tombstones(connection)}
            sources_of = {one.project_id for one in sources(connection)}
        return [
            one
            for one in snapshot.projects()
            if (one.workspace, one.name) not in used
            and one.id not in sources_of
            and not (one.name.startswith("_") or one.aliases or one.former_names or one.private)
        ]
