"""The most that an answer of a tool may hold, by `budget.answer_max_tokens`: asked for in advance, cut in the end."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ai_memory.errors import MemoryFault, UsageFault
from ai_memory.operations.configured import configured
from ai_memory.text.plain import clip

if TYPE_CHECKING:
    from ai_memory.operations.table import Operation
    from ai_memory.store.memory import Memory

TOKEN_BYTES = 4
"""Decision C10."""
LEAST_TOKENS = 250
"""A smaller bound is taken for this one: fence and notice alone take 74 tokens of it."""
_AROUND_BYTES = 400
"""What fence, notice and the line about the scope take."""
_LEAST_ROOM = 512
_SETTING = "budget.answer_max_tokens"


def most_of(memory: "Memory", operation: "Operation") -> int:
    """Bytes of an answer at most; 0 where nothing bounds it.

    What changes something answers in a line, and what takes a message or a handoff must give the whole of it.
    A configuration that cannot be read bounds nothing: whoever needs it says so.
    """
    if not operation.read_only or operation.is_fenced:
        return 0
    try:
        config = configured(memory)
    except MemoryFault:
        return 0
    tokens = config.budget.answer_max_tokens if config is not None else 0
    return max(tokens, LEAST_TOKENS) * TOKEN_BYTES if tokens else 0


def within(arguments: Mapping[str, Any], most_bytes: int) -> dict[str, Any]:
    """The arguments of the call, with no more room asked for than that: whole rows go rather than ends of them."""
    bounded = dict(arguments)
    if most_bytes:
        room = max(_LEAST_ROOM, most_bytes - _AROUND_BYTES)
        for name, most in (("max_bytes", room), ("max_tokens", room // TOKEN_BYTES)):
            if name in bounded:
                bounded[name] = min(bounded[name] or most, most)
    return bounded


def cut_by(text: str, over_bytes: int) -> str:
    """The text without so many bytes of its end, and a line that says so."""
    note = f"\n(cut by {_SETTING}: ask for less, or for one page)"
    size = len(text.encode("utf-8", "replace"))
    return clip(text, max(0, size - over_bytes - len(note))) + note


def not_over(text: str, most_bytes: int) -> str:
    """The text, which a cut would break. Errors: UsageFault where it is too long."""
    size = len(text.encode("utf-8", "replace"))
    if most_bytes and size > most_bytes:
        raise UsageFault(
            f"the answer has {-(-size // TOKEN_BYTES):,} tokens, {_SETTING} allows {most_bytes // TOKEN_BYTES:,}",
            hint="ask for fewer rows (limit), or leave format out: such an answer is cut",
        )
    return text
