"""Whether what a page says of its repository still holds: files that are gone, that changed since, lines that differ.

Only where the caller stands in the checkout of the page's own project. Pages of sessions and handoffs tell of the past
and are never stale.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ai_memory.model import Page, PageRef, Scope
from ai_memory.plainfile import open_plain
from ai_memory.search import numbers
from ai_memory.text.facts import EvidenceClass, read_fact, read_instant
from ai_memory.text.mentions import Mentions, mentions

if TYPE_CHECKING:
    from ai_memory.search.request import Hit, Hits
    from ai_memory.store.checkout_history import Changes
    from ai_memory.store.snapshot import Snapshot

PAST_KINDS = frozenset({"session", "handoff"})
LARGEST_FILE = 4 << 20
MOST_LINES = 400
"""Of a citation whose lines are looked for elsewhere in the file, should they have moved."""
AT_RECALL_S = 0.15
"""That a search spends on the history of the checkout."""


@dataclass(frozen=True, slots=True)
class Stale:
    """What no longer is as the page has it."""

    gone: tuple[str, ...]
    """Files, lines, names and commits that are no longer there."""
    changed: tuple[str, ...]
    """Files that were changed since."""
    factor: float
    """What the page's score is multiplied by."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Each with the file or commit that it is about."""
        return (*self.gone, *self.changed)


@dataclass(frozen=True, slots=True)
class _Claim:
    """What one page says, and since when that may have changed."""

    page: Page
    said_at_us: int
    named: Mentions
    cited: Sequence[tuple[str, int, int, str]]
    """Lines: path, first, last, SHA-256 of what stood there."""


def stale_pages(pages: Iterable[Page], scope: Scope, *, within_s: float = AT_RECALL_S) -> dict[PageRef, Stale]:
    """The stale ones among pages of `scope`; none outside a checkout. Reads files of the checkout and of its git.

    A file that was not touched since the page was written is not looked up in the history, and where none is, the git
    library is not loaded.
    """
    root = scope.root
    if root is None or not os.path.lexists(Path(root, ".git")):
        return {}
    claims = [
        _claim(page)
        for page in pages
        if (page.ref.workspace, page.ref.project) == (scope.workspace, scope.project) and page.kind not in PAST_KINDS
    ]
    claims = [claim for claim in claims if claim.named or claim.cited]
    base = os.path.realpath(root)
    past = _past(base, claims, within_s)
    told = {claim.page.ref: _told(base, claim, *past) for claim in claims}
    return {ref: stale for ref, stale in told.items() if stale is not None}


def demoted(found: "Hits", snapshot: "Snapshot", scope: Scope) -> "tuple[Hits, Mapping[PageRef, tuple[str, ...]]]":
    """The hits with the stale ones counting less among them, and what is stale of each."""
    pages = (page for hit in found.hits if (page := snapshot.page(hit.ref)) is not None)
    stale = stale_pages(pages, scope)
    if not stale:
        return found, {}
    hits = [_counting_less(hit, stale.get(hit.ref)) for hit in found.hits]
    return replace(found, hits=tuple(sorted(hits, key=lambda hit: -hit.score))), {
        ref: one.notes for ref, one in stale.items()
    }


def _counting_less(hit: "Hit", stale: Stale | None) -> "Hit":
    if stale is None:
        return hit
    return replace(hit, score=round(hit.score * stale.factor, 6), factors={**hit.factors, "stale": stale.factor})


def _claim(page: Page) -> _Claim:
    fact = read_fact(page.frontmatter)
    if fact is None:
        return _Claim(page, page.updated_at_us, mentions(page.body), ())
    said_at_us = max(
        fact.recorded_at_us, fact.resolved_at_us or 0, *(read_instant(one.at) or 0 for one in fact.evidence)
    )
    cites = " ".join(one.cite for one in fact.evidence if one.klass is EvidenceClass.OBSERVED)
    cited = [lines for one in fact.evidence if one.sha256 and (lines := _lines(one.cite, one.sha256))]
    return _Claim(page, said_at_us, mentions(f"{page.body}\n{cites}"), cited)


