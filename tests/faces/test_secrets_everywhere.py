"""A made-up secret goes into every text that a caller can give; afterwards no file of the data dir holds it.

Operations are taken from their table, and their parameters from their signatures: a new one is tried by itself.
"""

import contextlib
import json
import os
import random
import sqlite3
import string
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room
from hook_forge import forge

from ai_memory.errors import MemoryFault
from ai_memory.hook_harnesses import KINDS
from ai_memory.model import Caller
from ai_memory.operations.signature import REQUIRED, Parameter, bind, parameters
from ai_memory.operations.table import OPERATIONS, Operation
from ai_memory.paths import DataDir
from ai_memory.store.memory import Memory

HOOK = Path(__file__).parents[2] / "ai_memory" / "hook.py"
ALNUM = string.ascii_letters + string.digits
PICK = random.Random(3)
USUAL = {
    "path": "notes/first.md",
    "new": "notes/second.md",
    "body": "# First",
    "key": "capture.prompts",
    "value": "true",
    "to_project": "shop",
    "old": "First",
    "session": "thread-7",
    "index": "0",
    "role": "user",
    "text": "Mend the retry budget.",
}
"""Arguments of a call that is right but for one of them."""
FIELDS = (
    *("session_id", "cwd", "hook_event_name", "tool_name", "tool_use_id", "agent_id", "source", "reason", "model"),
    *("turn_id", "transcript_path", "agent_type", "status", "prompt", "message", "summary", "last_assistant_message"),
)


def made(length: int, signs: str = ALNUM) -> str:
    return "".join(PICK.choices(signs, k=length - 3)) + "aA7"


SECRETS: dict[str, tuple[str, str]] = {
    kind: (secret, shape.format(secret))
    for kind, secret, shape in (
        ("forge", "gh" + "p_" + made(36), "{}"),
        ("cloud", "AK" + "IA" + made(16, string.ascii_uppercase + string.digits).upper(), "{}"),
        ("jwt", f"eyJ{made(30)}.{made(60)}.{made(43)}", "{}"),
        ("header", made(40), "Authorization: " + "Bearer {}"),
        ("address", made(18), "postgres" + "://app:{}@db.local/shop"),
        ("named", made(24), "DB_PASSWORD" + "={}"),
    )
}
"""Kind → the secret, and the text that holds it."""

SPOKEN = [kind if kind in ("forge", "named") else pytest.param(kind, marks=pytest.mark.slow) for kind in SECRETS]
"""All of them; by default one that is told by its form and one that is told by its name."""


def calls(operation: Operation, text: str) -> Iterator[dict[str, Any]]:
    """One call for each text parameter: that one the secret, alone and in a sentence, the others as usual."""
    found = parameters(operation.load(), "cli")
    usual = {p.name: USUAL.get(p.name, "x") for p in found if p.default is REQUIRED}
    for parameter in found:
        if parameter.type in ("string", "array"):
            for given in worded(parameter, text):
                yield usual | {parameter.name: given}


def worded(parameter: Parameter, text: str) -> Iterator[Any]:
    yield (text,) if parameter.type == "array" else text
    page = f"---\ntitle: {text}\nrelations:\n  about: {text}\n---\n# {text}"
    for sentence in (f"+{text}", f"notes/{text}.md", f"{text}:notes/a.md", page):
        yield (sentence,) if parameter.type == "array" else sentence


