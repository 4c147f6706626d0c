"""Forms of hook settings that several harnesses share."""

from ai_memory.harnesses.edits import Element, Json, Part
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.record import Harness

TIMEOUT_S = 10
"""What a harness waits for a hook that hangs; ours takes some hundredths of a second."""


def claude_nested(
    harness: Harness,
    launch: Launch,
    *,
    keys: tuple[str, ...] = ("hooks",),
    timeout: int = TIMEOUT_S,
    has_argv_on_windows: bool = False,
) -> tuple[Part, ...]:
    """`{"hooks": {"<Event>": [{"hooks": [{"type": "command", "command": …, "timeout": …}]}]}}`, one group an event.

    No `matcher`: a missing one matches everything, and some harnesses fire nothing where there is one. `timeout` is in
    the harness's own unit.
    """
    is_exec = has_argv_on_windows and launch.platform == "win32"
    parts: list[Part] = []
    for native, kind in wired(harness, launch).items():
        named = native if kind == "other" else kind
        run: dict[str, Json] = {"command": launch.hook_line(harness.id, named)}
        if is_exec:
            program, *words = launch.hook_argv(harness.id, named)
            run = {"command": program, "args": words}
        group: Json = {"hooks": [{"type": "command", **run, "timeout": timeout}]}
        parts.append(Element((*keys, native), group, launch.is_ours, inner="hooks"))
    return tuple(parts)


def wired(harness: Harness, launch: Launch) -> dict[str, str]:
    """The events to wire: all that are captured, but prompts only where the person lets them be captured.

    A prompt event at which context is given stays: the hook itself then keeps nothing of it.
    """
    return {
        native: kind
        for native, kind in harness.events.items()
        if launch.capture_prompts or kind != "user-prompt" or harness.inject_at == "user-prompt"
    }
