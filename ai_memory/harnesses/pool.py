"""Pool. Its hooks stand in a file of the checkout that a team shares: printed, never written."""

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Harness, HookFile
from ai_memory.harnesses.shapes_events import wired
from ai_memory.harnesses.shapes_flat import slug
from ai_memory.harnesses.shapes_yaml import printed_server, yaml

_TIMEOUT_S = 20


def _fragment(harness: Harness, launch: Launch) -> str:
    entries: dict[str, Json] = {}
    for event in wired(harness, launch):
        line = launch.hook_line(harness.id, event)
        name = f"ai-memory-{slug(event)}"
        entries[event] = [{"name": name, "matcher": "*", "command": line, "timeout": _TIMEOUT_S}]
    return yaml({"hooks": entries})


POOL = Harness(
    id="pool",
    title="Pool",
    aliases=("poolside",),
    events={
        "SessionStart": "session-start",
        "UserPromptSubmit": "user-prompt",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "Stop": "stop",
    },
    source="https://docs.poolside.ai/cli/pool",
    programs=("pool",),
    homes=(Place("{config}/poolside"),),
    hooks=HookFile(Place("{checkout}/.poolside/settings.yaml"), text=_fragment, syntax=Syntax.WHOLE, is_printed=True),
    mcp=printed_server(Place("{config}/poolside/settings.yaml")),
    project_instructions="AGENTS.md",
    restart="Restart it.",
    refuses=(
        "`.poolside/settings.yaml` is not written: it is shared with the team, and no editor here keeps YAML's"
        " comments. The lines are printed to paste.",
        "Nothing is told to it: none of its hooks takes context. `memory_handoff_accept` takes what waits.",
        "It tells of no end: a session ends once it was silent for a day, or by `ai-memory finalize-session`.",
    ),
)
