"""ZCode. Hooks start without a shell; a person's approvals are a hook there, too, which is never wired."""

from ai_memory.harnesses.edits import Json, Part, Requirement
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import TIMEOUT_S, typed_stdio
from ai_memory.harnesses.shapes_groups import groups

_SETTINGS = Place("{home}/.zcode/cli/config.json")
_OUTPUT_BYTES = 65_536
"""Room for a handoff."""


def _process(launch: Launch, agent: str, event: str) -> Json:
    program, *rest = launch.hook_argv(agent, event)
    return {
        "type": "process",
        "command": program,
        "args": rest,
        "enabled": True,
        "timeoutMs": TIMEOUT_S * 1000,
        "statusMessage": "ai-memory",
    }


def _parts(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    needed = (Requirement(("hooks", "enabled"), True), Requirement(("hooks", "maxOutputBytes"), _OUTPUT_BYTES))
    return (*needed, *groups(under=("hooks", "events"), matcher=None, handler=_process)(harness, launch))


ZCODE = Harness(
    id="zcode",
    title="ZCode",
    aliases=("zai",),
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PostToolUseFailure": "post-tool-use",
        "Stop": "stop",
    },
    form=Form.ENVELOPE,
    inject_at="session-start",
    source="https://zcode.z.ai/en/docs",
    programs=("zcode",),
    homes=(Place("{home}/.zcode"),),
    hooks=HookFile(_SETTINGS, parts=_parts),
    mcp=McpFile(_SETTINGS, keys=("mcp", "servers", "ai-memory"), entry=typed_stdio),
    project_instructions="AGENTS.md",
    restart="Start a new session.",
    refuses=(
        "`PermissionRequest` is never wired: an answer there would decide in the person's place.",
        "The checkout's own `.zcode/config.json` gets no hooks: it is shared with the team.",
        "It tells of no end: a session ends once it was silent for a day, or by `ai-memory finalize-session`.",
    ),
    is_anonymous=True,
)
