"""Reading: one page, the latest pages, lists of pages, the versions of a page. Nothing here changes anything."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.aging.salience import flags, salience
from ai_memory.clock import rfc3339
from ai_memory.errors import NotFound, UsageFault, echo
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.budget import MaxBytes, shortened_rows
from ai_memory.operations.configured import configured, stopwords
from ai_memory.operations.field import Everywhere, Field, Limit, ProjectName, Tier, Workspace
from ai_memory.operations.looking import look_around
from ai_memory.operations.related import RelatedPage, around, related_lines
from ai_memory.operations.rows import VERSION_SHOWN, Address, PageRow, in_full, label, label_from, page_row
from ai_memory.operations.said import told_against
from ai_memory.operations.scoping import locate, resolve
from ai_memory.operations.unscoped import is_global, resolve_for
from ai_memory.store.feedback import feedback
from ai_memory.store.usage import NEVER, Access, accesses, accesses_of
from ai_memory.text.links import REFERENCES, inverse_name
from ai_memory.text.times import parse_moment

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

MAX_RELATED = 50
Sort = Literal["path", "-path", "updated", "-updated", "title", "-title"]


@dataclass(frozen=True, slots=True)
class Link:
    """One link from or to the page that was read."""

    workspace: str
    project: str
    path: str
    kind: str
    """As the page that holds the link says it."""
    reads: str
    """As it reads from the page that was read: of a link from elsewhere the inverse name."""
    direction: Literal["out", "in"]
    resolved: bool


@dataclass(frozen=True, slots=True)
class FullPage(PageRow):
    """One page with everything in it."""

    frontmatter: Mapping[str, object]
    body: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class HarnessReads:
    """How often one agent read the page; an empty name is the command line outside any agent."""

    harness: str
    reads: int
    shown: int
    last_read_at: str | None


@dataclass(frozen=True, slots=True)
class PageAccess:
    """How the page was used, as far as a drain has counted it."""

    reads: int
    """Given out whole or as an answer to an agent; within a minute once."""
    shown: int
    """Only listed among what was found."""
    last_read_at: str | None
    salience: float
    harnesses: tuple[HarnessReads, ...]


@dataclass(frozen=True, slots=True)
class ReadPage:
    scope: Scope
    pages: tuple[FullPage, ...]
    found_by: Literal["path", "query"]
    expired: bool
    gaps: tuple[str, ...]
    omitted: int = 0
    related: tuple[RelatedPage, ...] = ()
    """With `include_related`: nearest first."""
    access: PageAccess | None = None


def read_page(
    memory: "Memory",
    *,
    path: Annotated[str | None, Field("page path", flags=("-p", "--path"), positional=True)] = None,
    query: Annotated[str | None, Field("best match, when no path", aliases=("q", "search"))] = None,
    include_related: Annotated[bool, Field("also name pages around it")] = False,
    related_depth: Annotated[int, Field("links to follow to them", ge=1, le=3, is_unlisted=True)] = 1,
    max_bytes: MaxBytes = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> ReadPage:
    """Read one whole page, by path or as the best match of a query.
    Use it after a search, before you rely on or change a page.
    """
    if (path is None) == (query is None):
        raise UsageFault("give either path or query", hint="read-page PATH, or read-page --query WORDS")
    asked: tuple[str, ...] = ()
    if path is not None:
        asked = memory.fresh(locate(memory, path, workspace, project, write=False)[1])
    with memory.reading() as snapshot:
        if path is not None:
            scope, ref = locate(memory, path, workspace, project, write=False, snapshot=snapshot)
            page = snapshot.page(ref)
            if page is None:
                raise _no_page(snapshot, ref)
        else:
            scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
            page = _best(snapshot, query or "", scope, stopwords(configured(memory)))
        links = _links(snapshot, page.ref)
        near = around(snapshot, page.ref, related_depth, memory.clock()) if include_related else []
        gaps = (*snapshot.gaps, *asked, *([in_full(page.fault)] if page.fault else []))
    access, against = _use_of(memory, page)
    gaps = (*gaps, *against)
    expired = page.expires_at_us is not None and page.expires_at_us <= memory.clock()
    found_by: Literal["path", "query"] = "query" if path is None else "path"
    whole = _full(page, links)
    (shown,) = shortened_rows((whole,), max_bytes)
    if shown.body != whole.body:
        left = len(whole.body.encode()) - len(shown.body.encode())
        gaps = (*gaps, f"the body is cut: {left:,} of {len(whole.body.encode()):,} bytes are left out")
    more = max(0, len(near) - MAX_RELATED)
    return ReadPage(scope, (shown,), found_by, expired, gaps, more, tuple(near[:MAX_RELATED]), access)


def _use_of(memory: "Memory", page: Page) -> tuple[PageAccess, tuple[str, ...]]:
    """How the page was used, and what a reader said against it as it stands."""
    ref = page.ref
    with memory.state_reading() as connection:
        said = feedback(connection, ref.workspace, ref.project, ref.path).get(ref, [])
        found = accesses_of(connection, ref)
    against = flags(said, page.version)
    access = PageAccess(
        sum(one.reads for one in found),
        sum(one.shown for one in found),
        _moment(max((one.last_at_us for one in found), default=0)),
        salience(said, page.version),
        tuple(HarnessReads(one.harness, one.reads, one.shown, _moment(one.last_at_us)) for one in found),
    )
    return access, (f"this page {told_against(against)}",) if against else ()


def _moment(at_us: int) -> str | None:
    return rfc3339(at_us) if at_us else None


def _best(snapshot: "Snapshot", query: str, scope: Scope, left_out: frozenset[str]) -> Page:
    from ai_memory.search.engine import search  # ranking is needed for a query only

    hits = search(snapshot, query, scope, limit=1, stopwords=left_out).hits
    page = snapshot.page(hits[0].ref) if hits else None
    if page is None:
        raise NotFound(
            f"no page of {scope.workspace}/{scope.project} matches {echo(query)}",
            hint="`ai-memory search --all` looks at all projects",
        )
    return page


def _no_page(snapshot: "Snapshot", ref: PageRef) -> NotFound:
    stem = ref.path.rpartition("/")[2].removesuffix(".md")
    listed = snapshot.pages(limit=1000, is_public=True).pages
    near = [page.ref for page in listed if page.ref.path.endswith(f"/{stem}.md")][:3]
    hint = f"there is {', '.join(map(str, near))}" if near else "ai-memory pages lists what there is"
    return NotFound(f"no page {ref}", hint=hint)


def _links(snapshot: "Snapshot", ref: PageRef) -> tuple[Link, ...]:
    out = [
        Link(row.target.workspace, row.target.project, row.target.path, row.kind, row.kind, "out", row.resolved)
        for row in snapshot.outlinks(ref)
    ]
    hidden = snapshot.private_projects() - {(ref.workspace, ref.project)}
    back = [
        Link(row.source.workspace, row.source.project, row.source.path, row.kind, inverse_name(row.kind), "in", True)
        for row in snapshot.backlinks(ref)
        if (row.source.workspace, row.source.project) not in hidden
    ]
    return (*out, *back)


def _full(page: Page, links: tuple[Link, ...]) -> FullPage:
    row = page_row(page)
    return FullPage(
        **{name: getattr(row, name) for name in PageRow.__dataclass_fields__},
        frontmatter=page.frontmatter,
        body=page.body,
        links=links,
    )


def read_page_text(result: ReadPage) -> str:
    """The body under a heading that says what the page is, and below it the links."""
    page = result.pages[0]
    name = label(page_address(page), result.scope.workspace, result.scope.project)
    traits = [page.kind, page.tier, *(f"#{tag}" for tag in page.tags), *(["pinned"] if page.pinned else [])]
    if page.expires_at:
        traits.append(f"{'expired' if result.expired else 'expires'} {page.expires_at}")
    lines = [f"{name} · {page.title}", f"{' · '.join(traits)} · version {page.version[:VERSION_SHOWN]}", ""]
    lines.append(page.body.rstrip("\n"))
    for heading, direction in (("links", "out"), ("linked from", "in")):
        targets = [
            label(Address(link.workspace, link.project, link.path), result.scope.workspace, result.scope.project)
            + ("" if link.kind == REFERENCES else f" ({link.reads})")
            + ("" if link.resolved else " (missing)")
            for link in page.links
            if link.direction == direction
        ]
        if targets:
            lines += ["", f"{heading}: {', '.join(targets)}"]
    if result.related:
        lines += ["", "pages around it:", *related_lines(result.related, result.scope)]
    return "\n".join(lines)


def page_address(page: FullPage) -> Address:
    return Address(page.workspace, page.project, page.path)


@dataclass(frozen=True, slots=True)
class RecentPages:
    scope: Scope | None
    pages: tuple[PageRow, ...]
    next: str | None
    """Cursor for `after`; None at the end."""
    gaps: tuple[str, ...]
    omitted: int


def recent(
    memory: "Memory",
    *,
    limit: Limit = 10,
    after: Annotated[str | None, Field("`next` of the answer before")] = None,
    max_bytes: MaxBytes = None,
    everywhere: Everywhere = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> RecentPages:
    """List the pages that changed last, newest first.
    Use it to see what was learnt lately, without a question in mind.
    """
    with memory.reading() as snapshot:
        scope, untold = resolve_for(memory, workspace, project, everywhere=everywhere, snapshot=snapshot)
        cursor = _cursor(after) if after else None
        everywhere = everywhere or is_global(scope, workspace, project)
        found, omitted = _newest(snapshot, None if everywhere else scope, cursor, limit)
        gaps = (*snapshot.gaps, *untold)
    rows = shortened_rows(tuple(map(page_row, found)), max_bytes, text="title")
    omitted += len(found) - len(rows)
    last = found[len(rows) - 1] if rows else None
    following = f"{last.updated_at_us}:{last.ref}" if omitted and last else None
    return RecentPages(scope, rows, following, gaps, omitted)


def _newest(
    snapshot: "Snapshot", scope: Scope | None, cursor: tuple[int, str] | None, limit: int
) -> tuple[list[Page], int]:
    """Up to `limit` pages behind the cursor, and how many are left behind them."""
    from ai_memory.store.snapshot import Filter

    workspace, project = (scope.workspace, scope.project) if scope else (None, None)
    offset = 0
    while True:
        until_us = cursor[0] + 1 if cursor else None
        wanted = Filter(workspace, project, until_us=until_us, is_public=scope is None, no_reports=True)
        listed = snapshot.select(wanted, sort="-updated", limit=limit, offset=offset)
        behind = [page for page in listed.pages if cursor is None or _is_behind(page, cursor)]
        skipped = len(listed.pages) - len(behind)
        if not listed.pages or not skipped:
            return behind, max(0, listed.total - offset - len(listed.pages))
        offset += skipped


def _is_behind(page: Page, cursor: tuple[int, str]) -> bool:
    return page.updated_at_us < cursor[0] or (page.updated_at_us == cursor[0] and str(page.ref) > cursor[1])


def _cursor(after: str) -> tuple[int, str]:
    at, _, ref = after.partition(":")
    if not at.isdigit() or not ref:
        raise UsageFault(f"{echo(after)} is no cursor", hint="pass `next` of the answer before")
    return int(at), ref


def recent_text(result: RecentPages) -> str:
    """One line a page, and the cursor when there is more."""
    if not result.pages:
        return "no pages"
    lines = [_line(row, result.scope) for row in result.pages]
    return "\n".join([*lines, f"next: {result.next}"] if result.next else lines)


def _line(row: PageRow, scope: Scope | None) -> str:
    fault = f" · {in_full(row.fault)}" if row.fault else ""
    return f"- {label_from(row, scope)} · {row.title} · {row.kind} · {row.updated_at}{fault}"


@dataclass(frozen=True, slots=True)
class ListedPage(PageRow):
    """One page, and how often it was read."""

    reads: int
    shown: int
    last_read_at: str | None


@dataclass(frozen=True, slots=True)
class ListedPages:
    scope: Scope | None
    pages: tuple[ListedPage, ...]
    total: int
    gaps: tuple[str, ...]
    omitted: int


def pages(
    memory: "Memory",
    *,
    kind: Annotated[str | None, Field("only this kind")] = None,
    tag: Annotated[str | None, Field("only with this tag", flags=("-t", "--tag"))] = None,
    tier: Annotated[Tier | None, Field("only this tier")] = None,
    prefix: Annotated[str | None, Field("only paths that begin so")] = None,
    since: Annotated[str | None, Field("changed at or after: a time, a date, or 7d ago")] = None,
    until: Annotated[str | None, Field("changed before it")] = None,
    pinned: Annotated[bool | None, Field("only pinned ones, or only others")] = None,
    sort: Annotated[Sort, Field("order")] = "path",
    limit: Annotated[int, Field("rows at most", ge=1, le=10_000, flags=("-n", "--limit"))] = 100,
    offset: Annotated[int, Field("rows to skip", ge=0)] = 0,
    everywhere: Everywhere = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> ListedPages:
    """List pages by kind, tag, tier, folder or time.
    Use it to look around; to find something by its content, search.
    """
    now = memory.clock()
    _, left = look_around(memory)
    with memory.reading() as snapshot:
        scope, untold = resolve_for(memory, workspace, project, everywhere=everywhere, snapshot=snapshot)
        listed = snapshot.pages(
            workspace=None if everywhere or scope is None else scope.workspace,
            project=None if everywhere or scope is None else scope.project,
            kind=kind,
            tag=tag,
            tier=tier,
            prefix=prefix,
            since_us=parse_moment(since, now_us=now) if since else None,
            until_us=parse_moment(until, now_us=now) if until else None,
            pinned=pinned,
            is_public=everywhere,
            sort=sort,
            limit=limit,
            offset=offset,
        )
        gaps = (*snapshot.gaps, *untold, *left)
    omitted = max(0, listed.total - offset - len(listed.pages))
    place = (None, None) if everywhere or scope is None else (scope.workspace, scope.project)
    with memory.state_reading() as connection:
        used = accesses(connection, *place)
    rows = tuple(_listed(page, used.get(page.ref, NEVER)) for page in listed.pages)
    return ListedPages(scope, rows, listed.total, gaps, omitted)


def _listed(page: Page, access: Access) -> ListedPage:
    row = page_row(page)
    named = {name: getattr(row, name) for name in PageRow.__dataclass_fields__}
    return ListedPage(**named, reads=access.reads, shown=access.shown, last_read_at=_moment(access.last_at_us))


def pages_text(result: ListedPages) -> str:
    """One line a page."""
    if not result.pages:
        return "no pages"
    return "\n".join(_line(row, result.scope) for row in result.pages)
