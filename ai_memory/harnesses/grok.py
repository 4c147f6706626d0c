"""Grok Build. It hears nothing that a start or a prompt prints: what waits is told at the first tool's result."""

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import stdio, wired
from ai_memory.harnesses.shapes_flat import written
from ai_memory.harnesses.shapes_groups import command, group


def _place(rest: str) -> Place:
    return Place("{home}/.grok" + rest, variable="GROK_HOME", moved="{home}/.grok")


def _file(harness: Harness, launch: Launch) -> str:
    handler = command()
    events: dict[str, Json] = {
        event: [group(None, handler(launch, harness.id, event))] for event in wired(harness, launch)
    }
    return written({"hooks": events})


GROK = Harness(
    id="grok",
    title="Grok Build",
    aliases=("grok-build",),
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
        "StopFailure": "stop",
        "SubagentStart": "other",
        "SubagentStop": "other",
        "SessionEnd": "session-end",
    },
    form=Form.ENVELOPE,
    inject_at="post-tool-use",
    session_variable="GROK_SESSION_ID",
    config_variable="GROK_HOME",
    source="https://docs.x.ai/build/features/hooks",
    programs=("grok",),
    homes=(_place(""),),
    hooks=HookFile(_place("/hooks/ai-memory.json"), text=_file, syntax=Syntax.WHOLE),
    mcp=McpFile(_place("/config.toml"), keys=("mcp_servers", "ai-memory"), entry=stdio, syntax=Syntax.TOML),
    instructions=_place("/AGENTS.md"),
    project_instructions="AGENTS.md",
    skills=_place("/skills"),
    project_skills=Place("{checkout}/.grok/skills"),
    restart="Restart it.",
    refuses=("The checkout's own `.grok/hooks` is not written: it is shared with the team and wants trust.",),
    runs_hooks_of=("claude-code", "cursor"),
    notes=(
        "It runs Claude Code's and Cursor's hooks, too; one that it started (`GROK_HOOK_EVENT`) counts as Grok's.",
        "A session in which no tool runs is told nothing; `memory_handoff_accept` takes what waits.",
    ),
)
