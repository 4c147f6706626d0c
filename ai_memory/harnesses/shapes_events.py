"""Which events are wired, and our command in the words of one shell: what every shape of a hook file needs."""

from collections.abc import Mapping

from ai_memory.harnesses.edits import Json
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.record import Harness

TIMEOUT_S = 10
"""A hook takes milliseconds; one that waits for a handoff takes 1.5 s (decision B8)."""


def wired(harness: Harness, launch: Launch) -> Mapping[str, str]:
    """The events to wire, native name → kind: all, less that of prompts where these are not to be captured.

    Where context is given with a prompt, its event stays: the capture policy keeps the text out.
    """
    if launch.capture_prompts or harness.inject_at == "user-prompt" or harness.retells:
        return harness.events
    return {native: kind for native, kind in harness.events.items() if kind != "user-prompt"}


def powershell_line(launch: Launch, agent: str, event: str) -> str:
    """Our hook as a line of PowerShell: there a quoted program at the start would be a text, not a call."""
    from subprocess import list2cmdline  # 16 ms, and only where a file for Windows is written

    return f"& {list2cmdline(launch.hook_argv(agent, event))}"


def stdio(launch: Launch, agent: str = "", **more: Json) -> Json:
    """Our MCP server as most clients write one; `more` goes before the command."""
    program, *rest = launch.bridge_argv(agent)
    return {**more, "command": program, "args": rest}


def typed_stdio(launch: Launch) -> Json:
    """The same for clients that want its type named."""
    return stdio(launch, type="stdio")
