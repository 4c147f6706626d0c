"""What the benchmarks share: made-up wikis, clocks for child processes, and one table with the machine's facts.

Figures are compared inside one run on one machine only; see `docs/benchmarks.md`.
"""

import os
import platform
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.search.prepare import STOPWORDS
from ai_memory.store import driver
from ai_memory.store.memory import Memory

VOCABULARY = 20_000
PAGE_BYTES = 2_000
SECTIONS = 4
LINKS = 3
SCOPE = ("default", "bench")


# --- one table ---


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. A budget is an upper bound unless `at_least`."""

    what: str
    measured: float
    unit: str
    budget: float | None = None
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        if self.budget is None:
            return True
        return self.measured >= self.budget if self.at_least else self.measured <= self.budget


def report(rows: Sequence[Row]) -> None:
    """Print the machine's facts and the table: markdown, ready for `docs/benchmarks.md`."""
    print(f"\n{facts()}\n")
    print("| what | measured | budget | measured / budget | |\n|---|---:|---:|---:|---|")
    for row in rows:
        budget, share, verdict = "", "", ""
        if row.budget is not None:
            sign = "≥" if row.at_least else "≤"
            budget = f"{sign} {_number(row.budget)} {row.unit}"
            share = f"{row.measured / row.budget:.2f}"
            verdict = "met" if row.is_met else "MISSED"
        print(f"| {row.what} | {_number(row.measured)} {row.unit} | {budget} | {share} | {verdict} |")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1_000 or value == int(value) else f"{value:.3g}"


def facts() -> str:
    """Cores, Python, SQLite and the system."""
    return (
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {driver.DRIVER_NAME} with SQLite"
        f" {driver.SQLITE_VERSION}, {platform.system()} {platform.machine()}"
    )


# --- clocks ---


def cpu_ms(words: Sequence[str], environ: dict[str, str], *, cwd: str | None = None) -> float:
    """CPU milliseconds (user and system) of one child and what it waited for. Raises when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, env=environ, stdin=subprocess.DEVNULL, capture_output=True, cwd=cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{words} ended with {done.returncode}: {done.stderr.decode()[-400:]}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def seconds(run: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def share(values: Sequence[float], part: float) -> float:
    """The value below which `part` of the values lie (nearest rank)."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def peak_mb() -> float:
    """Largest resident set of this process so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


# --- made-up text ---


class Writer:
    """Writes text whose words follow Zipf's law: the stop words of English first, then made-up words. Seeded."""

    def __init__(self, seed: int = 7) -> None:
        self._pick = random.Random(seed)
        self.words = [*sorted(STOPWORDS), *self._made_up(VOCABULARY)]
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))

    def _made_up(self, count: int) -> list[str]:
        syllables = [c + v for c in "bcdfghklmnprstvz" for v in "aeiou"]
        found: dict[str, None] = {}
        while len(found) < count:
            found["".join(self._pick.choices(syllables, k=self._pick.choice((2, 2, 3, 3, 4))))] = None
        return list(found)

    def text(self, count: int) -> list[str]:
        return self._pick.choices(self.words, cum_weights=self._weights, k=count)

    def query(self) -> str:
        """Three to eight words, as people ask: stop words and others as they fall, at least one other."""
        while True:
            words = self.text(self._pick.randint(3, 8))
            if any(word not in STOPWORDS for word in words):
                return " ".join(words)

    def page(self, number: int, pages: int, *, path_of: Callable[[int], str]) -> str:
        """A page of about `PAGE_BYTES` in `SECTIONS` sections, each one chunk, with `LINKS` links to other pages."""
        title = " ".join(self.text(4))
        parts = [f"---\ntitle: {title} {number}\ntags: [{self.text(1)[0]}, bench]\n---\n"]
        left = PAGE_BYTES // SECTIONS - 40
        for section in range(SECTIONS):
            words = " ".join(self.text(left // 4))[:left]
            link = f"\nSee [[{path_of(self._pick.randrange(pages))}]].\n" if section < LINKS else "\n"
            parts.append(f"## {' '.join(self.text(3))}\n\n{words}\n{link}")
        return "\n".join(parts)


# --- made-up wikis ---


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards, also when the run is ended, with a home of its own in it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        (Path(folder) / "home").mkdir()
        yield Path(folder)


def environment(root: Path) -> dict[str, str]:
    """Environment for children: nothing of this person's settings."""
    return {
        "HOME": str(root / "home"),
        "PATH": os.environ["PATH"],
        "AI_MEMORY_DATA_DIR": str(root / "data"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def memory(root: Path, *, command: str = "bench") -> Memory:
    """The memory below `root`, made when it is not there."""
    caller = Caller(cwd=str(root / "home"), environ=environment(root), home=str(root / "home"))
    found = Memory.open(DataDir(root / "data"), caller=caller, command=command)
    found.create()
    return found


def spread(number: int) -> str:
    """Path of a page in a wiki with 100 pages a folder."""
    return f"notes/area-{number // 100:04}/page-{number:06}.md"


def flat(number: int) -> str:
    """Path of a page in a wiki of one folder."""
    return f"notes/page-{number:06}.md"


def fill(
    root: Path,
    pages: int,
    *,
    path_of: Callable[[int], str] = spread,
    page: Callable[[int], str] | None = None,
) -> None:
    """Put that many pages into a new wiki as a person would: files, then one commit by git."""
    memory(root)
    folder = root / "data" / "wiki" / "/".join(SCOPE)
    writer = Writer()
    made = page or (lambda number: writer.page(number, pages, path_of=path_of))
    for number in range(pages):
        path = folder / path_of(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made(number), encoding="utf-8")
    git = ["git", "-C", str(root / "data" / "wiki"), "-c", "user.name=Bench", "-c", "user.email=bench@localhost"]
    subprocess.run([*git, "add", "-A"], check=True, env=environment(root))
    subprocess.run([*git, "commit", "-q", "-m", "Fill"], check=True, env=environment(root))
