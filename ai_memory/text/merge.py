"""Joining two edits of one text, line by line, when they do not touch the same lines."""

from difflib import SequenceMatcher


def merge_lines(base: str, ours: str, theirs: str) -> str | None:
    """`ours` and `theirs`, both made from `base`, as one text; None when they change the same or adjoining lines."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    old, left, right = (text.splitlines(keepends=True) for text in (base, ours, theirs))
    edits = sorted(_edits(old, left) + _edits(old, right))
    merged: list[str] = []
    at = 0
    previous: tuple[int, int, list[str]] | None = None
    for start, end, lines in edits:
        if previous is not None and (start, end, lines) == previous:
            continue
        if previous is not None and start <= previous[1]:
            return None
        merged += old[at:start] + lines
        at = end
        previous = (start, end, lines)
    return "".join(merged + old[at:])


def _edits(old: list[str], new: list[str]) -> list[tuple[int, int, list[str]]]:
    """What turns `old` into `new`: (first line, line after the last, lines that stand there instead)."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(i, j, new[k:m]) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
