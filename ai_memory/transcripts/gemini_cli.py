"""Gemini CLI: `tmp/<project>/chats/session-….json` (one object, up to 0.3x) or `….jsonl` (a header, messages, patches).

No record names the folder. The older project name is the SHA-256 of it, so a session can be told to be one of a folder
that is known, never which one it is; newer versions keep the folder beside it, or tell the model in the first message.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ai_memory.plainfile import open_plain
from ai_memory.transcripts.instants import instant
from ai_memory.transcripts.lines import TOO_LARGE, UNREADABLE, blocks, file_records, joined, member, parsed, text_of
from ai_memory.transcripts.record import HEAD_RECORDS, MAX_SOURCE_BYTES, Around, Found, Header, Losses, Record
from ai_memory.transcripts.scan import Scan
from ai_memory.transcripts.telling import Telling

AGENT = "gemini-cli"

_HASH = re.compile(r"[0-9a-f]{64}")
_WORKSPACE = re.compile(
    r"Workspace Directories:\*\*\s*\n\s*-\s*([^\n]{1,4096})|working in the directory: ([^\n]{1,4096})"
)
_HEAD = re.compile(r'"(sessionId|projectHash|startTime)"\s*:\s*"([^"\\]{1,512})"')
_HEAD_BYTES = 4096
_LARGEST_OBJECT = 32 << 20
"""Of an old session, which is parsed whole."""
_FOLDER_BYTES = 4096


def find(around: Around, scan: Scan) -> Iterator[Found]:
    """Session files, less those of projects that are named after the hash of another folder."""
    hashes = {_hash(root) for root in around.roots}
    for project in scan.folders(os.path.join(around.folder("", ".gemini"), "tmp")):  # noqa: PTH118 (may hold any bytes)
        name = os.path.basename(project)
        if not (hashes and _HASH.fullmatch(name) and name not in hashes):
            chats = os.path.join(project, "chats")  # noqa: PTH118 (as above)
            yield from scan.files(AGENT, chats, (".json", ".jsonl"), beginning="session-")


def _hash(folder: str) -> str:
    return hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()


def records(found: Found, around: Around, losses: Losses, limit_bytes: int = MAX_SOURCE_BYTES) -> Iterator[Record]:
    """Header and messages in either format. Of an old file the header comes first, from its beginning alone."""
    if found.path.endswith(".jsonl"):
        yield from file_records(found, around, losses, limit_bytes)
        return
    try:
        with open_plain(Path(found.path)) as file:
            head = file.read(_HEAD_BYTES)
            yield dict(reversed(_HEAD.findall(head.decode("utf-8", "replace"))))
            content = head + file.read(_LARGEST_OBJECT)
    except (OSError, ValueError):
        losses.add(UNREADABLE)
        return
    if len(content) > _LARGEST_OBJECT:
        losses.add(TOO_LARGE)
        return
    whole = parsed(content)
    if isinstance(whole, dict):
        yield {key: value for key, value in whole.items() if key != "messages"}
        yield from blocks(whole.get("messages"))


def header(records: Iterable[Record], found: Found, around: Around) -> Header | None:
    """Id and folder: by the file beside it, by the hash, or by what the model was told."""
    native, started_us, cwd = "", 0, _folder_beside(found.path)
    for _number, record in zip(range(HEAD_RECORDS), records, strict=False):
        if record.get("kind") == "subagent":
            return Header(native or "-", cwd, is_subagent=True)
        native = native or text_of(record, "sessionId")
        started_us = started_us or instant(record.get("startTime") or record.get("timestamp"))
        cwd = cwd or _of_hash(text_of(record, "projectHash"), around) or _told_folder(record)
        if native and cwd:
            return Header(native, cwd, started_us)
    return Header(native, cwd, started_us) if native else None


def _folder_beside(path: str) -> str:
    try:
        with open_plain(Path(path).parent.parent / ".project_root") as file:
            return file.read(_FOLDER_BYTES).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def _of_hash(named: str, around: Around) -> str:
    return next((root for root in around.roots if _hash(root) == named), "") if named else ""


def _told_folder(record: Record) -> str:
    for message in (record, *blocks(member(record, "$set").get("messages"))):
        told = _WORKSPACE.search(joined(message.get("content"), "text")[:16_384])
        if told:
            return (told[1] or told[2]).strip()
    return ""


def tell(records: Iterable[Record], telling: Telling) -> None:
    """Messages in order of their first coming; one that is written again, when its tools are done, as it is last."""
    messages: dict[str, Record] = {}
    for number, record in enumerate(records):
        patch = member(record, "$set")
        if isinstance(patch.get("messages"), list):
            messages = {text_of(one, "id") or f"{number}.{at}": one for at, one in enumerate(blocks(patch["messages"]))}
        elif record.get("type") in ("user", "gemini", "model"):
            messages[text_of(record, "id") or str(number)] = record
    for key, message in messages.items():
        _tell(message, telling, key)


def _tell(message: Record, telling: Telling, key: str) -> None:
    at, text = message.get("timestamp"), joined(message.get("content"), "text")
    if message.get("type") == "user":
        if not text.lstrip().startswith("<session_context>"):
            telling.prompt(key, text, at)
        return
    telling.answer(key, text, at)
    for number, call in enumerate(blocks(message.get("toolCalls"))):
        name, call_id = text_of(call, "name"), text_of(call, "id") or f"{key}:{number}"
        when = call.get("timestamp") or at
        telling.call(f"{key}:{number}", call_id, name, call.get("args"), when)
        if name and ("result" in call or call.get("status") in ("success", "error", "cancelled")):
            status = call.get("status")
            failed = {"error": True, "cancelled": True, "success": False}.get(status if isinstance(status, str) else "")
            telling.result(f"{key}:{number}:r", call_id, _output(call), when, is_error=failed)


def _output(call: Record) -> str:
    parts = []
    for one in blocks(call.get("result")):
        response = member(member(one, "functionResponse"), "response")
        parts.append(text_of(response, "output", "error") or text_of(one, "text"))
    return "\n".join(part for part in parts if part) or text_of(call, "resultDisplay")
