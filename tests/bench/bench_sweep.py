"""What a sweep of a large memory costs: looking at all pages, and taking some away, in a process of its own.

Run by hand: `python tests/bench/bench_sweep.py [--pages N] [--over N]`; see --help.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import measure
from measure import Row

WORDS = 30


def page(writer: measure.Writer, number: int, *, over_every: int) -> str:
    """A small page; some of them are over since long ago."""
    words = writer.text(WORDS)
    over = "expires_at: 2025-01-01\n" if number % over_every == 0 else ""
    return f"---\ntitle: {' '.join(words[:4])} {number}\ntier: episodic\n{over}---\n{' '.join(words)}\n"


def run(root: Path, *words: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak resident set in MB of one command; ends the run where it fails."""
    log = root / "told"
    begun = time.perf_counter()
    with log.open("wb") as out:
        command = [sys.executable, "-m", "ai_memory", *words]
        child = subprocess.Popen(command, cwd=root, env=measure.environment(root), stdout=out, stderr=out)
        _, status, used = os.wait4(child.pid, 0)
    spent = time.perf_counter() - begun
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{words} failed: {log.read_text()[-400:]}")
    peak_mb = used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return spent, used.ru_utime + used.ru_stime, peak_mb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--over", type=int, default=1_000, help="how many of them go")
    arguments = parser.parse_args()
    with measure.scratch() as root:
        (root / "home").mkdir(parents=True, exist_ok=True)
        writer, every = measure.Writer(5), max(1, arguments.pages // arguments.over)
        measure.fill(root, arguments.pages, page=lambda number: page(writer, number, over_every=every))
        run(root, "reindex")
        rows = []
        for name, words in (
            ("shown", ("forget-sweep", "--dry-run", "--json")),
            ("done", ("forget-sweep",)),
            ("again", ("forget-sweep",)),
            ("erased", ("archive", "purge", "--all", "--confirm")),
        ):
            wall_s, cpu_s, peak_mb = run(root, *words)
            rows += [Row(f"{name}", wall_s, "s"), Row(f"{name}, CPU", cpu_s, "s"), Row(f"{name}, peak", peak_mb, "MB")]
            print(f"{name}: {wall_s:.2f} s, CPU {cpu_s:.2f} s, {peak_mb:.0f} MB", file=sys.stderr, flush=True)
        measure.report(rows)


if __name__ == "__main__":
    main()