def _lines(cite: str, sha256: str) -> tuple[str, int, int, str] | None:
    path, mark, lines = cite.partition("#L")
    first, _, last = lines.partition("-L")
    if not mark or not first.isdecimal() or not (last or first).isdecimal():
        return None
    return path, int(first), int(last or first), sha256


_Files = Mapping[tuple[str, int], "Changes"]
"""(path, instant) → what became of the file since."""


def _past(base: str, claims: Sequence[_Claim], within_s: float) -> tuple[_Files, Mapping[str, str]]:
    """What became of the files that may have changed, and which commits were taken back; nothing where none may."""
    touched = {
        (path, claim.said_at_us)
        for claim in claims
        for path in claim.named.files
        if _is_touched(base, path, claim.said_at_us)
    }
    touched |= {("", claim.said_at_us) for claim in claims if claim.named.commits}
    if not touched:
        return {}, {}
    from ai_memory.store.checkout_history import Since, past_of  # the git library

    past = past_of(base, [Since(*one) for one in touched], within_s=within_s)
    return {(since.path, since.at_us): changes for since, changes in past.files.items()}, past.reverted


def _is_touched(base: str, path: str, since_us: int) -> bool:
    """Whether the file was written since, or is not there.

    A bare name that is not there is a file somewhere else, or none at all: pages speak of `index.js` loosely.
    """
    try:
        return os.lstat(Path(base, path)).st_mtime_ns > since_us * 1000
    except (OSError, ValueError):
        return "/" in path or not path


def _told(base: str, claim: _Claim, files: _Files, reverted: Mapping[str, str]) -> Stale | None:
    gone = [f"{path}#L{first}: these lines changed" for path, first, *_ in _changed_lines(base, claim)]
    changed: list[str] = []
    most = 0
    for path in claim.named.files:
        changes = files.get((path, claim.said_at_us))
        if changes is None:
            continue
        if changes.is_gone and not os.path.lexists(Path(base, path)):
            gone.append(f"{path}: gone")
        elif changes.commits:
            most = max(most, changes.commits)
            many = "1 commit" if changes.commits == 1 else f"{changes.commits} commits"
            changed.append(f"{path}: changed in {'' if changes.is_exact else 'at least '}{many} since")
            gone += _missing_names(base, path, claim.named.symbols, changes)
    gone += [
        f"commit {named}: reverted by {by[:10]}"
        for named in claim.named.commits
        for whole, by in reverted.items()
        if whole.startswith(named)
    ]
    if not gone and not changed:
        return None
    factor = numbers.STALE_GONE if gone else max(numbers.STALE_LEAST, 1 - numbers.STALE_A_COMMIT * most)
    return Stale(tuple(gone), tuple(changed), round(factor, 4))


def _missing_names(base: str, path: str, symbols: Sequence[str], changes: "Changes") -> list[str]:
    """Names that stood in the file and do no longer."""
    before = [name for name in symbols if name.encode() in changes.before]
    now = _content(base, path) if before else None
    return [] if now is None else [f"{name}: no longer in {path}" for name in before if name.encode() not in now]


def _changed_lines(base: str, claim: _Claim) -> list[tuple[str, int, int, str]]:
    """Citations whose lines stand nowhere in their file any more; that a file is gone, its history tells."""
    found = []
    for cited in claim.cited:
        path, first, last, sha256 = cited
        if not _is_touched(base, path, claim.said_at_us):
            continue
        content = _content(base, path)
        if content is not None and not _holds(content, first, last, sha256):
            found.append(cited)
    return found


def _holds(content: bytes, first: int, last: int, sha256: str) -> bool:
    """Whether so many lines of that hash stand in the text, at their place or, if they are few, at another one."""
    lines, count = content.removesuffix(b"\n").split(b"\n"), last - first + 1
    starts = [first - 1, *(range(len(lines) - count + 1) if count <= MOST_LINES else ())]
    return any(hashlib.sha256(b"\n".join(lines[at : at + count])).hexdigest() == sha256 for at in starts)


def _content(base: str, path: str) -> bytes | None:
    """The file, as far as it lies in the checkout and is not long."""
    real = Path(os.path.realpath(Path(base, path)))
    if not real.is_relative_to(base):
        return None
    try:
        with open_plain(real) as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError):
        return None
    return content if len(content) <= LARGEST_FILE else None
