"""The sanitiser: what share of made-up secrets it finds, and how often it takes for a secret what is none.

Run by hand: `python tests/bench/bench_sanitizer.py [--rounds N] [--folder DIR]… [--most-mb N] [--made-up-mb N]`.
Secrets come from `tests/secret_formats.py` and `tests/secret_places.py`, which share no pattern with the scrubber. What
holds no secret: text files below the folders (without one: Python's standard library and the packages beside it), and
made-up hashes, ids, images and lock files. Every label counts as a false hit there, also where a public file holds an
example of a real form. `--beside-library` asks detect-secrets the same, if it is installed.
"""

import argparse
import base64
import os
import random
import re
import sys
import sysconfig
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import measure

sys.path.insert(0, str(Path(__file__).parents[1]))

from secret_chosen import ALL
from secret_formats import Maker
from secret_places import CAP_BYTES, Case, cases

from ai_memory.hook_event import Cleaner
from ai_memory.hook_policy import Policy
from ai_memory.scrub import MARK, strip_controls
from ai_memory.text.sanitize import sanitize

MAX_FILE_BYTES = 4 << 20
LABEL = re.compile(r"\[REDACTED:([a-z0-9-]+)\]")

Finds = Callable[[Case], bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="secrets of each format in each surrounding")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--folder", action="append", default=[], metavar="DIR", help="text without secrets")
    parser.add_argument("--most-mb", type=float, default=1_000.0, help="of each folder, files chosen at random")
    parser.add_argument("--made-up-mb", type=float, default=24.0)
    parser.add_argument("--examples", type=int, default=10, help="to show of what was missed and of each source")
    parser.add_argument("--unmasked", action="store_true", help="show whole values")
    parser.add_argument("--beside-library", action="store_true", help="ask detect-secrets for the same secrets, too")
    arguments = parser.parse_args()
    mask = str if arguments.unmasked else masked
    print(f"\n{measure.facts()}")
    recall(finds, "ours", rounds=arguments.rounds, seed=arguments.seed, examples=arguments.examples, mask=mask)
    if arguments.beside_library:
        with library_finds() as found:
            recall(found, "detect-secrets", rounds=1, seed=arguments.seed, examples=0, mask=mask)
    folders = [Path(one) for one in arguments.folder] or default_folders()
    sources = {folder.name: files(folder, most_mb=arguments.most_mb) for folder in folders}
    false_hits(sources | made_up(arguments.made_up_mb), examples=arguments.examples, mask=mask)


def masked(value: str) -> str:
    """The first characters of a value, and how long it is."""
    return f"{value[:6]}… ({len(value)})"


# --- secrets ---


def finds(case: Case) -> bool:
    """Whether nothing of the secret is left: as the hook cleans an excerpt, else as a whole text is stored."""
    if case.is_cut:
        return not case.survives_in(Cleaner(Policy(), []).text(case.text, CAP_BYTES))
    return not case.survives_in(sanitize(case.text))


@contextmanager
def library_finds() -> Iterator[Finds]:
    """As detect-secrets finds it in a file with all its plugins and filters: a hit anywhere in the text counts."""
    from detect_secrets.core.scan import scan_file  # type: ignore[import-not-found]
    from detect_secrets.settings import default_settings  # type: ignore[import-not-found]

    with default_settings(), tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:

        def found(case: Case) -> bool:
            file.seek(0)
            file.truncate()
            file.write(case.text)
            file.flush()
            return any(scan_file(file.name))

        yield found


def recall(found: Finds, who: str, *, rounds: int, seed: int, examples: int, mask: Callable[[str], str]) -> None:
    """Print the share that is found: of all, per kind, per surrounding."""
    total: Counter[tuple[str, str]] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    shown: list[Case] = []
    for case in cases(ALL, rounds=rounds, seed=seed):
        is_found = found(case)
        groups = (("", "all"), ("kind", case.kind), ("surrounding", case.place))
        for group in (("words in the place of words", "apart"),) if case.is_open else groups:
            total[group] += 1
            missed[group] += not is_found
        if not is_found and not case.is_open and len(shown) < examples:
            shown.append(case)
    print(f"\n| found by {who} | secrets | missed | recall |\n|---|---:|---:|---:|")
    for group in sorted(total):
        what = " ".join(group).strip()
        print(f"| {what} | {total[group]:,} | {missed[group]:,} | {1 - missed[group] / total[group]:.2%} |")
    for case in shown:
        at = case.text.find(case.secret)
        around = case.text[max(0, at - 40) : at] + mask(case.secret) + case.text[at + len(case.secret) :][:30]
        print(f"missed: {case.kind}, {case.place}: {around!r}")


# --- what holds no secret ---


@dataclass(slots=True)
class Source:
    """What was read of one source and taken for a secret in it."""

    size_bytes: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    spent_s: float = 0.0


def default_folders() -> list[Path]:
    return [Path(sysconfig.get_paths()[name]) for name in ("stdlib", "purelib")]


def files(folder: Path, *, most_mb: float) -> Iterator[tuple[str, str]]:
    """(name, text) of the text files below, in an order of chance that is the same each time."""
    found = sorted(Path(top) / name for top, _, names in os.walk(folder) for name in names)
    random.Random(3).shuffle(found)
    left = most_mb * 1e6
    for file in found:
        if left <= 0:
            return
        text = text_of(file)
        if text:
            left -= len(text.encode("utf-8", "surrogatepass"))
            yield str(file.relative_to(folder)), text


