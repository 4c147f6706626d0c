"""DeepSeek Harness."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Harness
from ai_memory.harnesses.shapes_yaml import printed_server

DSH = Harness(
    id="dsh",
    title="DeepSeek Harness",
    config_variable="DSH_HOME",
    homes=(Place("{home}/.dsh", variable="DSH_HOME", moved="{home}/.dsh"),),
    mcp=printed_server(Place("{home}/.dsh/settings.yaml", variable="DSH_HOME", moved="{home}/.dsh")),
    project_instructions="AGENTS.md",
    restart="Restart it.",
    refuses=(
        "Its sessions are not captured: it is not known to have hooks.",
        "Its settings are not written: their form is not documented. The entry is printed to paste.",
    ),
)
