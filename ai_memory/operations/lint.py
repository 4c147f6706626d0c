"""What rots in the pages, how bad it is and what mends it; with `--fix`, the safe part of that done."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.linting.finding import Finding, Severity
from ai_memory.linting.table import KINDS
from ai_memory.model import Scope
from ai_memory.operations.field import Everywhere, Field
from ai_memory.operations.lint_look import Look
from ai_memory.operations.lint_mending import Mended, mend
from ai_memory.operations.lint_report import Told, write_reports
from ai_memory.operations.looking import look_around
from ai_memory.operations.rows import Address, address, label_from
from ai_memory.operations.setup import no_progress
from ai_memory.store.lint_findings import note_findings

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

KindName = Literal[
    "secret",
    "injection_shaped",
    "self_echo",
    "feedback_flagged",
    "contradiction",
    "fact_conflict",
    "claim_gone",
    "broken_link",
    "dangling_cross_project_link",
    "duplicate_title",
    "near_duplicate",
    "unreadable",
    "empty",
    "oversized",
    "stale_slot",
    "pinned_expiring",
    "stale",
    "cold_episodic",
    "never_recalled",
    "orphan",
    "rule_suggestion",
]
ROWS, ROWS_OF_AN_AGENT = 100, 25
"""That are shown where nobody says how many: an agent pays for each."""
SeverityName = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One thing that is not as it should be."""

    severity: str
    """error, warning, info."""
    kind: str
    """Its name in docs/lint.md."""
    workspace: str
    project: str
    path: str
    """The page that it is about."""
    message: str
    """Follows the page's name."""
    others: tuple[Address, ...]
    """Pages that take part."""
    detail: Mapping[str, float | int | None]
    """What was measured."""
    fix: str
    """The command that mends it, else what a person does."""
    is_safe: bool
    """Whether `--fix` mends it by itself."""
    is_new: bool
    """Whether no report told it before."""
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Linted:
    scope: Scope | None
    findings: tuple[FindingRow, ...]
    """The worst first."""
    counts: dict[str, int]
    """Kind → how many of what was asked for, also of those that are not shown."""
    found: int
    """Findings of every severity, new or not."""
    pages: int
    """That were looked at."""
    fixed: tuple[str, ...] = ()
    """What `--fix` did, a sentence a page."""
    commit: str | None = None
    """Of `--fix`: what `undo` takes back."""
    reports: tuple[Address, ...] = ()
    """Pages that `--write` wrote."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def lint(
    memory: "Memory",
    *,
    kind: Annotated[tuple[KindName, ...] | None, Field("only these kinds", is_unlisted=True)] = None,
    severity: Annotated[SeverityName, Field("no milder ones", is_unlisted=True)] = "info",
    new: Annotated[bool, Field("only what no report told before", is_unlisted=True)] = False,
    fix: Annotated[bool, Field("mend what can be mended safely, in one commit", face="cli")] = False,
    write: Annotated[bool, Field("write a report where there is something new", face="cli")] = False,
    limit: Annotated[
        int | None, Field("rows at most [100]", ge=1, le=100_000, flags=("-n", "--limit"), is_unlisted=True)
    ] = None,
    everywhere: Everywhere = False,
    workspace: Annotated[str | None, Field("only this workspace", is_unlisted=True)] = None,
    project: Annotated[str | None, Field("only this project [all of them]", is_unlisted=True)] = None,
    progress: Callable[[int, int], None] = no_progress,
) -> Linted:
    """Find rot in pages: stale, broken, doubled, in conflict, secret; and what mends it."""
    kinds = tuple(kind or KINDS)
    is_over_all = everywhere or (memory.caller.face == "cli" and not (workspace or project))
    _, by_hand = look_around(memory)
    look = Look(memory, kinds, workspace, project, is_over_all, progress)
    found = look.run()
    done = Mended()
    if fix:
        done = mend(memory, found.findings, found.versions)
        if done.commit:
            found = look.run()
    told = found.told
    reports: tuple[Address, ...] = ()
    notes: tuple[str, ...] = ()
    if write:
        wrote = write_reports(memory, found.findings, Told(told, memory.clock()))
        reports, notes = tuple(map(address, wrote.pages)), wrote.gaps
        _remember(memory, found.findings)
    shown = [
        one
        for one in found.findings
        if one.severity.rank >= Severity(severity).rank and not (new and one.fingerprint in told)
    ]
    shown.sort(key=lambda one: -one.severity.rank)
    most = limit or (ROWS if memory.caller.face == "cli" else ROWS_OF_AN_AGENT)
    rows = tuple(_row(one, is_new=one.fingerprint not in told) for one in shown[:most])
    gaps = (*by_hand, *found.gaps, *done.gaps, *notes)
    return Linted(
        scope=None if is_over_all else found.scope,
        findings=rows,
        counts=dict(Counter(one.kind for one in shown)),
        found=len(found.findings),
        pages=found.pages,
        fixed=done.done,
        commit=done.commit,
        reports=reports,
        gaps=gaps,
        omitted=len(shown) - len(rows),
    )


def written(memory: "Memory", progress: Callable[[int, int], None] = no_progress) -> Linted:
    """The duty: a look at all projects, private ones too, and a report in each that has news. Errors: as `writing`."""
    found = Look(memory, KINDS, None, None, True, progress, hides_private=False).run()
    wrote = write_reports(memory, found.findings, Told(found.told, memory.clock()))
    _remember(memory, found.findings)
    news = [one for one in found.findings if one.fingerprint not in found.told]
    rows = tuple(_row(one, is_new=True) for one in news)
    reports = tuple(map(address, wrote.pages))
    counts = dict(Counter(one.kind for one in news))
    return Linted(
        None, rows, counts, len(found.findings), found.pages, reports=reports, gaps=(*found.gaps, *wrote.gaps)
    )


def _remember(memory: "Memory", findings: Iterable[Finding]) -> None:
    """From now on they are no news. Crash: they are told once more."""
    fingerprints = sorted({one.fingerprint for one in findings})
    if not fingerprints:
        return
    with memory.state_transaction() as connection:
        note_findings(connection, fingerprints, at_us=memory.clock())


def _row(one: Finding, *, is_new: bool) -> FindingRow:
    first, *others = one.pages
    return FindingRow(
        severity=one.severity.value,
        kind=one.kind,
        workspace=first.workspace,
        project=first.project,
        path=first.path,
        message=one.message,
        others=tuple(map(address, others)),
        detail=one.figures,
        fix=one.fix,
        is_safe=one.mend is not None,
        is_new=is_new,
        fingerprint=one.fingerprint,
    )


def lint_text(result: Linted) -> str:
    """What was mended, each finding with its fix, how many there are of which kind."""
    lines = [f"mended: {one}" for one in result.fixed]
    if result.commit:
        lines.append(f"undo it with: ai-memory undo {result.commit[:12]}")
    for row in result.findings:
        name = label_from(Address(row.workspace, row.project, row.path), result.scope)
        lines.append(f"{row.severity:<7} {row.kind}: {name} {row.message}")
        lines.append(f"{'':<7} fix: {row.fix}")
    lines += [f"report: {label_from(one, result.scope)}" for one in result.reports]
    return "\n".join([*lines, _verdict(result)])


def _verdict(result: Linted) -> str:
    pages = f"{result.pages:,} page{'' if result.pages == 1 else 's'}"
    if not result.counts:
        rest = f"; {result.found:,} findings are milder or were told before" if result.found else ""
        return f"nothing {'of that kind ' if rest else 'is amiss '}in {pages}{rest}"
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(result.counts.items()))
    safe = sum(row.is_safe for row in result.findings)
    by_itself = f"; {safe} of them `ai-memory lint --fix` mends" if safe else ""
    return f"{told} in {pages}{by_itself}; docs/lint.md says what each means"
