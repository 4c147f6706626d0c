"""OpenCode: a database since 1.2, before that a file for each session, message and part. Both as the same records.

A session is its own object under `info`, then a record a message: `{id, at, message, parts}`.
"""

import os
from collections.abc import Iterable, Iterator

from ai_memory.transcripts.instants import instant
from ai_memory.transcripts.lines import (
    NO_JSON,
    TOO_LARGE,
    TOO_LONG,
    TOO_MANY,
    UNREADABLE,
    blocks,
    member,
    parsed,
    small_object,
    text_of,
)
from ai_memory.transcripts.record import (
    MAX_FILES,
    MAX_RECORD_BYTES,
    MAX_RECORDS,
    MAX_SOURCE_BYTES,
    Around,
    Ask,
    Found,
    Header,
    Losses,
    Record,
)
from ai_memory.transcripts.scan import Scan
from ai_memory.transcripts.telling import Telling

AGENT = "opencode"

_SESSIONS = """
    SELECT id, directory, time_updated FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC, id LIMIT ?
"""
_SESSION = "SELECT id, parent_id, directory, time_created FROM session WHERE id = ?"
_PARTS = """
    SELECT m.id, m.time_created, length(m.data), substr(m.data, 1, ?1), length(p.data), substr(p.data, 1, ?1)
    FROM message m LEFT JOIN part p ON p.message_id = m.id
    WHERE m.session_id = ?2 ORDER BY m.time_created, m.id, p.id LIMIT ?3
"""


def find(around: Around, scan: Scan) -> Iterator[Found]:
    """Sessions of the database, newest first, then those of the older files."""
    home = around.folder("XDG_DATA_HOME", ".local", "share") + "/opencode"
    for found in scan.files(AGENT, home, ("opencode.db",), beginning="opencode.db"):
        with around.ask(found.path) as ask:
            for row in ask(_SESSIONS, (MAX_FILES,)) if ask is not None else ():
                native, folder, updated = row
                if isinstance(native, str) and isinstance(folder, str):
                    yield Found(AGENT, found.path, instant(updated) or found.changed_us, 0, native, folder)
    for project in scan.folders(f"{home}/storage/session"):
        yield from scan.files(AGENT, project, (".json",))


def records(found: Found, around: Around, losses: Losses, limit_bytes: int = MAX_SOURCE_BYTES) -> Iterator[Record]:
    """The session's own object, then its messages with their parts, in order of time."""
    if not found.native_id:
        yield from _of_files(found, losses, limit_bytes)
        return
    with around.ask(found.path) as ask:
        if ask is not None:
            yield from of_rows(ask, found.native_id, losses, limit_bytes)


def of_rows(ask: Ask, native_id: str, losses: Losses, limit_bytes: int = MAX_SOURCE_BYTES) -> Iterator[Record]:
    """The records of one session of a database."""
    for identifier, parent, folder, created in ask(_SESSION, (native_id,)):
        yield {"info": {"id": identifier, "parentID": parent, "directory": folder, "time": {"created": created}}}
    present, at, spent = None, 0, 0
    message: Record = {}
    parts: list[Record] = []
    for number, row in enumerate(ask(_PARTS, (MAX_RECORD_BYTES, native_id, MAX_RECORDS + 1))):
        identifier, created, message_size, message_text, part_size, part_text = row
        spent += _size(message_size) + _size(part_size)
        if number == MAX_RECORDS or spent > limit_bytes:
            losses.add(TOO_MANY if number == MAX_RECORDS else TOO_LARGE)
            break
        if identifier != present:
            if present is not None:
                yield {"id": present, "at": at, "message": message, "parts": parts}
            present, parts, at = identifier, [], created
            message = _object(message_text, message_size, losses)
        if part_text is not None:
            parts.append(_object(part_text, part_size, losses))
    if present is not None:
        yield {"id": present, "at": at, "message": message, "parts": parts}


def _size(given: object) -> int:
    return given if isinstance(given, int) else 0


