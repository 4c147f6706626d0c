"""Kiro CLI, whose second engine keeps hooks in its agents and whose third keeps them in files of their own."""

from collections.abc import Mapping

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile, Proof
from ai_memory.harnesses.shapes_events import TIMEOUT_S, stdio, wired
from ai_memory.harnesses.shapes_flat import listed_by_event, slug, written

_OUTPUT_BYTES = 65_536
"""Room for a handoff; the default is 10 KiB."""
_NO_END = "It tells of no end: a session ends once it was silent for a day, or by `ai-memory finalize-session`."
_ONE_ENGINE = "The third engine runs the agents' hooks, too. Where both are wired, the second telling is dropped."


def _place(rest: str) -> Place:
    return Place("{home}/.kiro" + rest, variable="KIRO_HOME", moved="{home}/.kiro")


def _entry(launch: Launch, agent: str, event: str) -> Mapping[str, Json]:
    """No `type`, and no `matcher`: an empty one matches nothing."""
    entry: dict[str, Json] = {"command": launch.hook_line(agent, event)}
    return {**entry, "max_output_size": _OUTPUT_BYTES} if event == "agentSpawn" else entry


def _file(harness: Harness, launch: Launch) -> str:
    hooks: list[Json] = [
        {
            "name": f"ai-memory-{slug(event)}",
            "trigger": event,
            "action": {"type": "command", "command": launch.hook_line(harness.id, event)},
            "timeout": TIMEOUT_S,
            "enabled": True,
        }
        for event in wired(harness, launch)
    ]
    return written({"version": "v1", "hooks": hooks})


_MCP = McpFile(
    _place("/settings/mcp.json"),
    keys=("mcpServers", "ai-memory"),
    entry=stdio,
    project=Place("{checkout}/.kiro/settings/mcp.json"),
)

KIRO_CLI = Harness(
    id="kiro-cli",
    title="Kiro CLI",
    aliases=("kiro",),
    events={
        "agentSpawn": "session-start",
        "userPromptSubmit": "user-prompt",
        "preToolUse": "pre-tool-use",
        "postToolUse": "post-tool-use",
        "stop": "stop",
    },
    form=Form.TEXT,
    inject_at="session-start",
    session_variable="KIRO_SESSION_ID",
    config_variable="KIRO_HOME",
    source="https://kiro.dev/docs/cli/hooks",
    programs=("kiro-cli",),
    homes=(_place(""),),
    hooks=HookFile(_place("/agents"), parts=listed_by_event(_entry), is_folder=True),
    mcp=_MCP,
    instructions=_place("/steering/AGENTS.md"),
    project_instructions="AGENTS.md",
    restart="Start a new session.",
    refuses=(
        "No agent is created: without one of the person's own there is no file that holds hooks.",
        "The checkout's own `.kiro/agents` are not written: they are shared with the team, and stand before these.",
        _NO_END,
    ),
    is_silent=True,
    is_anonymous=True,
    notes=(_ONE_ENGINE,),
)

KIRO_CLI_V3 = Harness(
    id="kiro-cli-v3",
    title="Kiro CLI 3",
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "Stop": "stop",
    },
    form=Form.TEXT,
    inject_at="session-start",
    config_variable="KIRO_HOME",
    source="https://kiro.dev/docs/cli/v3/hooks/",
    programs=("kiro-cli",),
    homes=(_place("/hooks"),),
    hooks=HookFile(_place("/hooks/ai-memory.json"), text=_file, syntax=Syntax.WHOLE),
    mcp=_MCP,
    instructions=_place("/steering/AGENTS.md"),
    project_instructions="AGENTS.md",
    restart="Start a new session.",
    refuses=("The checkout's own `.kiro/hooks` is not written: it is shared with the team.", _NO_END),
    proof=Proof.PAYLOADS,
    is_silent=True,
    is_anonymous=True,
    runs_hooks_of=("kiro-cli",),
    notes=(_ONE_ENGINE,),
)
