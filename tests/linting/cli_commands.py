"""Which commands there are."""

from ai_memory.cli.commands import ROWS


def known_commands() -> set[str]:
    """The first word of each."""
    return {name.partition(" ")[0] for name in ROWS}
