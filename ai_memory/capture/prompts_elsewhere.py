"""Prompts that no hook is told of: read from the harness's own file once its session was seen at work.

Antigravity writes each prompt as a line of `history.jsonl` and names none in its events. A line goes the way of every
event: policy, sanitiser and caps of the hook, the spool, the drain. Its ingest key makes it come once.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ai_memory import hook_call
from ai_memory.capture.spooled import ingest_name
from ai_memory.clock import LATEST_US
from ai_memory.errors import MemoryFault
from ai_memory.harnesses.antigravity_cli import ANTIGRAVITY_CLI
from ai_memory.harnesses.machine import Machine
from ai_memory.plainfile import open_plain
from ai_memory.store import audit, state, state_sessions
from ai_memory.store.memory import Memory
from ai_memory.store.span import Span
from ai_memory.store.state_sessions import Session
from ai_memory.text.times import parse_time
from ai_memory.transcripts.instants import counted

READ_BYTES = 4 << 20
"""Of the file's end."""
BEFORE_US = 60_000_000
"""A prompt comes this much before the first event of its session, or less; older ones belong to before the install."""
_TIMES = ("timestamp", "ts", "time", "created_at", "createdAt")
_UNTIL = re.compile(r" until (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$")
_MAX_PAUSES = 1_000


@dataclass(frozen=True, slots=True)
class _Line:
    conversation: str
    workspace: str
    prompt: str
    at_us: int

    @property
    def key(self) -> str:
        whole = "\0".join((self.conversation, str(self.at_us), self.prompt))
        return f"antigravity-{hashlib.sha256(whole.encode('utf-8', 'replace')).hexdigest()[:32]}"


def spool_prompts(memory: Memory, sessions: Iterable[str]) -> int:
    """Leave the prompts of these sessions that are not known yet in the spool; how many. Errors: OSError.

    Left out: what was typed before its session was seen, and what was typed while a pause held that is over now.
    """
    known = [one for one in (_session(memory, identifier) for identifier in sessions) if one is not None]
    by_conversation = {str(one.native_id): one for one in known if one.agent == ANTIGRAVITY_CLI.id and one.native_id}
    if not by_conversation:
        return 0
    over = _pauses_over(memory)
    found = [line for line in _lines(memory) if line.conversation in by_conversation]
    fresh = [
        line
        for line in _unapplied(memory, found)
        if line.at_us >= by_conversation[line.conversation].opened_at_us - BEFORE_US
        and not any(start <= line.at_us < end for start, end in over)
    ]
    return sum(_put(memory, line, by_conversation[line.conversation]) for line in fresh)


def _session(memory: Memory, identifier: str) -> Session | None:
    with memory.state_reading() as connection:
        return state_sessions.session(connection, identifier) if connection is not None else None


def _lines(memory: Memory) -> Iterator[_Line]:
    place = ANTIGRAVITY_CLI.prompts_at
    assert place is not None
    path = place.at(Machine(memory.caller.home, memory.caller.environ, sys.platform))
    try:
        with open_plain(Path(path)) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - READ_BYTES))
            content = file.read(READ_BYTES)
    except (OSError, ValueError):
        return
    for line in content.decode("utf-8", "replace").splitlines():
        found = _line(line)
        if found is not None:
            yield found


def _line(text: str) -> _Line | None:
    """One line; None for what is none of a prompt, or says no time: of that nobody can tell whether a pause held."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    named = [record.get(name) for name in ("conversationId", "workspace", "display")]
    conversation, workspace, prompt = (one if isinstance(one, str) else "" for one in named)
    at_us = _time(record)
    return _Line(conversation, workspace, prompt, at_us) if conversation and prompt and at_us else None


def _time(record: Mapping[str, object]) -> int:
    value = next((record[name] for name in _TIMES if record.get(name)), None)
    if isinstance(value, str):
        try:
            return parse_time(value)
        except MemoryFault:
            return 0
    return counted(value) if isinstance(value, (int, float)) else 0


def _unapplied(memory: Memory, lines: list[_Line]) -> list[_Line]:
    names = {line.key: ingest_name(ANTIGRAVITY_CLI.id, "", line.key) for line in lines}
    with memory.state_reading() as connection:
        applied = state.known_events(connection, list(names.values())) if connection is not None else set()
    return [line for line in lines if names[line.key] not in applied]


def _pauses_over(memory: Memory) -> list[tuple[int, int]]:
    """Spans in which some pause held that holds no more. One that still does is asked by the hook's own code."""
    now_us = memory.clock()
    with memory.state_reading() as connection:
        rows = audit.newest(connection, Span((LATEST_US, ""), _MAX_PAUSES)) if connection is not None else []
    resumes = [row for row in rows if row.verb == "resume"]
    spans = []
    for row in rows:
        if row.verb != "pause":
            continue
        where = row.subject.partition(" until ")[0]
        ends = [one.at_us for one in resumes if one.at_us >= row.at_us and f"{where} until " in one.subject]
        told = _UNTIL.search(row.subject)
        ends += [parse_time(told[1])] if told else []
        end = min(ends, default=now_us + 1)
        if end <= now_us:
            spans.append((row.at_us, end))
    return spans


def _put(memory: Memory, line: _Line, session: Session) -> bool:
    options = hook_call.Options(["--event", "user-prompt", "--agent", ANTIGRAVITY_CLI.id])
    options.producer = {"ingest-key": line.key, "occurred-at": str(line.at_us)}
    payload = {"conversationId": line.conversation, "prompt": line.prompt}
    if line.workspace or session.cwd:
        payload["cwd"] = line.workspace or session.cwd
    call = hook_call.Call(
        options,
        payload,
        agent=ANTIGRAVITY_CLI.id,
        data_dir=str(memory.data_dir.root),
        flags=[],
        is_off=hook_call.is_off(memory.caller.environ),
    )
    call.process = session.process  # that of the harness, which started no drain
    return call.put()[0] == "accepted"
