"""Pi and Oh My Pi, which began as one program: captured by an extension that runs in them."""

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.plugin_files import OMP_EXTENSION, PI_EVENTS, PI_EXTENSION
from ai_memory.harnesses.record import Form, Harness, McpFile, Proof
from ai_memory.harnesses.shapes_events import stdio


def _pi(rest: str) -> Place:
    return Place("{home}/.pi/agent" + rest, variable="PI_CODING_AGENT_DIR", moved="{home}/.pi/agent")


def _omp(rest: str) -> Place:
    return Place("{home}/.omp/agent" + rest, variable="PI_CODING_AGENT_DIR", moved="{home}/.omp/agent")


def _server(launch: Launch) -> Json:
    return stdio(launch, type="stdio", enabled=True)


PI = Harness(
    id="pi",
    title="Pi",
    events=PI_EVENTS,
    form=Form.CONTEXT,
    inject_at="session-start",
    reloads=True,
    config_variable="PI_CODING_AGENT_DIR",
    source="https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/extensions.md",
    programs=("pi",),
    homes=(_pi(""),),
    hooks=PI_EXTENSION,
    instructions=_pi("/AGENTS.md"),
    project_instructions="AGENTS.md",
    skills=Place("{home}/.agents/skills"),
    project_skills=Place("{checkout}/.agents/skills"),
    restart="Restart it, or type /reload.",
    proof=Proof.PROGRAM,
    refuses=("No MCP entry is written: it has no MCP file; the extension offers the tools.",),
)

OMP = Harness(
    id="omp",
    title="Oh My Pi",
    aliases=("oh-my-pi",),
    events=PI_EVENTS,
    form=Form.CONTEXT,
    inject_at="session-start",
    reloads=True,
    config_variable="PI_CODING_AGENT_DIR",
    source="https://github.com/can1357/oh-my-pi",
    programs=("omp",),
    homes=(Place("{home}/.omp"),),
    hooks=OMP_EXTENSION,
    mcp=McpFile(
        _omp("/mcp.json"),
        keys=("mcpServers", "ai-memory"),
        entry=_server,
        project=Place("{checkout}/.omp/mcp.json"),
    ),
    instructions=_omp("/AGENTS.md"),
    project_instructions="AGENTS.md",
    skills=Place("{home}/.agents/skills"),
    project_skills=Place("{checkout}/.agents/skills"),
    restart="Restart it.",
    notes=("`PI_CODING_AGENT_DIR` moves both programs into one folder: wire one of them only, or all is told twice.",),
)
