"""What is said twice: pages of one title, pages that say nearly the same."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ai_memory.linting.finding import Finding, Severity, command
from ai_memory.linting.ground import Ground
from ai_memory.store.page_heads import PageHead
from ai_memory.text.plain import clip, plain_line, printable
from ai_memory.text.sanitize import sanitize_line
from ai_memory.text.shingles import BANDS, bands, likeness

NEAR = 0.7
"""Share of the runs of three words that two pages have in common: one word changed in ten leaves about 0.6."""
LEAST_RUNS = 8
"""Of a page that is compared: what is shorter is alike by chance."""
NEXT = 8
"""Pages of one band that each is compared with: a thousand made of one template are not compared each with each."""
MOST_PAIRS = 20_000
"""That are compared, those first that share most bands: 1.6 s of CPU on two busy cores (2026-12-01)."""
MOST_NAMED = 10
TITLE_BYTES = 80


def titles(ground: Ground) -> Iterator[Finding]:
    """Pages of one project that have the same title, whatever its case."""
    groups: dict[tuple[str, str, str], list[PageHead]] = {}
    for head in ground.lasting:
        title = " ".join(head.title.casefold().split())
        if title and head.kind != "fact":
            groups.setdefault((head.ref.workspace, head.ref.project, title), []).append(head)
    for same in groups.values():
        if len(same) > 1:
            title = printable(clip(plain_line(sanitize_line(same[0].title)), TITLE_BYTES))
            yield _group("duplicate_title", same, f"has the title of {_others(same)}: {title}")


def bodies(ground: Ground) -> Iterator[Finding]:
    """Pages of one project of which most runs of words are the same."""
    by_place: dict[tuple[str, str], list[PageHead]] = {}
    for head in ground.lasting:
        if len(ground.marks[head.ref].shingles) >= LEAST_RUNS:
            by_place.setdefault((head.ref.workspace, head.ref.project), []).append(head)
    for heads in by_place.values():
        yield from _near(ground, heads)


def _near(ground: Ground, heads: Sequence[PageHead]) -> Iterator[Finding]:
    words = [ground.marks[head.ref].shingles for head in heads]
    leader = list(range(len(heads)))
    least: dict[int, float] = {}

    def first(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    def join(one: int, other: int, share: float) -> None:
        one, other = sorted((first(one), first(other)))
        leader[other] = one
        least[one] = min(least.get(one, 1.0), least.get(other, 1.0), share)

    same: dict[bytes, int] = {}
    for number, found in enumerate(words):
        twin = same.setdefault(bytes(memoryview(found)), number)  # type: ignore[arg-type]  # an array
        if twin != number:
            join(twin, number, 1.0)
    pairs = _candidates(words, sorted(same.values()))
    if len(pairs) > MOST_PAIRS:
        ground.gaps.append(f"of {len(pairs):,} pairs of pages only the {MOST_PAIRS:,} most promising were compared")
    for one, other in pairs[:MOST_PAIRS]:
        if first(one) != first(other) and (share := likeness(words[one], words[other])) >= NEAR:
            join(one, other, share)
    groups: dict[int, list[PageHead]] = {}
    for number, head in enumerate(heads):
        groups.setdefault(first(number), []).append(head)
    for number, group in groups.items():
        if len(group) > 1:
            share = least[number]
            message = f"says nearly the same as {_others(group)} ({int(share * 100)}% of the words)"
            yield _group("near_duplicate", group, message, share=round(share, 4))


def _candidates(words: Sequence[Sequence[int]], numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs that share a band, those first that share most."""
    keys = [bands(words[number]) for number in numbers]
    shared: Counter[tuple[int, int]] = Counter()
    for band in range(BANDS):
        buckets: dict[int, list[int]] = {}
        for number, own in zip(numbers, keys, strict=True):
            if own[band]:
                buckets.setdefault(own[band], []).append(number)
        for members in buckets.values():
            for place, one in enumerate(members[:-1]):
                shared.update((one, other) for other in members[place + 1 : place + 1 + NEXT])
    return sorted(shared, key=lambda pair: (-shared[pair], pair))


def _others(group: Sequence[PageHead]) -> str:
    return group[1].ref.path if len(group) == 2 else f"{len(group) - 1} other pages"


def _group(kind: str, group: Sequence[PageHead], message: str, **figures: float) -> Finding:
    """One finding for all pages of a group, the newest first: the others go into it."""
    ordered = sorted(group, key=lambda head: (not head.pinned, -head.updated_at_us, head.ref))
    names = [str(head.ref) for head in ordered[:MOST_NAMED]]
    fix = command("merge", *names, "--into", names[0])
    refs = tuple(sorted(head.ref for head in group))
    return Finding(kind, Severity.WARNING, message, refs, fix, figures={"pages": len(group), **figures})
