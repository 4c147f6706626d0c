"""What `lint --fix` does: links that lead to a moved page, labels in the place of secrets, empty pages removed.

All in one commit, each page only in the version that was looked at. A pinned page is left to its person.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ai_memory.errors import MemoryFault
from ai_memory.linting.finding import Finding, Mend
from ai_memory.model import MACHINE, Page, PageRef
from ai_memory.operations.cleaning import clean
from ai_memory.operations.page_state import forget_state
from ai_memory.text.links import rewrite_links

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class Mended:
    """What was done and what was not, a sentence each."""

    done: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    commit: str | None = None


@dataclass(slots=True)
class _Tally:
    done: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)


def mend(memory: "Memory", findings: Sequence[Finding], versions: Mapping[PageRef, str]) -> Mended:
    """Mend what may be mended by itself. Errors: LockBusy, StoreFault.

    `versions`: of each page as it was read; one that was changed since is left.
    """
    by_page: dict[PageRef, list[Finding]] = {}
    for one in findings:
        if one.mend is not None:
            by_page.setdefault(one.pages[0], []).append(one)
    if not by_page:
        return Mended()
    tally = _Tally()
    with memory.writing(_message(by_page), author=MACHINE, trailers={"Pass": "lint"}) as change:
        for ref, own in sorted(by_page.items()):
            page = change.page(ref)
            if page is None or page.version != versions[ref]:
                tally.gaps.append(f"{ref} was changed meanwhile: look again")
            elif page.pinned or not change.is_utf8(ref):
                tally.gaps.append(f"{ref} was left as it is: {'it is pinned' if page.pinned else 'it is no UTF-8'}")
            else:
                _mend_page(memory, change, page, own, tally)
    done = change.committed
    return Mended(tuple(tally.done), tuple(tally.gaps), done.commit if done else None)


def _message(by_page: Mapping[PageRef, object]) -> str:
    (first, *others) = sorted(by_page)
    return f"lint {first.path}" + (f" and {len(others)} more" if others else "")


def _mend_page(memory: "Memory", change: "Change", page: Page, own: Iterable[Finding], tally: _Tally) -> None:
    wanted = {one.mend for one in own}
    try:
        if Mend.REMOVE in wanted:
            change.delete(page.ref, expected_version=page.version)
            forget_state(memory, change, page)
            tally.done.append(f"{page.ref} was removed: it said nothing")
            return
        text, said = page.text, []
        moved = {old: new for one in own for old, new in one.onto.items() if one.mend is Mend.RELINK}
        if moved:
            text = rewrite_links(text, at=page.ref, moved=moved, now_at=page.ref)
            said += [f"leads to {new.path if new.project == page.ref.project else new} now" for new in moved.values()]
        before = "" if Mend.REDACT in wanted else page.text
        cleaned = clean(memory, text, before=before)
        said += ["holds labels in the place of secrets now"] if Mend.REDACT in wanted else []
        if cleaned != page.text:
            change.put(page.ref, cleaned, expected_version=page.version)
            tally.done.append(f"{page.ref} {', '.join(said)}")
    except MemoryFault as fault:
        tally.gaps.append(f"{page.ref} could not be mended: {fault.message}")
