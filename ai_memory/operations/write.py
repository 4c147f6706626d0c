"""Writing whole pages, and adding to the end of one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, NotFound, UsageFault, echo
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.cleaning import clean, refuse_secrets, told_changes
from ai_memory.operations.fact_guard import refuse_unconfirmed, refuse_unproved
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.rows import VERSION_SHOWN, Address, PageRow, label, page_row
from ai_memory.operations.scoping import locate
from ai_memory.operations.session_names import known_session
from ai_memory.operations.similar import similar_pages
from ai_memory.text.limits import LIMITS, check_line
from ai_memory.text.links import LINK_KINDS, unknown_kinds
from ai_memory.text.names import DEFAULT_WORKSPACE, GLOBAL_PROJECT, slug
from ai_memory.text.page import check_size, first_heading, parse, splice
from ai_memory.text.times import DAY_US, SECOND_US, parse_duration, parse_expiry

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

Tier = Literal["working", "episodic", "semantic", "procedural"]
Outcome = Literal["created", "changed", "unchanged"]
Body = Annotated[str, Field("markdown", flags=("-b", "--body"), piped=True)]
ExpectedVersion = Annotated[
    str | None, Field("refuse when the page is at another version", aliases=("expected_page_id",))
]
PagePath = Annotated[str, Field("page path", flags=("-p", "--path"), positional=True)]
Ttl = Annotated[
    str | None,
    Field("expires so long from now, and from each read: 30m, 6h, 7d, 4w", metavar="DURATION", is_unlisted=True),
]
LONGEST_TTL_US = 365 * DAY_US


@dataclass(frozen=True, slots=True)
class SimilarPage:
    """Another page with nearly the same title."""

    workspace: str
    project: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class WrittenPage:
    scope: Scope
    pages: tuple[PageRow, ...]
    outcome: Outcome
    commit: str | None
    similar: tuple[SimilarPage, ...] = ()
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def write_page(
    memory: "Memory",
    *,
    body: Body,
    path: Annotated[
        str | None, Field("page path; default: notes/<title>.md", flags=("-p", "--path"), positional=True)
    ] = None,
    title: Annotated[str | None, Field("default: first heading")] = None,
    kind: Annotated[str | None, Field("default: by folder (decisions/, gotchas/ ...)")] = None,
    tags: Annotated[tuple[str, ...] | None, Field("all tags", aliases=("tag",), flags=("-t", "--tag"))] = None,
    tier: Annotated[Tier | None, Field("default: semantic")] = None,
    pinned: Annotated[bool | None, Field("never fades")] = None,
    expires_at: Annotated[str | None, Field("date or RFC 3339 time")] = None,
    expected_version: ExpectedVersion = None,
    create_only: Annotated[bool, Field("refuse when it exists")] = False,
    scope: Annotated[Literal["project", "global"], Field("global: for all projects")] = "project",
    session_id: Annotated[str | None, Field("session it was learnt in", flags=("--session",))] = None,
    entities: Annotated[
        tuple[str, ...] | None, Field("names it is about", flags=("--entity",), is_unlisted=True)
    ] = None,
    abstract: Annotated[str | None, Field("what it says, in a sentence", is_unlisted=True)] = None,
    ttl: Ttl = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> WrittenPage:
    """Write one page: a decision, a gotcha, how something works.
    Replaces the body; metadata that is not named stays. Search first, and extend what exists.
    """
    if scope == "global":
        if project not in (None, GLOBAL_PROJECT):
            raise UsageFault(f"scope global and project {echo(project)} exclude each other", hint="give one of them")
        workspace, project = workspace or DEFAULT_WORKSPACE, GLOBAL_PROJECT
    check_words(title=(title,), kind=(kind,), tag=tags or (), entity=entities or (), abstract=(abstract,))
    check_size(body)
    is_path_ours = path is None
    lasts = lasting(expires_at, ttl)
    expires_at = expiry(memory, expires_at, ttl)
    refuse_secrets(memory, kind=kind, tag=tags, expiry=expires_at, entity=entities)
    kept = title and clean(memory, title)
    where, ref = locate(memory, path or default_path(kept, clean(memory, body)), workspace, project, write=True)
    changes = named_keys(title=kept, kind=kind, tags=tags, tier=tier, pinned=pinned, expires_at=expires_at)
    changes |= lasts
    changes |= {"entities": list(entities)} if entities else {}
    changes |= {"abstract": clean(memory, abstract)} if abstract else {}
    session = _known_session(memory, session_id) if session_id else None
    with memory.writing(f"write {ref.path}", trailers=session_trailers(memory, session)) as change:
        before = change.page(ref)
        given = _with_body(before, body, changes, ref)
        check_size(given)
        refuse_unproved(before, given, ref)
        text = clean(memory, given, before=before.text if before else "")
        if is_path_ours and before is not None and before.text != text and expected_version is None:
            raise Conflict(
                f"{ref} exists already, titled {echo(before.title)}",
                hint=f"read it, then pass its path ({ref.path}) to replace it, or append to it",
            )
        change.ensure_project(where)
        change.put(ref, text, expected_version=expected_version, create_only=create_only)
        if session:
            _add_evidence(change, ref, session, memory.clock())
    return written(memory, where, ref, before, change, cleaned=[(given, text), (title or "", kept or "")])


def check_words(**named: Iterable[str | None]) -> None:
    """Refuse words of a page's frontmatter that are too long or of several lines, and an empty tag or alias."""
    for limit, words in named.items():
        for word in words:
            if word is None:
                continue
            check_line(limit, word)
            if limit in ("tag", "alias", "entity") and not word.strip():
                raise UsageFault(f"{LIMITS[limit].what} is empty", hint="leave it out")


