"""OpenClaw. It is captured by a plugin that its own command installs."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.plugin_files import OPENCLAW_EVENTS, OPENCLAW_PLUGIN
from ai_memory.harnesses.record import Form, Harness, McpFile
from ai_memory.harnesses.shapes_events import stdio

OPENCLAW = Harness(
    id="openclaw",
    title="OpenClaw",
    events=OPENCLAW_EVENTS,
    form=Form.CONTEXT,
    inject_at="session-start",
    reloads=True,
    config_variable="OPENCLAW_STATE_DIR",
    source="https://docs.openclaw.ai/plugins",
    programs=("openclaw",),
    homes=(Place("{home}/.openclaw", variable="OPENCLAW_STATE_DIR", moved="{home}/.openclaw"),),
    hooks=OPENCLAW_PLUGIN,
    mcp=McpFile(
        Place("{home}/.openclaw/openclaw.json", variable="OPENCLAW_STATE_DIR", moved="{home}/.openclaw"),
        keys=("mcp", "servers", "ai-memory"),
        entry=stdio,
    ),
    restart="Run `openclaw plugins install --link` with the plugin's folder, enable it, and restart its gateway.",
    refuses=(
        "No instruction block is written: its workspace holds the agent's own memory.",
        "A settings file that uses more of JSON5 than comments and trailing commas is refused.",
    ),
)
