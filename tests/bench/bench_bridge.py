"""Bridge: spawn to `initialize` and `tools/list` answered, first call, later calls, exit, memory; beside `import mcp`.

Run by hand: `python tests/bench/bench_bridge.py [--runs N] [--pages N]`. Minima of interleaved runs; each median is of
calls in one bridge, over a wiki of 10,000 pages.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import measure
from measure import Row

COMMAND = [sys.executable, "-m", "ai_memory", "mcp-bridge"]
BUDGET = 0.2
CALL_BUDGET_MS = 10
CALLS = 50
SETTLING_S = 3.0
"""What is imported ahead of the first call is there by then."""
GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}


class Bridge:
    """One bridge process, asked one thing at a time."""

    def __init__(self, data_dir: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--data-dir", data_dir],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=data_dir,
        )

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def call(self, tool: str, **arguments: Any) -> float:
        """Seconds that the call took."""
        started = time.perf_counter()
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer["result"]["isError"], answer
        return time.perf_counter() - started

    def resident_mb(self) -> float:
        """Resident set, 0 where /proc is missing."""
        status = Path(f"/proc/{self.process.pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)

    def settled_mb(self) -> float:
        """Resident set once the SDK is imported: a method that only the SDK answers is answered."""
        self.ask("prompts/list", {})
        time.sleep(SETTLING_S)
        return self.resident_mb()

    def end(self) -> float:
        """Seconds from the end of its input to the end of the process."""
        started = time.perf_counter()
        self.process.stdin.close()
        self.process.wait()
        return time.perf_counter() - started


def command_seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - started


def one_run(data_dir: str) -> dict[str, float]:
    """Seconds (and MB) of one round."""
    found = {"bare interpreter": command_seconds("pass"), "import mcp": command_seconds("import mcp")}
    started = time.perf_counter()
    bridge = Bridge(data_dir)
    bridge.ask("initialize", GREETING)
    found["initialize"] = time.perf_counter() - started
    bridge.ask("tools/list", {})
    found["initialize + tools/list"] = time.perf_counter() - started
    found["resident, idle MB"] = bridge.settled_mb()
    started = time.perf_counter()
    bridge.call("memory_status")
    found["first call, once the SDK is there"] = time.perf_counter() - started
    place = {"workspace": measure.SCOPE[0], "project": measure.SCOPE[1]}
    writer = measure.Writer(23)
    recent = [bridge.call("memory_recent", limit=5, **place) for _ in range(CALLS)]
    found["memory_recent, median"] = statistics.median(recent)
    searched = [bridge.call("memory_query", query=writer.query(), **place) for _ in range(CALLS)]
    found["memory_query, median"] = statistics.median(searched)
    read = [bridge.call("memory_read_page", path=measure.spread(number), **place) for number in range(CALLS)]
    found["memory_read_page, median"] = statistics.median(read)
    found["resident, after the calls MB"] = bridge.resident_mb()
    found["exit"] = bridge.end()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pages", type=int, default=10_000)
    arguments = parser.parse_args()
    with measure.scratch() as root:
        measure.fill(root, arguments.pages)
        measure.memory(root).reindex()
        rounds = [one_run(str(root / "data")) for _ in range(arguments.runs)]
    least = {name: min(found[name] for found in rounds) for name in rounds[0]}
    rows = []
    for name, value in least.items():
        is_size = name.endswith("MB")
        budget = CALL_BUDGET_MS if name.endswith("median") else None
        rows.append(
            Row(name.removesuffix(" MB"), value if is_size else value * 1000, "MB" if is_size else "ms", budget)
        )
    ratio = least["initialize + tools/list"] / least["import mcp"]
    measure.report([*rows, Row("`initialize` + `tools/list` beside `import mcp`", ratio, "×", BUDGET)])


if __name__ == "__main__":
    main()
