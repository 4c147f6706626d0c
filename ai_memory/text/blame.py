"""Which version of a text each of its lines came with."""

from collections.abc import Iterable
from difflib import SequenceMatcher

CAREFUL_LINES = 2_000
"""Up to here lines that occur often are compared, too: with many thousands of equal lines that takes minutes."""


def line_origins(versions: Iterable[str]) -> list[int]:
    """Per line of the newest version the number of the version that it came with; 0 is the newest, which comes first.

    Versions are read only as far back as lines are left whose origin is not known.
    """
    given = iter(versions)
    lines = next(given, "").splitlines(keepends=True)
    origins = [0] * len(lines)
    at = list(range(len(lines)))
    """Where the lines of the version at hand stand in the newest one; -1 for those that are not in it."""
    for number, text in enumerate(given, start=1):
        older = text.splitlines(keepends=True)
        at = [-1 if new is None else at[new] for new in _same_lines(older, lines)]
        lines = older
        left = [place for place in at if place >= 0]
        if not left:
            break
        for place in left:
            origins[place] = number
    return origins


def _same_lines(old: list[str], new: list[str]) -> list[int | None]:
    """Per old line the number of the new line that it became, None where it went."""
    found: list[int | None] = [None] * len(old)
    begin = 0
    while begin < min(len(old), len(new)) and old[begin] == new[begin]:
        found[begin] = begin
        begin += 1
    old_end, new_end = len(old), len(new)
    while min(old_end, new_end) > begin and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
        found[old_end] = new_end
    is_short = max(old_end, new_end) - begin <= CAREFUL_LINES
    matcher = SequenceMatcher(None, old[begin:old_end], new[begin:new_end], autojunk=not is_short)
    for left, right, size in matcher.get_matching_blocks():
        for step in range(size):
            found[begin + left + step] = begin + right + step
    return found
