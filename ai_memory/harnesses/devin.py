"""Devin CLI. Its events may name neither a session nor a folder."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import stdio
from ai_memory.harnesses.shapes_groups import groups

_SETTINGS = Place("{config}/devin/config.json", win32="{appdata}/devin/config.json")
_LOCAL = Place("{checkout}/.devin/config.local.json")

DEVIN = Harness(
    id="devin",
    title="Devin CLI",
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PostCompaction": "post-compaction",
        "Stop": "stop",
        "SessionEnd": "session-end",
    },
    form=Form.ENVELOPE,
    inject_at="session-start",
    source="https://docs.devin.ai/cli/extensibility/hooks/overview",
    programs=("devin",),
    homes=(Place("{config}/devin", win32="{appdata}/devin"), Place("{home}/.devin")),
    hooks=HookFile(_SETTINGS, parts=groups(), project=_LOCAL),
    mcp=McpFile(_SETTINGS, keys=("mcpServers", "ai-memory"), entry=stdio, project=_LOCAL),
    instructions=Place("{config}/devin/AGENTS.md", win32="{appdata}/devin/AGENTS.md"),
    project_instructions="AGENTS.md",
    skills=Place("{home}/.devin/skills", win32="{appdata}/devin/skills"),
    project_skills=Place("{checkout}/.devin/skills"),
    restart="Start a new session.",
    refuses=("`.devin/config.json` and `.devin/hooks.v1.json` are not written: they are shared with the team.",),
    is_anonymous=True,
    runs_hooks_of=("claude-code",),
    notes=(
        "The folder of an event that names none is `DEVIN_PROJECT_DIR`; `AI_MEMORY_SESSION_ID` pins the session.",
        "It runs Claude Code's hooks, too; one that it started counts as Devin's.",
    ),
)
