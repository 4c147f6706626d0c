"""Every expected fault, with the exit code and the JSON code that both faces show for it."""

from typing import ClassVar

MOST_ECHOED = 80
"""Characters of what a caller gave that a message shows of it."""
_LONGEST = 1_000
"""Of a message or hint, whatever it quotes."""


def echo(value: object) -> str:
    """The value as a message shows it: quoted, cut to `MOST_ECHOED` characters."""
    text = value if isinstance(value, str) else str(value)
    return repr(text if len(text) <= MOST_ECHOED else f"{text[: MOST_ECHOED - 1]}…")


class MemoryFault(Exception):
    """An expected fault: `message` names what is wrong, `hint` says what to do about it."""

    code: ClassVar[str] = "invalid"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = _cut(message)
        self.hint = _cut(hint)

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class UsageFault(MemoryFault):
    """The words of the call do not fit: exit 2."""

    exit_code = 2


class NotFound(MemoryFault):
    """What was named does not exist: exit 3."""

    code = "not_found"
    exit_code = 3


class LockBusy(MemoryFault):
    """Another process holds the lock for longer than the caller would wait: exit 4."""

    code = "busy"
    exit_code = 4


class GivenUp(LockBusy):
    """Whoever asked takes no answer any more, and the write has not begun: nothing is written."""

    def __init__(self) -> None:
        super().__init__("The call was cancelled while it waited: nothing was written.")


class Conflict(MemoryFault):
    """The page changed since it was read, exists already, or is pinned: exit 5."""

    code = "conflict"
    exit_code = 5


class RefusedScope(MemoryFault):
    """The scope was only guessed, and the call would write or delete: exit 6."""

    code = "refused_scope"
    exit_code = 6


class StoreFault(MemoryFault):
    """The disk or a file on it is not as it must be: exit 1."""

    code = "internal"


class Recorded(StoreFault):
    """The change passed its commit point, a later step failed: the next command finishes it."""


class NotWritten(StoreFault):
    """An earlier change passed its commit point and cannot be finished yet, so this one was not begun."""

    def __init__(self, why: str, remedy: str) -> None:
        self.earlier = f"An earlier change could not be finished yet: {why}"
        super().__init__(f"{self.earlier} This one was not written.", hint=f"{remedy} Then write it again.")
