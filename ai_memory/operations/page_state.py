"""What `state.db` and the outbox hold of a page: it moves with the page, and goes with it."""

from typing import TYPE_CHECKING

from ai_memory.model import Page, PageRef
from ai_memory.store.outbox import Outbox
from ai_memory.text.links import resolve_relation

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory

MERGED = "merged into "
"""How the reason of a page begins whose text another one took in."""


def carry_state(change: "Change", ref: PageRef, target: PageRef) -> None:
    """The page lies at `target` from now on."""
    for statement in ("page-moved", "evidence-moved", "access-moved", "feedback-moved", "tombstones-moved"):
        change.state(statement, **_from_to(ref, target))


def share_evidence(change: "Change", ref: PageRef, target: PageRef) -> None:
    """What stands behind the page stands behind `target`, too: it says the same."""
    change.state("evidence-copied", **_from_to(ref, target))


def follow_merge(change: "Change", before: Page | None, now: Page | None) -> None:
    """Let evidence follow a page that was or is a stub of `merge`, where an undo made it something else."""
    was, becomes = _merged_into(before), _merged_into(now)
    if was == becomes:
        return
    if was is not None and before is not None:
        change.state("evidence-uncopied", **_from_to(before.ref, was))
    if becomes is not None and now is not None:
        share_evidence(change, now.ref, becomes)


def _merged_into(page: Page | None) -> PageRef | None:
    """The page that took in the text of this one."""
    if page is None or not str(page.frontmatter.get("because", "")).startswith(MERGED):
        return None
    heir = page.frontmatter.get("superseded_by")
    return resolve_relation(heir, at=page.ref) if isinstance(heir, str) else None


def _from_to(ref: PageRef, target: PageRef) -> dict[str, str]:
    return {
        "workspace": ref.workspace,
        "project": ref.project,
        "path": ref.path,
        "new_workspace": target.workspace,
        "new_project": target.project,
        "new_path": target.path,
    }


def carry_feedback(change: "Change", ref: PageRef, version: str) -> None:
    """The page says the same as it did at that version: what was said of it stands. Call after it was put."""
    now = change.page(ref)
    if now is not None and now.version != version:
        place = {"workspace": ref.workspace, "project": ref.project, "path": ref.path}
        change.state("feedback-carried", **place, version=version, new_version=now.version)


def forget_state(memory: "Memory", change: "Change", page: Page) -> None:
    """The page goes. A handoff whose page is gone is given to nobody."""
    if page.kind == "handoff":
        for name in Outbox(memory.data_dir).names_of(str(page.frontmatter.get("id", ""))):
            change.outbox_remove(name)
    place = {"workspace": page.ref.workspace, "project": page.ref.project, "path": page.ref.path}
    for statement in ("page-forgotten", "evidence-forgotten", "access-forgotten", "feedback-forgotten"):
        change.state(statement, **place)
