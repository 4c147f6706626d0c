"""Many bridges at once, and clients that are killed: nothing is lost, and nothing stays behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from bridge_client import RawClient, is_alive, wait_until
from cli_room import Room

from ai_memory.store.lock import WriterLock

BRIDGES = 10
PAGES_EACH = 4
EVENTS = 200
WRITES = 12


def command(room: Room) -> list[str]:
    return [sys.executable, "-m", "ai_memory", "mcp-bridge", "--data-dir", str(room.data_dir)]


def leftovers(data_dir: Path) -> list[str]:
    """Files that only a write under way may have: logs that are not folded in, temporary names, seats of waiters."""
    found = [one for one in data_dir.rglob("*") if one.is_file()]
    odd = [one for one in found if ".tmp" in one.name or one.name in ("pending", "index.lock", "main.lock")]
    return [str(one.relative_to(data_dir)) for one in [*odd, *(data_dir / "locks" / "waiting").glob("*")]]


def ask_to_write(client: RawClient, page: str) -> None:
    body = f"# Page {page}\n\nThe retry budget."
    client.ask(page, "tools/call", {"name": "memory_write_page", "arguments": {"path": page, "body": body}})


def written(client: RawClient, page: str) -> str:
    """The answer to the write. Who waited 5 s for the lock is told so, and asks again."""
    while True:
        result = client.answer_to(page, 120)["result"]
        text = str(result["content"][0]["text"])
        if not text.startswith("error busy: "):
            assert not result["isError"], text
            return text
        ask_to_write(client, page)


@pytest.mark.slow
def test_ten_bridges_and_a_drain_at_once_lose_nothing(room: Room) -> None:
    """Each bridge imports the SDK, a second of work on a machine that does nothing else."""
    for number in range(EVENTS):
        room.tell("user-prompt", text=f"Mend number {number}.", at_us=time.time_ns() // 1000 + number)
    with ExitStack() as stack:
        clients = [stack.enter_context(RawClient(command(room), cwd=room.checkout)) for _ in range(BRIDGES)]
        drain = subprocess.Popen([sys.executable, "-m", "ai_memory", "drain", "--data-dir", str(room.data_dir)])
        pages = {
            client: [f"notes/b{at}-{number}.md" for number in range(PAGES_EACH)] for at, client in enumerate(clients)
        }
        for client in clients:
            client.greet()
        for client, paths in pages.items():
            for path in paths:
                ask_to_write(client, path)
                client.ask(f"q {path}", "tools/call", {"name": "memory_query", "arguments": {"query": "retry budget"}})
        for client, paths in pages.items():
            for path in paths:
                assert written(client, path).startswith(f"created {path}")
                assert not client.answer_to(f"q {path}", 120)["result"]["isError"]
        assert drain.wait(120) == 0
        listed = clients[0].call("all", "memory_recent", limit=100)["content"][0]["text"]
    assert all(path in listed for paths in pages.values() for path in paths)
    room.drain()
    assert len(room.json("session", "7d3f0a5e", "--limit", "1000")["observations"]) == EVENTS
    assert room.git("status", "--porcelain") == ""
    assert leftovers(room.data_dir) == []


def test_a_call_that_is_cancelled_while_it_waits_for_the_lock_writes_nothing(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "The retry budget.")
    locks = room.data_dir / "locks"
    with RawClient(command(room), cwd=room.checkout) as client:
        client.greet()
        with WriterLock(locks, command="another").held(5):
            ask_to_write(client, "notes/cancelled.md")
            wait_until(lambda: list((locks / "waiting").glob("*")))
            client.notify("notifications/cancelled", {"requestId": "notes/cancelled.md"})
            wait_until(lambda: not list((locks / "waiting").glob("*")), 3)
        ask_to_write(client, "notes/b.md")
        assert written(client, "notes/b.md").startswith("created notes/b.md")
        assert "cancelled" not in client.call("all", "memory_recent")["content"][0]["text"]
        assert client.unread() == []
    assert leftovers(room.data_dir) == []


PARENT = """
import subprocess, sys, time
bridge = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
open(sys.argv[1], "w").write(str(bridge.pid))
greeting = '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}'
bridge.stdin.write(b'{"jsonrpc":"2.0","id":"i","method":"initialize","params":' + greeting.encode() + b'}\\n')
bridge.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\\n')
for number in range(WRITES):
    call = '{"name":"memory_write_page","arguments":{"path":"notes/w%d.md","body":"# W"}}' % number
    bridge.stdin.write(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":' % number + call.encode() + b'}\\n')
bridge.stdin.flush()
while b'"id":3' not in (line := bridge.stdout.readline()).replace(b" ", b""):
    assert line
open(sys.argv[1] + ".busy", "w").close()
time.sleep(60)
"""


def test_a_killed_client_leaves_no_process_no_lock_and_no_temporary_file(room: Room, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    words = [sys.executable, "-c", PARENT.replace("WRITES", str(WRITES)), str(told), *command(room)]
    parent = subprocess.Popen(words, cwd=room.checkout)
    wait_until(Path(f"{told}.busy").exists, 60)
    bridge = int(told.read_text())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not is_alive(bridge))
    room.ok("write-page", "-p", "notes/after.md", "-b", "# After")
    pages = {page["path"] for page in room.json("pages")["pages"]}
    assert "notes/after.md" in pages
    assert room.git("status", "--porcelain") == ""
    assert leftovers(room.data_dir) == []
