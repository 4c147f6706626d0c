"""The redo log of the one change being applied: writing it is the commit point.

It is complete: no object and no file but itself is needed to finish the change (decision A2). Format 1, JSON.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ai_memory.errors import StoreFault
from ai_memory.model import Author, Sanitized
from ai_memory.plainfile import read_plain
from ai_memory.store.filesystem import sync_folder, write_whole

FORMAT = 1


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path: the blob that the change was made from, and the content that shall stand there (None: nothing)."""

    old: str | None
    content: bytes | None
    is_adopted: bool = False
    """A person put that content into the file: whatever stands there since is newer, and never taken back."""


@dataclass(frozen=True, slots=True)
class OutboxChange:
    """One file of the outbox; `text` None removes it."""

    name: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Pending:
    """A whole change. `message` is the commit's message with its trailers."""

    change_id: str
    parent: str | None
    author: Author
    at_us: int
    message: Sanitized
    paths: Mapping[str, PathChange] = field(default_factory=dict)
    state: tuple[tuple[str, Mapping[str, object]], ...] = ()
    outbox: tuple[OutboxChange, ...] = ()


def save(path: Path, pending: Pending) -> None:
    """Pass the commit point. Durable on return; before it, nothing happened."""
    write_whole(path, _encode(pending))


def load(path: Path) -> Pending | None:
    """The change that waits to be finished, or None. Raises StoreFault when the log cannot be read."""
    try:
        content = read_plain(path)
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise _unreadable(path, fault.strerror or str(fault)) from fault
    try:
        return _decode(content)
    except NewerFormat as fault:
        raise _unreadable(path, str(fault)) from fault
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise _unreadable(path, "it is not what ai-memory writes") from fault


class NewerFormat(ValueError):
    """A later ai-memory wrote the log."""


def _unreadable(path: Path, why: str) -> StoreFault:
    return StoreFault(
        f"The redo log {path} cannot be read: {why}.",
        hint="It holds a change that was acknowledged. Keep it, move it aside to go on, and write its text again.",
    )


def clear(path: Path, *, is_harmless: bool) -> None:
    """The change is applied everywhere.

    `is_harmless` says that a second run changes nothing, as with pages alone: then the removal is not waited for, and
    after a power cut the next command may find the log again. A handoff would be offered twice.
    """
    path.unlink(missing_ok=True)
    if not is_harmless:
        sync_folder(path.parent)


def _encode(pending: Pending) -> bytes:
    record = {
        "format": FORMAT,
        "change_id": pending.change_id,
        "parent": pending.parent,
        "author": [pending.author.name, pending.author.email],
        "at_us": pending.at_us,
        "message": pending.message,
        "paths": {git_path: _encode_path(change) for git_path, change in sorted(pending.paths.items())},
        "state": [[name, dict(parameters)] for name, parameters in pending.state],
        "outbox": [[change.name, change.text] for change in pending.outbox],
    }
    return json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _encode_path(change: PathChange) -> dict[str, str | bool | None]:
    row: dict[str, str | bool | None] = {"old": change.old, "text": None}
    if change.is_adopted:
        row["adopted"] = True
    if change.content is not None:
        try:
            row["text"] = change.content.decode("utf-8")
        except UnicodeDecodeError:
            row["base64"] = base64.b64encode(change.content).decode("ascii")
    return row


def _decode(content: bytes) -> Pending:
    record = json.loads(content)
    if record["format"] != FORMAT:
        raise NewerFormat(f"its format {record['format']!r} is newer than this program")
    name, email = record["author"]
    return Pending(
        change_id=record["change_id"],
        parent=record["parent"],
        author=Author(name, email),
        at_us=record["at_us"],
        message=Sanitized(record["message"]),
        paths={git_path: _decode_path(row) for git_path, row in record["paths"].items()},
        state=tuple((str(statement), dict(parameters)) for statement, parameters in record["state"]),
        outbox=tuple(OutboxChange(name, text) for name, text in record["outbox"]),
    )


def _decode_path(row: Mapping[str, Any]) -> PathChange:
    encoded, text = row.get("base64"), row["text"]
    content = base64.b64decode(encoded) if encoded is not None else text
    return PathChange(
        row["old"],
        content.encode("utf-8") if isinstance(content, str) else content,
        is_adopted=row.get("adopted") is True,
    )
