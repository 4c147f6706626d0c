"""The store inside one process: writing a page, looking at the tree, rebuilding, querying, and what git keeps.

Run by hand: `python tests/bench/bench_store.py [PART ...]`; see --help.
"""

import argparse
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import measure
from measure import Row

from ai_memory.model import PageRef, ResolvedBy, Scope
from ai_memory.operations.write import write_page
from ai_memory.search.engine import answer
from ai_memory.search.prepare import STOPWORDS
from ai_memory.search.request import Request
from ai_memory.store.wiki import Wiki
from ai_memory.text.sanitize import sanitize

WRITES = 40
QUERIES = 300


def bench_write(_: argparse.Namespace) -> list[Row]:
    """`write-page` inside the process, with 1,000 and 10,000 files in the folder: half changed, half new pages."""
    rows = []
    for files, budget_ms in ((1_000, 40), (10_000, 120)):
        with measure.scratch() as root:
            measure.fill(root, files, path_of=measure.flat)
            memory = measure.memory(root)
            memory.reindex()
            writer = measure.Writer(11)

            def write(number: int, memory=memory, writer=writer, files=files) -> None:
                path = measure.flat(number * 7 if number % 2 else files + number)
                body = writer.page(number, files, path_of=measure.flat)
                write_page(memory, path=path, body=body, workspace=measure.SCOPE[0], project=measure.SCOPE[1])

            for number in range(4):
                write(number)
            spent = [measure.seconds(lambda number=number: write(number)) * 1000 for number in range(4, WRITES)]
            rows.append(
                Row(f"write-page, {files:,} files in the folder, median", measure.share(spent, 0.5), "ms", budget_ms)
            )
            rows.append(Row(f"write-page, {files:,} files in the folder, p95", measure.share(spent, 0.95), "ms"))
    return rows


def bench_look(_: argparse.Namespace) -> list[Row]:
    """A look at the whole work tree of 10,000 pages that nobody edited, and at one with ten edits."""
    with measure.scratch() as root:
        measure.fill(root, 10_000)
        memory = measure.memory(root)
        memory.reindex()
        memory.adopt()
        quiet = min(measure.seconds(memory.adopt) for _ in range(5)) * 1000
        for number in range(10):
            path = root / "data" / "wiki" / "/".join(measure.SCOPE) / measure.spread(number * 900)
            path.write_text(path.read_text() + "\nOne more line.\n")
        edited = measure.seconds(memory.adopt) * 1000
    return [
        Row("look at 10,000 pages, nothing edited", quiet, "ms"),
        Row("look at 10,000 pages, ten edited and taken", edited, "ms"),
    ]


def bench_rebuild(_: argparse.Namespace) -> list[Row]:
    """A rebuild of 10,000 pages in a process of its own, whose peak resident set is read."""
    code = (
        "import sys, measure; from pathlib import Path; made = measure.memory(Path(sys.argv[1])).reindex();"
        " print(made.pages, made.chunks, measure.peak_mb())"
    )
    with measure.scratch() as root:
        measure.fill(root, 10_000)
        spent, peak = [], 0.0
        for _ in range(2):
            words = [sys.executable, "-c", code, str(root)]
            out: list[str] = []
            spent.append(
                measure.seconds(
                    lambda words=words, out=out: out.append(
                        subprocess.run(
                            words, check=True, capture_output=True, text=True, cwd=Path(__file__).parent
                        ).stdout
                    )
                )
            )
            pages, chunks, peak = map(float, out[0].split())
            assert (pages, chunks) == (10_000, 10_000 * measure.SECTIONS), out
        size_mb = sum(path.stat().st_size for path in (root / "data").glob("index-*")) / 1e6
    return [
        Row("rebuild of 10,000 pages, 40,000 chunks, whole process", min(spent), "s", 10),
        Row("peak resident set of the rebuild", peak, "MB", 200),
        Row("size of the index", size_mb, "MB"),
    ]


