"""What in an agent's own settings keeps our hooks from running, or from writing, and what makes them run twice."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ai_memory.diagnosis.finding import Finding, Severity
from ai_memory.diagnosis.ground import Ground
from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.record import Harness, Listing, Switch

_WARNING, _NOTE = Severity.WARNING, Severity.NOTE


def switched_off(ground: Ground) -> Iterator[Finding]:
    """Switches that stop every hook, and lists in which our data dir has to stand."""
    for harness in ground.harnesses:
        if not ground.is_wired(harness.id):
            continue
        for switch in harness.switches:
            if _is_off(ground, switch):
                name = ".".join(switch.keys)
                sentence = f"`{name}` in {switch.place.at(ground.machine)} keeps its hooks from running"
                yield Finding("hooks-switched-off", _WARNING, sentence, f"take `{name}` out of that file", harness.id)
        if harness.must_list is not None and not _is_listed(ground, harness.must_list):
            yield _unlisted(ground, harness, harness.must_list)


def _is_off(ground: Ground, switch: Switch) -> bool:
    found = ground.told(switch.place, switch.syntax, switch.keys)
    if isinstance(switch.value, str) and isinstance(found, list):
        return switch.value in found
    return found == switch.value and type(found) is type(switch.value)


def _is_listed(ground: Ground, listing: Listing) -> bool:
    """Whether the list holds the data dir or a folder above it."""
    root = os.path.realpath(ground.memory.data_dir.root)
    listed = ground.told(listing.place, Syntax.JSON, listing.keys)
    paths = (
        [os.path.realpath(_at_home(ground, one)) for one in listed if isinstance(one, str)]
        if isinstance(listed, list)
        else []
    )
    return any(root == path or root.startswith(path.rstrip(os.sep) + os.sep) for path in paths)


def _at_home(ground: Ground, path: str) -> str:
    return str(Path(ground.machine.home) / path[2:]) if path.startswith("~/") else path


def _unlisted(ground: Ground, harness: Harness, listing: Listing) -> Finding:
    name, path = ".".join(listing.keys), listing.place.at(ground.machine)
    fix = f'add "{ground.memory.data_dir.root}" to `{name}` in {path}'
    return Finding("must-list", _WARNING, f"{listing.why[:1].lower()}{listing.why[1:].rstrip('.')}", fix, harness.id)


def doubles(ground: Ground) -> Iterator[Finding]:
    """Where one event is told twice. The drain drops the second telling, so it costs work and loses nothing."""
    for harness in ground.harnesses:
        own = [one for one in ground.entries_for(harness, "hooks") if one.commands]
        places = list(dict.fromkeys(one.checkout or "your own files" for one in own))
        if len(places) > 1:
            sentence = f"its hooks stand in {' and in '.join(places)}: sessions there tell every event twice"
            fix = f"ai-memory uninstall --only hooks --agent {harness.id} --apply, then install the one that is meant"
            yield Finding("hooks-twice", _WARNING, sentence, fix, harness.id)
        plugin = _plugin(ground, harness) if own else ""
        owner = ground.memory.caller.environ.get("AI_MEMORY_CAPTURE_OWNER", "")
        if plugin and not owner:
            sentence = f"the plugin {plugin} and the installed hooks both tell every event"
            fix = (
                "switch the plugin off, or set AI_MEMORY_CAPTURE_OWNER to the AI_MEMORY_HOOK_ORIGIN of the one to keep"
            )
            yield Finding("plugin-and-hooks", _WARNING, sentence, fix, harness.id)
        others = [one for one in harness.runs_hooks_of if own and ground.is_wired(one)]
        if others:
            sentence = f"it also runs the hooks of {', '.join(others)}; the second telling of an event is dropped"
            yield Finding("runs-others-hooks", _NOTE, sentence, "", harness.id)


def _plugin(ground: Ground, harness: Harness) -> str:
    """Name of a plugin that is switched on and named like us; empty where none is."""
    if harness.plugins is None:
        return ""
    found = ground.told(harness.plugins.place, harness.plugins.syntax, harness.plugins.keys)
    if not isinstance(found, Mapping):
        return ""
    named = [name for name, told in found.items() if "ai-memory" in name.partition("@")[0] and _is_on(told)]
    return next(iter(named), "")


def _is_on(told: Json) -> bool:
    return told.get("enabled", True) is True if isinstance(told, Mapping) else told is True
