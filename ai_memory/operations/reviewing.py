"""What a person decided over one row of the review: it holds, it holds no longer, something else holds instead."""

from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, NotFound, echo
from ai_memory.model import Page, PageRef
from ai_memory.operations.cleaning import clean
from ai_memory.operations.record import record
from ai_memory.operations.resolving import resolve
from ai_memory.operations.review import ReviewRow
from ai_memory.operations.write import session_trailers
from ai_memory.text.facts import moment, read_fact
from ai_memory.text.page import splice
from ai_memory.text.times import DAY_US, parse_time

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

LOOK_AGAIN_US = 180 * DAY_US
"""Until a page that was overdue and was kept is to be looked at again, where it does not tell a span of its own."""


def keep(memory: "Memory", row: ReviewRow) -> None:
    """It holds: the person says so. A fact is supported from now on; `verify_by` moves on as far as it was ahead once.

    One commit for each of the two. Errors: NotFound, Conflict, MemoryFault where no person confirms.
    """
    _as_shown(memory, row)
    if row.id:
        resolve(
            memory,
            name=_name(row),
            standing="supported",
            because="kept in a review",
            mine=True,
            workspace=row.workspace,
            project=row.project,
        )
    page = _fresh(memory, row)
    changes: dict[str, object | None] = {} if row.id else {"verified_at": rfc3339(memory.clock())}
    due = page.frontmatter.get("verify_by")
    if any(one.name == "overdue" for one in row.reasons) and isinstance(due, str):
        fact = read_fact(page.frontmatter)
        begun_us = fact.recorded_at_us if fact is not None else page.updated_at_us
        span_us = max(parse_time(due) - begun_us, DAY_US) if fact is not None else LOOK_AGAIN_US
        changes["verify_by"] = moment(memory.clock() + span_us)
    if changes:
        with memory.writing(f"review {page.ref.path}", trailers=session_trailers(memory)) as change:
            text = clean(memory, splice(page.text, changes, path=page.ref.path), before=page.text)
            change.put(page.ref, text, expected_version=page.version)


def drop(memory: "Memory", row: ReviewRow, *, because: str) -> None:
    """It holds no longer. Errors: as `resolve`."""
    _as_shown(memory, row)
    resolve(
        memory,
        name=_name(row),
        standing="contradicted",
        because=because,
        workspace=row.workspace,
        project=row.project,
    )


def supersede(memory: "Memory", row: ReviewRow, instead: str, *, because: str) -> str:
    """Something else holds in its place: of a fact a new statement, of a page the path of another one. Gives its name.

    Errors: as `record` and `resolve`; MemoryFault for a statement that is refused.
    """
    page = _as_shown(memory, row)
    if not row.id:
        resolve(
            memory,
            name=_name(row),
            standing="superseded",
            because=because,
            by=instead,
            workspace=row.workspace,
            project=row.project,
        )
        return instead
    fact = read_fact(page.frontmatter)
    assert fact is not None  # it has the statement that was shown
    made = record(
        memory,
        statement=instead,
        kind=fact.kind.value,
        supersedes=(_name(row),),
        entities=fact.entities,
        subject=fact.subject or None,
        predicate=fact.predicate or None,
        insist=True,
        mine=True,
        workspace=row.workspace,
        project=row.project,
    )
    return made.facts[0].id


def _name(row: ReviewRow) -> str:
    return str(PageRef(row.workspace, row.project, row.path))


def _as_shown(memory: "Memory", row: ReviewRow) -> Page:
    """The page, if it says what the person was shown: their answer is about that. Errors: NotFound, Conflict."""
    page = _fresh(memory, row)
    fact = read_fact(page.frontmatter)
    if row.id and (fact is None or fact.statement != row.statement):
        now = f": it says {echo(fact.statement)} now" if fact is not None else " and is no fact any more"
        raise Conflict(
            f"{row.path} was changed meanwhile{now}", hint="look at it again: it comes up in the next review"
        )
    if not row.id and page.version != row.version:
        raise Conflict(f"{row.path} was changed meanwhile", hint="look at it again: it comes up in the next review")
    return page


def _fresh(memory: "Memory", row: ReviewRow) -> Page:
    """The page with what was changed in its file meanwhile."""
    ref = PageRef(row.workspace, row.project, row.path)
    memory.fresh(ref)
    with memory.reading() as snapshot:
        page = snapshot.page(ref)
    if page is None:
        raise NotFound(f"{row.path} was deleted meanwhile", hint="go on with the next one")
    return page