def _object(text: object, size: object, losses: Losses) -> Record:
    if _size(size) > MAX_RECORD_BYTES:
        losses.add(TOO_LONG)
        return {}
    found = parsed(text) if isinstance(text, (str, bytes)) else None
    if isinstance(found, dict):
        return found
    losses.add(NO_JSON)
    return {}


def _of_files(found: Found, losses: Losses, limit_bytes: int) -> Iterator[Record]:
    info = small_object(found.path, losses)
    if info is None:
        return
    yield {"info": info}
    storage = os.path.dirname(os.path.dirname(os.path.dirname(found.path)))
    spent = number = 0
    for path in _listed(f"{storage}/message", text_of(info, "id"), losses):
        message = small_object(path, losses)
        if message is None:
            continue
        parts = []
        for inner in _listed(f"{storage}/part", text_of(message, "id"), losses):
            number += 1
            spent += _bytes_of(inner)
            if number > MAX_RECORDS or spent > limit_bytes:
                losses.add(TOO_MANY if number > MAX_RECORDS else TOO_LARGE)
                return
            part = small_object(inner, losses)
            if part is not None:
                parts.append(part)
        yield {
            "id": text_of(message, "id"),
            "at": member(message, "time").get("created"),
            "message": message,
            "parts": parts,
        }


def _listed(folder: str, name: str, losses: Losses) -> list[str]:
    """The JSON files of the folder of that name, which comes from a file of somebody's: it may not lead elsewhere."""
    if not name or "/" in name or "\\" in name or name in (".", "..") or "\0" in name:
        return []
    try:
        with os.scandir(f"{folder}/{name}") as entries:
            found = [one.path for one in entries if one.name.endswith(".json") and one.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        losses.add(UNREADABLE)
        return []
    return sorted(found)[:MAX_RECORDS]


def _bytes_of(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 (may hold any bytes)
    except OSError:
        return 0


def header(records: Iterable[Record], found: Found, _: Around) -> Header | None:
    """From the session's own object."""
    for record in records:
        info = member(record, "info")
        native = text_of(info, "id") or found.native_id
        started_us = instant(member(info, "time").get("created"))
        return Header(native, text_of(info, "directory"), started_us, is_subagent=bool(info.get("parentID")))
    return None


def tell(records: Iterable[Record], telling: Telling) -> None:
    """Messages in order of time, the parts of each in order of their ids."""
    for number, record in enumerate(records):
        message = member(record, "message")
        if message:
            _message(
                message, blocks(record.get("parts")), telling, text_of(record, "id") or str(number), record.get("at")
            )


def _message(message: Record, parts: list[Record], telling: Telling, key: str, at: object) -> None:
    telling.cwd = text_of(member(message, "path"), "cwd") or telling.cwd
    typed = [text_of(one, "text") for one in parts if one.get("type") == "text" and not one.get("synthetic")]
    if message.get("role") == "user":
        telling.prompt(key, "\n".join(filter(None, typed)), at)
        return
    if message.get("summary") is True:
        telling.compaction(key, "\n".join(filter(None, typed)), at)
        return
    for number, part in enumerate(parts):
        name = f"{key}:{text_of(part, 'id') or number}"
        if part.get("type") == "text" and not part.get("synthetic"):
            telling.answer(name, text_of(part, "text"), at)
        elif part.get("type") == "tool":
            _tool(part, telling, name, at)


def _tool(part: Record, telling: Telling, key: str, at: object) -> None:
    state, call_id = member(part, "state"), text_of(part, "callID") or key
    when, status = member(state, "time"), state.get("status")
    telling.call(key, call_id, text_of(part, "tool"), state.get("input"), when.get("start") or at)
    if status in ("completed", "error"):
        code = member(state, "metadata").get("exit")
        failed = status == "error" or (code != 0 if isinstance(code, int) else None)
        output = text_of(state, "output") or text_of(state, "error")
        telling.result(f"{key}:r", call_id, output, when.get("end"), is_error=failed)
