"""Pi: `sessions/--<folder>--/<time>_<id>.jsonl`: a header, then a tree of entries by `id` and `parentId`.

The order of the file is kept and the tree is not walked: that is the order in which things happened, on all branches,
and a circle among the parents harms nobody.
"""

import os
from collections.abc import Iterable, Iterator

from ai_memory.transcripts.instants import instant
from ai_memory.transcripts.lines import blocks, joined, member, text_of
from ai_memory.transcripts.record import HEAD_RECORDS, Around, Found, Header, Record
from ai_memory.transcripts.scan import Scan
from ai_memory.transcripts.telling import Telling

AGENT = "pi"


def find(around: Around, scan: Scan) -> Iterator[Found]:
    """Session files of the folders whose names fit the wanted roots."""
    agent = around.folder("PI_CODING_AGENT_DIR", ".pi", "agent")
    sessions = around.environ.get("PI_CODING_AGENT_SESSION_DIR", "").strip() or f"{agent}/sessions"
    yield from scan.files(AGENT, sessions, (".jsonl",))
    wanted = tuple("--" + _slug(root) for root in around.roots)
    for folder in scan.folders(sessions):
        if not wanted or os.path.basename(folder).startswith(wanted):
            yield from scan.files(AGENT, folder, (".jsonl",))


def _slug(folder: str) -> str:
    return folder.lstrip("/\\").replace("/", "-").replace("\\", "-").replace(":", "-")


def header(records: Iterable[Record], _: Found, __: Around) -> Header | None:
    """From the line of type `session`."""
    for _number, record in zip(range(HEAD_RECORDS), records, strict=False):
        if record.get("type") == "session":
            return Header(text_of(record, "id"), text_of(record, "cwd"), instant(record.get("timestamp")))
    return None


def tell(records: Iterable[Record], telling: Telling) -> None:
    """Entries in the order of the file."""
    for number, record in enumerate(records):
        message = member(record, "message")
        key = text_of(record, "id") or str(number)
        at = record.get("timestamp") or message.get("timestamp")
        if record.get("type") == "compaction":
            telling.compaction(key, text_of(record, "summary"), at)
        elif record.get("type") == "message":
            _message(message, telling, key, at)


def _message(message: Record, telling: Telling, key: str, at: object) -> None:
    content = message.get("content")
    match message.get("role"):
        case "user":
            telling.prompt(key, joined(content, "text"), at)
        case "assistant":
            for number, block in enumerate(blocks(content)):
                if block.get("type") == "text":
                    telling.answer(f"{key}:{number}", text_of(block, "text"), at)
                elif block.get("type") == "toolCall":
                    name = text_of(block, "name")
                    telling.call(f"{key}:{number}", text_of(block, "id"), name, block.get("arguments"), at)
        case "toolResult":
            is_error = message.get("isError")
            telling.result(
                key,
                text_of(message, "toolCallId"),
                joined(content, "text"),
                at,
                is_error=is_error if isinstance(is_error, bool) else None,
                tool=text_of(message, "toolName"),
            )
        case "bashExecution":  # typed by the person, with `!` before it
            code = message.get("exitCode")
            failed = code != 0 if isinstance(code, int) else None
            given = {"command": text_of(message, "command")}
            telling.result(key, "", text_of(message, "output"), at, is_error=failed, tool="bash", given=given)
