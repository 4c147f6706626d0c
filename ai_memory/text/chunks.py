"""A page cut into the passages that are indexed.

*Source*: `retrieval`: chunks of 500 to 800 characters are the plateau, whole documents are worse (2026-11-30).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ai_memory.text.outline import Leaf, outline
from ai_memory.text.plain import plain_line

TARGET = 600
"""Characters after which a chunk takes no further paragraph."""
PLATEAU_END = 800
"""A paragraph that would carry a chunk past this begins the next one."""
CAP = 2000
"""No chunk is longer. A code fence up to this size stays whole."""
_MAX_HEADING = 200
"""Characters of a heading path that are kept, from its end."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage of a page."""

    heading: str
    """The headings above it: `Storage > Locks`."""
    start_line: int
    """1-based line of the file."""
    end_line: int
    """Inclusive."""
    body: str


def chunks(body: str, *, first_line: int = 1) -> list[Chunk]:
    """The passages of a body, in order; together they hold every character that is not blank exactly once.

    *Shape*: a heading begins a chunk, paragraphs fill it to about 600 characters, none is over `CAP`. A code fence
    is cut only when it is longer than that. `first_line` is the file's line on which the body begins.
    """
    lines = body.split("\n")
    whole = _unbreakable(body)
    found: list[Chunk] = []
    for heading, first, last in _sections(body, len(lines)):
        for start, end, size in _passages(lines, _pieces(lines, whole, first, last)):
            if size <= CAP:
                text = "\n".join(lines[start:end])
                text = text.replace("\r\n", "\n") if "\r" in text else text
                found.append(Chunk(heading, first_line + start, first_line + end - 1, text.rstrip()))
            else:
                found += _cut(heading, lines, whole, start, end, first_line)
    return found


def _sections(body: str, count: int) -> list[tuple[str, int, int]]:
    """(heading path, first line, one past the last line) for each heading and what stands under it.

    A heading with nothing under it joins the section that follows.
    """
    sections: list[tuple[str, int, int]] = []
    above: list[tuple[int, str]] = []
    start, path = 0, ""
    has_text = False
    for block in outline(body):
        if block.kind is not Leaf.HEADING or block.depth:
            has_text = True
            continue
        if has_text:
            sections.append((path, start, block.first))
            start, has_text = block.first, False
        while above and above[-1][0] >= block.level:
            above.pop()
        above.append((block.level, plain_line(block.text(body))))
        path = " > ".join(title for _, title in above if title)[-_MAX_HEADING:]
    sections.append((path, start, count))
    return sections


def _pieces(lines: list[str], whole: dict[int, int], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Runs of lines that hang together: up to the next blank line outside of code."""
    at = first
    while at < last:
        if not lines[at].strip() and at not in whole:
            at += 1
            continue
        end = at
        while end < last and (end in whole or lines[end].strip()):
            end = min(whole.get(end, end), last - 1) + 1
        yield at, end
        at = end


def _unbreakable(body: str) -> dict[int, int]:
    """First line → last line of each block of code or HTML that runs over blank lines."""
    return {
        block.first: block.last
        for block in outline(body)
        if block.last > block.first and block.kind in (Leaf.FENCE, Leaf.CODE, Leaf.HTML)
    }


def _passages(lines: list[str], pieces: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """(first line, one past the last, characters): pieces joined until a passage is long enough."""
    start = end = size = 0
    for first, past in pieces:
        length = past - first
        for line in lines[first:past]:
            length += len(line)
        if size and (size >= TARGET or size + length > PLATEAU_END):
            yield start, end, size
            size = 0
        if not size:
            start = first
        end = past
        size += length
    if size:
        yield start, end, size


def _cut(
    heading: str, lines: list[str], whole: dict[int, int], start: int, end: int, first_line: int
) -> Iterator[Chunk]:
    """One chunk, or several when the passage is over the cap: around code, else between lines, else between words."""
    held: list[tuple[int, str]] = []
    size = 0
    for unit in _units(lines, whole, start, end):
        length = sum(len(text) + 1 for _, text in unit)
        if held and size + length > CAP + 1:
            yield from _chunk(heading, held, first_line)
            held, size = [], 0
        held += unit
        size += length
    yield from _chunk(heading, held, first_line)


def _units(lines: list[str], whole: dict[int, int], start: int, end: int) -> Iterator[list[tuple[int, str]]]:
    """(line, text) groups that stay together: a block of code under the cap, one line, or a part of a long line."""
    number = start
    while number < end:
        past = min(whole.get(number, number) + 1, end)
        block = [(at, lines[at].rstrip("\r")) for at in range(number, past)]
        if sum(len(text) + 1 for _, text in block) <= CAP + 1:
            yield block
        else:
            for at, text in block:
                for part in _parts(text):
                    yield [(at, part)]
        number = past


def _parts(line: str) -> Iterator[str]:
    """The line, cut at the last blank before the cap while it is too long."""
    at = 0
    while len(line) - at > CAP:
        space = line.rfind(" ", at + CAP // 2, at + CAP)
        cut = space if space > 0 else at + CAP
        yield line[at:cut]
        at = cut
    yield line[at:]


def _chunk(heading: str, held: list[tuple[int, str]], first_line: int) -> Iterator[Chunk]:
    """The chunk of those lines, less blank lines around it; nothing when all are blank."""
    first, last = 0, len(held)
    while first < last and not held[first][1].strip():
        first += 1
    while last > first and not held[last - 1][1].strip():
        last -= 1
    if first < last:
        text = "\n".join([text for _, text in held[first:last]])
        yield Chunk(heading, first_line + held[first][0], first_line + held[last - 1][0], text.rstrip())
