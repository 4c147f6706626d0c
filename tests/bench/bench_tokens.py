"""Tokens of MCP servers: their `tools/list`, and the answers to the same questions over the same ten notes.

Run by hand: `python tests/bench/bench_tokens.py [--peer NAME=COMMAND]…`. Tokens are a quarter of the UTF-8 bytes,
rounded up (decision C10); beside them stands o200k where the package `bpe-openai` is installed.
"""

import argparse
import importlib
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

MATTERS = ("queue", "cache", "ledger", "till", "export", "import", "invoice", "mailer", "search", "login")
TITLES = [f"Retry budget of the {matter}" for matter in MATTERS]
BODIES = [
    f"The {matter} tries at most {number + 2} times, then it gives up and tells the person on duty. Between two tries"
    " it waits twice as long as before. Decided after the outage in March, when endless retries filled the disk."
    for number, matter in enumerate(MATTERS)
]
SLUG = "retry-budget-of-the-queue"
Call = tuple[str, dict[str, Any]]


def _ours() -> tuple[list[Call], dict[str, Call]]:
    writes = [
        ("memory_write_page", {"path": f"notes/retry-budget-of-the-{matter}.md", "body": f"# {title}\n\n{body}"})
        for matter, title, body in zip(MATTERS, TITLES, BODIES, strict=True)
    ]
    asked: dict[str, Call] = {
        "search": ("memory_query", {"query": "retry budget"}),
        "search, as JSON": ("memory_query", {"query": "retry budget", "format": "json"}),
        "read one": ("memory_read_page", {"path": f"notes/{SLUG}.md"}),
        "recent": ("memory_recent", {"limit": 10}),
        "nothing found": ("memory_query", {"query": "kubernetes ingress"}),
        "hand over": ("memory_handoff_begin", {"summary": BODIES[0], "next_steps": ["Round the tax"]}),
        "take over": ("memory_handoff_accept", {}),
        "state": ("memory_status", {}),
    }
    return writes, asked


def _server_memory() -> tuple[list[Call], dict[str, Call]]:
    entities = [
        {"name": title, "entityType": "note", "observations": [body]}
        for title, body in zip(TITLES, BODIES, strict=True)
    ]
    writes = [("create_entities", {"entities": [one]}) for one in entities]
    asked: dict[str, Call] = {
        "search": ("search_nodes", {"query": "Retry budget"}),
        "read one": ("open_nodes", {"names": [TITLES[0]]}),
        "nothing found": ("search_nodes", {"query": "kubernetes ingress"}),
    }
    return writes, asked


CALLS: Mapping[str, Callable[[], tuple[list[Call], dict[str, Call]]]] = {
    "ai-memory": _ours,
    "server-memory": _server_memory,
}
"""Server → how ten notes are written there, and what is asked of them. Of others only the tools are counted."""


class Server:
    """One server over stdio, asked one thing at a time."""

    def __init__(self, command: list[str], folder: str) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
        )
        self.number = 0
        info = {"name": "bench", "version": "0"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.number += 1
        self._send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self.number and "method" not in message:
                found: dict[str, Any] = message["result"]
                return found
        raise SystemExit(f"the server ended at {method}")

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """What the model reads: all texts of the answer."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(block.get("text", "") for block in result["content"])
        if result.get("isError"):
            sys.stderr.write(f"{tool}: {text[:300]}\n")
        return text


def counted(text: str) -> str:
    """`tokens / o200k`, the second where it can be told."""
    size = f"{ceil(len(text.encode()) / 4):,}"
    try:
        encoding = importlib.import_module("bpe_openai").get_encoding("o200k_base")
    except ImportError:
        return size
    return f"{size} / {len(encoding.encode(text)):,}"


def measured(name: str, command: list[str]) -> dict[str, str]:
    """Figures of one server by what was asked."""
    writes, asked = CALLS[name]() if name in CALLS else ([], {})
    with tempfile.TemporaryDirectory() as folder:
        server = Server([word.replace("{folder}", folder) for word in command], folder)
        tools = server.ask("tools/list", {})["tools"]
        listed = json.dumps(tools, separators=(",", ":"), ensure_ascii=False)
        found = {"tools": str(len(tools)), "`tools/list`": counted(listed)}
        answers = [server.call(tool, arguments) for tool, arguments in writes]
        if answers:
            found["write one"] = counted(answers[0])
        found |= {what: counted(server.call(*call)) for what, call in asked.items()}
        server.process.kill()
        server.process.wait()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=COMMAND", help="`{folder}` is a scratch one"
    )
    ours = [sys.executable, "-m", "ai_memory", "mcp-bridge", "--data-dir", "{folder}/data", "--project", "bench"]
    columns = {"ai-memory, core": measured("ai-memory", ours)}
    columns["ai-memory, full"] = measured("ai-memory", [*ours, "--profile", "full"])
    for peer in parser.parse_args().peer:
        name, _, command = peer.partition("=")
        columns[name] = measured(name, shlex.split(command))
    rows = dict.fromkeys(row for found in columns.values() for row in found)
    print(f"| |{'|'.join(columns)}|\n|---|{'---:|' * len(columns)}")
    for row in rows:
        print(f"| {row} | {' | '.join(found.get(row, '') for found in columns.values())} |")


if __name__ == "__main__":
    main()
