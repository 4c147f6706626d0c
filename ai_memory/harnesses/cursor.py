"""Cursor. Its editor and its command line read the same files, and watch them."""

from collections.abc import Mapping

from ai_memory.harnesses.edits import Json, Requirement
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import TIMEOUT_S, powershell_line, stdio
from ai_memory.harnesses.shapes_flat import listed_by_event


def _entry(launch: Launch, agent: str, event: str) -> Mapping[str, Json]:
    is_windows = launch.platform == "win32"  # every hook runs in PowerShell there
    line = powershell_line(launch, agent, event) if is_windows else launch.hook_line(agent, event)
    return {"type": "command", "command": line, "timeout": TIMEOUT_S}


CURSOR = Harness(
    id="cursor",
    title="Cursor",
    events={
        "sessionStart": "session-start",
        "beforeSubmitPrompt": "user-prompt",
        "preToolUse": "pre-tool-use",
        "postToolUse": "post-tool-use",
        "postToolUseFailure": "post-tool-use",
        "preCompact": "pre-compact",
        "stop": "stop",
        "sessionEnd": "session-end",
    },
    form=Form.SNAKE,
    inject_at="session-start",
    reloads=True,
    retells=True,
    session_variable="CURSOR_CONVERSATION_ID",
    source="https://cursor.com/docs/agent/hooks",
    programs=("cursor", "cursor-agent"),
    homes=(Place("{home}/.cursor"),),
    hooks=HookFile(
        Place("{home}/.cursor/hooks.json"),
        parts=listed_by_event(_entry, Requirement(("version",), 1)),
    ),
    mcp=McpFile(
        Place("{home}/.cursor/mcp.json"),
        keys=("mcpServers", "ai-memory"),
        entry=stdio,
        project=Place("{checkout}/.cursor/mcp.json"),
    ),
    project_instructions="AGENTS.md",
    skills=Place("{home}/.agents/skills"),
    project_skills=Place("{checkout}/.agents/skills"),
    refuses=(
        "The checkout's own `.cursor/hooks.json` is not written: it is shared with the team.",
        "There is no instruction file of the person: Cursor keeps user rules in its own settings.",
    ),
    runs_hooks_of=("claude-code",),
    notes=(
        "It runs Claude Code's hooks, too; a payload with `cursor_version` counts as Cursor's.",
        "It does not wait for what `sessionStart` prints, so a prompt that comes within two seconds of it gets the same"
        " text again.",
    ),
)
