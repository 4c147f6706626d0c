"""Swival: MCP servers in the checkout's own file. What it calls when it starts and ends names no session."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import TELLS_TURNS, Harness, McpFile
from ai_memory.harnesses.shapes_events import stdio

_MCP = Place("{checkout}/.swival/mcp.json")

SWIVAL = Harness(
    id="swival",
    title="Swival",
    source="https://swival.dev/pages/mcp.html",
    programs=("swival",),
    mcp=McpFile(_MCP, keys=("mcpServers", "ai-memory"), entry=stdio, project=_MCP),
    project_instructions="AGENTS.md",
    project_skills=Place("{checkout}/.swival/skills"),
    restart="Restart it.",
    refuses=(
        "Its sessions are not captured: what it calls at start and exit names no session.",
        "It is wired in a checkout only (`--scope project`): it reads no MCP file of the person.",
    ),
    notes=(TELLS_TURNS,),
)
