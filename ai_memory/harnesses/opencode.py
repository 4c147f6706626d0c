"""OpenCode. It is captured by a plugin that runs in it.

Its version 2 reads the settings of version 1 as they stand, and converting them is left to the person; so that shape is
written unless a file was converted. *Source*: https://opencode.ai/docs/migrate-v1
"""

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.plugin_files import OPENCODE_EVENTS, OPENCODE_PLUGIN
from ai_memory.harnesses.record import Form, Harness, McpFile, Proof


def _server(launch: Launch) -> Json:
    return {"type": "local", "command": list(launch.bridge_argv()), "enabled": True}


def _converted_server(launch: Launch) -> Json:
    """Version 2 has no `enabled`."""
    return {"type": "local", "command": list(launch.bridge_argv())}


def _place(rest: str) -> Place:
    return Place("{config}/opencode" + rest, variable="OPENCODE_CONFIG_DIR", moved="{config}/opencode")


OPENCODE = Harness(
    id="opencode",
    title="OpenCode",
    aliases=("open-code", "opencode2", "opencode-v2", "open-code2"),
    events=OPENCODE_EVENTS,
    form=Form.CONTEXT,
    inject_at="session-start",
    reloads=True,
    config_variable="OPENCODE_CONFIG_DIR",
    source="https://opencode.ai/docs/plugins/",
    programs=("opencode",),
    homes=(_place(""), Place("{data}/opencode")),
    hooks=OPENCODE_PLUGIN,
    mcp=McpFile(
        _place("/opencode.json"),
        keys=("mcp", "ai-memory"),
        entry=_server,
        newer=(("mcp", "servers", "ai-memory"), _converted_server),
        project=Place("{checkout}/opencode.json"),
    ),
    instructions=_place("/AGENTS.md"),
    project_instructions="AGENTS.md",
    skills=Place("{home}/.agents/skills"),
    project_skills=Place("{checkout}/.agents/skills"),
    restart="Restart it.",
    proof=Proof.PROGRAM,
    notes=(
        "Versions 1 and 2 read the same files. Where `mcp.servers` is an object, as version 2 writes it, our server"
        " stands in it; else in `mcp`, which both read.",
    ),
)
