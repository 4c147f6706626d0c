"""Room for an answer, in bytes: whole rows while they fit, the first one shortened rather than left out."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Protocol, TypeVar

from ai_memory.operations.answer import as_json
from ai_memory.operations.field import Field
from ai_memory.text.plain import clip

MaxBytes = Annotated[int | None, Field("room, in bytes", ge=200)]
"""A token is four of them (decision C10)."""


class Row(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=Row)


def shortened_rows(rows: Sequence[T], max_bytes: int | None, *, text: str = "body") -> tuple[T, ...]:
    """The first rows that fit; where not even the first one does, its `text` is shortened, `…` where it was cut."""
    if max_bytes is None:
        return tuple(rows)
    kept: list[T] = []
    room = max_bytes
    for row in rows:
        size = size_bytes(row)
        if size > room and kept:
            break
        if size > room:
            row = _shortened(row, text, size - room)
        kept.append(row)
        room -= min(size, room)
    return tuple(kept)


def _shortened(row: T, text: str, over: int) -> T:
    whole = getattr(row, text, None) or ""
    changed: dict[str, Any] = {text: clip(whole, max(0, len(whole.encode("utf-8", "replace")) - over))}
    if hasattr(row, "is_cut"):
        changed["is_cut"] = True
    return replace(row, **changed) if whole else row


def size_bytes(row: object) -> int:
    """Bytes of the row as compact JSON; its text form is smaller."""
    return len(json.dumps(as_json(row), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
