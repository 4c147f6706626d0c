"""Text for the cells of a table, and what every face shows by."""

from ai_memory.text.printable import shown

__all__ = ["one_line", "shown"]


def one_line(text: str) -> str:
    """The text as `shown` gives it, for a cell of a table: line breaks and tabs become blanks."""
    return shown(" ".join(text.split()))
