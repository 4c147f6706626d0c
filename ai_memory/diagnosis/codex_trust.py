"""Whether Codex lets our hooks run: it passes over each one whose text nobody approved, and says nothing.

Its `config.toml` holds, for each hook that was approved, `[hooks.state."<hooks.json>:<event>:<group>:<handler>"]` with
the hash of what was approved. *Source*: `hooks/list` of Codex 0.171 (2026-11-30), whose `currentHash` is what
`handler_hash` gives.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping

from ai_memory.diagnosis.finding import Finding, Severity
from ai_memory.diagnosis.ground import Ground
from ai_memory.diagnosis.wiring_state import is_same_place
from ai_memory.harnesses.codex import CODEX
from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch

DEFAULT_TIMEOUT_S = 600
"""Of a handler that names none."""
_APPROVE = "start Codex, type /hooks and approve them"


def trust(ground: Ground) -> Iterator[Finding]:
    """Which of our hooks nobody approved, which changed since, and which were switched off there."""
    if CODEX not in ground.harnesses or CODEX.hooks is None or CODEX.mcp is None:
        return
    handlers = _handlers(ground.told(CODEX.hooks.place, Syntax.JSON, ("hooks",)), ground.launch)
    if not handlers:
        return
    told = ground.told(CODEX.mcp.place, CODEX.mcp.syntax, ("hooks", "state"))
    states = _states(told, str(CODEX.hooks.place.at(ground.machine)))
    untrusted = [event for event, place, _ in handlers if "trusted_hash" not in states.get(place, {})]
    changed = [
        event for event, place, digest in handlers if states.get(place, {}).get("trusted_hash", digest) != digest
    ]
    switched_off = [event for event, place, _ in handlers if states.get(place, {}).get("enabled") is False]
    for code, events, what in (
        ("codex-untrusted", untrusted, "were never approved"),
        ("codex-changed", changed, "were approved in another form"),
    ):
        if events:
            sentence = f"{len(events)} of {len(handlers)} hooks {what}, so Codex passes over them: {', '.join(events)}"
            yield Finding(code, Severity.WARNING, sentence, _APPROVE, CODEX.id)
    if switched_off:
        sentence = f"hooks are switched off in Codex: {', '.join(switched_off)}"
        yield Finding("codex-off", Severity.WARNING, sentence, "start Codex, type /hooks and switch them on", CODEX.id)


def handler_hash(event: str, matcher: Json, handler: Mapping[str, Json]) -> str:
    """The hash by which Codex knows one hook: of its meaning as JSON, keys in order, defaults filled in."""
    told = {
        "type": "command",
        "command": handler.get("command"),
        "timeout": handler.get("timeout", DEFAULT_TIMEOUT_S),
        "async": handler.get("async", False),
    }
    told |= {"statusMessage": handler["statusMessage"]} if "statusMessage" in handler else {}
    identity: dict[str, Json] = {"event_name": event, "hooks": [told]}
    identity |= {"matcher": matcher} if matcher is not None else {}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _handlers(hooks: Json, launch: Launch) -> list[tuple[str, str, str]]:
    """(event, `<event>:<group>:<handler>` as Codex writes it, hash) of each hook of ours."""
    found = []
    for event, groups in hooks.items() if isinstance(hooks, Mapping) else ():
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, Mapping) else None
            for number, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, Mapping) and launch.is_ours(handler):
                    digest = handler_hash(name, group.get("matcher"), handler)
                    found.append((event, f"{name}:{at}:{number}", digest))
    return found


def _states(states: Json, hooks_file: str) -> dict[str, Mapping[str, Json]]:
    """What Codex remembers of the hooks of that file, by `<event>:<group>:<handler>`."""
    found: dict[str, Mapping[str, Json]] = {}
    for key, state in states.items() if isinstance(states, Mapping) else ():
        path, *place = key.rsplit(":", 3)
        if isinstance(state, Mapping) and is_same_place(path, hooks_file):
            found[":".join(place)] = state
    return found
