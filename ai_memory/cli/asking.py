"""Asking the person at the terminal, and nobody in their place."""

import os
import sys

from ai_memory.harnesses.around import session_around
from ai_memory.hook_harnesses import SESSION_VARIABLES
from ai_memory.text.printable import shown

YES = ("y", "yes")


def session_variables() -> tuple[str, ...]:
    """Variables by which an agent tells the programs that it starts of its session."""
    return tuple(SESSION_VARIABLES.values())


def is_person_there() -> bool:
    """Whether a person can see and answer: both streams are a terminal, and no agent started this command."""
    streams = (sys.stdin, sys.stderr)
    return all(one is not None and one.isatty() for one in streams) and session_around(os.environ) == ("", "")


def confirms(question: str) -> bool:
    """The person's answer; False without asking where nobody is there."""
    if not is_person_there():
        return False
    print(f"{shown(question)} [y/N]", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() in YES
    except EOFError:
        return False
