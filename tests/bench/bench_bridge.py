"""Bridge: spawn to `initialize` and `tools/list` answered, first call, later calls, exit, memory; beside `import mcp`.

Run by hand: `python tests/bench/bench_bridge.py [RUNS]`. Minima of interleaved runs, as ratios to `import mcp`.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "ai_memory", "mcp-bridge"]
BUDGET = 0.2
CALLS = 50
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
    bridge.call("memory_status")
    found["first call answered"] = time.perf_counter() - started
    found["later call, median"] = statistics.median(bridge.call("memory_recent", limit=5) for _ in range(CALLS))
    found["resident MB"] = bridge.resident_mb()
    found["exit"] = bridge.end()
    return found


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as data_dir:
        rounds = [one_run(data_dir) for _ in range(runs)]
    least = {name: min(found[name] for found in rounds) for name in rounds[0]}
    base = least["import mcp"]
    for name, value in least.items():
        shown = (
            f"{value:8.1f} MB" if name.endswith("MB") else f"{value * 1000:8.1f} ms  {value / base:6.3f} x import mcp"
        )
        print(f"{name:26} {shown}")
    ratio = least["initialize + tools/list"] / base
    print(f"budget {BUDGET}: {'met' if ratio <= BUDGET else 'MISSED'} ({ratio:.3f})")


if __name__ == "__main__":
    main()
