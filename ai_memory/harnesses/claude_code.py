"""Claude Code."""

from ai_memory.harnesses.record import Form, Harness

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
    config_variable="CLAUDE_CONFIG_DIR",
    source="https://code.claude.com/docs/en/hooks",
)
