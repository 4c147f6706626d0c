"""Windsurf. Its hooks tell of commands, edits and reads by names of their own, and take no context."""

from collections.abc import Mapping

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import powershell_line, stdio
from ai_memory.harnesses.shapes_flat import listed_by_event


def _entry(launch: Launch, agent: str, event: str) -> Mapping[str, Json]:
    if launch.platform == "win32":
        return {"powershell": powershell_line(launch, agent, event), "show_output": False}
    return {"command": launch.hook_line(agent, event), "show_output": False}


WINDSURF = Harness(
    id="windsurf",
    title="Windsurf",
    aliases=("cascade",),
    events={
        "pre_user_prompt": "user-prompt",
        "post_read_code": "post-tool-use",
        "post_write_code": "post-tool-use",
        "post_run_command": "post-tool-use",
        "post_mcp_tool_use": "post-tool-use",
        "post_cascade_response": "stop",
    },
    source="https://docs.windsurf.com/windsurf/cascade/hooks",
    programs=("windsurf",),
    homes=(Place("{home}/.codeium/windsurf"),),
    hooks=HookFile(Place("{home}/.codeium/windsurf/hooks.json"), parts=listed_by_event(_entry)),
    mcp=McpFile(Place("{home}/.codeium/windsurf/mcp_config.json"), keys=("mcpServers", "ai-memory"), entry=stdio),
    instructions=Place("{home}/.codeium/windsurf/memories/global_rules.md"),
    project_instructions="AGENTS.md",
    skills=Place("{home}/.codeium/windsurf/skills"),
    project_skills=Place("{checkout}/.windsurf/skills"),
    restart="Reload the window.",
    refuses=(
        "Nothing is told to it: none of its hooks takes context. `memory_handoff_accept` takes what waits.",
        "What a command printed is not captured: its hooks do not tell it.",
        "The checkout's own `.windsurf/hooks.json` is not written: it is shared with the team.",
        "It tells of no end: a session ends once it was silent for a day, or by `ai-memory finalize-session`.",
    ),
)
