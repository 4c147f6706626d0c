"""What one agent program does its own way, as data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ai_memory.harnesses.edits import Json, Part, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place


class Form(StrEnum):
    """How a harness takes context from a hook's stdout."""

    ENVELOPE = "envelope"
    """`{"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}}`"""
    CAMEL = "camel"
    """`{"additionalContext": …}`"""
    SNAKE = "snake"
    """`{"additional_context": …}`"""
    CONTEXT = "context"
    """`{"context": …}`"""
    STEPS = "steps"
    """`{"injectSteps": [{"ephemeralMessage": …}]}`"""
    CLINE = "cline"
    """`{"cancel": false, "contextModification": …}`"""
    TEXT = "text"
    """Plain text; whatever else is printed would be read as text too."""
    NONE = "none"
    """Takes none: nothing is ever claimed for it."""


class Proof(StrEnum):
    """How it is known that a record is right. The matrix in `docs/harnesses.md` says it of each."""

    PROGRAM = "program"
    """The real program ran with what we installed."""
    PAYLOADS = "payloads"
    """Payloads that the real program sent were replayed."""
    DOCUMENTATION = "documentation"
    """Its maker's pages, or the source of others that support it, say so."""


TELLS_TURNS = "Its agent can tell turn by turn with memory_capture_turn; ask for that in its instructions."
"""Note of a harness that runs no hooks of ours but speaks to our MCP server."""


@dataclass(frozen=True, slots=True)
class HookFile:
    """Where a harness is told to run our hook, and how that looks."""

    place: Place
    """The person's own file. For a plugin: the plugin's file."""
    parts: "Callable[[Harness, Launch], tuple[Part, ...]] | None" = None
    """Of JSON and TOML: what is ours in the file."""
    text: "Callable[[Harness, Launch], str] | None" = None
    """Of a file that is ours whole."""
    syntax: Syntax = Syntax.JSON
    project: Place | None = None
    """The checkout's own file that is not shared with a team; None: `--scope project` is refused."""
    is_folder: bool = False
    """`place` is a folder of files made by others, each of which gets `parts` (Kiro's agents)."""
    is_printed: bool = False
    """Shown for the person to paste, never written; `Harness.refuses` says why."""
    files: "Callable[[Harness, Launch], Mapping[str, str]] | None" = None
    """Of a folder of executable files, each ours whole: name → text (Cline names them after the event)."""
    beside: "tuple[tuple[str, Callable[[Harness, Launch], str]], ...]" = ()
    """(name, text) of files that are ours whole in the same folder: a plugin's manifest."""


@dataclass(frozen=True, slots=True)
class McpFile:
    """Where a harness is told of our MCP server."""

    place: Place
    keys: tuple[str, ...]
    """The way to our entry: `("mcpServers", "ai-memory")`."""
    entry: Callable[[Launch], Json]
    syntax: Syntax = Syntax.JSON
    requires: tuple[tuple[tuple[str, ...], Json], ...] = ()
    """Members that the file must have for ours to be read: (way, value)."""
    project: Place | None = None
    is_printed: bool = False
    text: Callable[[Launch], str] | None = None
    """What is printed, where the file is of no syntax that is edited."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list in a harness's own settings that a person has to add our data dir to. `doctor` looks, nobody writes."""

    place: Place
    keys: tuple[str, ...]
    """The way to the list."""
    why: str


@dataclass(frozen=True, slots=True)
class Harness:
    """One agent program. The hook has a copy of what it needs in `hook_harnesses`; a test keeps both equal."""

    id: str
    """As in decision C8: stored with every event, shown to people."""
    title: str
    events: Mapping[str, str] = field(default_factory=dict)
    """Native event name, as its configuration spells it → canonical kind. Only events that are captured."""
    aliases: tuple[str, ...] = ()
    form: Form = Form.NONE
    inject_at: str = ""
    """Canonical kind of the event at which context is given; empty where none is."""
    tells: bool = False
    """Shows a person the member `systemMessage` of a hook's answer."""
    reloads: bool = False
    """Takes context with a prompt, too, in the same form."""
    session_variable: str = ""
    """Environment variable that names the session in the harness's children."""
    config_variable: str = ""
    """Environment variable that moves its configuration folder."""
    source: str = ""
    """The page of its maker that says so."""
    programs: tuple[str, ...] = ()
    """Names of its executable; one of them on PATH means that it is there."""
    homes: tuple[Place, ...] = ()
    """Folders or files that are there once it was used."""
    hooks: HookFile | None = None
    mcp: McpFile | None = None
    instructions: Place | None = None
    """The person's own instruction file, read in every checkout."""
    project_instructions: str = ""
    """Name of the instruction file in a checkout: `AGENTS.md`."""
    skills: Place | None = None
    """Folder of the person's skills."""
    project_skills: Place | None = None
    restart: str = ""
    """What a person does for a change to count; empty: nothing."""
    refuses: tuple[str, ...] = ()
    """What is not done for it, and why: one sentence each."""
    proof: Proof = Proof.DOCUMENTATION
    is_silent: bool = False
    """Whatever its hook prints becomes text of the conversation, even `{}`."""
    retells: bool = False
    """What a start was told may be lost: told again with the first prompt, unless the start is known to have ended."""
    is_anonymous: bool = False
    """Some of its versions name no session: one is minted and remembered."""
    drains_itself: bool = False
    """Kills what a hook leaves running: the hook waits for its own drain."""
    shares: str = ""
    """Id of the harness whose hook file serves this one, too."""
    prompts_at: Place | None = None
    """Where its prompts stand, which no event carries: a line of JSON each, read by the drain."""
    must_list: Listing | None = None
    """What a person has to allow before anything can be kept."""
    notes: tuple[str, ...] = ()
    """What is peculiar and good to know: one sentence each."""