def expiry(memory: "Memory", expires_at: str | None, ttl: str | None) -> str | None:
    """When a page expires, by the time or by the duration from now that the call names. Errors: UsageFault, BadTime."""
    if ttl is None:
        return expires_at
    if expires_at is not None:
        raise UsageFault("expires-at and ttl exclude each other", hint="give one of them")
    length_us = parse_duration(ttl)
    if not 0 < length_us <= LONGEST_TTL_US:
        raise UsageFault(
            f"a page expires in more than nothing and at most a year, not in {echo(ttl)}",
            hint="write it like 30m, 6h, 7d or 4w; --expires-at names a later day",
        )
    return rfc3339(-(-(memory.clock() + length_us) // SECOND_US) * SECOND_US)  # whole seconds, none too few


def lasting(expires_at: str | None, ttl: str | None) -> dict[str, object | None]:
    """The key `ttl`: so long the page lives on after a read. A day that is named by itself is not moved."""
    if ttl is not None:
        return {"ttl": ttl.strip().lower()}
    return {} if expires_at is None else {"ttl": None}


def default_path(title: str | None, body: str) -> str:
    """`notes/<slug of the title>.md`. Errors: UsageFault when nothing gives a title."""
    named = title or first_heading(parse(body, path="notes/page.md").body)
    if not named:
        raise UsageFault("a page needs a path, a title, or a first heading", hint="pass a path or a title")
    return f"notes/{slug(named)}.md"


def named_keys(
    *,
    title: str | None,
    kind: str | None,
    tags: tuple[str, ...] | None,
    tier: str | None,
    pinned: bool | None,
    expires_at: str | None,
) -> dict[str, object | None]:
    """The frontmatter keys that the call names. An empty text takes the key away."""
    changes: dict[str, object | None] = {}
    for key, text in (("title", title), ("kind", kind), ("tier", tier), ("expires_at", expires_at)):
        if text is not None:
            changes[key] = text or None
    if tags is not None:
        changes["tags"] = list(tags) or None
    if pinned is not None:
        changes["pinned"] = pinned or None
    if expires_at:
        parse_expiry(expires_at)
    return changes


def _with_body(before: Page | None, body: str, changes: Mapping[str, object | None], ref: PageRef) -> str:
    """The new text: the body below the frontmatter that the body itself, the page before, or nobody brings."""
    text = body if body.endswith("\n") or not body else f"{body}\n"
    if before is not None and parse(text, path=ref.path).body == text:  # it brings no block of its own
        head = before.text[: len(before.text) - len(before.body)] if before.body else before.text
        text = head + text
    return splice(text, changes, path=ref.path) if changes else text


def replace_text(
    memory: "Memory", *, ref: PageRef, scope: Scope, text: str, expected_version: str | None
) -> WrittenPage:
    """Put the whole text of a page, as an editor left it. `expected_version` None means that it must be new.

    What it claims of a fact, or takes back of a person's word, the person at the terminal must confirm.
    """
    check_size(text)
    with memory.reading() as snapshot:
        present = snapshot.page(ref)
    refuse_unconfirmed(memory, present, text, ref)
    with memory.writing(f"edit {ref.path}") as change:
        before = change.page(ref)
        change.ensure_project(scope)
        kept = clean(memory, text, before=before.text if before else "")
        change.put(ref, kept, expected_version=expected_version, create_only=expected_version is None)
    return written(memory, scope, ref, before, change, cleaned=[(text, kept)])


def append_to_page(
    memory: "Memory",
    *,
    path: PagePath,
    body: Body,
    expected_version: ExpectedVersion = None,
    ttl: Ttl = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> WrittenPage:
    """Add a paragraph to the end of a page, which must exist.
    Use it for one more finding on a known subject.
    """
    check_size(body)
    expires_at = expiry(memory, None, ttl)
    scope, ref = locate(memory, path, workspace, project, write=True)
    with memory.writing(f"append to {ref.path}") as change:
        before = change.page(ref)
        if before is None:
            raise NotFound(f"no page {ref}", hint="write-page creates one")
        given = _appended(before.text, body)
        if expires_at is not None:
            given = splice(given, {"expires_at": expires_at, **lasting(None, ttl)}, path=ref.path)
        check_size(given)
        text = clean(memory, given, before=before.text)
        change.put(ref, text, expected_version=expected_version)
    return written(memory, scope, ref, before, change, cleaned=[(given, text)])


def _appended(text: str, body: str) -> str:
    """The text, one empty line, the body; all in the line ends of the text."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = body.strip("\r\n").replace("\r\n", "\n").replace("\n", end)
    if not lines.strip():
        return text
    head = text if not text or text.endswith("\n") else text + end
    gap = "" if not head or head.endswith(end * 2) else end
    return f"{head}{gap}{lines}{end}"


def _known_session(memory: "Memory", name: str) -> str:
    """The whole id of the session of that name. Errors: NotFound, Conflict, MemoryFault for a secret."""
    check_line("session", name)
    refuse_secrets(memory, session=name)
    return known_session(memory, name)


def session_trailers(memory: "Memory", session: str | None = None) -> dict[str, str]:
    """What a commit says of the session and the agent that wrote."""
    named = {"Session": session or memory.caller.session_id, "Agent": memory.caller.agent}
    return {key: value for key, value in named.items() if value}


def _add_evidence(change: "Change", ref: PageRef, session: str, now_us: int) -> None:
    place = {"workspace": ref.workspace, "project": ref.project, "path": ref.path}
    row = {**place, "class": "session", "session": session, "quote": "", "cite": "", "sha256": ""}
    change.state("evidence", **row, at_us=now_us)


def written(
    memory: "Memory",
    scope: Scope,
    ref: PageRef,
    before: Page | None,
    change: "Change",
    *,
    cleaned: Iterable[tuple[str, str]] = (),
) -> WrittenPage:
    """What came of a change of one page; for a new one, the pages that it may repeat.

    `cleaned`: texts as they were given and as they were kept.
    """
    done = change.committed
    commit = done.commit if done else None
    outcome: Outcome = "unchanged" if commit is None else "created" if before is None else "changed"

    def look(snapshot: "Snapshot") -> tuple[Page | None, tuple[SimilarPage, ...]]:
        page = as_written(snapshot, change, ref)
        near = similar_pages(snapshot, page) if page and outcome == "created" else ()
        return page, tuple(SimilarPage(place.workspace, place.project, place.path, title) for place, title in near)

    unread: tuple[Page | None, tuple[SimilarPage, ...]] = change.page(ref), ()
    (page, similar), missing = memory.after_write(look, otherwise=unread)
    gaps = (*missing, *(done.asked if done else ()), *told_changes(cleaned), *_unknown_links(page))
    return WrittenPage(scope, (page_row(page),) if page else (), outcome, commit, similar, gaps)


def _unknown_links(page: Page | None) -> tuple[str, ...]:
    """A sentence about link kinds of the page that are on no list: they are kept (decision C6)."""
    unknown = unknown_kinds(page.frontmatter.get("relations")) if page else []
    if not unknown:
        return ()
    return (f"unknown link kinds were kept: {', '.join(unknown)}; known are {', '.join(LINK_KINDS)}",)


def as_written(snapshot: "Snapshot", change: "Change", ref: PageRef) -> Page | None:
    """The page as this change left it, even if another writer has replaced or deleted it since.

    The version in the answer is what a caller passes as `expected_version`: it must never be someone else's.
    """
    ours, indexed = change.page(ref), snapshot.page(ref)
    return indexed if ours and indexed and indexed.version == ours.version else ours


def write_page_text(result: WrittenPage) -> str:
    """What happened to which page, its version, the commit, and similar pages."""
    row = result.pages[0]
    name = label(Address(row.workspace, row.project, row.path), result.scope.workspace, result.scope.project)
    if result.commit is None:
        return f"unchanged {name} · version {row.version[:VERSION_SHOWN]}"
    commit = f"commit {result.commit[:VERSION_SHOWN]}"
    ends = f" · expires {row.expires_at}" if row.expires_at else ""
    lines = [f"{result.outcome} {name} · version {row.version[:VERSION_SHOWN]} · {commit}{ends}"]
    for other in result.similar:
        place = Address(other.workspace, other.project, other.path)
        lines.append(f"similar: {label(place, result.scope.workspace, result.scope.project)} · {other.title}")
    return "\n".join(lines)
