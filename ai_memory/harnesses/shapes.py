"""The hook file of Claude Code, which others read as well: each hook is told by its kind of event."""

from ai_memory.harnesses.edits import Element, Json, Part
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.record import Harness
from ai_memory.harnesses.shapes_events import TIMEOUT_S, wired


def claude_nested(harness: Harness, launch: Launch, *, has_argv_on_windows: bool = False) -> tuple[Part, ...]:
    """`{"hooks": {"<Event>": [{"hooks": [{"type": "command", "command": …, "timeout": …}]}]}}`, one group an event.

    No `matcher`: a missing one matches everything, and some harnesses fire nothing where there is one.
    """
    is_exec = has_argv_on_windows and launch.platform == "win32"
    parts: list[Part] = []
    for native, kind in wired(harness, launch).items():
        named = native if kind == "other" else kind
        run: dict[str, Json] = {"command": launch.hook_line(harness.id, named)}
        if is_exec:
            program, *words = launch.hook_argv(harness.id, named)
            run = {"command": program, "args": words}
        group: Json = {"hooks": [{"type": "command", **run, "timeout": TIMEOUT_S}]}
        parts.append(Element(("hooks", native), group, launch.is_ours, inner="hooks"))
    return tuple(parts)
