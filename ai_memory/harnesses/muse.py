"""Muse Code. It clears its children's environment, so that its bridge is told agent and data dir by words."""

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import TELLS_TURNS, Harness, McpFile
from ai_memory.harnesses.shapes_events import stdio


def _server(launch: Launch) -> Json:
    return stdio(launch, "muse", transport="stdio", enabled=True, mode="optional")


MUSE = Harness(
    id="muse",
    title="Muse Code",
    session_variable="MUSE_SESSION_ID",
    programs=("muse",),
    homes=(Place("{config}/muse"),),
    mcp=McpFile(
        Place("{config}/muse/settings.json"),
        keys=("mcp_servers", "ai-memory"),
        entry=_server,
        requires=((("schema_version",), 1),),
    ),
    project_instructions="AGENTS.md",
    restart="Start a new session.",
    refuses=("Its sessions are not captured: what its hooks are given and may answer is not documented.",),
    notes=(
        TELLS_TURNS,
        "Without `schema_version` its settings file makes every command fail: it is set where it is missing.",
    ),
)
