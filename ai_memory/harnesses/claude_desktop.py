"""Claude Desktop: a chat with MCP servers and without hooks. Its Code tab runs Claude Code's."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import TELLS_TURNS, Harness, McpFile
from ai_memory.harnesses.shapes_events import stdio


def _place(rest: str) -> Place:
    return Place(
        "{config}/Claude" + rest,
        darwin="{home}/Library/Application Support/Claude" + rest,
        win32="{appdata}/Claude" + rest,
    )


CLAUDE_DESKTOP = Harness(
    id="claude-desktop",
    title="Claude Desktop",
    source="https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    homes=(_place(""),),
    mcp=McpFile(_place("/claude_desktop_config.json"), keys=("mcpServers", "ai-memory"), entry=stdio),
    restart="Quit it and start it again.",
    refuses=(
        "Its chats are not captured: it has no hooks.",
        "The Windows Store keeps its settings under a name of its own: there the entry is pasted by hand.",
    ),
    notes=(TELLS_TURNS, "Its Code tab runs Claude Code's hooks and is captured as Claude Code."),
)
