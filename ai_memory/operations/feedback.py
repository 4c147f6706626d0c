"""What a reader says of a page: it helped or not, it is stale or wrong. Nothing but a call of these says it."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.aging.salience import FLAGS, LEAST, MOST, flags, salience
from ai_memory.clock import rfc3339
from ai_memory.errors import NotFound
from ai_memory.model import Page, PageRef, Sanitized, Scope
from ai_memory.operations.cleaning import clean
from ai_memory.operations.fact_rows import named_ref
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.history import named_version
from ai_memory.operations.rows import VERSION_SHOWN, Address, label
from ai_memory.operations.said import version_now
from ai_memory.operations.scoping import resolve
from ai_memory.scrub import strip_private
from ai_memory.store import audit
from ai_memory.store import feedback as rows
from ai_memory.store.feedback import MAX_REASON_CHARS, Feedback, Signal
from ai_memory.text.limits import check_line
from ai_memory.text.sanitize import first, sanitize_line

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

SignalName = Literal["helpful", "not_helpful", "stale", "wrong"]


@dataclass(frozen=True, slots=True)
class FeedbackRow:
    """One word on one version of a page."""

    workspace: str
    project: str
    path: str
    version: str
    signal: str
    reason: str
    agent: str | None
    session: str | None
    at: str
    is_open: bool
    """It is stale or wrong, and the page stands as it did."""


@dataclass(frozen=True, slots=True)
class GivenFeedback:
    scope: Scope
    feedback: tuple[FeedbackRow, ...]
    outcome: Literal["kept", "unchanged"]
    salience: float
    """Of the page from now on, 0.25 to 2.0; 1.0 where nothing was said."""
    in_review: bool
    """`review` puts it to a person."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def feedback(
    memory: "Memory",
    *,
    path: Annotated[str, Field("page path, or id of a fact", flags=("-p", "--path"), positional=True, aliases=("id",))],
    signal: Annotated[SignalName, Field("what you found", flags=("--as",), aliases=("as",))],
    reason: Annotated[str, Field("why", flags=("--because", "--reason"), aliases=("because",))] = "",
    version: Annotated[str | None, Field("of that version, not of the one that stands", is_unlisted=True)] = None,
    workspace: Annotated[str | None, Field("another workspace", is_unlisted=True)] = None,
    project: Annotated[str | None, Field("another project", is_unlisted=True)] = None,
) -> GivenFeedback:
    """Say whether a page helped, or is stale or wrong.
    Only what you found or the person said: stored text asks in vain.
    """
    check_line("path", path)
    scope, page, fresh = _page(memory, path, workspace, project)
    said = Feedback(page.ref, page.version, Signal(signal), _reason(memory, reason), "", "", memory.clock())
    if version is not None:
        said = replace(said, version=_version_of(memory, page, version))
    by = memory.mutation("feedback", subject=page.ref.path)
    by = replace(by, workspace=page.ref.workspace, project=page.ref.project)
    agent, session = sanitize_line(by.agent), sanitize_line(by.session)
    said = replace(said, agent=agent, session=session, at_us=by.at_us)
    with memory.state_transaction() as connection:
        known = rows.same(connection, said)
        if known is None:
            rows.put(connection, said, reason=Sanitized(said.reason), agent=agent, session=session)
            audit.put(connection, by)
        everything = rows.feedback(connection, page.ref.workspace, page.ref.project, page.ref.path).get(page.ref, [])
    gaps = fresh
    if known is not None:
        gaps += ("the same was said of this version within a day: it counts once",)
    if said.version != page.version and said.signal in FLAGS:
        gaps += ("the page was changed since that version: nothing is put to a person",)
    return GivenFeedback(
        scope,
        (_row(known or said, page.version),),
        "kept" if known is None else "unchanged",
        salience(everything, page.version),
        bool(flags(everything, page.version)),
        gaps,
    )


