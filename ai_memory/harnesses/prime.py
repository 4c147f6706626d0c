"""Prime Agent."""

from ai_memory.harnesses.record import Harness

PRIME = Harness(
    id="prime",
    title="Prime Agent",
    programs=("prime-agent",),
    project_instructions="AGENTS.md",
    refuses=(
        "Its sessions are not captured: it is not known to have hooks.",
        "Its MCP settings are not documented: the entry is added by hand, with the command that `install-mcp` prints.",
    ),
)
