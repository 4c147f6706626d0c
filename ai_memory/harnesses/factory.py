"""Factory Droid. Its hooks are Claude-shaped, in a file whose root is the map of events."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import typed_stdio
from ai_memory.harnesses.shapes_groups import groups

FACTORY = Harness(
    id="factory",
    title="Factory Droid",
    aliases=("droid",),
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PreCompact": "pre-compact",
        "Notification": "notification",
        "Stop": "stop",
        "SubagentStop": "other",
        "SessionEnd": "session-end",
    },
    form=Form.ENVELOPE,
    inject_at="session-start",
    tells=True,
    reloads=True,
    source="https://docs.factory.ai/reference/hooks-reference",
    programs=("droid",),
    homes=(Place("{home}/.factory"),),
    hooks=HookFile(Place("{home}/.factory/hooks.json"), parts=groups(under=())),
    mcp=McpFile(
        Place("{home}/.factory/mcp.json"),
        keys=("mcpServers", "ai-memory"),
        entry=typed_stdio,
        project=Place("{checkout}/.factory/mcp.json"),
    ),
    instructions=Place("{home}/.factory/AGENTS.md"),
    project_instructions="AGENTS.md",
    skills=Place("{home}/.factory/skills"),
    project_skills=Place("{checkout}/.factory/skills"),
    restart="Restart it.",
    refuses=(
        "The checkout's own `.factory/hooks.json` is not written: it is shared with the team.",
        "No plugin is made: a plugin's `UserPromptSubmit` does not run.",
    ),
)
