"""What is written on purpose loses its secrets too, before it reaches the store; a name that holds one is refused."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ai_memory.errors import MemoryFault
from ai_memory.model import Sanitized
from ai_memory.operations.configured import configured
from ai_memory.scrub import MARK, scrub
from ai_memory.text.limits import check_characters
from ai_memory.text.sanitize import sanitize_edit

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

SCRUBBED = "a secret was replaced by a label before the page was written"
"""Said with the answer when what was written is not what was given."""


def clean(memory: "Memory", after: str, *, before: str = "") -> Sanitized:
    """`after` as it may be stored in place of `before`; stored lines that stay are not touched.

    Errors: BadText for NUL and control characters, which would be taken out unseen.
    """
    check_characters("the text", after)
    extra, allow = _patterns(memory)
    return sanitize_edit(before, after, extra=extra, allow=allow)


def refuse_secrets(memory: "Memory", **named: str | Iterable[str] | None) -> None:
    """Nothing, when each of the names may be stored. A name is not scrubbed: with a label it would name another thing.

    Errors: MemoryFault naming which one it is and what it holds, never the secret itself.
    """
    words = [
        (what.replace("_", " "), word)
        for what, given in named.items()
        for word in ((given,) if isinstance(given, str) else given or ())
    ]
    extra, allow = _patterns(memory)
    for what, word in words:
        clean = scrub(word, extra=extra, allow=allow)
        if clean == word:
            continue
        if MARK not in clean:
            raise MemoryFault(f"the {what} holds control characters", hint="leave them out")
        kind = clean.partition(MARK)[2].partition("]")[0]
        raise MemoryFault(
            f"the {what} holds what looks like a secret ({kind}), so nothing was written",
            hint="choose another one; if it is no secret, sanitize.allowlist takes a pattern for it",
        )


def _patterns(memory: "Memory") -> tuple[tuple[str, ...], tuple[str, ...]]:
    config = configured(memory)
    return (config.sanitize.extra_patterns, config.sanitize.allowlist) if config else ((), ())
