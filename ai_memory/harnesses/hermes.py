"""Hermes. Its settings are YAML, which is printed and not written; its hooks want a person's consent each."""

import shlex

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile
from ai_memory.harnesses.shapes_events import wired
from ai_memory.harnesses.shapes_yaml import printed_server, yaml

_SETTINGS = Place("{home}/.hermes/config.yaml", variable="HERMES_HOME", moved="{home}/.hermes")
_TIMEOUT_S = 20


def _fragment(harness: Harness, launch: Launch) -> str:
    """No shell runs the command: it is split into words, and so it must not be the guarded line."""
    entries: dict[str, Json] = {}
    for event in wired(harness, launch):
        line = shlex.join(launch.hook_argv(harness.id, event))
        entries[event] = [{"command": line, "timeout": _TIMEOUT_S}]
    return yaml({"hooks": entries})


HERMES = Harness(
    id="hermes",
    title="Hermes",
    aliases=("hermes-agent",),
    events={
        "on_session_start": "session-start",
        "pre_llm_call": "user-prompt",
        "pre_tool_call": "pre-tool-use",
        "post_tool_call": "post-tool-use",
        "on_session_end": "stop",
        "on_session_finalize": "session-end",
    },
    form=Form.CONTEXT,
    inject_at="user-prompt",
    reloads=True,
    config_variable="HERMES_HOME",
    source="https://hermes-agent.nousresearch.com/docs/user-guide/features/hooks",
    programs=("hermes",),
    homes=(Place("{home}/.hermes", variable="HERMES_HOME", moved="{home}/.hermes"),),
    hooks=HookFile(_SETTINGS, text=_fragment, syntax=Syntax.WHOLE, is_printed=True),
    mcp=printed_server(_SETTINGS),
    project_instructions="AGENTS.md",
    restart="Restart it, and allow the hooks when it asks.",
    refuses=("`config.yaml` is not written: no editor here keeps YAML's comments. The lines are printed to paste.",),
    notes=(
        "`on_session_end` comes with every turn; `on_session_finalize` is the end.",
        "Under its gateway `TERMINAL_CWD` tells the folder only of the default profile.",
        "What its platform `subagent` does is kept as a subagent's.",
    ),
)
