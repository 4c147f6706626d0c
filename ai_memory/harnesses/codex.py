"""Codex. Its schema refuses unknown members in a hook's answer; SessionEnd exists since CLI 0.145."""

from ai_memory.harnesses.record import Form, Harness

CODEX = Harness(
    id="codex",
    title="Codex",
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PreCompact": "pre-compact",
        "PostCompact": "post-compaction",
        "Stop": "stop",
        "SubagentStart": "other",
        "SubagentStop": "other",
        "SessionEnd": "session-end",
    },
    form=Form.ENVELOPE,
    inject_at="session-start",
    tells=True,
    reloads=True,
    config_variable="CODEX_HOME",
    source="https://developers.openai.com/codex/hooks",
)
