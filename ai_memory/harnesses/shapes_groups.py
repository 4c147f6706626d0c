"""Hook files in groups, as Claude Code began it: event → [{matcher, hooks: [handler, …]}, …]."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ai_memory.harnesses.edits import Element, Json, Part
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.record import Harness
from ai_memory.harnesses.shapes_events import TIMEOUT_S, wired

Parts: TypeAlias = Callable[[Harness, Launch], tuple[Part, ...]]
Handler: TypeAlias = Callable[[Launch, str, str], Json]


def command(timeout: int = TIMEOUT_S, **more: Json) -> Handler:
    """A handler that a shell runs. `timeout` in the harness's own unit."""

    def handler(launch: Launch, agent: str, event: str) -> Json:
        return {"type": "command", **more, "command": launch.hook_line(agent, event), "timeout": timeout}

    return handler


def groups(
    *, under: tuple[str, ...] = ("hooks",), matcher: str | None = "", handler: Handler | None = None, agent: str = ""
) -> Parts:
    """One group of our own for each event, beside those of others. `matcher` None: the group has none."""
    make = handler or command()

    def parts(harness: Harness, launch: Launch) -> tuple[Part, ...]:
        return tuple(
            Element(
                keys=(*under, event),
                value=group(matcher, make(launch, agent or harness.id, event)),
                is_ours=launch.is_ours,
                inner="hooks",
            )
            for event in wired(harness, launch)
        )

    return parts


def group(matcher: str | None, handler: Json) -> Mapping[str, Json]:
    return {"hooks": [handler]} if matcher is None else {"matcher": matcher, "hooks": [handler]}
