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
    note: str = ""
    """What the reference says below the title of a raw command: its function has no text of its own."""
    flags: tuple[tuple[str, str], ...] = ()
    """Flags of a raw command, with their meaning."""


COMMANDS: tuple[Command, ...] = (
    Command(
        name="edit",
        module="ai_memory.cli.edit",
        function="edit",
        title="Edit a page in your editor",
        examples=("edit notes/retry-budget.md",),
    ),
    Command(
        name="review",
        module="ai_memory.cli.review",
        function="review",
        title="Go through what waits for you",
        examples=("review", "review --list --reason stale", "review --json"),
    ),
    Command(
        name="tail",
        module="ai_memory.cli.tail",
        function="tail",
        title="Watch what is stored of agents' sessions",
        examples=("tail", "tail -f --all", "tail --session 7d3f0a5e --json"),
    ),
    Command(
        name="setup",
        module="ai_memory.cli.setup",
        function="setup",
        title="Wire every agent of this machine in one go",
        examples=("setup", "setup --yes", "setup --agent codex --dry-run"),
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
        examples=("hook --event session-start", "hook --batch --agent other --extension ci"),
        is_raw=True,
        note=(
            "It takes no `--json`: stdout belongs to the harness that runs it and holds what that harness expects,\n"
            "mostly JSON of a form of its own. Flags that it does not know are passed over. It always ends with 0,\n"
            "with `--batch`, which no harness runs, with 1 when a line was refused: see `docs/capture.md`.\n"
            "Where stdin is a directory, Python ends with 1 before any of our code runs, and nothing is captured.\n"
            "No harness does that, and 1 stops none of them."
        ),
        flags=(
            ("--event", "the event, by the harness's name or ours"),
            ("--agent", "which harness it is installed for"),
            ("--data-dir", "the data dir"),
            ("--capture-mode", "`allowlist` keeps only what a marker allows"),
            ("--check-capture", "say what would be kept of the payload, and keep nothing"),
            ("--batch", "take many events, a JSON object a line, and say in JSON what became of them"),
            ("--extension", "the producer's name, if it is no harness"),
            ("--source-event", "the producer's own name of the event"),
            ("--ingest-key", "a key of the producer's; a second event with it changes nothing"),
            ("--occurred-at", "when it happened, if not now: RFC 3339, or a number since 1970"),
        ),
    ),
    Command(
        name="drain",
        module="ai_memory.__main__",
        function="main",
        title="Apply what hooks have spooled",
        examples=("drain", "drain --wait --json"),
        is_raw=True,
        note=(
            "With `--json`: how many events were `applied`, known already (`repeated`) and `quarantined`, how many\n"
            "`pages` and `handoffs` were written, and how many events are `left`; also beside the `error` of a fault."
        ),
        flags=(
            ("--wait", "wait for another drain to end, then apply what is left"),
            ("--json", "one JSON object on stdout"),
            ("--data-dir", "the data dir"),
        ),
    ),
    Command(
        name="mcp-bridge",
        module="ai_memory.__main__",
        function="main",
        title="Serve the memory to an MCP client over stdio",
        examples=("mcp-bridge --profile full",),
        is_raw=True,
        note=(
            "It takes no `--json`: stdout belongs to the client and holds JSON-RPC, one message a line. The argument\n"
            "`format` of a tool chooses the form of its rows."
        ),
        flags=(
            ("--profile", "`core`, `full`, or names of tools with commas between; default `core`"),
            ("--workspace", "workspace of calls that name none"),
            ("--project", "project of calls that name none"),
            ("--agent", "whose client this is: changes are told as that agent's; default: as the client says"),
            ("--structured", "answers hold objects, too, and tools have output schemas; it starts a second later"),
            ("--data-dir", "the data dir"),
        ),
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
GROUPS: dict[str, str] = {
    "archive": "Pages that upkeep took away: list, restore, purge",
    "bench": "How well search finds: on labelled sets, on your own pages",
    "config": "Settings: show, get, set, unset, path",
    "quarantine": "Events that could not be applied",
    "source": "Folders of JSON records that are read again: add, list, sync, remove",
    "message": "Messages between projects: send, list, pop, cancel",
    "handoff": "Open work for the next session: begin, list, show, accept, cancel, reopen",
}
"""Names before the space of two-word commands, with their line of help."""


def names_below(group: str) -> list[str]:
    """Names inside a group, or of the top level for an empty group, in the order of help."""
    if group:
        return [name.removeprefix(f"{group} ") for name in ROWS if name.startswith(f"{group} ")]
    return list(dict.fromkeys(name.partition(" ")[0] for name in ROWS))
