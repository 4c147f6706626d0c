"""Hook files without groups: event → [entry, …], one list of entries that name their event, or a file of our own."""

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from ai_memory.harnesses.edits import Element, Json, Part, Requirement
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.record import Harness
from ai_memory.harnesses.shapes_events import wired

Entry: TypeAlias = Callable[[Launch, str, str], Mapping[str, Json]]
Parts: TypeAlias = Callable[[Harness, Launch], tuple[Part, ...]]


def listed_by_event(entry: Entry, *requires: Requirement) -> Parts:
    """`hooks.<event>` is a list of entries."""

    def parts(harness: Harness, launch: Launch) -> tuple[Part, ...]:
        ours = [
            Element(("hooks", event), entry(launch, harness.id, event), is_ours=launch.is_ours)
            for event in wired(harness, launch)
        ]
        return (*requires, *ours)

    return parts


def listed_together(entry: Entry) -> Parts:
    """`hooks` is one list of entries that name their event."""

    def parts(harness: Harness, launch: Launch) -> tuple[Part, ...]:
        return tuple(
            Element(("hooks",), entry(launch, harness.id, event), is_ours=launch.is_ours)
            for event in wired(harness, launch)
        )

    return parts


def written(value: Json) -> str:
    """A file of our own, as people would write it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def slug(event: str) -> str:
    """`SessionStart`, `sessionStart` and `session_start` as `session-start`: for names that a person reads."""
    spread = "".join(f"-{sign.lower()}" if sign.isupper() else sign for sign in event)
    return spread.replace("_", "-").strip("-")
