"""Correcting a passage of a page without rewriting the page."""

from typing import TYPE_CHECKING, Annotated

from ai_memory.errors import Conflict, NotFound, UsageFault, echo
from ai_memory.operations.cleaning import clean
from ai_memory.operations.fact_guard import refuse_unproved
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.scoping import locate
from ai_memory.operations.write import (
    ExpectedVersion,
    PagePath,
    WrittenPage,
    session_trailers,
    write_page_text,
    written,
)
from ai_memory.text.page import check_size

if TYPE_CHECKING:
    from ai_memory.model import PageRef
    from ai_memory.store.memory import Memory

edited_page_text = write_page_text
LINES_SHOWN = 5


def edit_page(
    memory: "Memory",
    *,
    path: PagePath,
    old: Annotated[str, Field("passage of the body, as it stands there")],
    new: Annotated[str, Field("what comes in its place; empty takes it out", piped=True)],
    expected_version: ExpectedVersion = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> WrittenPage:
    """Replace one passage of a page, all else stays.
    Use it to correct a line; the passage must stand in the body exactly once.
    """
    if not old:
        raise UsageFault(
            "old is empty", hint="quote the passage that is to go; `ai-memory append` adds to the end of a page"
        )
    scope, ref = locate(memory, path, workspace, project, write=True)
    with memory.writing(f"edit {ref.path}", trailers=session_trailers(memory)) as change:
        before = change.page(ref)
        if before is None:
            raise NotFound(f"no page {ref}", hint="ai-memory pages lists what there is")
        head = before.text[: len(before.text) - len(before.body)] if before.body else before.text
        given = head + _replaced(before.body, old, new, ref)
        check_size(given)
        refuse_unproved(before, given, ref)
        text = clean(memory, given, before=before.text)
        change.put(ref, text, expected_version=expected_version)
    return written(memory, scope, ref, before, change, cleaned=[(given, text)])


def _replaced(body: str, old: str, new: str, ref: "PageRef") -> str:
    """The body with the passage replaced, in its own line ends. Errors: Conflict unless it stands there once."""
    if "\r\n" in body and old not in body:
        old, new = (text.replace("\r\n", "\n").replace("\n", "\r\n") for text in (old, new))
    lines = _lines_of(body, old)
    if len(lines) == 1:
        return body.replace(old, new)
    if not lines:
        raise Conflict(
            f"the body of {ref} does not hold {echo(old)}",
            hint="read the page again and quote the passage as it stands there, with its blanks and line ends",
        )
    where = ", ".join(map(str, lines[:LINES_SHOWN]))
    raise Conflict(
        f"{echo(old)} stands {len(lines)} times in the body of {ref}, in lines {where} of it",
        hint="quote more of what stands around the one that you mean",
    )


def _lines_of(body: str, old: str) -> list[int]:
    """Lines of the body in which the passage begins, overlapping ones too."""
    found, at = [], body.find(old)
    while at >= 0:
        found.append(body.count("\n", 0, at) + 1)
        at = body.find(old, at + 1)
    return found
