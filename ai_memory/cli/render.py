"""Tables and progress bars. The one module that imports rich, and only for a terminal."""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer

BAR_CELLS = 24
UNSEEN_S = 0.5
"""Work that takes no longer shows no bar: it would only flicker."""
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


Branch = tuple[int, str, str, str, float]
"""A line of a tree: its depth, its name, a figure, what else there is to say, and its share of the whole, 0 to 1."""


def tree_text(branches: Sequence[Branch]) -> str:
    """The branches below each other, each with a bar as long as its share: for a terminal, by rich."""
    from rich.bar import Bar  # a terminal is looking
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(width=BAR_CELLS)
    table.add_column(overflow="fold")
    has_colour = not os.environ.get("NO_COLOR")
    for depth, name, figure, more, share in branches:
        style = "bold" if has_colour and not depth else ""
        table.add_row(
            Text(f"{'  ' * depth}{name}", style=style),
            Text(figure, style=style),
            Bar(1.0, 0.0, max(0.0, min(1.0, share)), color="cyan" if has_colour else "default"),
            Text(more, style="dim" if has_colour else ""),
        )
    console = Console()
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip("\n")


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, moved by (done, total): seen once the work takes a while, gone when it is done."""
    from rich.console import Console  # a terminal is looking
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=None)
    begin = Timer(UNSEEN_S, bar.start)
    begin.daemon = True
    begin.start()
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        begin.cancel()
        begin.join()
        if bar.live.is_started:
            bar.stop()
