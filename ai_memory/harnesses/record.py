"""What one agent program does its own way, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Form(StrEnum):
    """How a harness takes context from a hook's stdout."""

    ENVELOPE = "envelope"
    """`{"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}}`"""
    CAMEL = "camel"
    """`{"additionalContext": …}`"""
    SNAKE = "snake"
    """`{"additional_context": …}`"""
    CONTEXT = "context"
    """`{"context": …}`"""
    STEPS = "steps"
    """`{"injectSteps": [{"ephemeralMessage": …}]}`"""
    CLINE = "cline"
    """`{"cancel": false, "contextModification": …}`"""
    TEXT = "text"
    """Plain text; whatever else is printed would be read as text too."""
    NONE = "none"
    """Takes none: nothing is ever claimed for it."""


@dataclass(frozen=True, slots=True)
class Harness:
    """One agent program. The hook has a copy of what it needs in `ai_memory.hook_payload`; a test keeps both equal."""

    id: str
    """As in decision C8: stored with every event, shown to people."""
    title: str
    events: Mapping[str, str] = field(default_factory=dict)
    """Native event name, as its configuration spells it → canonical kind. Only events that are captured."""
    aliases: tuple[str, ...] = ()
    form: Form = Form.NONE
    inject_at: str = ""
    """Canonical kind of the event at which context is given; empty where none is."""
    tells: bool = False
    """Shows a person the member `systemMessage` of a hook's answer."""
    reloads: bool = False
    """Takes context with a prompt, too, in the same form."""
    session_variable: str = ""
    """Environment variable that names the session in the harness's children."""
    config_variable: str = ""
    """Environment variable that moves its configuration folder."""
    source: str = ""
    """The page of its maker that says so."""
