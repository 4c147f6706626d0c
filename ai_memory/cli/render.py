"""Tables and progress bars. The one module that imports rich, and only for a terminal."""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

MOST_PADDED = 120
"""Cells that a plain column is filled up to."""
WHOLE_CELLS = 20
"""Columns up to this width (times, kinds, versions) are never folded, titles and paths are."""


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their column names: drawn by rich for a terminal, else plain aligned text."""
    return _rich_table(columns, rows) if sys.stdout.isatty() else plain_table(columns, rows)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned by columns, two blanks between, no blank at a line's end. A very long cell breaks only its own line."""
    lines = [list(columns), *map(list, rows)]
    widths = [min(MOST_PADDED, max(width(line[at]) for line in lines)) for at in range(len(columns))]
    return "\n".join("  ".join(_padded(cell, widths[at]) for at, cell in enumerate(line)).rstrip() for line in lines)


def width(text: str) -> int:
    """Cells of a terminal that the text takes: East Asian wide characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _padded(cell: str, cells: int) -> str:
    return cell + " " * max(0, cells - width(cell))


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from rich.console import Console  # a terminal is looking
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="" if os.environ.get("NO_COLOR") else "bold", pad_edge=False)
    for at, column in enumerate(columns):
        is_short = max(width(row[at]) for row in rows) <= WHOLE_CELLS
        table.add_column(column, overflow="fold", no_wrap=is_short)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console()
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip("\n")


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, moved by (done, total); gone when the work is done."""
    from rich.console import Console  # a terminal is looking
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
