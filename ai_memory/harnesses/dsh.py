"""DeepSeek Harness."""

from ai_memory.harnesses.edits import Syntax
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Harness, McpFile
from ai_memory.harnesses.shapes_events import stdio
from ai_memory.harnesses.shapes_yaml import yaml_server

DSH = Harness(
    id="dsh",
    title="DeepSeek Harness",
    config_variable="DSH_HOME",
    homes=(Place("{home}/.dsh", variable="DSH_HOME", moved="{home}/.dsh"),),
    mcp=McpFile(
        Place("{home}/.dsh/settings.yaml", variable="DSH_HOME", moved="{home}/.dsh"),
        keys=("mcp_servers", "ai-memory"),
        entry=stdio,
        syntax=Syntax.WHOLE,
        is_printed=True,
        text=yaml_server,
    ),
    project_instructions="AGENTS.md",
    restart="Restart it.",
    refuses=(
        "Its sessions are not captured: it is not known to have hooks.",
        "Its settings are not written: their form is not documented. The entry is printed to paste.",
    ),
)
