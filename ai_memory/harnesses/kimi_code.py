"""Kimi Code. What a hook prints becomes text of the conversation; one member too many and it reads no settings."""

from ai_memory.harnesses.edits import Element, Part, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import TIMEOUT_S, stdio, wired


def _place(rest: str) -> Place:
    return Place("{home}/.kimi-code" + rest, variable="KIMI_CODE_HOME", moved="{home}/.kimi-code")


def _parts(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    """Tables `[[hooks]]` of exactly these members."""
    return tuple(
        Element(
            ("hooks",),
            {"event": event, "command": launch.hook_line(harness.id, event), "timeout": TIMEOUT_S},
            is_ours=launch.is_ours,
        )
        for event in wired(harness, launch)
    )


KIMI_CODE = Harness(
    id="kimi-code",
    title="Kimi Code",
    aliases=("kimi", "kimi-cli"),
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
    form=Form.TEXT,
    inject_at="user-prompt",
    reloads=True,
    config_variable="KIMI_CODE_HOME",
    source="https://www.kimi.com/code/docs/en/kimi-code-cli/customization/hooks.html",
    programs=("kimi",),
    homes=(_place(""),),
    hooks=HookFile(_place("/config.toml"), parts=_parts, syntax=Syntax.TOML),
    mcp=McpFile(_place("/mcp.json"), keys=("mcpServers", "ai-memory"), entry=stdio),
    project_instructions="AGENTS.md",
    restart="Start a new session.",
    refuses=(
        "Newer events (`Interrupt`, `StopFailure`, `PostCompact`, `Notification`) are not wired: a version that knows"
        " one of them not reads no settings at all.",
    ),
    is_silent=True,
    notes=("What its start hook prints goes nowhere: what waits is told with the first prompt.",),
)
