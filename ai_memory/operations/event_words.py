"""A stored event in a few words."""

from typing import TYPE_CHECKING

from ai_memory.capture.prompts import shorten
from ai_memory.capture.tools import parse_input, subject

if TYPE_CHECKING:
    from ai_memory.store.journal import StoredEvent

LONGEST = 80
"""Characters: a line of the log names what happened and never holds a whole text."""


def subject_of(one: "StoredEvent") -> str:
    """What a tool was asked to do, else how a text begins; one line."""
    row = one.observation
    about = subject(row.tool, parse_input(row.input), root=one.cwd) if row.tool else row.text
    return shorten(" ".join(about.split()), LONGEST)
