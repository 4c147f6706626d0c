"""GitHub Copilot CLI: `session-state/<id>/events.jsonl`, older `session-state/<id>.jsonl`, lines `{type, data, …}`."""

import os
from collections.abc import Iterable, Iterator

from ai_memory.transcripts.instants import instant
from ai_memory.transcripts.lines import blocks, member, parsed, text_of
from ai_memory.transcripts.record import HEAD_RECORDS, Around, Found, Header, Record
from ai_memory.transcripts.scan import Scan
from ai_memory.transcripts.telling import Telling

AGENT = "copilot-cli"
SUBAGENT = "records of subagents"


def find(around: Around, scan: Scan) -> Iterator[Found]:
    """All event files: nothing in their names tells the folder of a session."""
    state = os.path.join(around.folder("COPILOT_HOME", ".copilot"), "session-state")  # noqa: PTH118 (may hold any bytes)
    yield from scan.files(AGENT, state, (".jsonl",))
    for folder in scan.folders(state):
        yield from scan.files(AGENT, folder, ("events.jsonl",), beginning="events")


def header(records: Iterable[Record], _: Found, __: Around) -> Header | None:
    """From `session.start`."""
    for _number, record in zip(range(HEAD_RECORDS), records, strict=False):
        if record.get("type") == "session.start":
            told = member(record, "data")
            context = member(told, "context")
            return Header(
                text_of(told, "sessionId"),
                text_of(context, "cwd", "gitRoot"),
                instant(told.get("startTime")) or instant(record.get("timestamp")),
                branch=text_of(context, "branch"),
                commit=text_of(context, "headCommit"),
            )
    return None


def tell(records: Iterable[Record], telling: Telling) -> None:
    """Events in the order of the file."""
    said = ""
    for number, record in enumerate(records):
        told, at = member(record, "data"), record.get("timestamp")
        key = text_of(record, "id") or str(number)
        if told.get("parentToolCallId") or told.get("parentAgentTaskId"):
            telling.losses.add(SUBAGENT)
            continue
        match record.get("type"):
            case "user.message":
                telling.prompt(key, text_of(told, "content"), at)
            case "assistant.message":
                message = text_of(told, "messageId")
                is_more = bool(message) and message == said and bool(told.get("chunkIndex"))
                said = message
                telling.answer(key, text_of(told, "content"), at, more=is_more)
                for place, request in enumerate(blocks(told.get("toolRequests"))):
                    _call(request, telling, f"{key}:{place}", at)
            case "tool.execution_start":
                _call(told, telling, key, at)
            case "tool.execution_complete":
                _result(told, telling, key, at)
            case "session.compaction_complete":
                telling.compaction(key, text_of(told, "summaryContent"), at)
            case "session.start" | "session.resume":
                telling.cwd = text_of(member(told, "context"), "cwd") or telling.cwd


def _call(told: Record, telling: Telling, key: str, at: object) -> None:
    given = told.get("arguments")
    if isinstance(given, str):
        given = parsed(given) or {"input": given}
    telling.call(key, text_of(told, "toolCallId"), text_of(told, "toolName", "name"), given, at)


def _result(told: Record, telling: Telling, key: str, at: object) -> None:
    success = told.get("success")
    output = text_of(member(told, "result"), "content", "detailedContent") or text_of(member(told, "error"), "message")
    failed = not success if isinstance(success, bool) else None
    telling.result(key, text_of(told, "toolCallId"), output, at, is_error=failed)
