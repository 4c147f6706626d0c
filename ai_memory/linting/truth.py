"""What may not be true: pages that were called wrong, that contradict each other, that speak of files that are gone."""

from collections.abc import Iterator

from ai_memory.aging.salience import flags
from ai_memory.clock import rfc3339
from ai_memory.linting.finding import Finding, Severity, command
from ai_memory.linting.ground import Ground
from ai_memory.model import PageRef
from ai_memory.search.staleness import stale_pages
from ai_memory.store.addresses import NO_REPORT
from ai_memory.store.fact_rows import rivals
from ai_memory.store.snapshot import Filter
from ai_memory.text.plain import clip, printable
from ai_memory.text.sanitize import sanitize_line

REASON_BYTES = 160
NOTES = 3
"""Files of one page that are named."""
MOST_CLAIMS = 2_000
"""The newest pages that are compared with the checkout."""
WITHIN_S = 2.0
"""That this spends on the history of the checkout."""
BECAUSE = "WHY"
"""What a person puts in."""

_CONTRADICTIONS = f"""
    SELECT p.workspace, p.project, p.path, t.workspace, t.project, t.path FROM links AS l
    CROSS JOIN pages AS p ON p.id = l.source_id AND NOT p.superseded
    CROSS JOIN pages AS t ON t.workspace = l.workspace AND t.project = l.project AND t.path = l.path
    WHERE NOT t.superseded AND l.kind = 'contradicts' AND p.id <> t.id AND {NO_REPORT}
    ORDER BY 1, 2, 3, 4, 5, 6
"""


def flagged(ground: Ground) -> Iterator[Finding]:
    """Pages whose present version somebody called stale or wrong. A rewrite answers it."""
    for head in ground.live:
        words = flags(ground.scales.said.get(head.ref, ()), head.version)
        if not words:
            continue
        last = words[-1]
        reason = printable(clip(sanitize_line(last.reason), REASON_BYTES))
        times = "once" if len(words) == 1 else f"{len(words)} times"
        said = f"was called {last.signal.value} {times}, last at {rfc3339(last.at_us)[:10]}"
        yield Finding(
            "feedback_flagged",
            Severity.WARNING,
            f"{said}: {reason}" if reason else said,
            (head.ref,),
            command("edit", str(head.ref)),
            key=f"{head.version} {last.signal.value}",
            figures={"count": len(words)},
        )


def contradictions(ground: Ground) -> Iterator[Finding]:
    """Pages of which one says that it contradicts the other, and neither was replaced."""
    told: set[frozenset[PageRef]] = set()
    for row in ground.snapshot.index.execute(_CONTRADICTIONS):
        source, target = PageRef(*row[:3]), PageRef(*row[3:])
        here = [ref for ref in (source, target) if ref in ground.heads]
        if not here or frozenset((source, target)) in told or _hides(ground, source, target):
            continue
        told.add(frozenset((source, target)))
        first, other = (source, target) if here[0] == source else (target, source)
        verb = "says that it contradicts" if first == source else "is contradicted by"
        fix = command("resolve", str(target), "--as", "superseded", "--by", str(source), "--because", BECAUSE)
        yield Finding("contradiction", Severity.WARNING, f"{verb} {_short(other, first)}", (first, other), fix)


def conflicts(ground: Ground) -> Iterator[Finding]:
    """Facts of one project that give one property two values at a time that both claim."""
    told: set[frozenset[PageRef]] = set()
    by_place: dict[tuple[str, str], list[int]] = {}
    for number, fact in enumerate(ground.facts):
        by_place.setdefault((fact.ref.workspace, fact.ref.project), []).append(number)
    for numbers in by_place.values():
        for one, other in rivals(ground.facts[number] for number in numbers):
            pair = frozenset((one.ref, other.ref))
            if pair in told:
                continue
            told.add(pair)
            newer, older = sorted((one, other), key=lambda row: (-row.fact.recorded_at_us, row.ref))
            said = [printable(clip(sanitize_line(row.fact.statement), REASON_BYTES)) for row in (older, newer)]
            fix = command("resolve", str(older.ref), "--as", "superseded", "--by", str(newer.ref))
            yield Finding(
                "fact_conflict",
                Severity.WARNING,
                f"“{said[0]}” against “{said[1]}”",
                (older.ref, newer.ref),
                f"{fix} --because {BECAUSE}",
            )


def claims(ground: Ground) -> Iterator[Finding]:
    """Pages of the caller's project that speak of files, lines or names which are gone from the checkout."""
    scope = ground.scope
    if scope is None or ground.root is None:
        return
    here = Filter(scope.workspace, scope.project, superseded=False)
    found = ground.snapshot.select(here, limit=MOST_CLAIMS)
    if found.total > MOST_CLAIMS:
        ground.gaps.append(f"only the {MOST_CLAIMS:,} newest pages were compared with the files of the checkout")
    for ref, stale in sorted(stale_pages(found.pages, scope, within_s=WITHIN_S).items()):
        if stale.gone and ref in ground.heads:
            named = [printable(clip(sanitize_line(note), REASON_BYTES)) for note in stale.gone]
            more = f" and {len(named) - NOTES} more" if len(named) > NOTES else ""
            message = f"speaks of what is gone from the checkout: {'; '.join(named[:NOTES])}{more}"
            key = "\n".join(sorted(stale.gone))
            yield Finding("claim_gone", Severity.WARNING, message, (ref,), command("edit", str(ref)), key=key)


def _hides(ground: Ground, *refs: PageRef) -> bool:
    return any((ref.workspace, ref.project) in ground.hidden for ref in refs)


def _short(ref: PageRef, beside: PageRef) -> str:
    return ref.path if (ref.workspace, ref.project) == (beside.workspace, beside.project) else str(ref)
