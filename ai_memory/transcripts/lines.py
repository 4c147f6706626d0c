"""Files of sessions as records: bounded, whatever they hold."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ai_memory.plainfile import open_plain
from ai_memory.transcripts.record import (
    MAX_RECORD_BYTES,
    MAX_RECORDS,
    MAX_SOURCE_BYTES,
    Around,
    Found,
    Losses,
    Record,
)

TOO_LONG = "records longer than 1 MiB"
NO_JSON = "lines that are no JSON object"
TOO_MANY = f"sessions with more than {MAX_RECORDS:,} records, whose rest"
TOO_LARGE = "sessions larger than 64 MiB, whose rest"
UNREADABLE = "files that cannot be read"


def file_records(found: Found, _: Around, losses: Losses, limit_bytes: int = MAX_SOURCE_BYTES) -> Iterator[Record]:
    """The objects of a file of JSON lines, in its order."""
    try:
        with open_plain(Path(found.path)) as file:
            yield from json_lines(file, losses, limit_bytes)
    except (OSError, ValueError):
        losses.add(UNREADABLE)


def json_lines(file: BinaryIO, losses: Losses, limit_bytes: int = MAX_SOURCE_BYTES) -> Iterator[Record]:
    """The objects of these lines. A line that is too long or none is counted and passed over."""
    spent = 0
    for number in range(MAX_RECORDS + 1):
        line = file.readline(MAX_RECORD_BYTES + 1)
        spent += len(line)
        if not line:
            return
        if number == MAX_RECORDS or spent > limit_bytes:
            losses.add(TOO_MANY if number == MAX_RECORDS else TOO_LARGE)
            return
        if len(line) > MAX_RECORD_BYTES:
            losses.add(TOO_LONG)
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_RECORD_BYTES)
                spent += len(line)
        elif line.strip():
            record = parsed(line)
            if isinstance(record, dict):
                yield record
            else:
                losses.add(NO_JSON)


def parsed(content: bytes | str) -> Any:
    """The JSON value; None for what is none. Bad UTF-8 is replaced, one BOM is passed over."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        return json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


def small_object(path: str, losses: Losses, limit_bytes: int = MAX_RECORD_BYTES) -> Record | None:
    """The one object of a whole file; None for what is none, too large, or no plain file."""
    try:
        with open_plain(Path(path)) as file:
            content = file.read(limit_bytes + 1)
    except (OSError, ValueError):
        losses.add(UNREADABLE)
        return None
    if len(content) > limit_bytes:
        losses.add(TOO_LONG)
        return None
    record = parsed(content)
    if isinstance(record, dict):
        return record
    losses.add(NO_JSON)
    return None


def text_of(record: object, *keys: str) -> str:
    """The first of these members that is a text and not empty; nothing for what is no object."""
    if not isinstance(record, dict):
        return ""
    return next((found for key in keys if isinstance(found := record.get(key), str) and found), "")


def member(record: object, key: str) -> Record:
    """The member that is an object; an empty one where it is none."""
    found = record.get(key) if isinstance(record, dict) else None
    return found if isinstance(found, dict) else {}


def blocks(content: object) -> list[Record]:
    """The objects of a list of content blocks; a plain text is one block of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def joined(content: object, *kinds: str) -> str:
    """The texts of the blocks of these types, on lines of their own; blocks without a type count."""
    parts = [text_of(one, "text") for one in blocks(content) if one.get("type") in (None, *kinds)]
    return "\n".join(part for part in parts if part)
