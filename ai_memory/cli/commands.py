"""Every command by name: the operations of the table, and the few that live on the command line alone."""

from dataclasses import dataclass

from ai_memory.operations.table import OPERATIONS, Operation


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is no operation. Its function takes a `Call` and Field parameters and returns an exit code."""

    name: str
    module: str
    """Dotted name of the module."""
    function: str
    title: str
    examples: tuple[str, ...]
    is_raw: bool = False
    """The function takes the words after the name as they stand, and parses them itself."""


COMMANDS: tuple[Command, ...] = (
    Command(
        name="edit",
        module="ai_memory.cli.edit",
        function="edit",
        title="Edit a page in your editor",
        examples=("edit notes/retry-budget.md",),
    ),
    Command(
        name="demo",
        module="ai_memory.cli.demo",
        function="demo",
        title="Watch a session become memory, in a throw-away folder",
        examples=("demo",),
    ),
    Command(
        name="hook",
        module="ai_memory.__main__",
        function="main",
        title="Take one event of an agent from stdin (harnesses run it)",
        examples=("hook --event session-start",),
        is_raw=True,
    ),
    Command(
        name="drain",
        module="ai_memory.__main__",
        function="main",
        title="Apply what hooks have spooled",
        examples=("drain",),
        is_raw=True,
    ),
    Command(
        name="mcp-bridge",
        module="ai_memory.__main__",
        function="main",
        title="Serve the memory to an MCP client over stdio",
        examples=("mcp-bridge --profile core",),
        is_raw=True,
    ),
    Command(
        name="completions",
        module="ai_memory.cli.completions",
        function="completions",
        title="Print the completion script of a shell",
        examples=("completions bash",),
    ),
)

_ALL: tuple[Operation | Command, ...] = (*OPERATIONS, *COMMANDS)
ROWS: dict[str, Operation | Command] = {row.name: row for row in _ALL}
GROUPS: dict[str, str] = {"config": "Settings: show, get, set, unset, path"}
"""Names before the space of two-word commands, with their line of help."""


def names_below(group: str) -> list[str]:
    """Names inside a group, or of the top level for an empty group, in the order of help."""
    if group:
        return [name.removeprefix(f"{group} ") for name in ROWS if name.startswith(f"{group} ")]
    return list(dict.fromkeys(name.partition(" ")[0] for name in ROWS))
