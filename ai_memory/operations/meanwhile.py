"""Looking again where another command was faster."""

from collections.abc import Callable
from typing import TypeVar

from ai_memory.errors import Conflict

T = TypeVar("T")

TIMES = 3
"""Who lost a race as often is told of the conflict."""


def look_again(work: Callable[[], T]) -> T:
    """What `work` gives, done anew from its first look where a page changed before it wrote. Errors: Conflict."""
    for _ in range(TIMES - 1):
        try:
            return work()
        except Conflict:
            continue
    return work()
