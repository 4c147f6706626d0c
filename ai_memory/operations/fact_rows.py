"""Facts as operations show them, and finding the one that a caller names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.errors import Conflict, NotFound, echo
from ai_memory.model import PageRef, Scope
from ai_memory.operations.scoping import split_address
from ai_memory.store.fact_rows import FactRow as StoredFact
from ai_memory.store.fact_rows import facts_named
from ai_memory.text.facts import Fact, moment, read_fact
from ai_memory.text.names import check_read_path

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """One piece of support; empty where it does not apply."""

    kind: str
    """declared, observed, reported or imported."""
    quote: str
    cite: str
    at: str
    session: str
    sha256: str


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact. Times are RFC 3339; None is open."""

    workspace: str
    project: str
    path: str
    id: str
    statement: str
    kind: str
    standing: str
    valid_from: str | None
    valid_to: str | None
    is_valid: bool
    """Whether it holds at the time that was asked about."""
    recorded_at: str | None
    superseded_by: str | None
    supersedes: tuple[str, ...]
    entities: tuple[str, ...]
    subject: str
    predicate: str
    object: str
    verify_by: str | None
    disputed: str | None
    """What somebody holds against it who could not prove it."""
    evidence: tuple[EvidenceRow, ...]


def fact_row(ref: PageRef, fact: Fact, at_us: int) -> FactRow:
    """The fact's row, seen at that instant."""
    return FactRow(
        *(ref.workspace, ref.project, ref.path),
        id=fact.id,
        statement=fact.statement,
        kind=fact.kind.value,
        standing=fact.standing.value,
        valid_from=moment(fact.holds.start_us),
        valid_to=moment(fact.holds.end_us),
        is_valid=fact.is_valid(at_us),
        recorded_at=moment(fact.recorded_at_us) if fact.recorded_at_us else None,
        superseded_by=fact.superseded_by or None,
        supersedes=fact.supersedes,
        entities=fact.entities,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        verify_by=moment(fact.verify_by_us),
        disputed=fact.disputed or None,
        evidence=tuple(
            EvidenceRow(one.klass.value, one.quote, one.cite, one.at, one.session, one.sha256) for one in fact.evidence
        ),
    )


def fact_line(row: FactRow) -> str:
    """Id, kind, standing, the statement, and when it holds where that is bounded."""
    span = f" · {row.valid_from or '…'} to {row.valid_to or '…'}" if row.valid_from or row.valid_to else ""
    return f"{row.id} · {row.kind} · {row.standing} · {row.statement}{span}"


def fresh_facts(memory: "Memory", scope: Scope, names: Sequence[str]) -> list[StoredFact]:
    """Those facts, with what a person changed in their files meanwhile. Errors: as `named_fact`."""
    with memory.reading() as snapshot:
        found = [named_fact(snapshot, scope, name) for name in names]
    for one in found:
        memory.fresh(one.ref)
    with memory.reading() as snapshot:
        return [named_fact(snapshot, scope, str(one.ref)) for one in found]


def named_fact(snapshot: "Snapshot", scope: Scope, name: str) -> StoredFact:
    """The fact of that id, of the scope's project before others, or at that path. Errors: NotFound, Conflict."""
    found = facts_named(snapshot.index, name)
    here = [one for one in found if (one.ref.workspace, one.ref.project) == (scope.workspace, scope.project)]
    if len(here or found) == 1:
        return (here or found)[0]
    if found:
        pages = ", ".join(str(one.ref) for one in (here or found)[:3])
        raise Conflict(f"more than one page is the fact {name}: {pages}", hint="name it by its path")
    named = _at_path(snapshot, scope, name)
    if named is None:
        raise NotFound(f"no fact {echo(name)}", hint="`ai-memory facts` lists them with their ids")
    return named


def path_named(scope: Scope, name: str) -> PageRef | None:
    """The page that the words address; None where they are an id or an entity. Errors: UsageFault."""
    if "/" not in name and not name.endswith(".md"):
        return None
    workspace, project, path = split_address(name)
    return PageRef(workspace or scope.workspace, project or scope.project, check_read_path(path))


def named_ref(snapshot: "Snapshot", scope: Scope, name: str) -> PageRef:
    """The address that is named, or that of the fact with that id. Errors: NotFound, Conflict, UsageFault."""
    return path_named(scope, name) or named_fact(snapshot, scope, name).ref


def _at_path(snapshot: "Snapshot", scope: Scope, name: str) -> StoredFact | None:
    ref = path_named(scope, name)
    page = snapshot.page(ref) if ref is not None else None
    fact = read_fact(page.frontmatter) if page is not None else None
    if page is None or fact is None:
        return None
    return StoredFact(page.ref, page.version, page.updated_at_us, fact)
