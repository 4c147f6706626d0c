"""Reports of lint: a page `_lint/<date>.md` in each project that has news, the last ten of them kept."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.linting.finding import Finding, Severity
from ai_memory.model import MACHINE, PageRef, Sanitized, Tier
from ai_memory.text.fences import neutralise, without_elements
from ai_memory.text.names import LINT_FOLDER, LINT_KIND
from ai_memory.text.page import compose
from ai_memory.text.sanitize import sanitize_page

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.memory import Memory

KEPT = 10
MOST_OF_A_KIND = 25
"""That a report tells one by one; of more it tells the number. *Source*: the curator of 1.31."""
_REPORT = re.compile(rf"{re.escape(LINT_FOLDER)}\d{{4}}-\d{{2}}-\d{{2}}\.md")


@dataclass(frozen=True, slots=True)
class Told:
    """What reports told before, by fingerprint with the time, and what time it is."""

    first_at_us: Mapping[str, int]
    now_us: int

    @property
    def date(self) -> str:
        return rfc3339(self.now_us)[:10]

    def is_news(self, one: Finding) -> bool:
        """Whether no report of another day told it: a second report of a day tells all of that day."""
        first_us = self.first_at_us.get(one.fingerprint)
        return first_us is None or rfc3339(first_us)[:10] == self.date

    def is_untold(self, one: Finding) -> bool:
        return one.fingerprint not in self.first_at_us


@dataclass(frozen=True, slots=True)
class Wrote:
    """The reports that were written."""

    pages: tuple[PageRef, ...] = ()
    gaps: tuple[str, ...] = ()


def write_reports(memory: "Memory", findings: Sequence[Finding], told: Told) -> Wrote:
    """A report in each project in which something was found that none told, in one commit. Errors: as `writing`."""
    by_place: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        first = one.pages[0]
        by_place.setdefault((first.workspace, first.project), []).append(one)
    news = {place: own for place, own in by_place.items() if any(map(told.is_untold, own))}
    if not news:
        return Wrote()
    pages, gaps = [], []
    with memory.writing(f"lint {told.date}", author=MACHINE, trailers={"Pass": "lint"}) as change:
        for place, own in sorted(news.items()):
            ref = PageRef(*place, f"{LINT_FOLDER}{told.date}.md")
            before = change.page(ref)
            if before is not None and (before.pinned or before.kind != LINT_KIND):
                gaps.append(f"{ref} was left as it is: somebody made it theirs")
                continue
            expected = before.version if before is not None else None
            pages.append(change.put(ref, report(own, told), expected_version=expected))
            _drop_oldest(change, ref)
    return Wrote(tuple(pages), tuple(gaps))


def _drop_oldest(change: "Change", newest: PageRef) -> None:
    """Leave the last reports; one that is pinned or was made a page of another kind stays."""
    pages = change.pages_of(newest.workspace, newest.project)
    there = {ref for ref in pages if _REPORT.fullmatch(ref.path)} - {newest}
    for ref in sorted(there, reverse=True)[KEPT - 1 :]:
        page = change.page(ref)
        if page is not None and page.kind == LINT_KIND and not page.pinned:
            change.delete(ref, expected_version=page.version)


def report(findings: Iterable[Finding], told: Told) -> Sanitized:
    """The page: what is new, kind by kind, then how much of what was told is still there. No link stands in it."""
    own = list(findings)
    news = [one for one in own if told.is_news(one)]
    head = {"title": f"Lint {told.date}", "kind": LINT_KIND, "tier": Tier.SEMANTIC.value}
    whole = f"{len(news)} new, {len(own) - len(news)} told before. `docs/lint.md` says what each kind means."
    sections = [f"# Lint {told.date}\n\n{whole}"]
    for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO):
        for kind in dict.fromkeys(one.kind for one in news if one.severity is severity):
            same = [one for one in news if one.kind == kind and one.severity is severity]
            sections.append(f"## {kind}: {len(same)} ({severity.value})\n\n" + "\n".join(_lines(same)))
    before = [one.kind for one in own if not told.is_news(one)]
    if before:
        counts = ", ".join(f"{before.count(kind)} {kind}" for kind in dict.fromkeys(before))
        sections.append(f"## Told before\n\n{counts}.")
    return sanitize_page(compose(head, "\n\n".join(sections) + "\n"))


def _lines(same: Sequence[Finding]) -> Iterator[str]:
    for one in same[:MOST_OF_A_KIND]:
        yield f"- {_code(one.pages[0].path)} {_words(one.message)}"
        if one.fix.startswith("ai-memory "):
            yield f"  - {_code(one.fix)}"
    if len(same) > MOST_OF_A_KIND:
        yield f"- and {len(same) - MOST_OF_A_KIND} more"


def _code(text: str) -> str:
    """A code span that holds the text as it is, but for what no reader sees."""
    plain = " ".join(neutralise(text).split())
    return f"`` {plain} ``" if "`" in plain else f"`{plain}`"


def _words(text: str) -> str:
    """One line without links, elements or emphasis."""
    line = " ".join(without_elements(neutralise(text)).split())
    return line.replace("[", "(").replace("]", ")").replace("`", "'").replace("*", "∗").replace("_", "\\_")
