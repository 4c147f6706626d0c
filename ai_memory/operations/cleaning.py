"""What is written on purpose loses its secrets too, before it reaches the store; a name that holds one is refused."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ai_memory.errors import MemoryFault
from ai_memory.model import Sanitized
from ai_memory.operations.configured import configured
from ai_memory.scrub import MARK, TooSlow, scrub, strip_controls
from ai_memory.text.limits import check_characters
from ai_memory.text.sanitize import sanitize_edit

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


def told_changes(pairs: Iterable[tuple[str, str]], *, written: str = "page") -> tuple[str, ...]:
    """What cleaning did to texts, from (given, kept) pairs: secrets and control characters, each with their number."""
    changed = [(given, kept) for given, kept in pairs if given != kept]
    labels = sum(max(0, kept.count(MARK) - given.count(MARK)) for given, kept in changed)
    controls = sum(_controls(given) - _controls(kept) for given, kept in changed)
    notes = []
    if labels:
        notes.append("a secret was replaced by a label" if labels == 1 else f"{labels} secrets were replaced by labels")
    if controls:
        notes.append(
            "a control character was removed" if controls == 1 else f"{controls} control characters were removed"
        )
    return tuple(f"{note} before the {written} was written" for note in notes)


def _controls(text: str) -> int:
    return len(text) - len(strip_controls(text))


def clean(memory: "Memory", after: str, *, before: str = "") -> Sanitized:
    """`after` as it may be stored in place of `before`; stored lines that stay are not touched.

    Errors: BadText for NUL and control characters, which would be taken out unseen; MemoryFault when the patterns of
    the configuration take too long.
    """
    check_characters("the text", after)
    extra, allow = _patterns(memory)
    try:
        return sanitize_edit(before, after, extra=extra, allow=allow)
    except TooSlow as fault:
        raise _too_slow(fault) from fault


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
        try:
            clean = scrub(word, extra=extra, allow=allow)
        except TooSlow as fault:
            raise _too_slow(fault) from fault
        if clean == word:
            continue
        if MARK not in clean:
            raise MemoryFault(f"the {what} holds control characters", hint="leave them out")
        kind = clean.partition(MARK)[2].partition("]")[0]
        raise MemoryFault(
            f"the {what} holds what looks like a secret ({kind}), so nothing was written",
            hint="choose another one; if it is no secret, sanitize.allowlist takes a pattern for it",
        )


def _too_slow(fault: TooSlow) -> MemoryFault:
    return MemoryFault(
        f"{fault}, so nothing was written", hint="make them simpler: sanitize.extra_patterns, sanitize.allowlist"
    )


def _patterns(memory: "Memory") -> tuple[tuple[str, ...], tuple[str, ...]]:
    config = configured(memory)
    return (config.sanitize.extra_patterns, config.sanitize.allowlist) if config else ((), ())
