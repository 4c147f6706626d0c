"""Our block in a file of somebody else: between two marker lines, each alone on its line. Pure functions."""

from dataclasses import dataclass

START = "<!-- ai-memory:start -->"
END = "<!-- ai-memory:end -->"
Marks = tuple[str, str]
"""The lines above and below."""
IN_MARKDOWN: Marks = (START, END)
IN_CRONTAB: Marks = ("# ai-memory:start", "# ai-memory:end")


class BlockFault(Exception):
    """The markers do not make one block; `line` counts from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"{reason}, line {line}")
        self.reason = reason
        self.line = line


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    number: int
    text: str


def with_block(text: str, block: str, marks: Marks = IN_MARKDOWN) -> str:
    """The text with our block: where one stands it is replaced, else it comes to the end. *Errors*: BlockFault."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = (marks[0], *block.strip().splitlines(), marks[1])
    new = "".join(f"{line}{newline}" for line in lines)
    found = _span(text, marks)
    if found is not None:
        start, end = found
        is_last_line_open = not text[start:end].endswith("\n")
        return text[:start] + (new.removesuffix(newline) if is_last_line_open else new) + text[end:]
    if not text.strip("\ufeff"):
        return text + new
    return text + ("" if text.endswith("\n") else newline) + newline + new


def without_block(text: str, marks: Marks = IN_MARKDOWN) -> str:
    """The text without our block, and without the empty line above that came with it. *Errors*: BlockFault."""
    found = _span(text, marks)
    if found is None:
        return text
    start, end = found
    for newline in ("\r\n", "\n"):
        if text[:start].endswith(newline * 2):
            start -= len(newline)
            break
    return text[:start] + text[end:]


def block_of(text: str, marks: Marks = IN_MARKDOWN) -> str | None:
    """What stands between the markers, or None. *Errors*: BlockFault."""
    found = _span(text, marks)
    if found is None:
        return None
    lines = text[found[0] : found[1]].splitlines()[1:-1]
    return "\n".join(lines)


def _span(text: str, marks: Marks) -> tuple[int, int] | None:
    start, end = marks
    opened: _Line | None = None
    found: tuple[int, int] | None = None
    for line in _lines(text):
        if line.text == start:
            if opened is not None or found is not None:
                raise BlockFault(f"a second {start}", line.number)
            opened = line
        elif line.text == end:
            if opened is None:
                raise BlockFault(f"{end} without {start} above it", line.number)
            found, opened = (opened.start, line.end), None
    if opened is not None:
        raise BlockFault(f"{start} without {end} below it", opened.number)
    return found


def _lines(text: str) -> list[_Line]:
    found, at = [], 0
    for number, whole in enumerate(text.splitlines(keepends=True), 1):
        found.append(_Line(at, at + len(whole), number, whole.strip("\ufeff \t\r\n")))
        at += len(whole)
    return found
