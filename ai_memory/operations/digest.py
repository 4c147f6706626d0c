"""The digest: what holds in a project, in one block for an agent's file or the start of a session."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.model import Page, Scope
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.scoping import resolve
from ai_memory.store.fact_rows import told_facts
from ai_memory.text.facts import Fact
from ai_memory.text.fences import fence, neutralise, without_elements
from ai_memory.text.plain import clip, plain_line
from ai_memory.text.sanitize import sanitize
from ai_memory.text.told_facts import sections

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

HEAD = "What holds in this project. What the person asks for now comes before it.\n\n"
MAX_PINNED = 20
TITLE_BYTES = 120
MOST_MISSED = 8
"""Facts in a row that are too long for the room that is left."""


@dataclass(frozen=True, slots=True)
class Digest:
    scope: Scope
    text: str
    """The block; empty where nothing holds."""
    facts: tuple[str, ...]
    """Ids of those that it tells, in its order."""
    pinned: tuple[str, ...]
    """Paths of the pages that it names."""
    gaps: tuple[str, ...]
    omitted: int


def digest(
    memory: "Memory",
    *,
    max_bytes: Annotated[int, Field("room, in bytes", ge=700, le=32_768)] = 4000,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Digest:
    """Show what holds in the project, as one block for AGENTS.md or the start of a session: facts that are supported,
    corrections first, then pinned pages by name. The same facts give the same bytes.
    """
    now_us = memory.clock()
    with memory.reading() as snapshot:
        scope = resolve(memory, workspace, project, write=False, snapshot=snapshot)
        facts = [row.fact for row in told_facts(snapshot.index, scope.workspace, scope.project, at_us=now_us).facts]
        pinned = _pinned(snapshot, scope, now_us)
        gaps = tuple(snapshot.gaps)
    source = f"{scope.workspace}/{scope.project}"
    told, named = _fitting(facts, pinned, source, max_bytes)
    left = len(facts) - len(told) + len(pinned) - named
    return Digest(
        scope,
        _text(told, pinned[:named], source, left) if told or named else "",
        tuple(fact.id for fact in told),
        tuple(page.ref.path for page in pinned[:named]),
        gaps,
        left,
    )


def _pinned(snapshot: "Snapshot", scope: Scope, now_us: int) -> list[Page]:
    from ai_memory.store.snapshot import Filter

    here = Filter(scope.workspace, scope.project, pinned=True, unexpired_at_us=now_us, valid_at_us=now_us)
    found = [page for page in snapshot.select(here, sort="path", limit=MAX_PINNED).pages if page.kind != "fact"]
    return [page for page in found if page.kind not in ("session", "handoff")]


def _fitting(facts: list[Fact], pinned: list[Page], source: str, max_bytes: int) -> tuple[list[Fact], int]:
    """The facts, and how many pinned pages, that have room. A long one is passed over for those behind it."""
    every = len(facts) + len(pinned)

    def fits(told: list[Fact], named: int) -> bool:
        text = _text(told, pinned[:named], source, every - len(told) - named)
        return len(text.encode("utf-8", "replace")) <= max_bytes

    told: list[Fact] = []
    named = missed = 0
    for fact in facts:
        if fits([*told, fact], 0):
            told.append(fact)
            missed = 0
        elif (missed := missed + 1) == MOST_MISSED:
            break
    while len(told) == len(facts) and named < len(pinned) and fits(told, named + 1):
        named += 1
    return told, named


def _text(told: list[Fact], named: list[Page], source: str, left: int) -> str:
    parts = [*sections(told)]
    if named:
        parts.append("## Pinned pages\n\n" + "\n".join(map(_page_line, named)))
    if left:
        parts.append(f"And {left} more: `ai-memory facts` lists facts, `ai-memory pages --pinned` pages.")
    return HEAD + fence("\n\n".join(parts), source=source)


def _page_line(page: Page) -> str:
    title = clip(plain_line(" ".join(neutralise(sanitize(page.title)).split())), TITLE_BYTES)
    return without_elements(f"- {page.ref.path}: {title}")


def digest_text(result: Digest) -> str:
    """The block as it stands."""
    if not result.text and result.omitted:
        return "nothing has room there: give --max-bytes more"
    return result.text or "no fact is supported here, and no page is pinned"
