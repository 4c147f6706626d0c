"""Claude Code."""

from ai_memory.harnesses.edits import Json, Part
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile, Plugins, Proof, Switch
from ai_memory.harnesses.shapes import claude_nested

_FOLDER = "{home}/.claude"
_VARIABLE = "CLAUDE_CONFIG_DIR"
_SETTINGS = Place(f"{_FOLDER}/settings.json", _VARIABLE, _FOLDER)


def _hooks(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    """On Windows a list of arguments: one quoted line failed there."""
    return claude_nested(harness, launch, has_argv_on_windows=True)


def _entry(launch: Launch) -> Json:
    program, *words = launch.bridge_argv("claude-code")
    return {"type": "stdio", "command": program, "args": words, "env": {}}


CLAUDE_CODE = Harness(
    id="claude-code",
    title="Claude Code",
    aliases=("claude",),
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PostToolUseFailure": "post-tool-use",
        "PreCompact": "pre-compact",
        "PostCompact": "post-compaction",
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
    session_variable="CLAUDE_CODE_SESSION_ID",
    config_variable=_VARIABLE,
    source="https://code.claude.com/docs/en/hooks",
    programs=("claude",),
    homes=(Place(_FOLDER, _VARIABLE, _FOLDER),),
    hooks=HookFile(
        _SETTINGS,
        parts=_hooks,
        project=Place("{checkout}/.claude/settings.local.json"),
    ),
    mcp=McpFile(
        Place("{home}/.claude.json", _VARIABLE, "{home}"),
        ("mcpServers", "ai-memory"),
        _entry,
        project=Place("{checkout}/.mcp.json"),
    ),
    instructions=Place(f"{_FOLDER}/CLAUDE.md", _VARIABLE, _FOLDER),
    project_instructions="CLAUDE.md",
    skills=Place(f"{_FOLDER}/skills", _VARIABLE, _FOLDER),
    project_skills=Place("{checkout}/.claude/skills"),
    restart="Start Claude Code anew: sessions that run keep their old hooks.",
    refuses=("`.claude/settings.json` of a checkout is shared with a team, so hooks are not written there.",),
    proof=Proof.PROGRAM,
    switches=(Switch(_SETTINGS, ("disableAllHooks",), True),),
    plugins=Plugins(_SETTINGS, ("enabledPlugins",)),
    notes=("`disableAllHooks` in its settings switches every hook off.",),
)
