"""Amp. Its hooks are plugins in TypeScript, of which we have none for it."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Harness, McpFile
from ai_memory.harnesses.shapes_events import stdio

AMP = Harness(
    id="amp",
    title="Amp",
    source="https://ampcode.com/manual",
    programs=("amp",),
    homes=(Place("{config}/amp"),),
    mcp=McpFile(
        Place("{config}/amp/settings.json", win32="{home}/.config/amp/settings.json"),
        keys=("amp.mcpServers", "ai-memory"),
        entry=stdio,
        project=Place("{checkout}/.amp/settings.json"),
    ),
    instructions=Place("{config}/amp/AGENTS.md"),
    project_instructions="AGENTS.md",
    skills=Place("{config}/agents/skills"),
    project_skills=Place("{checkout}/.agents/skills"),
    restart="Restart it.",
    refuses=("Its sessions are not captured: it has no hooks but plugins in TypeScript.",),
    notes=("`amp.mcpServers` is one key with a dot in it.",),
)
