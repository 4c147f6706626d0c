"""Antigravity CLI. It tells of every model call, of no prompt, and of no tool's result."""

from ai_memory.harnesses.edits import Json, Member, Part
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.shapes_events import stdio, wired
from ai_memory.harnesses.shapes_groups import command, group

_TOOL_EVENTS = ("PreToolUse", "PostToolUse")


def _parts(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    """A group of hooks under our own name; only tool events have matchers in it."""
    handler = command()
    ours: dict[str, Json] = {}
    for event in wired(harness, launch):
        one = handler(launch, harness.id, event)
        ours[event] = [group("", one) if event in _TOOL_EVENTS else one]
    return (Member(("ai-memory",), ours),)


ANTIGRAVITY_CLI = Harness(
    id="antigravity-cli",
    title="Antigravity CLI",
    aliases=("antigravity", "agy"),
    events={
        "PreInvocation": "session-start",
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "Stop": "stop",
    },
    form=Form.STEPS,
    inject_at="session-start",
    source="https://antigravity.google/docs/hooks",
    programs=("agy",),
    homes=(Place("{home}/.gemini/antigravity-cli"),),
    hooks=HookFile(Place("{home}/.gemini/config/hooks.json"), parts=_parts),
    mcp=McpFile(Place("{home}/.gemini/config/mcp_config.json"), keys=("mcpServers", "ai-memory"), entry=stdio),
    project_instructions="AGENTS.md",
    restart="Start a new conversation.",
    refuses=("It tells of no end: a session ends once it was silent for a day, or by `ai-memory finalize-session`.",),
    prompts_at=Place("{home}/.gemini/antigravity-cli/history.jsonl"),
    notes=(
        "`PreInvocation` comes before every model call; only number 0 starts a session.",
        "Its prompts are read from `history.jsonl` once a turn ends: they are kept under the same policy as any other,"
        " and none that was typed while a pause held.",
        "A tool's result is read from the file that its step left in the conversation's folder.",
    ),
)
