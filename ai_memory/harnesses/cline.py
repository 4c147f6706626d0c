"""Cline. A hook is an executable file named after its event."""

from collections.abc import Mapping

from ai_memory.harnesses.edits import Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import stdio, wired


def _files(harness: Harness, launch: Launch) -> Mapping[str, str]:
    """None on Windows: PowerShell does not hand on what it was given on stdin as it came."""
    if launch.platform == "win32":
        return {}
    return {
        event: f"#!/bin/sh\n# Made by ai-memory.\n{launch.hook_line(harness.id, event)}\n"
        for event in wired(harness, launch)
    }


CLINE = Harness(
    id="cline",
    title="Cline",
    events={
        "TaskStart": "session-start",
        "TaskResume": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PreCompact": "pre-compact",
        "TaskCancel": "stop",
        "TaskComplete": "session-end",
    },
    form=Form.CLINE,
    inject_at="session-start",
    config_variable="CLINE_DIR",
    source="https://docs.cline.bot/customization/hooks",
    programs=("cline",),
    homes=(Place("{home}/Documents/Cline"), Place("{home}/.cline", variable="CLINE_DIR", moved="{home}/.cline")),
    hooks=HookFile(Place("{home}/Documents/Cline/Hooks"), files=_files, syntax=Syntax.WHOLE),
    mcp=McpFile(
        Place("{home}/.cline/data/settings/cline_mcp_settings.json", variable="CLINE_DIR", moved="{home}/.cline"),
        keys=("mcpServers", "ai-memory"),
        entry=stdio,
    ),
    instructions=Place("{home}/Documents/Cline/Rules/ai-memory.md"),
    project_instructions="AGENTS.md",
    skills=Place("{home}/.cline/skills", variable="CLINE_DIR", moved="{home}/.cline"),
    project_skills=Place("{checkout}/.cline/skills"),
    restart="Switch hooks on in its settings.",
    refuses=(
        "A file of that event which is somebody else's stays: Cline runs one file an event.",
        "On Windows no hooks are written: a PowerShell script does not hand on its input as it came.",
        "The checkout's own `.clinerules/hooks` is not written: it is shared with the team.",
    ),
    notes=("Before Cline 4 the extension kept its MCP servers in VS Code's folder of extensions.",),
)