def bench_query(_: argparse.Namespace) -> list[Row]:
    """CPU time of queries inside the process, each with its own snapshot, at 10,000 and at 100,000 chunks."""
    base_ms = min(measure.cpu_ms([sys.executable, "-I", "-S", "-c", "pass"], dict(os.environ)) for _ in range(10))
    rows = [Row("`python -I -S -c pass`, CPU", base_ms, "ms")]
    for chunks, budget_ms in ((10_000, 15), (100_000, 60)):
        with measure.scratch() as root:
            measure.fill(root, chunks // measure.SECTIONS)
            memory = measure.memory(root)
            memory.reindex()
            writer = measure.Writer(23)
            scope = Scope(*measure.SCOPE, resolved_by=ResolvedBy.FLAG)

            def ask(query: str, memory=memory, scope=scope) -> float:
                begun = time.process_time()
                with memory.reading() as snapshot:
                    answer(snapshot, Request((query,), (scope,), may_abstain=True))
                return (time.process_time() - begun) * 1000

            ask(writer.query())
            spent = [ask(writer.query()) for _ in range(QUERIES)]
            worst = max(map(ask, hard_queries(writer)))
        rows += [
            Row(f"query, {chunks:,} chunks, median, CPU", measure.share(spent, 0.5), "ms"),
            Row(f"query, {chunks:,} chunks, p95, CPU", measure.share(spent, 0.95), "ms", budget_ms),
            Row(f"the worst of {len(hard_queries(writer))} made to be slow, {chunks:,} chunks", worst, "ms"),
        ]
    return rows


def hard_queries(writer: measure.Writer) -> list[str]:
    """Stop words alone, 64 common words, expressions that everything fulfils, beginnings of one letter, 100 KB."""
    made_up = [word for word in writer.words if word not in STOPWORDS]
    common = writer.words[:64]
    return [
        *("what is that", " ".join(common), " ".join(made_up[:64]), " ".join(made_up[:15_000])),
        *("x OR " + " OR ".join(common), "x OR " + " OR ".join(made_up[:60]), f'"{common[0]} {common[1]}"'),
        *("x OR " + " OR ".join(f"{sign}*" for sign in "bcdfghkl"), "x OR ba* OR be* OR bi* OR bo* OR bu* OR ca*"),
        *("0123456789ab", "データベース移行の手順について"),
    ]


def bench_growth(arguments: argparse.Namespace) -> list[Row]:
    """What 10,000 writes of one page each leave in `.git`, tidied whenever the drain would."""
    count = arguments.writes
    with measure.scratch() as root:
        measure.fill(root, 1_000, path_of=measure.flat)
        memory = measure.memory(root)
        memory.reindex()
        git = root / "data" / "wiki" / ".git"
        _pack(git)
        before = _folder_mb(git)
        writer = measure.Writer(31)
        tidying = 0.0

        def write_all() -> None:
            nonlocal tidying
            for number in range(count):
                ref = PageRef(*measure.SCOPE, measure.flat(number * 7 % 1_000))
                text = writer.page(number, 1_000, path_of=measure.flat)
                with memory.writing(f"Write {ref.path}") as change:
                    change.put(ref, sanitize(text))
                if number % 100 == 99:  # about as often as a drain comes by
                    tidying += measure.seconds(memory.tidy)

        spent = measure.seconds(write_all)
        memory.tidy()
        loose = _folder_mb(git)
        _pack(git)
        packed = _folder_mb(git)
        waiting = loose - packed
        subprocess.run(["git", "-C", str(root / "data" / "wiki"), "fsck", "--strict"], check=True, capture_output=True)
    how = "measured" if count >= 10_000 else f"from {count:,} measured"
    return [
        Row(
            f".git after 10,000 writes of one page ({how})",
            before + (packed - before) * 10_000 / count + waiting,
            "MB",
            100,
        ),
        Row("of it the 1,000 pages of the beginning", before, "MB"),
        Row("of it loose objects that wait for the next pack", waiting, "MB"),
        Row("tidying, share of the time of writing", 100 * tidying / spent, "%"),
    ]


def _pack(git: Path) -> None:
    with closing(Wiki(git)) as wiki:
        wiki.pack()


def _folder_mb(folder: Path) -> float:
    """What the folder takes on disk, in MB of 10^6 bytes: whole blocks, as `du` counts."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 1e6


PARTS: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "write": bench_write,
    "look": bench_look,
    "rebuild": bench_rebuild,
    "query": bench_query,
    "growth": bench_growth,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told = "; ".join(f"{name}: {(part.__doc__ or '').strip()}" for name, part in PARTS.items())
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"which to run (default: all). {told}")
    parser.add_argument("--writes", type=int, default=1_000, help="writes of `growth`; 10000 is the whole (minutes)")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - PARTS.keys()
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    rows: list[Row] = []
    for name in arguments.parts or PARTS:
        rows += PARTS[name](arguments)
        gc.collect()
    measure.report(rows)


if __name__ == "__main__":
    main()
