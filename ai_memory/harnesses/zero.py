"""Zero. Its sandbox ends whatever a hook leaves running, and allows no file outside the checkout unless told to."""

from collections.abc import Mapping

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Harness, HookFile, Listing, McpFile
from ai_memory.harnesses.shapes_events import stdio
from ai_memory.harnesses.shapes_flat import listed_together, slug

_SETTINGS = Place("{config}/zero/config.json")


def _entry(launch: Launch, agent: str, event: str) -> Mapping[str, Json]:
    program, *rest = launch.hook_argv(agent, event)
    return {"id": f"ai-memory-{slug(event)}", "event": event, "command": program, "args": rest}


ZERO = Harness(
    id="zero",
    title="Zero",
    events={
        "sessionStart": "session-start",
        "beforeTool": "pre-tool-use",
        "afterTool": "post-tool-use",
        "specialistStart": "other",
        "specialistStop": "other",
        "sessionEnd": "session-end",
    },
    source="https://github.com/Gitlawb/zero",
    programs=("zero",),
    homes=(Place("{config}/zero"),),
    hooks=HookFile(Place("{config}/zero/hooks.json"), parts=listed_together(_entry)),
    mcp=McpFile(_SETTINGS, keys=("mcp", "servers", "ai-memory"), entry=stdio),
    project_instructions="AGENTS.md",
    restart="Restart it.",
    refuses=(
        "Nothing is told to it: none of its hooks takes context. `memory_handoff_accept` takes what waits.",
        "Prompts are not captured: it has no hook for them.",
    ),
    drains_itself=True,
    must_list=Listing(
        _SETTINGS,
        keys=("sandbox", "additionalWriteRoots"),
        why="Its sandbox keeps hooks from writing outside the checkout: the list must hold the data dir.",
    ),
    notes=(
        "Its hooks apply what they spooled themselves, at the start and the end of a session, for 10 seconds at most.",
    ),
)
