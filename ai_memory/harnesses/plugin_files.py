"""The plugins of harnesses that take code instead of commands: files that are ours whole, made for one installation.

Their sources stand in `plugins/` as plain JavaScript with its types in comments, so that tests run the very file that
is installed. Each is put together of a part that all share and one of its own.
"""

import json
from functools import cache
from importlib.resources import files

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Harness, HookFile

OWN_LINE = "// Plugin of ai-memory. `ai-memory install-hooks` writes this file, `ai-memory uninstall` removes it."
"""The first line of each: how a file is known to be ours, whatever version wrote it."""

_MANIFEST_MARK = "Long-term memory for coding agents (ai-memory-managed)."
"""JSON has no comments: how a manifest is known to be ours."""

OPENCODE_EVENTS = {
    "session.created": "session-start",
    "chat.message": "user-prompt",
    "session.prompt": "user-prompt",
    "tool.execute.before": "pre-tool-use",
    "tool.execute.after": "post-tool-use",
    "experimental.session.compacting": "pre-compact",
    "session.compaction.started": "pre-compact",
    "session.compacted": "post-compaction",
    "session.compaction.ended": "post-compaction",
    "session.idle": "stop",
    "session.execution.succeeded": "stop",
    "session.execution.failed": "stop",
    "session.execution.interrupted": "stop",
    "session.deleted": "session-end",
}
"""Of both versions: no name means two things."""
PI_EVENTS = {
    "session_start": "session-start",
    "before_agent_start": "user-prompt",
    "tool_call": "pre-tool-use",
    "tool_result": "post-tool-use",
    "session_before_compact": "pre-compact",
    "session_compact": "post-compaction",
    "agent_end": "stop",
    "session_shutdown": "session-end",
}
OPENCLAW_EVENTS = {
    "session_start": "session-start",
    "before_prompt_build": "user-prompt",
    "before_tool_call": "pre-tool-use",
    "after_tool_call": "post-tool-use",
    "before_compaction": "pre-compact",
    "after_compaction": "post-compaction",
    "agent_end": "stop",
    "session_end": "session-end",
}

_IMPORT = 'import { spawn, spawnSync } from "node:child_process"'


def opencode_plugin(harness: Harness, launch: Launch) -> str:
    """One file for both versions of OpenCode: each calls its own part of it."""
    return _plugin(harness, launch, "core.js", "opencode.js")


def pi_extension(harness: Harness, launch: Launch) -> str:
    """Also offers our MCP tools, since Pi reads no settings of MCP servers."""
    return _plugin(harness, launch, "core.js", "pi_tools.js", "pi.js", bridge=launch.bridge_argv(harness.id))


def omp_extension(harness: Harness, launch: Launch) -> str:
    """As Pi's, without tools: Oh My Pi has settings for them."""
    return _plugin(harness, launch, "core.js", "pi_tools.js", "pi.js")


def openclaw_plugin(harness: Harness, launch: Launch) -> str:
    return _plugin(harness, launch, "core.js", "openclaw.js")


def openclaw_package(harness: Harness, launch: Launch) -> str:
    del harness, launch
    about = {"name": "ai-memory-openclaw", "version": "1.0.0", "type": "module", "private": True}
    about |= {"description": _MANIFEST_MARK}
    return json.dumps(about | {"openclaw": {"extensions": ["./index.js"]}}, indent=2) + "\n"


def openclaw_manifest(harness: Harness, launch: Launch) -> str:
    """Read by OpenClaw before it runs the plugin. *Source*: https://docs.openclaw.ai/plugins/manifest"""
    del harness, launch
    about: dict[str, Json] = {
        "id": "ai-memory",
        "name": "ai-memory",
        "description": _MANIFEST_MARK,
        "activation": {"onStartup": True},
    }
    return json.dumps(about | {"configSchema": {"type": "object", "additionalProperties": False}}, indent=2) + "\n"


def is_our_plugin(text: str) -> bool:
    """Whether a plugin's file was written by us, in this version or another."""
    return text.startswith(OWN_LINE.partition(".")[0])


def _plugin(harness: Harness, launch: Launch, *parts: str, bridge: tuple[str, ...] = ()) -> str:
    told: dict[str, Json] = {
        "hook": list(launch.hook_argv(harness.id, "")[:-1]),
        "agent": harness.id,
        "tellsPrompts": launch.capture_prompts,
        "bridge": list(bridge),
    }
    head = (
        f"{OWN_LINE}\n// @ts-check\n{_IMPORT}\n\n/** @type {{Launch}} */\nconst LAUNCH = {json.dumps(told, indent=2)}\n"
    )
    return "\n".join([head, *(_source(name) for name in parts)])


@cache
def _source(name: str) -> str:
    return (files("ai_memory.harnesses") / "plugins" / name).read_text("utf-8")


OPENCODE_PLUGIN = HookFile(
    place=Place("{config}/opencode/plugins/ai-memory.js", "OPENCODE_CONFIG_DIR", "{config}/opencode"),
    text=opencode_plugin,
    syntax=Syntax.WHOLE,
    project=Place("{checkout}/.opencode/plugins/ai-memory.js"),
)
PI_EXTENSION = HookFile(
    place=Place("{home}/.pi/agent/extensions/ai-memory.js", "PI_CODING_AGENT_DIR", "{home}/.pi/agent"),
    text=pi_extension,
    syntax=Syntax.WHOLE,
    project=Place("{checkout}/.pi/extensions/ai-memory.js"),
)
OMP_EXTENSION = HookFile(
    place=Place("{home}/.omp/agent/extensions/ai-memory.js", "PI_CODING_AGENT_DIR", "{home}/.omp/agent"),
    text=omp_extension,
    syntax=Syntax.WHOLE,
)
OPENCLAW_PLUGIN = HookFile(
    place=Place("{home}/.openclaw/ai-memory-plugin/index.js", "OPENCLAW_STATE_DIR", "{home}/.openclaw"),
    text=openclaw_plugin,
    syntax=Syntax.WHOLE,
    beside=(("package.json", openclaw_package), ("openclaw.plugin.json", openclaw_manifest)),
)
"""Counts once the person ran `openclaw plugins install --link <folder> --force` and `… enable ai-memory`, and allowed
it `hooks.allowConversationAccess` in `plugins.entries.ai-memory`."""
