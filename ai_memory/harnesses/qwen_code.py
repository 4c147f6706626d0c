"""Qwen Code. Claude's hooks in Gemini's settings file, with timeouts in milliseconds."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile, Proof, Switch
from ai_memory.harnesses.shapes_events import TIMEOUT_S, stdio
from ai_memory.harnesses.shapes_groups import command, groups

_SETTINGS = Place("{home}/.qwen/settings.json")

QWEN_CODE = Harness(
    id="qwen-code",
    title="Qwen Code",
    aliases=("qwen",),
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PostToolUseFailure": "post-tool-use",
        "PreCompact": "pre-compact",
        "Notification": "notification",
        "Stop": "stop",
        "SubagentStart": "other",
        "SubagentStop": "other",
        "SessionEnd": "session-end",
    },
    form=Form.ENVELOPE,
    inject_at="session-start",
    tells=True,
    reloads=True,
    source="https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/",
    programs=("qwen",),
    homes=(Place("{home}/.qwen"),),
    hooks=HookFile(_SETTINGS, parts=groups(handler=command(TIMEOUT_S * 1000, name="ai-memory"))),
    mcp=McpFile(
        _SETTINGS,
        keys=("mcpServers", "ai-memory"),
        entry=stdio,
        project=Place("{checkout}/.qwen/settings.json"),
    ),
    instructions=Place("{home}/.qwen/QWEN.md"),
    project_instructions="QWEN.md",
    skills=Place("{home}/.qwen/skills"),
    project_skills=Place("{checkout}/.qwen/skills"),
    restart="Restart it.",
    refuses=("The checkout's own `.qwen/settings.json` gets no hooks: it is shared with the team.",),
    proof=Proof.PROGRAM,
    switches=(Switch(_SETTINGS, ("disableAllHooks",), True),),
    notes=(
        "Its `UserPromptSubmit` also comes where a turn goes on after a tool: what the person typed is taken from"
        " `submitted_prompt` where that is told.",
        "`disableAllHooks` in its settings switches every hook off.",
    ),
)
