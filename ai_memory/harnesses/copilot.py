"""GitHub Copilot CLI and VS Code, which read one hook file. Its events are spelled as VS Code knows them."""

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile, Proof
from ai_memory.harnesses.shapes_events import TIMEOUT_S, powershell_line, typed_stdio, wired
from ai_memory.harnesses.shapes_flat import written

_SHARED = "The checkout's own `.github/hooks` is not written: it is shared with the team."
_BOTH = "Copilot CLI and VS Code read the same `~/.copilot/hooks/ai-memory.json`; the payload tells which one called."


def _place(rest: str) -> Place:
    return Place("{home}/.copilot" + rest, variable="COPILOT_HOME", moved="{home}/.copilot")


def _file(_: Harness, launch: Launch) -> str:
    """The same file whichever of the two is wired. VS Code passes over events that it does not know."""
    events: dict[str, Json] = {event: [_entry(launch, event)] for event in wired(COPILOT_CLI, launch)}
    return written({"version": 1, "hooks": events})


def _entry(launch: Launch, event: str) -> Json:
    agent = COPILOT_CLI.id
    if launch.platform == "win32":
        return {"type": "command", "powershell": powershell_line(launch, agent, event), "timeoutSec": TIMEOUT_S}
    return {"type": "command", "bash": launch.hook_line(agent, event), "timeoutSec": TIMEOUT_S}


_HOOKS = HookFile(_place("/hooks/ai-memory.json"), text=_file, syntax=Syntax.WHOLE)


def _local_server(launch: Launch) -> Json:
    program, *rest = launch.bridge_argv()
    return {"type": "local", "command": program, "args": rest, "tools": ["*"]}


COPILOT_CLI = Harness(
    id="copilot-cli",
    title="GitHub Copilot CLI",
    aliases=("copilot",),
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PostToolUseFailure": "post-tool-use",
        "PreCompact": "pre-compact",
        "Stop": "stop",
        "SubagentStart": "other",
        "SubagentStop": "other",
        "SessionEnd": "session-end",
    },
    form=Form.CAMEL,
    inject_at="session-start",
    reloads=True,
    session_variable="COPILOT_AGENT_SESSION_ID",
    config_variable="COPILOT_HOME",
    source="https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference",
    programs=("copilot",),
    homes=(_place("/config.json"), _place("/session-state")),
    hooks=_HOOKS,
    mcp=McpFile(_place("/mcp-config.json"), keys=("mcpServers", "ai-memory"), entry=_local_server),
    instructions=_place("/copilot-instructions.md"),
    project_instructions="AGENTS.md",
    skills=_place("/skills"),
    project_skills=Place("{checkout}/.github/skills"),
    restart="Restart it.",
    refuses=(_SHARED,),
    proof=Proof.PROGRAM,
    is_anonymous=True,
    notes=(
        _BOTH,
        "Old versions pass over what a start hook prints: `memory_handoff_accept` takes what waits.",
        "It also runs the hooks of a checkout's `.claude/settings.json`.",
    ),
)

VSCODE = Harness(
    id="vscode",
    title="VS Code",
    aliases=("vscode-copilot",),
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PreCompact": "pre-compact",
        "Stop": "stop",
        "SubagentStart": "other",
        "SubagentStop": "other",
    },
    form=Form.ENVELOPE,
    inject_at="session-start",
    tells=True,
    source="https://code.visualstudio.com/docs/copilot/customization/hooks",
    programs=("code", "code-insiders"),
    homes=(
        Place(
            "{config}/Code/User",
            darwin="{home}/Library/Application Support/Code/User",
            win32="{appdata}/Code/User",
        ),
    ),
    hooks=_HOOKS,
    mcp=McpFile(
        Place(
            "{config}/Code/User/mcp.json",
            darwin="{home}/Library/Application Support/Code/User/mcp.json",
            win32="{appdata}/Code/User/mcp.json",
        ),
        keys=("servers", "ai-memory"),
        entry=typed_stdio,
        project=Place("{checkout}/.vscode/mcp.json"),
    ),
    project_instructions="AGENTS.md",
    skills=_place("/skills"),
    project_skills=Place("{checkout}/.github/skills"),
    restart="Reload the window.",
    refuses=(
        _SHARED,
        "It tells of no end: a session ends once it was silent for a day, or by `ai-memory finalize-session`.",
    ),
    shares="copilot-cli",
    runs_hooks_of=("claude-code",),
    notes=(
        _BOTH,
        "It also runs Claude Code's hooks; `chat.hookFilesLocations` switches folders off.",
        "Its hooks are a preview.",
    ),
)
