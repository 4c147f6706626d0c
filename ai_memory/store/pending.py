"""The redo log of the one change being applied: writing it is the commit point.

It is complete: no object and no file but itself is needed to finish the change (decision A2). Format 1, JSON.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ai_memory.errors import StoreFault
from ai_memory.model import Author, Sanitized
from ai_memory.plainfile import read_plain
from ai_memory.store import state
from ai_memory.store.addresses import is_ours
from ai_memory.store.filesystem import sync_folder, write_whole
from ai_memory.store.outbox import is_entry

FORMAT = 1
_OBJECT_ID = re.compile(r"[0-9a-f]{40}")


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
    """Write the log; before it, nothing happened. A power cut may take it back until its folder is synced."""
    write_whole(path, _encode(pending), sync_name=False)


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
    except UnknownHere as fault:
        raise _unreadable(path, str(fault)) from fault
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise _unreadable(path, "it is not what ai-memory writes") from fault


class UnknownHere(ValueError):
    """Another ai-memory wrote the log, a later one most likely, or somebody by hand."""


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
    """The change. *Errors*: ValueError, TypeError, KeyError, AttributeError for what `_encode` would never write."""
    record = json.loads(content)
    if record["format"] != FORMAT:
        raise UnknownHere(f"its format {record['format']!r} is newer than this program")
    name, email = record["author"]
    parent = record["parent"]
    return Pending(
        change_id=_text(record["change_id"]),
        parent=None if parent is None else _object_id(parent),
        author=Author(_text(name), _text(email)),
        at_us=_number(record["at_us"]),
        message=Sanitized(_text(record["message"])),
        paths={_git_path(git_path): _decode_path(row) for git_path, row in record["paths"].items()},
        state=tuple(_statement(name, dict(parameters)) for name, parameters in record["state"]),
        outbox=tuple(_outbox_change(name, text) for name, text in record["outbox"]),
    )


def _decode_path(row: Mapping[str, Any]) -> PathChange:
    encoded, text, old = row.get("base64"), row["text"], row["old"]
    if encoded is not None:
        content: bytes | None = base64.b64decode(_text(encoded), validate=True)
    else:
        content = None if text is None else _text(text).encode("utf-8")
    return PathChange(None if old is None else _object_id(old), content, is_adopted=row.get("adopted") is True)


def _git_path(path: str) -> str:
    """A path that may stand in the wiki's tree: what git itself refuses to hold would spoil the repository for good."""
    is_inside = not any(segment.startswith(".") or not segment for segment in path.split("/"))
    if not (is_inside and is_ours(path)) or "\0" in path:
        raise UnknownHere(f"{path!r:.80} is no path of a page")
    return path


def _statement(name: str, parameters: dict[str, object]) -> tuple[str, Mapping[str, object]]:
    """A write of `state.db` that this program knows, with all that it needs."""
    if name not in state.STATEMENTS or not state.parameters(name) <= parameters.keys():
        raise UnknownHere(f"it holds the statement {name!r:.80}, which this program does not know so")
    if not all(isinstance(value, str | int) for value in parameters.values()):
        raise TypeError
    return name, parameters


def _outbox_change(name: str, text: str | None) -> OutboxChange:
    if not is_entry(_text(name)):
        raise UnknownHere(f"{name!r:.80} is no name in the outbox")
    return OutboxChange(name, None if text is None else _text(text))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


def _object_id(value: object) -> str:
    if not _OBJECT_ID.fullmatch(_text(value)):
        raise ValueError(value)
    return str(value)
