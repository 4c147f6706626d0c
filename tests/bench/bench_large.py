"""A memory of 100,000 small pages: what everyday commands cost there, each in a process of its own.

Run by hand: `python tests/bench/bench_large.py [COMMAND ...]`; see --help.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import measure
from measure import Row

SMALL_WORDS = 30
LINK_EVERY = 10
"""Every tenth page links to another one."""

PAGE = "notes/area-0007/page-000700.md"

COMMANDS: dict[str, tuple[str, ...]] = {
    "reindex": ("reindex",),
    "status": ("status",),
    "status --line": ("status", "--line"),
    "status --json": ("status", "--json"),
    "search": ("search", "--all", "the"),
    "read-page": ("read-page", PAGE),
    "pages": ("pages",),
    "recent": ("recent",),
    "list-projects": ("list-projects",),
    "write-page": ("write-page", PAGE, "--body", "# Another\n\nOne more line.\n"),
    "write-page, another": ("write-page", PAGE, "--body", "# A third\n"),
    "history": ("history", PAGE),
    "checkpoints": ("checkpoints",),
    "edits": ("commit", "-m", "By hand"),
    "backup": ("backup",),
    "backup --verify": ("backup", "--verify"),
    "restore": ("restore", "--force"),
    "search after it": ("search", "--all", "the"),
    "export": ("export", "out"),
    "doctor": ("doctor",),
    "lint": ("lint",),
    "forget, shown": ("forget", "--prefix", "notes/area-0002/"),
    "forget": ("forget", "--prefix", "notes/area-0002/", "--confirm", "--history"),
    "rename-project": ("rename-project", "bench", "other", "--confirm"),
    "compact": ("compact", "--confirm"),
}
"""What is measured, in this order, on the same memory."""

OF_ALL = {"reindex", "commit", "backup", "restore", "doctor", "lint", "compact", "rename-project", "list-projects"}
NAMES_WORKSPACE = {"rename-project"}
EDITED = 1_000
"""Files that a person changed before `edits`."""


def fill(root: Path, pages: int) -> None:
    """Small pages, written as files and committed with git, a hundred a folder."""
    writer = measure.Writer(5)
    measure.fill(root, pages, page=lambda number: small_page(writer, number, pages))


def small_page(writer: measure.Writer, number: int, pages: int) -> str:
    """A title, a tag, thirty words, and from every tenth page a link."""
    words = writer.text(SMALL_WORDS)
    link = f"\nSee [[{measure.spread(number * 7 % pages)}]].\n" if number % LINK_EVERY == 0 else ""
    return f"---\ntitle: {' '.join(words[:4])} {number}\ntags: [bench]\n---\n{' '.join(words)}\n{link}"


def edit(root: Path) -> None:
    """A person adds a line to many files."""
    folder = root / "data" / "wiki" / "/".join(measure.SCOPE)
    for number in range(EDITED):
        with (folder / measure.spread(number)).open("a", encoding="utf-8") as out:
            out.write("\nOne more line.\n")


BEFORE: dict[str, Callable[[Path], None]] = {"edits": edit}


def run(root: Path, name: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak resident set in MB of one command; ends the run where it fails."""
    words = COMMANDS[name]
    scope = ["--workspace", measure.SCOPE[0]] if words[0] in NAMES_WORKSPACE else []
    if words[0] not in OF_ALL:
        scope = ["--workspace", measure.SCOPE[0], "--project", measure.SCOPE[1]]
    if words[0] == "search":
        scope = []
    command = [sys.executable, "-m", "ai_memory", *words, *scope]
    log = root / "told"
    begun = time.perf_counter()
    with log.open("wb") as out:
        child = subprocess.Popen(command, cwd=root, env=measure.environment(root), stdout=out, stderr=out)
        _, status, used = os.wait4(child.pid, 0)
    spent = time.perf_counter() - begun
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        raise SystemExit(f"{command} ended with {code}: {log.read_text()[-400:]}")
    return spent, used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=f"of: {', '.join(COMMANDS)} (default: all)")
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--at", type=Path, help="a folder to keep the memory in, and to find it in the next time")
    arguments = parser.parse_args()
    unknown = set(arguments.commands) - COMMANDS.keys()
    if unknown:
        parser.error(f"no command {', '.join(sorted(unknown))}")
    with measure.scratch() as folder:
        root = arguments.at or folder
        if not (root / "data").exists():
            (root / "home").mkdir(parents=True, exist_ok=True)
            fill(root, arguments.pages)
        rows = []
        for name in arguments.commands or COMMANDS:
            if name in BEFORE:
                BEFORE[name](root)
            wall_s, cpu_s, peak_mb = run(root, name)
            rows += [Row(f"`{name}`", wall_s, "s"), Row(f"`{name}`, CPU", cpu_s, "s")]
            rows.append(Row(f"`{name}`, peak resident set", peak_mb, "MB"))
            print(f"{name}: {wall_s:.2f} s, CPU {cpu_s:.2f} s, {peak_mb:.0f} MB", file=sys.stderr, flush=True)
        measure.report(rows)


if __name__ == "__main__":
    main()
