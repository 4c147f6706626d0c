"""Records of no real program, one for each form that settings come in: the engine must take all of them."""

from ai_memory.harnesses.edits import Element, Json, Member, Part, Requirement, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Harness, HookFile, McpFile

EVENTS = {"Start": "session-start", "Prompt": "user-prompt", "Stop": "stop"}


def _lines(harness: Harness, launch: Launch) -> list[tuple[str, str]]:
    return [(event, launch.hook_line(harness.id, kind)) for event, kind in harness.events.items()]


def _tables(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    return tuple(
        Element(("hooks",), {"event": event, "command": line, "timeout": 10}, launch.is_ours)
        for event, line in _lines(harness, launch)
    )


def _flat(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    rows = [
        Element(("hooks", event), {"command": line, "type": "command"}, launch.is_ours)
        for event, line in _lines(harness, launch)
    ]
    return (Requirement(("version",), 1), *rows)


def _one_list(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    rows = [
        Element(("hooks",), {"name": f"ai-memory-{event}", "action": {"command": line}}, launch.is_ours)
        for event, line in _lines(harness, launch)
    ]
    return (Requirement(("version",), "v1"), *rows)


def _root(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    return tuple(
        Element((event,), {"hooks": [{"command": line}]}, launch.is_ours, inner="hooks")
        for event, line in _lines(harness, launch)
    )


def _argv(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    rows: list[Part] = [Requirement(("hooks", "enabled"), True)]
    for event, kind in harness.events.items():
        program, *words = launch.hook_argv(harness.id, kind)
        value: Json = {"hooks": [{"type": "process", "command": program, "args": tuple(words)}]}
        rows.append(Element(("hooks", "events", event), value, launch.is_ours, inner="hooks"))
    return tuple(rows)


def _group(harness: Harness, launch: Launch) -> tuple[Part, ...]:
    return (Member(("ai-memory",), {event: [{"command": line}] for event, line in _lines(harness, launch)}),)


def _script(harness: Harness, launch: Launch) -> str:
    return f"#!/bin/sh\n# ai-memory-managed\n{launch.hook_line(harness.id, 'stop')}\n"


def _entry(launch: Launch) -> Json:
    program, *words = launch.bridge_argv("made-up")
    return {"command": program, "args": words}


def _made(name: str, hooks: HookFile, mcp: McpFile | None = None) -> Harness:
    return Harness(f"made-up-{name}", name, events=EVENTS, hooks=hooks, mcp=mcp)


def _place(name: str) -> Place:
    return Place(f"{{home}}/.made-up/{name}")


MADE_UP = (
    _made(
        "tables",
        HookFile(_place("config.toml"), _tables, syntax=Syntax.TOML),
        McpFile(_place("config.toml"), ("mcp_servers", "ai-memory"), _entry, Syntax.TOML),
    ),
    _made("flat", HookFile(_place("hooks.json"), _flat), McpFile(_place("hooks.json"), ("mcp", "ai-memory"), _entry)),
    _made("one-list", HookFile(_place("hooks/ai-memory.json"), _one_list)),
    _made("root", HookFile(_place("hooks.v1.json"), _root)),
    _made("argv", HookFile(_place("config.json"), _argv)),
    _made("group", HookFile(_place("hooks.json"), _group)),
    _made("script", HookFile(_place("Hooks/Stop"), text=_script, syntax=Syntax.WHOLE)),
    _made("folder", HookFile(_place("agents"), _flat, is_folder=True)),
    Harness(
        "made-up-schema",
        "schema",
        mcp=McpFile(_place("x.json"), ("servers", "ai-memory"), _entry, requires=((("schema_version",), 1),)),
    ),
)
