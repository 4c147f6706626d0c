"""Claude Code: `projects/<folder as a slug>/<session id>.jsonl`. 18 versions were seen, 1.0.35 to 2.1.114.

Subagents are left out: their own files (`agent-….jsonl`, and what lies in deeper folders), `isSidechain` records.
"""

import os
import re
from collections.abc import Iterable, Iterator

from ai_memory.transcripts.instants import instant
from ai_memory.transcripts.lines import blocks, joined, member, text_of
from ai_memory.transcripts.record import HEAD_RECORDS, Around, Found, Header, Record
from ai_memory.transcripts.scan import Scan, is_slug_below
from ai_memory.transcripts.telling import Telling

AGENT = "claude-code"
SUBAGENT = "records of subagents"
COPIED = "records copied from another session"

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def projects_folder(around: Around) -> str:
    """Where it keeps a folder a project."""
    return os.path.join(around.folder("CLAUDE_CONFIG_DIR", ".claude"), "projects")  # noqa: PTH118 (may hold any bytes)


def find(around: Around, scan: Scan) -> Iterator[Found]:
    """Session files of the folders whose names fit the wanted roots."""
    for folder in scan.folders(projects_folder(around)):
        if is_slug_below(os.path.basename(folder), around.roots):
            for found in scan.files(AGENT, folder, (".jsonl",)):
                if not os.path.basename(found.path).startswith("agent-"):
                    yield found


def header(records: Iterable[Record], found: Found, _: Around) -> Header | None:
    """Id and folder. The file's name is the id where it can be one; a renamed file tells it in its records."""
    stem = os.path.basename(found.path).removesuffix(".jsonl")
    native = stem if _UUID.fullmatch(stem) else ""
    for _number, record in zip(range(HEAD_RECORDS), records, strict=False):
        native = native or text_of(record, "sessionId")
        cwd = text_of(record, "cwd")
        if native and cwd:
            started_us = instant(record.get("timestamp"))
            return Header(native, cwd, started_us, branch=text_of(record, "gitBranch"))
    return None


def tell(records: Iterable[Record], telling: Telling) -> None:
    """Records in the order of the file, all branches of it: that is what happened."""
    copied: list[Record] = []
    has_own = False
    for record in records:
        named = text_of(record, "sessionId")
        if named in ("", telling.native_id):
            has_own = has_own or bool(named)
            _tell(record, telling)
        elif not has_own:
            copied.append(record)
        else:
            telling.losses.add(COPIED)
    if has_own:
        telling.losses.add(COPIED, len(copied))
        return
    for record in copied:  # not one names this session: the file was renamed
        _tell(record, telling)


def _tell(record: Record, telling: Telling) -> None:
    kind = record.get("type")
    if kind not in ("user", "assistant", "system", "attachment"):
        return
    if record.get("isSidechain"):
        telling.losses.add(SUBAGENT)
        return
    telling.cwd = text_of(record, "cwd") or telling.cwd
    key, at = text_of(record, "uuid"), record.get("timestamp")
    content = member(record, "message").get("content", record.get("content"))
    if record.get("isCompactSummary"):
        telling.compaction(key, joined(content, "text"), at)
    elif kind == "assistant":
        _answer(content, telling, key, at, is_fault=bool(record.get("isApiErrorMessage")))
    elif kind == "user" and not record.get("isMeta"):
        _user(record, content, telling, key, at)
    elif kind == "attachment":
        _attachment(member(record, "attachment"), telling, key, at)


def _answer(content: object, telling: Telling, key: str, at: object, *, is_fault: bool) -> None:
    for number, block in enumerate(blocks(content)):
        if block.get("type") == "text" and not is_fault:
            telling.answer(f"{key}:{number}", text_of(block, "text"), at)
        elif block.get("type") == "tool_use":
            call_id = text_of(block, "id")
            telling.call(f"{key}:{number}", call_id, text_of(block, "name"), block.get("input"), at)


def _user(record: Record, content: object, telling: Telling, key: str, at: object) -> None:
    results = [block for block in blocks(content) if block.get("type") == "tool_result"]
    if not results:
        telling.prompt(key, joined(content, "text"), at)
        return
    richer = record.get("toolUseResult")
    for number, block in enumerate(results):
        is_error = block.get("is_error") is True
        whole = richer if isinstance(richer, dict) and len(results) == 1 and not is_error else None
        output = whole if whole is not None else block.get("content")
        call_id = text_of(block, "tool_use_id")
        telling.result(f"{key}:{number}", call_id, output, at, is_error=True if is_error else None)


def _attachment(attachment: Record, telling: Telling, key: str, at: object) -> None:
    """A prompt that was typed while the agent was busy."""
    if attachment.get("type") == "queued_command" and attachment.get("commandMode") in (None, "prompt"):
        telling.prompt(key, joined(attachment.get("prompt"), "text"), at)
