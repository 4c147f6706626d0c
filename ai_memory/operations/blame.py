"""Which session, agent or person wrote which line of a page."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.errors import NotFound
from ai_memory.model import Scope
from ai_memory.operations.field import ProjectName, Workspace
from ai_memory.operations.history import PagePath
from ai_memory.operations.log import by_whom
from ai_memory.operations.rows import VERSION_SHOWN
from ai_memory.operations.scoping import locate
from ai_memory.text.blame import line_origins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ai_memory.store.history import PageVersion
    from ai_memory.store.memory import Memory
    from ai_memory.store.wiki import Wiki


@dataclass(frozen=True, slots=True)
class BlamedLine:
    line: int
    """From 1."""
    text: str
    by: str
    """Who, in a word: the agent, the person, or ai-memory."""
    agent: str
    session: str
    author: str
    """The person who signed; empty for the machine."""
    what: str
    """The operation or pass."""
    at: str
    commit: str


@dataclass(frozen=True, slots=True)
class Blame:
    scope: Scope
    path: str
    lines: tuple[BlamedLine, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def blame(
    memory: "Memory",
    *,
    path: PagePath,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Blame:
    """Show who wrote each line of a page: which session, agent or person, and when.
    Lines are followed through changes and moves of the page.
    """
    from ai_memory.store.history import versions  # the git library

    scope, ref = locate(memory, path, workspace, project, write=False)
    asked = memory.fresh(ref)
    with memory.past() as wiki:
        found = list(versions(wiki, ref)) if wiki is not None else []
        if wiki is None or not found or found[0].version is None:
            raise NotFound(f"no page {ref}", hint="`ai-memory history` shows versions of a deleted one")
        lives = _since_made(found)
        texts = list(_texts(wiki, lives[:1]))
        origins = line_origins(_texts(wiki, lives))
        rows = tuple(
            _row(number, text, wiki, lives[origin])
            for number, (text, origin) in enumerate(zip(texts[0].splitlines(), origins, strict=True), start=1)
        )
    return Blame(scope, ref.path, rows, asked)


def _since_made(found: "list[PageVersion]") -> "list[PageVersion]":
    """Versions of the page's present life: what was deleted before it was written anew is no origin of its lines."""
    return found[: next((at for at, one in enumerate(found) if one.version is None), len(found))]


def _texts(wiki: "Wiki", versions: "list[PageVersion]") -> "Iterator[str]":
    for one in versions:
        assert one.version is not None
        yield wiki.blob(one.version).decode("utf-8", "replace")


def _row(number: int, text: str, wiki: "Wiki", version: "PageVersion") -> BlamedLine:
    from ai_memory.store.commits import made_by  # the git library

    made = made_by(wiki.note(version.commit))
    return BlamedLine(
        number,
        text,
        by_whom(made),
        made.agent,
        made.session,
        made.author,
        made.verb,
        rfc3339(version.at_us),
        version.commit,
    )


def blame_text(result: Blame) -> str:
    """Who, when and the line, one line each."""
    from ai_memory.store.state_sessions import short_id  # as the log does: the store comes with the call

    heads = [
        (
            f"{row.commit[:VERSION_SHOWN]} {row.at[:10]}",
            f"{row.by} {short_id(row.session) if row.session else ''}".strip(),
        )
        for row in result.lines
    ]
    width = max((len(by) for _, by in heads), default=0)
    numbers = len(str(len(result.lines)))
    return (
        "\n".join(
            f"{head} {by:<{width}} {row.line:>{numbers}} | {row.text}".rstrip()
            for (head, by), row in zip(heads, result.lines, strict=True)
        )
        or "an empty page"
    )
