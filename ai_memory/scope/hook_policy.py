"""Compiling `hook-policy.json`: what the hook must know of configuration and markers, so that it never reads TOML.

The form, read by `ai_memory.hook_policy` (a TOML reader would cost a hook 4 to 7 times a bare interpreter):

    {"v": 1,
     "config": {"size": 120, "mtime_ns": 17…} or null,      config.toml as it was read
     "settings": {"prompts": true, "assistant": "off", "claim": true, "on_prompt": "off",
                  "drop_events": […], "drop_tools": […], "drop_call_ids": […], "extra": […], "allow": […],
                  "max_files": 10000, "max_mib": 256, "start_tokens": 0, "prompt_tokens": 0,
                  "without_prompts": ["hermes"]},      agents installed with --no-capture-prompts
     "markers": {"/abs/.ai-memory.toml": {"size": 80, "mtime_ns": 17…, "valid": true, "ignore_paths": […],
                  "prompts": null, "assistant": null, "claim": null, "drop_subagents": false}}}

A source whose size or time differs from what stands here is unknown to the hook, and so is one that stands not here.
A marker comes with a cloned repository, so the hook lets it narrow what the settings keep, never widen it.
Pure: reading the sources is the caller's work, writing the file the store's.
"""

from collections.abc import Iterable, Mapping, Sequence

from ai_memory.scope.markers import Source
from ai_memory.scope.policy import CapturePolicy

FORMAT = 1
MAX_MARKERS = 2_000
"""Markers kept; the hook reads the file for every event."""

HOOK_SETTINGS: Mapping[str, str] = {
    "prompts": "capture.prompts",
    "assistant": "capture.assistant",
    "claim": "handoff.claim_on_session_start",
    "on_prompt": "recall.on_prompt",
    "drop_events": "ingest.drop_events",
    "drop_tools": "ingest.drop_tool_names",
    "drop_call_ids": "ingest.drop_tool_use_id_prefixes",
    "extra": "sanitize.extra_patterns",
    "allow": "sanitize.allowlist",
    "max_files": "hook_spool.max_files",
    "max_mib": "hook_spool.max_mib",
    "start_tokens": "budget.start_max_tokens",
    "prompt_tokens": "budget.prompt_max_tokens",
}
"""What a hook calls a setting -> its key. A hook knows of no others, and takes them from the file alone."""


def compile_policy(
    values: Mapping[str, object],
    *,
    config: Source | None,
    markers: Iterable[tuple[Source, CapturePolicy]],
    without_prompts: Sequence[str] = (),
) -> dict[str, object]:
    """The policy as JSON-shaped values. `values`: settings by dotted key; `config`: None when there is no file;
    `without_prompts`: agents, in their order.

    The same sources give the same result, in the order of their paths; of more than 2,000 markers the newest stay.
    """
    known = sorted(markers, key=lambda one: (-one[0].mtime_ns, one[0].path))[:MAX_MARKERS]
    settings = {name: _plain(values[key]) for name, key in HOOK_SETTINGS.items() if key in values}
    return {
        "v": FORMAT,
        "config": _stamp(config) if config else None,
        "settings": settings | ({"without_prompts": list(without_prompts)} if without_prompts else {}),
        "markers": {source.path: _marker(source, policy) for source, policy in sorted(known, key=_path)},
    }


def _stamp(source: Source) -> dict[str, object]:
    return {"size": source.size, "mtime_ns": source.mtime_ns}


def _marker(source: Source, policy: CapturePolicy) -> dict[str, object]:
    return _stamp(source) | {
        "valid": policy.is_valid,
        "ignore_paths": list(policy.ignore_paths),
        "prompts": policy.prompts,
        "assistant": policy.assistant,
        "claim": policy.claim_handoff_on_session_start,
        "drop_subagents": bool(policy.drop_subagent_captures) or not policy.is_valid,
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, (tuple, frozenset, set)) else value


def _path(one: tuple[Source, CapturePolicy]) -> str:
    return one[0].path
