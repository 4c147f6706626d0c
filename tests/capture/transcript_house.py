"""A home folder in which agents keep their own records, written small in the shapes that the real programs write."""

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terminals import NINE_US, SECOND_US, Room

from ai_memory.clock import rfc3339
from ai_memory.model import Caller
from ai_memory.operations.backfill import Backfilled, backfill
from ai_memory.store import session_lookup
from ai_memory.store.memory import Memory, no_step
from ai_memory.store.state_sessions import Session

CLAUDE = "11111111-aaaa-4bbb-8ccc-000000000001"
CODEX = "01a22a61-8f22-7140-a25b-000000000002"
GEMINI = "22222222-aaaa-4bbb-8ccc-000000000003"
PI = "33333333-aaaa-4bbb-8ccc-000000000004"
COPILOT = "44444444-aaaa-4bbb-8ccc-000000000005"
OPENCODE = "ses_dd59b71f5ffepH41I5Zp"
DAY_US = 86_400 * SECOND_US


def lines(records: Iterable[object]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def claude_records(
    cwd: str, session: str = CLAUDE, *, start_us: int = NINE_US, prompt: str = "Mend the till."
) -> list[Any]:
    """A prompt, a read, a failed and a good test run, an answer."""
    at = [rfc3339(start_us + number * SECOND_US) for number in range(20)]
    base = {"sessionId": session, "cwd": cwd, "gitBranch": "till", "isSidechain": False, "version": "2.1.37"}

    def say(number: int, kind: str, content: object, **more: object) -> dict[str, Any]:
        message = {"role": kind, "content": content}
        return {**base, "type": kind, "uuid": f"u{number}", "timestamp": at[number], "message": message, **more}

    def use(number: int, call: str, name: str, given: Mapping[str, object]) -> dict[str, Any]:
        return say(number, "assistant", [{"type": "tool_use", "id": call, "name": name, "input": given}])

    def result(number: int, call: str, output: str, **more: object) -> dict[str, Any]:
        return say(number, "user", [{"type": "tool_result", "tool_use_id": call, "content": output, **more}])

    return [
        {"type": "summary", "summary": "of another session", "leafUuid": "x"},
        say(0, "user", prompt),
        use(1, "toolu_1", "Read", {"file_path": f"{cwd}/till.py"}),
        result(2, "toolu_1", "def total(): ..."),
        use(3, "toolu_2", "Bash", {"command": "pytest -q"}),
        result(4, "toolu_2", "1 failed", is_error=True),
        use(5, "toolu_3", "Edit", {"file_path": f"{cwd}/till.py", "old_string": "a", "new_string": "b"}),
        result(6, "toolu_3", "edited"),
        say(7, "assistant", [{"type": "thinking", "thinking": "hidden"}, {"type": "text", "text": "Mended."}]),
    ]


def codex_records(cwd: str, session: str = CODEX) -> list[Any]:
    at = [rfc3339(NINE_US + number * SECOND_US) for number in range(9)]
    meta = {"id": session, "cwd": cwd, "source": "cli", "git": {"branch": "main", "commit_hash": "c" * 40}}

    def item(number: int, **payload: object) -> dict[str, Any]:
        return {"timestamp": at[number], "type": "response_item", "payload": payload}

    return [
        {"timestamp": at[0], "type": "session_meta", "payload": meta},
        item(1, type="message", role="developer", content=[{"type": "input_text", "text": "You are Codex."}]),
        item(1, type="message", role="user", content=[{"type": "input_text", "text": "<environment_context>…"}]),
        {"timestamp": at[2], "type": "event_msg", "payload": {"type": "user_message", "message": "List the folder"}},
        item(2, type="message", role="user", content=[{"type": "input_text", "text": "List the folder"}]),
        item(3, type="reasoning", encrypted_content="x"),
        item(3, type="function_call", name="shell", call_id="call_1", arguments='{"command": ["bash", "-lc", "ls"]}'),
        item(
            4, type="function_call_output", call_id="call_1", output='{"output": "a.py", "metadata": {"exit_code": 0}}'
        ),
        item(5, type="message", role="assistant", content=[{"type": "output_text", "text": "One file."}]),
        {"timestamp": at[6], "type": "compacted", "payload": {"message": "The folder holds a.py."}},
    ]


def gemini_lines(cwd: str, session: str = GEMINI) -> list[Any]:
    """The newer format. The call's message comes twice, the second time with its result."""
    at = [rfc3339(NINE_US + number * SECOND_US) for number in range(9)]
    context = f"<session_context>\n- **Workspace Directories:**\n  - {cwd}\n</session_context>"
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}}
    done = call | {
        "result": [{"functionResponse": {"response": {"output": "a.py"}}}],
        "status": "success",
        "timestamp": at[4],
    }
    return [
        {"sessionId": session, "projectHash": "0" * 64, "startTime": at[0], "kind": "main"},
        {"$set": {"messages": [{"id": "m0", "timestamp": at[0], "type": "user", "content": [{"text": context}]}]}},
        {"id": "m1", "timestamp": at[1], "type": "user", "content": [{"text": "List the folder"}]},
        {"id": "m2", "timestamp": at[2], "type": "gemini", "content": "", "toolCalls": [call]},
        {"$set": {"lastUpdated": at[3]}},
        {"id": "m2", "timestamp": at[2], "type": "gemini", "content": "", "toolCalls": [done]},
        {"id": "m3", "timestamp": at[5], "type": "gemini", "content": "One file."},
    ]


