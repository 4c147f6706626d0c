"""Crush. Of its hooks there are two: a tool is about to run, and old history is about to be compressed."""

from collections.abc import Mapping

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import TIMEOUT_S, typed_stdio
from ai_memory.harnesses.shapes_flat import listed_by_event

_SETTINGS = Place("{config}/crush/crush.json", win32="{localappdata}/crush/crush.json")


def _entry(launch: Launch, agent: str, event: str) -> Mapping[str, Json]:
    return {"name": "ai-memory", "command": launch.hook_line(agent, event), "timeout": TIMEOUT_S}


CRUSH = Harness(
    id="crush",
    title="Crush",
    events={"PreToolUse": "pre-tool-use", "PreCompact": "pre-compact"},
    form=Form.CONTEXT,
    inject_at="pre-tool-use",
    session_variable="CRUSH_SESSION_ID",
    source="https://github.com/charmbracelet/crush/blob/main/docs/hooks/README.md",
    programs=("crush",),
    homes=(Place("{config}/crush", win32="{localappdata}/crush"), Place("{data}/crush", win32="{localappdata}/crush")),
    hooks=HookFile(_SETTINGS, parts=listed_by_event(_entry)),
    mcp=McpFile(
        _SETTINGS,
        keys=("mcp", "ai-memory"),
        entry=typed_stdio,
        project=Place("{checkout}/crush.json"),
    ),
    instructions=Place("{config}/crush/CRUSH.md", win32="{localappdata}/crush/CRUSH.md"),
    project_instructions="AGENTS.md",
    skills=Place("{config}/crush/skills", win32="{localappdata}/crush/skills"),
    restart="Restart it.",
    refuses=(
        "Prompts, results of tools and the end of a session are not captured: it has no hooks for them.",
        "The checkout's own `crush.json` gets no hooks: it is shared with the team.",
    ),
    notes=("What waits is told at the first tool call. A session in which no tool runs is told nothing.",),
)