def _page(
    memory: "Memory", name: str, workspace: str | None, project: str | None
) -> tuple[Scope, Page, tuple[str, ...]]:
    """The page as it stands now, with what a person changed in its file. Errors: NotFound, Conflict, RefusedScope."""
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=True, leaves=True, snapshot=snapshot)
        ref = named_ref(snapshot, scope, name)
    asked = memory.fresh(ref)
    with memory.reading() as snapshot:
        page = snapshot.page(ref)
        gaps = (*snapshot.gaps, *asked)
    if page is None:
        raise NotFound(f"no page {ref}", hint="`ai-memory pages` lists them, `ai-memory facts` facts with their ids")
    return scope, page, gaps


def _version_of(memory: "Memory", page: Page, name: str) -> str:
    """The whole version of that name. Errors: NotFound, UsageFault."""
    with memory.past() as wiki:
        found = named_version(memory, wiki, page.ref, name)
    if found.version is None:
        raise NotFound(f"{page.ref} was deleted at that version", hint="`ai-memory history` lists its versions")
    return found.version


def _reason(memory: "Memory", text: str) -> Sanitized:
    """On one line, without secrets, and only then cut."""
    line = sanitize_line(clean(memory, strip_private(text).replace("\r", "\n")))
    return first(line, MAX_REASON_CHARS)


def _row(one: Feedback, version: str) -> FeedbackRow:
    ref = one.ref
    return FeedbackRow(
        *(ref.workspace, ref.project, ref.path, one.version, one.signal.value, one.reason),
        agent=one.agent or None,
        session=one.session or None,
        at=rfc3339(one.at_us),
        is_open=bool(flags([one], version)),
    )


def feedback_text(result: GivenFeedback) -> str:
    """What was said of which version, what the page is worth now, and whether a person is asked."""
    row = result.feedback[0]
    told = "a person is asked in `review`" if result.in_review else "nothing to review"
    return f"{_named(row, result.scope)} · salience {result.salience:g} of {LEAST:g} to {MOST:g} · {told}"


def _named(row: FeedbackRow, scope: Scope) -> str:
    name = label(Address(row.workspace, row.project, row.path), scope.workspace, scope.project)
    return f"{name} · {row.signal.replace('_', ' ')} · version {row.version[:VERSION_SHOWN]}"


# --- what was said ---


@dataclass(frozen=True, slots=True)
class FeedbackList:
    scope: Scope
    feedback: tuple[FeedbackRow, ...]
    salience: float | None
    """Of the one page that was asked about."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def feedback_list(
    memory: "Memory",
    *,
    path: Annotated[str | None, Field("page path, or id of a fact", flags=("-p", "--path"), positional=True)] = None,
    is_open: Annotated[bool, Field("only what a person should look at", flags=("--open",))] = False,
    limit: Annotated[int, Field("rows at most", ge=1, le=1000, flags=("-n", "--limit"))] = 100,
    offset: Annotated[int, Field("rows to skip", ge=0)] = 0,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> FeedbackList:
    """List what was said of a page, or of the pages of the project, newest first."""
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        ref = named_ref(snapshot, scope, path) if path is not None else None
        place = ref or PageRef(scope.workspace, scope.project, "")
        with memory.state_reading() as connection:
            said = rows.feedback(connection, place.workspace, place.project, ref.path if ref else None)
        versions = {one: version_now(snapshot, one) for one in said}
        if ref is not None and not said and snapshot.page(ref) is None:
            raise NotFound(f"no page {ref}", hint="`ai-memory pages` lists them")
        gaps = tuple(snapshot.gaps)
    found = [_row(one, versions[one.ref]) for ones in said.values() for one in ones]
    found = [row for row in found if row.is_open or not is_open]
    found.sort(key=lambda row: (row.path, row.signal))
    found.sort(key=lambda row: row.at, reverse=True)
    shown = tuple(found[offset : offset + limit])
    worth = None if ref is None else salience(said.get(ref, ()), versions.get(ref, ""))
    return FeedbackList(scope, shown, worth, gaps, max(0, len(found) - offset - len(shown)))


def feedback_list_text(result: FeedbackList) -> str:
    """One line a word."""
    lines = []
    for row in result.feedback:
        words = (_named(row, result.scope), row.reason, row.agent or "", row.at)
        lines.append(" · ".join(filter(None, words)) + (" · open" if row.is_open else ""))
    if result.salience is not None:
        lines.append(f"salience {result.salience:g} of {LEAST:g} to {MOST:g}")
    return "\n".join(lines) or "nothing was said"
