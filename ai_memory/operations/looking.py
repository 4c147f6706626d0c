"""Looking at the whole wiki before an answer: edits by hand are taken first, and what was not taken is said."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ai_memory.store.adoption import Adopted
    from ai_memory.store.memory import Memory


def look_around(memory: "Memory") -> tuple["Adopted", tuple[str, ...]]:
    """Take edits by hand; what was taken, and a sentence for each thing that a person must decide or that was left."""
    adopted = memory.adopt()
    return adopted, (*adopted.asked, *adopted.skipped)
