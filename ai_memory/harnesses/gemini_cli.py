"""Gemini CLI. A prompt comes with BeforeAgent, the end of a turn with AfterAgent; stdout must be JSON alone."""

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile, Proof, Switch
from ai_memory.harnesses.shapes_events import TIMEOUT_S, stdio
from ai_memory.harnesses.shapes_groups import command, groups

_SETTINGS = Place("{home}/.gemini/settings.json")

GEMINI_CLI = Harness(
    id="gemini-cli",
    title="Gemini CLI",
    aliases=("gemini",),
    events={
        "SessionStart": "session-start",
        "BeforeAgent": "user-prompt",
        "BeforeTool": "pre-tool-use",
        "AfterTool": "post-tool-use",
        "Notification": "notification",
        "AfterAgent": "stop",
        "SessionEnd": "session-end",
    },
    form=Form.ENVELOPE,
    inject_at="session-start",
    tells=True,
    reloads=True,
    session_variable="GEMINI_SESSION_ID",
    source="https://geminicli.com/docs/hooks/reference/",
    programs=("gemini",),
    homes=(_SETTINGS, Place("{home}/.gemini/oauth_creds.json")),
    hooks=HookFile(
        _SETTINGS,
        parts=groups(matcher=None, handler=command(TIMEOUT_S * 1000, name="ai-memory")),
    ),
    mcp=McpFile(
        _SETTINGS,
        keys=("mcpServers", "ai-memory"),
        entry=stdio,
        project=Place("{checkout}/.gemini/settings.json"),
    ),
    instructions=Place("{home}/.gemini/GEMINI.md"),
    project_instructions="GEMINI.md",
    skills=Place("{home}/.agents/skills"),
    project_skills=Place("{checkout}/.agents/skills"),
    restart="Restart it.",
    refuses=(
        "`PreCompress` is not wired: it fires before every model call, not only when history is compressed.",
        "The checkout's own `.gemini/settings.json` gets no hooks: it is shared with the team.",
    ),
    proof=Proof.PROGRAM,
    switches=(
        Switch(_SETTINGS, ("hooksConfig", "enabled"), False),
        Switch(_SETTINGS, ("hooksConfig", "disabled"), "ai-memory"),
    ),
    notes=("`hooksConfig.enabled` set to false in its settings switches every hook off.",),
)
