"""What is known of a matter: facts and pages that hold, with how they stand and what supports them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.model import PageRef, Scope
from ai_memory.operations.budget import shortened_rows
from ai_memory.operations.facts import AsOf, KnownAt
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.rows import Address, label_from
from ai_memory.operations.search import search
from ai_memory.text.facts import Fact, moment, read_fact, read_interval
from ai_memory.text.times import parse_moment

if TYPE_CHECKING:
    from ai_memory.model import Page
    from ai_memory.operations.search_rows import HitRow
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One statement. Of a page that is no fact `statement` is the passage that answers, and `id` is empty."""

    workspace: str
    project: str
    path: str
    id: str
    statement: str
    kind: str
    standing: str
    """Of a fact; a page that is none stands as it is written."""
    title: str
    valid_from: str | None
    valid_to: str | None
    recorded_at: str
    """Of a page: when it was last changed."""
    provenance: tuple[str, ...]
    """Classes of its evidence, each once."""
    sessions: tuple[str, ...]
    """Sessions of its evidence."""
    score: float
    is_order_shaped: bool
    stale: tuple[str, ...] = ()
    """What it says of the repository that is so no longer."""
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    scope: Scope | None
    status: Literal["ok", "partial", "abstained"]
    as_of: str
    items: tuple[ContextItem, ...]
    gaps: tuple[str, ...]
    omitted: int


def context(
    memory: "Memory",
    *,
    query: Annotated[str, Field("what you want to know", aliases=("q",), positional=True, joined=True)],
    variants: Annotated[
        tuple[str, ...], Field("the question in other words (up to 3)", max_length=3, flags=("-q", "--variant"))
    ] = (),
    as_of: AsOf = None,
    known_at: KnownAt = None,
    kind: Annotated[str | None, Field("only this kind of fact or page", is_unlisted=True)] = None,
    limit: Annotated[int, Field("items at most", ge=1, le=50, flags=("-n", "--limit"), is_unlisted=True)] = 12,
    max_bytes: Annotated[int, Field("room, in bytes", ge=512, le=32_768, is_unlisted=True)] = 4096,
    abstain: Annotated[
        bool, Field("show nothing rather than the nearest miss", flags=("--abstain/--no-abstain",), is_unlisted=True)
    ] = True,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Context:
    """Show what is known of a matter: statements that hold now or at another time, how they stand, what supports them.
    Says so when nothing does.
    """
    found = search(
        memory,
        query=query,
        variants=variants,
        as_of=as_of,
        known_at=known_at,
        kind=kind,
        limit=limit,
        abstain=abstain,
        workspace=workspace,
        project=project,
    )
    now_us = memory.clock()
    with memory.reading_as_known(parse_moment(known_at, now_us=now_us) if known_at else None) as snapshot:
        pages = {hit.path: snapshot.page(PageRef(hit.workspace, hit.project, hit.path)) for hit in found.hits}
    items = tuple(_item(hit, page) for hit in found.hits if (page := pages[hit.path]) is not None)
    packed = shortened_rows(items, max_bytes, text="statement")
    is_short = len(packed) < len(items) or any(one.is_cut for one in packed)
    at_us = parse_moment(as_of, now_us=now_us) if as_of else now_us
    return Context(
        scope=found.scope,
        status="partial" if is_short and found.status == "ok" else found.status,
        as_of=rfc3339(at_us),
        items=packed,
        gaps=found.gaps,
        omitted=found.omitted + len(items) - len(packed),
    )


def _item(hit: "HitRow", page: "Page") -> ContextItem:
    fact, holds = read_fact(page.frontmatter), read_interval(page.frontmatter)
    return ContextItem(
        *(hit.workspace, hit.project, hit.path),
        id=fact.id if fact else "",
        statement=fact.statement if fact else hit.snippet,
        kind=fact.kind.value if fact else hit.kind,
        standing=fact.standing.value if fact else "",
        title="" if fact else hit.title,
        valid_from=moment(holds.start_us),
        valid_to=moment(holds.end_us),
        recorded_at=rfc3339(fact.recorded_at_us if fact else page.updated_at_us),
        provenance=_provenance(fact),
        sessions=tuple(dict.fromkeys(one.session for one in fact.evidence if one.session)) if fact else (),
        score=hit.score,
        is_order_shaped=hit.is_order_shaped,
        stale=hit.stale,
    )


def _provenance(fact: Fact | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.klass.value for one in fact.evidence)) if fact else ()


def context_text(result: Context) -> str:
    """Two lines an item: where it stands and how, then the statement."""
    if not result.items:
        return "nothing relevant is known" if result.status == "abstained" else "nothing is known of it"
    lines = []
    for one in result.items:
        name = one.id or label_from(Address(one.workspace, one.project, one.path), result.scope)
        span = f"{one.valid_from or '…'} to {one.valid_to or '…'}" if one.valid_from or one.valid_to else ""
        parts = (name, one.kind, _standing_words(one), ", ".join(one.provenance), one.title, span)
        lines += [f"- {' · '.join(filter(None, parts))}", f"  {' '.join(one.statement.split())}"]
        lines += [f"  stale: {'; '.join(one.stale)}"] if one.stale else []
    return "\n".join(lines)


def _standing_words(one: ContextItem) -> str:
    """How it stands, where a reader must know: what was confirmed, or stands as it was written, says nothing."""
    if one.standing in ("", "supported"):
        return ""
    return f"replaced on {one.valid_to}" if one.standing == "superseded" else f"unconfirmed ({one.standing})"
