"""Command Code. A group with a matcher would not fire for a start or a stop, so that ours have none."""

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import stdio
from ai_memory.harnesses.shapes_groups import groups


def _server(launch: Launch) -> Json:
    return stdio(launch, transport="stdio", enabled=True)


COMMAND_CODE = Harness(
    id="command-code",
    title="Command Code",
    aliases=("commandcode", "cmdc", "cmd"),
    events={
        "SessionStart": "session-start",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "Stop": "stop",
    },
    form=Form.ENVELOPE,
    inject_at="session-start",
    source="https://commandcode.ai/docs/hooks/reference",
    programs=("command-code", "commandcode", "cmdc"),
    homes=(Place("{home}/.commandcode"),),
    hooks=HookFile(Place("{home}/.commandcode/settings.json"), parts=groups(matcher=None)),
    mcp=McpFile(Place("{home}/.commandcode/mcp.json"), keys=("mcpServers", "ai-memory"), entry=_server),
    project_instructions="AGENTS.md",
    restart="Restart it.",
    refuses=(
        "Prompts are not captured: it has no hook for them.",
        "It tells of no end: a session ends once it was silent for a day, or by `ai-memory finalize-session`.",
        "The checkout's own `.commandcode/settings.json` is not written: it is shared with the team.",
    ),
)
