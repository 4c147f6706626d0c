"""Codex. Its schema refuses unknown members in a hook's answer; SessionEnd exists since CLI 0.145."""

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile, Plugins, Proof, Switch
from ai_memory.harnesses.shapes import claude_nested
from ai_memory.harnesses.shapes_events import stdio

_FOLDER = "{home}/.codex"
_VARIABLE = "CODEX_HOME"
_SETTINGS = Place(f"{_FOLDER}/config.toml", _VARIABLE, _FOLDER)


def _entry(launch: Launch) -> Json:
    return stdio(launch, "codex")


CODEX = Harness(
    id="codex",
    title="Codex",
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PreCompact": "pre-compact",
        "PostCompact": "post-compaction",
        "Stop": "stop",
        "SubagentStart": "other",
        "SubagentStop": "other",
        "SessionEnd": "session-end",
    },
    form=Form.ENVELOPE,
    inject_at="session-start",
    tells=True,
    reloads=True,
    config_variable=_VARIABLE,
    source="https://developers.openai.com/codex/hooks",
    programs=("codex",),
    homes=(Place(_FOLDER, _VARIABLE, _FOLDER),),
    hooks=HookFile(
        Place(f"{_FOLDER}/hooks.json", _VARIABLE, _FOLDER),
        parts=claude_nested,
        project=Place("{checkout}/.codex/hooks.json"),
    ),
    mcp=McpFile(
        _SETTINGS,
        ("mcp_servers", "ai-memory"),
        _entry,
        Syntax.TOML,
        project=Place("{checkout}/.codex/config.toml"),
    ),
    instructions=Place(f"{_FOLDER}/AGENTS.md", _VARIABLE, _FOLDER),
    project_instructions="AGENTS.md",
    skills=Place("{home}/.agents/skills"),
    project_skills=Place("{checkout}/.agents/skills"),
    restart="Start Codex anew and approve the hooks: type /hooks. Until then it skips them.",
    refuses=("Hooks in a checkout count only once its user told Codex to trust it.",),
    proof=Proof.PROGRAM,
    switches=(Switch(_SETTINGS, ("features", "hooks"), False, Syntax.TOML),),
    plugins=Plugins(_SETTINGS, ("plugins",), Syntax.TOML),
    notes=("`features.hooks` set to false in its settings switches every hook off.",),
)