def gemini_object(cwd: str, session: str) -> dict[str, Any]:
    """The older format: one object, which knows the folder by its hash alone."""
    header, _, *messages = [one for one in gemini_lines(cwd, session) if "$set" not in one or "messages" in one["$set"]]
    header["projectHash"] = hashlib.sha256(cwd.encode()).hexdigest()
    return header | {"messages": [messages[0], messages[2], messages[3]]}


def pi_records(cwd: str, session: str = PI) -> list[Any]:
    at = [rfc3339(NINE_US + number * SECOND_US) for number in range(9)]

    def entry(number: int, **message: object) -> dict[str, Any]:
        parent = f"e{number - 1}"
        return {"type": "message", "id": f"e{number}", "parentId": parent, "timestamp": at[number], "message": message}

    return [
        {"type": "session", "version": 3, "id": session, "timestamp": at[0], "cwd": cwd},
        entry(1, role="user", content=[{"type": "text", "text": "List the folder"}]),
        entry(
            2,
            role="assistant",
            content=[{"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "ls"}}],
        ),
        entry(3, role="toolResult", toolCallId="call_1", toolName="bash", content="a.py", isError=False),
        entry(4, role="bashExecution", command="git status", output="clean", exitCode=1),
        entry(5, role="assistant", content=[{"type": "text", "text": "One file."}]),
        {"type": "compaction", "id": "e6", "parentId": "e5", "timestamp": at[6], "summary": "The folder holds a.py."},
    ]


def copilot_records(cwd: str, session: str = COPILOT) -> list[Any]:
    at = [rfc3339(NINE_US + number * SECOND_US) for number in range(9)]

    def event(number: int, kind: str, **told: object) -> dict[str, Any]:
        return {"type": kind, "data": told, "id": f"e{number}", "timestamp": at[number], "parentId": f"e{number - 1}"}

    request = {"toolCallId": "call-1", "name": "shell", "arguments": '{"command": "ls"}'}
    return [
        event(0, "session.start", sessionId=session, startTime=at[0], context={"cwd": cwd, "branch": "main"}),
        event(1, "user.message", content="List the folder", transformedContent="<x>List the folder</x>"),
        event(2, "assistant.message", content="Looking.", toolRequests=[request], messageId="m1"),
        event(3, "tool.execution_start", toolCallId="call-1", toolName="shell", arguments={"command": "ls"}),
        event(4, "tool.execution_complete", toolCallId="call-1", success=True, result={"content": "a.py"}),
        event(5, "assistant.message", content="One ", toolRequests=[], messageId="m2", chunkIndex=0, chunkCount=2),
        event(5, "assistant.message", content="file.", toolRequests=[], messageId="m2", chunkIndex=1, chunkCount=2),
        event(6, "assistant.message", content="inner", parentToolCallId="call-9", toolRequests=[]),
    ]


def opencode_messages(cwd: str) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    start = NINE_US // 1000
    tool = {
        "status": "completed",
        "input": {"command": "ls"},
        "output": "a.py",
        "metadata": {"exit": 0},
        "time": {"start": start + 2000, "end": start + 3000},
    }
    return [
        (
            {"id": "msg_1", "role": "user", "time": {"created": start + 1000}},
            [
                {"id": "prt_1", "type": "text", "text": "List the folder"},
                {"id": "prt_2", "type": "text", "text": "made by a mode", "synthetic": True},
            ],
        ),
        (
            {"id": "msg_2", "role": "assistant", "path": {"cwd": cwd}, "time": {"created": start + 1500}},
            [
                {"id": "prt_3", "type": "reasoning", "text": "hidden"},
                {"id": "prt_4", "type": "tool", "tool": "bash", "callID": "call_1", "state": tool},
                {"id": "prt_5", "type": "text", "text": "One file."},
            ],
        ),
    ]


SCHEMA = (
    "CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL,"
    " time_created integer NOT NULL, time_updated integer NOT NULL)",
    "CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text)",
    "CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text)",
)


@dataclass
class House:
    """A home with agents' records, a checkout in which they worked, a data dir. Files are a day old."""

    room: Room
    days_old: float = 1.0

    @property
    def home(self) -> Path:
        return self.room.root / "home"

    @property
    def cwd(self) -> str:
        return self.room.checkout()

    def put(self, path: str, content: str) -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8", errors="surrogatepass")
        self.age(file)
        return file

    def age(self, file: Path) -> None:
        then_us = self.room.now_us - int(self.days_old * DAY_US)
        os.utime(file, ns=(then_us * 1000, then_us * 1000))

    def claude(
        self, session: str = CLAUDE, *, cwd: str | None = None, records: list[Any] | None = None, **more: Any
    ) -> Path:
        folder = cwd or self.cwd
        told = claude_records(folder, session, **more) if records is None else records
        return self.put(f".claude/projects/{re.sub('[^A-Za-z0-9]', '-', folder)}/{session}.jsonl", lines(told))

    def codex(self) -> Path:
        return self.put(f".codex/sessions/2026/11/30/rollout-x-{CODEX}.jsonl", lines(codex_records(self.cwd)))

    def gemini(self) -> Path:
        return self.put(".gemini/tmp/shop/chats/session-1.jsonl", lines(gemini_lines(self.cwd)))

    def old_gemini(self, session: str = GEMINI) -> Path:
        name = hashlib.sha256(self.cwd.encode()).hexdigest()
        content = json.dumps(gemini_object(self.cwd, session), indent=2)
        return self.put(f".gemini/tmp/{name}/chats/session-2.json", content)

    def pi(self) -> Path:
        slug = self.cwd.lstrip("/").replace("/", "-")
        return self.put(f".pi/agent/sessions/--{slug}--/2026_{PI}.jsonl", lines(pi_records(self.cwd)))

    def copilot(self) -> Path:
        return self.put(f".copilot/session-state/{COPILOT}/events.jsonl", lines(copilot_records(self.cwd)))

    def opencode(self) -> Path:
        file = self.home / ".local" / "share" / "opencode" / "opencode.db"
        file.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(file)
        database.execute("PRAGMA journal_mode=WAL")
        for statement in SCHEMA:
            database.execute(statement)
        self.add_opencode(database)
        database.commit()
        database.close()
        self.age(file)
        return file

    def add_opencode(self, database: sqlite3.Connection, session: str = OPENCODE, parent: str | None = None) -> None:
        start = NINE_US // 1000
        updated = (self.room.now_us - int(self.days_old * DAY_US)) // 1000
        database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", (session, parent, self.cwd, start, updated))
        for message, parts in opencode_messages(self.cwd):
            row = (f"{session}{message['id']}", session, message["time"]["created"], json.dumps(message))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for part in parts:
                inner = (f"{session}{part['id']}", row[0], session, json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", inner)

    def old_opencode(self, session: str = OPENCODE) -> Path:
        storage = ".local/share/opencode/storage"
        start = NINE_US // 1000
        info = {"id": session, "directory": self.cwd, "parentID": None, "time": {"created": start}}
        for message, parts in opencode_messages(self.cwd):
            self.put(f"{storage}/message/{session}/{message['id']}.json", json.dumps(message))
            for part in parts:
                self.put(f"{storage}/part/{message['id']}/{part['id']}.json", json.dumps(part))
        return self.put(f"{storage}/session/p1/{session}.json", json.dumps(info))

    def everything(self) -> None:
        """One session of each harness."""
        for furnish in (self.claude, self.codex, self.gemini, self.pi, self.copilot, self.opencode):
            furnish()

    def memory(self, *, cwd: str | None = None, step: Callable[[str], None] = no_step) -> Memory:
        """As the command line opens it, in the checkout."""
        caller = Caller(cwd=cwd or self.cwd, environ={}, home=str(self.home), face="cli")
        found = self.room.memory()
        return Memory.open(found.data_dir, caller=caller, clock=found.clock, command="backfill", step=step)

    def backfill(self, **more: Any) -> Backfilled:
        return backfill(self.memory(), **more)

    def sessions(self) -> list[Session]:
        with self.room.memory().state_reading() as connection:
            return session_lookup.sessions(connection) if connection is not None else []

    def kinds(self, session: str) -> list[str]:
        return [str(row.kind) for row in self.room.observations(session)]

    def stored(self) -> str:
        """All that was kept, as one text."""
        rows = [repr(row) for one in self.sessions() for row in self.room.observations(one.id)]
        pages = [page.text for kind in ("session", "handoff", "note") for page in self.room.pages(kind)]
        return "\n".join([*rows, *pages])
