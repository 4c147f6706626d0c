"""Doing what a sweep planned: pages go or are cut down, each at the version that was looked at, with its tombstone."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ai_memory.aging.keeping import tokens
from ai_memory.aging.weights import Weighed
from ai_memory.clock import rfc3339
from ai_memory.errors import MemoryFault
from ai_memory.model import MACHINE, Page, PageRef
from ai_memory.operations.aftersweep import PASS
from ai_memory.operations.cleaning import clean
from ai_memory.operations.sweep_plan import Fate, Merger, Plan, Reason, cut_text
from ai_memory.text.page import splice

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory

Progress = Callable[[int, int], None]
AT_ONCE = 100
"""Pages in one commit: so long others wait for the lock."""
PAUSE_S = 0.12
"""Between two commits, so that who waits for the lock gets it (decision A12)."""


@dataclass(slots=True)
class Done:
    """What a sweep did so far."""

    kept: set[PageRef] = field(default_factory=set)
    """Pages that changed meanwhile, and stay for the next run."""
    commits: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)


def apply(memory: "Memory", planned: Plan, done: Done, progress: Progress) -> None:
    """Mergers first, then one page after another, some hundred a commit."""
    work: list[Merger | Fate] = [*planned.mergers, *planned.fates]
    for start in range(0, len(work), AT_ONCE):
        progress(start, len(work))
        part = work[start : start + AT_ONCE]
        if start:
            time.sleep(PAUSE_S)
        with memory.writing(_message(part), author=MACHINE, trailers={"Pass": PASS}) as change:
            for one in part:
                if isinstance(one, Merger):
                    _merge(memory, change, one, done)
                else:
                    _take_away(memory, change, one, done)
        committed = change.committed
        if committed is not None and committed.commit is not None:
            done.commits.append(committed.commit)
            done.gaps += committed.asked
    progress(len(work), len(work))


def _message(part: Sequence[Merger | Fate]) -> str:
    names = {"expired": "expire", "compacted": "cut down", "merged": "merge"}
    counts: dict[str, int] = {}
    for one in part:
        verb = "merge" if isinstance(one, Merger) else names.get(one.reason, "evict")
        counts[verb] = counts.get(verb, 0) + (len(one.others) if isinstance(one, Merger) else 1)
    told = ", ".join(f"{verb} {count}" for verb, count in sorted(counts.items()))
    return f"{PASS}: {told} {'page' if sum(counts.values()) == 1 else 'pages'}"


def _is_as_seen(change: "Change", one: Weighed, done: Done) -> bool:
    page = change.page(one.page.ref)
    if page is not None and page.version == one.page.version:
        return True
    done.kept.add(one.page.ref)
    return False


def _take_away(memory: "Memory", change: "Change", fate: Fate, done: Done) -> None:
    if not _is_as_seen(change, fate.one, done):
        return
    if fate.reason == "compacted":
        _cut(memory, change, [_Cut(fate.one, "compacted")], done)
        return
    change.delete(fate.ref, expected_version=fate.one.page.version)
    _bury(change, fate.one, fate.reason)


@dataclass(frozen=True, slots=True)
class _Cut:
    """A page that is cut down, or gives way to another one."""

    one: Weighed
    reason: Reason
    more: tuple[str, ...] = ()
    """Words of those that it stands for."""
    into: str = ""

    def text(self, page: Page, now_us: int) -> str:
        keys: dict[str, object | None] = {"compacted": True, "compacted_at": rfc3339(now_us)}
        keys |= {"merged_into": self.into, "superseded_by": self.into} if self.into else {}
        head = page.text[: len(page.text) - len(page.body)] if page.body else page.text
        stub = f"# {page.title}\n\nMerged into `{self.into}`.\n"
        return splice(head + (stub if self.into else cut_text(page, more=self.more)), keys, path=page.ref.path)


def _cut(memory: "Memory", change: "Change", cuts: Sequence[_Cut], done: Done) -> None:
    """All of them or none. What no page may hold, and a person's file has, stays as it is: that stops no other."""
    before: list[Page] = []
    try:
        for cut in cuts:
            page = change.page(cut.one.page.ref)
            assert page is not None
            text = clean(memory, cut.text(page, change.now_us), before=page.text)
            change.put(page.ref, text, expected_version=page.version)
            before.append(page)
    except MemoryFault as fault:
        for page in before:
            change.put_back(page.ref, page.version)
        done.kept |= {cut.one.page.ref for cut in cuts}
        done.gaps.append(f"{cuts[len(before)].one.page.ref} stays as it is: {fault.message}")
        return
    for cut, page in zip(cuts, before, strict=True):
        after, session = change.page(page.ref), page.frontmatter.get("session_id")
        if page.kind == "session" and isinstance(session, str) and after is not None:
            versions = {"version": page.version, "new_version": after.version}
            change.state("session-page-relinked", session=session, **versions)  # it is no edit by hand
        _bury(change, cut.one, cut.reason)


def _merge(memory: "Memory", change: "Change", merger: Merger, done: Done) -> None:
    """All of the group or none: the survivor keeps the words of all."""
    members = (merger.survivor, *merger.others)
    if not all(_is_as_seen(change, one, done) for one in members):
        done.kept |= {one.page.ref for one in members}
        return
    pages = [page for one in merger.others if (page := change.page(one.page.ref)) is not None]
    more = dict.fromkeys(word for page in pages for word in tokens(page.body))
    survivor = merger.survivor.page.ref
    cuts = [_Cut(merger.survivor, "compacted", tuple(more))]
    for one in merger.others:
        same = (one.page.ref.workspace, one.page.ref.project) == (survivor.workspace, survivor.project)
        cuts.append(_Cut(one, "merged", into=survivor.path if same else str(survivor)))
    _cut(memory, change, cuts, done)


def _bury(change: "Change", one: Weighed, reason: Reason) -> None:
    """Keep which version went, so that it can be listed, brought back, and erased when its time comes."""
    page = one.page
    change.state(
        "tombstone",
        workspace=page.ref.workspace,
        project=page.ref.project,
        path=page.ref.path,
        version=page.version,
        reason=reason,
        tier=page.tier.value,
        kind=page.kind,
        size_bytes=page.size_bytes,
        change=change.change_id,
        at_us=change.now_us,
    )
