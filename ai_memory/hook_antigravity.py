"""What Antigravity's events leave out: the result of a tool, which its step wrote to a file. Part of the hook, light.

*Source*: the layout of its conversations, `brain/<conversation>/.system_generated/steps/<step>/output.txt`.
"""

# ruff: noqa: PTH118 (pathlib is not loaded in a hook)

import os

from ai_memory.hook_places import read_regular, user_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

OUTPUT_BYTES = 128 << 10
_GENERATED = ".system_generated"


def output_of(payload: "Mapping[str, Any]") -> str:
    """What the step of this event printed, or nothing."""
    step = payload.get("stepIdx")
    if not isinstance(step, int) or isinstance(step, bool):
        return ""
    for folder in _folders(payload):
        content = read_regular(os.path.join(folder, "steps", str(step), "output.txt"), OUTPUT_BYTES)
        if content is not None:
            return content.decode("utf-8", "replace")
    return ""


def _folders(payload: "Mapping[str, Any]") -> "list[str]":
    """Where the conversation's generated files may lie: beside its transcript, else below the home folder."""
    found = []
    transcript = payload.get("transcriptPath")
    if isinstance(transcript, str) and _GENERATED in transcript:
        found.append(transcript.partition(_GENERATED)[0] + _GENERATED)
    conversation = payload.get("conversationId")
    if isinstance(conversation, str) and conversation and os.path.basename(conversation) == conversation:
        home = os.path.join(user_home(), ".gemini", "antigravity-cli", "brain")
        found.append(os.path.join(home, conversation, _GENERATED))
    return found
