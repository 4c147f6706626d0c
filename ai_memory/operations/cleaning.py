"""What is written on purpose loses its secrets too, before it reaches the store."""

from typing import TYPE_CHECKING

from ai_memory.model import Sanitized
from ai_memory.operations.configured import configured
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
    config = configured(memory)
    if config is None:
        return sanitize_edit(before, after)
    return sanitize_edit(before, after, extra=config.sanitize.extra_patterns, allow=config.sanitize.allowlist)
