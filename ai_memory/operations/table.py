"""The one table of operations: what both faces offer.

Functions are named by string, so a face imports only what it runs.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Profile = Literal["core", "full"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that ai-memory does.

    `module` lies in `ai_memory.operations`; the docstring of the function is the user's text.
    """

    name: str
    """Command of the CLI; a space separates a group from its command."""
    module: str
    function: str
    title: str
    examples: tuple[str, ...]
    """Command lines after `ai-memory`, each of which runs as it stands."""
    text: str
    """Function of the same module: result -> compact markdown."""
    tool: str | None = None
    """Name in the bridge; none means command line only."""
    profile: Profile = "full"
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False
    tells_scope: bool = False
    """Its text says the scope, so that the CLI need not."""
    is_fenced: bool = False
    """Its text fences by itself what is stored: the bridge hands it on as it is."""
    noun: str = ""
    """Field of the result that holds its rows; with one, the CLI offers `--format`."""
    columns: tuple[str, ...] = ()
    """Keys of a row that a table shows; with them, a table is what a person gets."""
    is_prose: bool = False
    """A person gets the text all the same, and a table on demand."""

    def load(self) -> "Callable[..., Any]":
        """The function itself; imports its module."""
        function: Callable[..., Any] = getattr(import_module(f"ai_memory.operations.{self.module}"), self.function)
        return function

    def load_text(self) -> "Callable[[Any], str]":
        """The function that makes the result readable; imports its module."""
        function: Callable[[Any], str] = getattr(import_module(f"ai_memory.operations.{self.module}"), self.text)
        return function


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="search",
        module="search",
        function="search",
        title="Search memory",
        examples=("search lock order", "search 'retry budget' -n 3 --json", "search retry budget --all --explain"),
        text="search_text",
        tool="memory_query",
        profile="core",
        read_only=True,
        idempotent=True,
        noun="hits",
        columns=("path", "title", "heading", "line", "score"),
        is_prose=True,
    ),
    Operation(
        name="bench retrieval",
        module="bench",
        function="bench_retrieval",
        title="Measure search on labelled sets",
        examples=(
            "bench retrieval --set team-questions",
            "bench retrieval --set team-questions --limit 100 --json",
        ),
        text="bench_retrieval_text",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="bench self",
        module="bench",
        function="bench_self",
        title="Measure search on your own pages",
        examples=("bench self", "bench self --json"),
        text="bench_self_text",
        idempotent=True,
    ),
    Operation(
        name="related",
        module="related",
        function="related",
        title="Pages around a page",
        examples=("related notes/retry-budget.md", "related notes/retry-budget.md --depth 1 --json"),
        text="related_text",
        read_only=True,
        idempotent=True,
        noun="pages",
        columns=("path", "title", "kind", "distance", "via"),
        is_prose=True,
    ),
    Operation(
        name="read-page",
        module="read",
        function="read_page",
        title="Read a page",
        examples=("read-page notes/retry-budget.md", "read-page --query 'retry budget' --json"),
        text="read_page_text",
        tool="memory_read_page",
        profile="core",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="write-page",
        module="write",
        function="write_page",
        title="Write a page",
        examples=(
            "write-page --title 'Retry budget' -b 'At most 3 tries.' --tag http",
            "write-page -p decisions/queue.md --file queue.md --create-only",
        ),
        text="write_page_text",
        tool="memory_write_page",
        profile="core",
        destructive=True,
        idempotent=True,
    ),
    Operation(
        name="append",
        module="write",
        function="append_to_page",
        title="Append to a page",
        examples=("append notes/retry-budget.md -b 'The client gives up after 30 s.'",),
        text="write_page_text",
    ),
    Operation(
        name="set",
        module="change",
        function="set_page",
        title="Change a page's named keys",
        examples=("set notes/retry-budget.md --tag +net --tag -http --pin",),
        text="changed_page_text",
        idempotent=True,
    ),
    Operation(
        name="move",
        module="change",
        function="move_page",
        title="Move a page",
        examples=("move notes/retry-budget.md decisions/retry-budget.md",),
        text="moved_page_text",
        destructive=True,
    ),
    Operation(
        name="delete-page",
        module="change",
        function="delete_page",
        title="Delete a page",
        examples=("delete-page decisions/retry-budget.md",),
        text="deleted_page_text",
        tool="memory_delete_page",
        destructive=True,
        idempotent=True,
    ),
    Operation(
        name="recent",
        module="read",
        function="recent",
        title="Recently changed pages",
        examples=("recent", "recent -n 5 --json"),
        text="recent_text",
        tool="memory_recent",
        profile="core",
        read_only=True,
        idempotent=True,
        noun="pages",
        columns=("path", "title", "kind", "updated_at"),
    ),
    Operation(
        name="pages",
        module="read",
        function="pages",
        title="List pages",
        examples=("pages", "pages --kind decision --sort title"),
        text="pages_text",
        read_only=True,
        idempotent=True,
        noun="pages",
        columns=("path", "title", "kind", "tier", "tags", "updated_at", "fault"),
    ),
    Operation(
        name="history",
        module="read",
        function="history",
        title="Versions of a page",
        examples=("history notes/retry-budget.md",),
        text="history_text",
        read_only=True,
        idempotent=True,
        noun="versions",
        columns=("version", "commit", "at", "change", "author", "message"),
    ),
    Operation(
        name="sessions",
        module="sessions",
        function="sessions",
        title="List sessions",
        examples=("sessions", "sessions --open --since 7d --json"),
        text="sessions_text",
        tool="memory_sessions",
        read_only=True,
        idempotent=True,
        noun="sessions",
        columns=("short_id", "agent", "state", "last_at", "prompts", "observations", "title"),
        is_prose=True,
    ),
    Operation(
        name="session",
        module="sessions",
        function="session",
        title="Read a session",
        examples=("session 7d3f0a5e", "session 7d3f0a5e --kinds user-prompt,stop --query 'retry budget'"),
        text="session_text",
        tool="memory_session",
        read_only=True,
        idempotent=True,
        noun="observations",
        columns=("at", "kind", "tool", "outcome", "text"),
        is_prose=True,
    ),
    Operation(
        name="finalize-session",
        module="finalize",
        function="finalize_session",
        title="End sessions",
        examples=("finalize-session 7d3f0a5e", "finalize-session --all", "finalize-session --idle --confirm"),
        text="finalized_text",
        tool="memory_finalize_session",
        idempotent=True,
        noun="sessions",
    ),
    Operation(
        name="list-projects",
        module="projects",
        function="list_projects",
        title="List projects",
        examples=("list-projects", "list-projects --json"),
        text="list_projects_text",
        read_only=True,
        idempotent=True,
        noun="projects",
        columns=("workspace", "project", "identity", "pages", "updated_at"),
    ),
    Operation(
        name="where",
        module="projects",
        function="where",
        title="Scope of this folder",
        examples=("where", "where --json"),
        text="where_text",
        tells_scope=True,
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="status",
        module="status",
        function="status",
        title="State of the memory",
        examples=("status", "status --line"),
        text="status_text",
        tells_scope=True,
        tool="memory_status",
        profile="core",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="handoff begin",
        module="handoff_begin",
        function="handoff_begin",
        title="Hand open work over",
        examples=("handoff begin -b 'Till rounds; tax is left.' --next-step 'Round the tax' --file-touched till.py",),
        text="handoff_begin_text",
        tool="memory_handoff_begin",
        profile="core",
        idempotent=True,
    ),
    Operation(
        name="handoff list",
        module="handoff_look",
        function="handoff_list",
        title="List handoffs",
        examples=("handoff list", "handoff list --all --state any"),
        text="handoff_list_text",
        tool="memory_handoff_list",
        read_only=True,
        idempotent=True,
        noun="handoffs",
        columns=("id", "state", "project", "title", "from_agent", "created_at"),
    ),
    Operation(
        name="handoff show",
        module="handoff_look",
        function="handoff_show",
        title="Show a handoff",
        examples=("handoff show",),
        text="handoff_show_text",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="handoff accept",
        module="handoff_take",
        function="handoff_accept",
        title="Take a handoff",
        examples=("handoff accept", "handoff accept --agent codex"),
        text="handoff_accept_text",
        tool="memory_handoff_accept",
        profile="core",
        destructive=True,
        is_fenced=True,
    ),
    Operation(
        name="handoff cancel",
        module="handoff_close",
        function="handoff_cancel",
        title="Cancel a handoff",
        examples=("handoff cancel --all --older-than 14d", "handoff cancel --all --older-than 14d --confirm"),
        text="handoff_cancel_text",
        tool="memory_handoff_cancel",
        destructive=True,
        idempotent=True,
    ),
    Operation(
        name="handoff reopen",
        module="handoff_close",
        function="handoff_reopen",
        title="Open a handoff again",
        examples=("handoff reopen",),
        text="handoff_reopen_text",
        idempotent=True,
    ),
    Operation(
        name="init",
        module="setup",
        function="init",
        title="Create the data dir",
        examples=("init",),
        text="init_text",
        idempotent=True,
    ),
    Operation(
        name="reindex",
        module="setup",
        function="reindex",
        title="Rebuild the search index",
        examples=("reindex",),
        text="reindex_text",
        idempotent=True,
    ),
    Operation(
        name="path",
        module="setup",
        function="path",
        title="Where a page or the data dir lies",
        examples=("path", "path notes/retry-budget.md"),
        text="path_text",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="pause",
        module="pause",
        function="pause",
        title="Go off the record",
        examples=("pause --for 1h", "pause --here"),
        text="pause_text",
        idempotent=True,
    ),
    Operation(
        name="resume",
        module="pause",
        function="resume",
        title="Go back on the record",
        examples=("resume",),
        text="resume_text",
        idempotent=True,
    ),
    Operation(
        name="log",
        module="log",
        function="log",
        title="What happened, and who changed what",
        examples=("log", "log --session 7d3f0a5e --json", "log --since 2h --all"),
        text="log_text",
        read_only=True,
        idempotent=True,
        noun="entries",
        columns=("at", "entry", "what", "subject", "outcome", "by"),
        is_prose=True,
    ),
    Operation(
        name="logs",
        module="logs",
        function="logs",
        title="What ran in the background",
        examples=("logs", "logs -n 20"),
        text="logs_text",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="quarantine list",
        module="quarantine",
        function="quarantine_list",
        title="Events that could not be applied",
        examples=("quarantine list", "quarantine list --json"),
        text="quarantine_list_text",
        read_only=True,
        idempotent=True,
        noun="events",
        columns=("event", "at", "size_bytes", "reason"),
    ),
    Operation(
        name="quarantine show",
        module="quarantine",
        function="quarantine_show",
        title="One event that could not be applied",
        examples=("quarantine show 1764000000000000000-1-0a0b0c0d",),
        text="quarantine_show_text",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="quarantine retry",
        module="quarantine",
        function="quarantine_retry",
        title="Let events be applied again",
        examples=("quarantine retry --all",),
        text="quarantine_moved_text",
        noun="events",
    ),
    Operation(
        name="quarantine drop",
        module="quarantine",
        function="quarantine_drop",
        title="Remove events for good",
        examples=("quarantine drop --all", "quarantine drop --all --confirm"),
        text="quarantine_moved_text",
        destructive=True,
        noun="events",
    ),
    Operation(
        name="config show",
        module="settings",
        function="config_show",
        title="Settings in force",
        examples=("config show", "config show --origin"),
        text="config_show_text",
        read_only=True,
        idempotent=True,
        noun="settings",
    ),
    Operation(
        name="config get",
        module="settings",
        function="config_get",
        title="One setting",
        examples=("config get handoff.claim_on_session_start",),
        text="config_get_text",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="config set",
        module="settings",
        function="config_set",
        title="Change a setting",
        examples=("config set handoff.claim_on_session_start false",),
        text="config_changed_text",
        idempotent=True,
    ),
    Operation(
        name="config unset",
        module="settings",
        function="config_unset",
        title="Back to a setting's default",
        examples=("config unset handoff.claim_on_session_start",),
        text="config_changed_text",
        idempotent=True,
    ),
    Operation(
        name="config path",
        module="settings",
        function="config_path",
        title="Where the settings lie",
        examples=("config path",),
        text="config_path_text",
        read_only=True,
        idempotent=True,
    ),
)

OPERATION_BY_NAME = {operation.name: operation for operation in OPERATIONS}
OPERATION_BY_TOOL = {operation.tool: operation for operation in OPERATIONS if operation.tool}
