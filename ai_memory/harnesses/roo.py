"""Roo Code: an extension of VS Code without hooks."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Harness, McpFile
from ai_memory.harnesses.shapes_events import stdio

_STORAGE = "/Code/User/globalStorage/rooveterinaryinc.roo-cline"


def _place(rest: str) -> Place:
    return Place(
        "{config}" + _STORAGE + rest,
        darwin="{home}/Library/Application Support" + _STORAGE + rest,
        win32="{appdata}" + _STORAGE + rest,
    )


ROO = Harness(
    id="roo",
    title="Roo Code",
    source="https://docs.roocode.com/features/mcp/using-mcp-in-roo",
    homes=(_place(""), Place("{home}/.roo")),
    mcp=McpFile(
        _place("/settings/mcp_settings.json"),
        keys=("mcpServers", "ai-memory"),
        entry=stdio,
        project=Place("{checkout}/.roo/mcp.json"),
    ),
    instructions=Place("{home}/.roo/rules/ai-memory.md"),
    project_instructions="AGENTS.md",
    refuses=("Its sessions are not captured: it has no hooks.",),
)