def text_of(file: Path) -> str:
    """The text of a plain file that holds some; empty for anything else."""
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_FILE_BYTES:
            return ""
        content = file.read_bytes()
        return "" if b"\0" in content else content.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def false_hits(sources: dict[str, Iterator[tuple[str, str]]], *, examples: int, mask: Callable[[str], str]) -> None:
    """Print hits per MB of each source, per kind over all, and some of them."""
    scanned = {name: scan(texts, examples=examples, mask=mask) for name, texts in sources.items()}
    print("\n| without secrets | MB | hits | hits per MB | MB a second |\n|---|---:|---:|---:|---:|")
    for name, source in [*scanned.items(), ("all", total_of(list(scanned.values())))]:
        mb, hits = source.size_bytes / 1e6, source.hits.total()
        print(f"| {name} | {mb:,.1f} | {hits:,} | {hits / max(mb, 1e-9):.2f} | {mb / max(source.spent_s, 1e-9):.1f} |")
    print("\n| taken for | hits |\n|---|---:|")
    for kind, count in total_of(list(scanned.values())).hits.most_common():
        print(f"| {kind} | {count:,} |")
    for name, source in scanned.items():
        for example in source.examples:
            print(f"{name}: {example}")


def total_of(sources: Sequence[Source]) -> Source:
    total = Source()
    for one in sources:
        total.size_bytes += one.size_bytes
        total.spent_s += one.spent_s
        total.hits += one.hits
    return total


def scan(texts: Iterator[tuple[str, str]], *, examples: int, mask: Callable[[str], str]) -> Source:
    source = Source()
    pick = random.Random(5)
    for name, text in texts:
        before = strip_controls(text)
        started = time.process_time()
        after = sanitize(text)
        source.spent_s += time.process_time() - started
        source.size_bytes += len(text.encode("utf-8", "surrogatepass"))
        if after == before or MARK not in after:
            continue
        for kind, around, value in hits(before, after):
            source.hits[kind] += 1
            kept = f"{kind}: {name}: {around[-60:]!r} → {mask(value)!r}"
            at = len(source.examples) if len(source.examples) < examples else pick.randrange(source.hits.total())
            source.examples[at : at + 1] = [kept] if at < examples else source.examples[at : at + 1]
    return source


def hits(before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """(kind, what stands before, value) of each label that `before` has not."""
    pieces = LABEL.split(after)
    at = 0
    for number in range(1, len(pieces), 2):
        around, kind, rest = pieces[number - 1], pieces[number], pieces[number + 1]
        start = at + len(around)
        if before.startswith(f"{MARK}{kind}]", start):
            at = start + len(f"{MARK}{kind}]")
            continue
        end = before.find(rest[:40], start + 1) if rest else len(before)
        at = end if end >= 0 else start
        yield kind, around, before[start:at]


def made_up(most_mb: float) -> dict[str, Iterator[tuple[str, str]]]:
    """Lists of what is random and no secret, each a fair part of the whole."""
    maker = Maker(17)
    lines: dict[str, Callable[[], str]] = {
        "made-up hashes": lambda: f"{maker.of('0123456789abcdef', maker.pick.choice((32, 40, 64, 128)))}  lib/a.py",
        "made-up ids": lambda: f'{{"id": "{maker.uuid()}", "parent": "{maker.uuid()}", "trace": "{_hex(maker, 16)}"}}',
        "made-up git objects": lambda: f"100644 blob {_hex(maker, 20)} {maker.pick.randrange(9999):>7}\tsrc/a.ts",
        "made-up lock files": lambda: _locked(maker),
        "made-up images": lambda: f'<img src="data:image/png;base64,iVBORw0KGgo{_base64(maker, 6_000)}" alt="x">',
        "made-up mail parts": lambda: "\n".join(_base64(maker, 57) for _ in range(40)) + "\n",
    }
    return {name: _repeated(line, most_mb * 1e6 / len(lines)) for name, line in lines.items()}


def _repeated(line: Callable[[], str], size: float) -> Iterator[tuple[str, str]]:
    while size > 0:
        text = "\n".join(line() for _ in range(200))
        size -= len(text)
        yield "made up", text


def _hex(maker: Maker, size: int) -> str:
    return f"{maker.pick.getrandbits(size * 8):0{size * 2}x}"


def _base64(maker: Maker, size: int) -> str:
    return base64.b64encode(maker.pick.randbytes(size)).decode()


def _locked(maker: Maker) -> str:
    return maker.pick.choice(
        (
            f'      "integrity": "sha512-{_base64(maker, 64)}",\n      "dev": true,',
            f"example.org/m v1.2.3/go.mod h1:{_base64(maker, 32)}=",
            f'checksum = "{_hex(maker, 32)}"',
            f"    {{file = 'x-1.0-py3-none-any.whl', hash = 'sha256:{_hex(maker, 32)}'}},",
            f"lodash@^4.17.21:\n  resolution: {{integrity: sha512-{_base64(maker, 64)}}}",
            f"urn:uuid:{uuid.UUID(int=maker.pick.getrandbits(128))}",
        )
    )


if __name__ == "__main__":
    main()
