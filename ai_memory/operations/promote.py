"""Letting a page last: up in the tiers, and no expiry any more."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import NotFound
from ai_memory.model import Scope, Tier
from ai_memory.operations.cleaning import clean
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.rows import VERSION_SHOWN, Address, PageRow, label, page_row
from ai_memory.operations.scoping import locate
from ai_memory.operations.write import ExpectedVersion, PagePath, as_written, session_trailers
from ai_memory.text.page import splice

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

LASTING = (Tier.WORKING, Tier.EPISODIC, Tier.SEMANTIC, Tier.PROCEDURAL)
"""From what goes with its session to what never goes by itself."""


@dataclass(frozen=True, slots=True)
class Promoted:
    scope: Scope
    outcome: Literal["promoted", "unchanged"]
    pages: tuple[PageRow, ...]
    tier_before: str
    expired_at: str | None
    """When the page would have expired."""
    commit: str | None = None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def promote(
    memory: "Memory",
    *,
    path: PagePath,
    to: Annotated[
        Literal["episodic", "semantic", "procedural"],
        Field("tier: episodic fades, semantic stays, procedural is how something is done"),
    ] = "semantic",
    expected_version: ExpectedVersion = None,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Promoted:
    """Let a page last that was written for a while: to a higher tier, without expiry.
    A tier never goes down by it: `set --tier` does that.
    """
    scope, ref = locate(memory, path, workspace, project, write=True)
    with memory.writing(f"promote {ref.path}", trailers=session_trailers(memory)) as change:
        before = change.page(ref)
        if before is None:
            raise NotFound(f"no page {ref}", hint="ai-memory pages lists what there is")
        tier = max(before.tier, Tier(to), key=LASTING.index)
        changes: dict[str, object | None] = {"tier": tier.value} if tier is not before.tier else {}
        if before.expires_at_us is not None:
            changes |= {"expires_at": None, "ttl": None}
        text = splice(before.text, changes, path=ref.path) if changes else before.text
        change.put(ref, clean(memory, text, before=before.text), expected_version=expected_version)
    done = change.committed
    commit = done.commit if done else None
    page, gaps = memory.after_write(lambda snapshot: as_written(snapshot, change, ref), otherwise=change.page(ref))
    return Promoted(
        scope,
        "promoted" if commit else "unchanged",
        (page_row(page),) if page else (),
        before.tier.value,
        None if before.expires_at_us is None else rfc3339(before.expires_at_us),
        commit,
        (*gaps, *(done.asked if done else ())),
    )


def promoted_text(result: Promoted) -> str:
    """From which tier to which, and the expiry that is no more."""
    [row] = result.pages
    name = label(Address(row.workspace, row.project, row.path), result.scope.workspace, result.scope.project)
    if result.outcome == "unchanged":
        return f"unchanged {name} · {row.tier}, never expires"
    tiers = row.tier if row.tier == result.tier_before else f"{result.tier_before} to {row.tier}"
    ends = f" · would have expired {result.expired_at}" if result.expired_at else ""
    return f"promoted {name} · {tiers}{ends} · commit {(result.commit or '')[:VERSION_SHOWN]}"