def contents(data_dir: Path) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of everything that lies there: files, git objects unpacked, every cell of every database."""
    for path in sorted(data_dir.rglob("*")):
        name = str(path.relative_to(data_dir))
        yield name, name.encode()
        if not path.is_file():
            continue
        content = path.read_bytes()
        yield name, content
        if path.parent.parent.name == "objects" and len(path.parent.name) == 2:
            yield name, zlib.decompress(content)
        if path.suffix == ".db":
            yield from cells(path)
    listed = subprocess.run(
        ["git", "-C", str(data_dir / "wiki"), "log", "--all", "-p", "--format=raw"], capture_output=True, check=True
    )
    yield "git log", listed.stdout


def cells(path: Path) -> Iterator[tuple[str, bytes]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            with contextlib.suppress(sqlite3.Error):  # a virtual table whose module is not there: its shadows are
                for row in connection.execute(f'SELECT * FROM "{table}"'):
                    yield f"{path.name}: {table}", b"\0".join(str(cell).encode() for cell in row)


def found_in(data_dir: Path, secret: str) -> list[str]:
    """Where the secret, or most of it, stands."""
    part = secret[: max(16, len(secret) * 2 // 3)].encode()
    return sorted({name for name, content in contents(data_dir) if part.lower() in content.lower()})


@pytest.fixture
def memory(room: Room) -> Memory:
    environ = {"PATH": "/usr/bin:/bin", "AI_MEMORY_DATA_DIR": str(room.data_dir)}
    caller = Caller(cwd=str(room.checkout), environ=environ, home=str(Path.home()))
    opened = Memory.open(DataDir(room.data_dir), caller=caller, command="test")
    opened.create()
    room.ok("write-page", "-p", "notes/first.md", "-b", "# First\n\n[[notes/other]]")
    return opened


@pytest.mark.parametrize("kind", SPOKEN)
def test_no_argument_of_any_operation_brings_a_secret_to_the_disk(room: Room, memory: Memory, kind: str) -> None:
    secret, text = SECRETS[kind]
    for operation in OPERATIONS:
        function: Callable[..., Any] = operation.load()
        found = parameters(function, "cli")
        for given in calls(operation, text):
            with contextlib.suppress(MemoryFault):
                function(memory, **bind(found, given))
    assert room.json("pages")["pages"]
    assert found_in(room.data_dir, secret) == []


@pytest.mark.parametrize("kind", SPOKEN)
def test_no_field_of_a_payload_brings_a_secret_to_the_disk(room: Room, memory: Memory, kind: str) -> None:
    secret, text = SECRETS[kind]
    (room.data_dir / "locks").mkdir(exist_ok=True)
    nested = {f"k {text}": {"deep": [text, {"x": f"see {text}"}]}, "command": text, "file_path": f"/x/{text}"}
    whole = dict.fromkeys(FIELDS, text) | {"tool_input": nested, "tool_response": nested, "extra": nested}
    usual = {"session_id": "s-1", "cwd": str(room.checkout), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    payloads = [whole, usual | whole | {"session_id": "s-1", "cwd": str(room.checkout)}]
    payloads += [usual | {name: text} for name in FIELDS]
    for number, payload in enumerate(payloads):
        for event in KINDS if number < 2 else ("user-prompt", "post-tool-use"):
            (room.data_dir / "locks" / "drain.beat").touch()
            words = ["--data-dir", str(room.data_dir), "--agent", "codex", "--event", event]
            code, _, _ = forge().run(words, json.dumps(payload).encode(), env=os.environ, cwd=room.checkout)
            assert code == 0
    assert found_in(room.data_dir, secret) == []
    (room.data_dir / "locks" / "drain.beat").unlink()
    done = room.process("drain", "--data-dir", str(room.data_dir))
    assert done.returncode == 0, done.stderr
    assert list((room.data_dir / "spool").glob("*.json")) == []
    with memory.state_reading() as connection:
        assert connection is not None
        assert connection.execute("SELECT count(*) FROM observations").fetchone()[0] > len(payloads)
    assert memory.exists
    assert list((room.data_dir / "wiki").rglob("sessions/*/*.md"))
    assert found_in(room.data_dir, secret) == []


def test_what_lies_there_would_be_found(room: Room, memory: Memory) -> None:
    secret, text = SECRETS["forge"]
    room.file("notes/by-hand.md").write_text(f"# By hand\n\n{text}\n")
    room.ok("pages")
    found = found_in(room.data_dir, secret)
    assert "git log" in found
    assert any(name.startswith("wiki/.git/objects/") for name in found)
    assert any(name.startswith("index-") and ": " in name for name in found)
    assert memory.exists
