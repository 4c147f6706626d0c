"""Zed: MCP servers in a settings file full of comments, and no hooks."""

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import TELLS_TURNS, Harness, McpFile
from ai_memory.harnesses.shapes_events import stdio


def _server(launch: Launch) -> Json:
    return stdio(launch, source="custom")


ZED = Harness(
    id="zed",
    title="Zed",
    source="https://zed.dev/docs/ai/mcp",
    programs=("zed", "zeditor"),
    homes=(Place("{config}/zed", darwin="{home}/.config/zed", win32="{appdata}/Zed"),),
    mcp=McpFile(
        Place(
            "{config}/zed/settings.json",
            darwin="{home}/.config/zed/settings.json",
            win32="{appdata}/Zed/settings.json",
        ),
        keys=("context_servers", "ai-memory"),
        entry=_server,
        project=Place("{checkout}/.zed/settings.json"),
    ),
    project_instructions="AGENTS.md",
    refuses=("Its sessions are not captured: it has no hooks. External agents in its panel run their own.",),
    notes=(TELLS_TURNS,),
)
