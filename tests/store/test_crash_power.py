"""After a power cut at any call of a write, the next command brings all in step, and nothing that was said is lost.

The outbox is left out: it is not synced, the drain renders it again from the pages.
"""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from crash_driver import DRIVER, applied_changes, assert_in_step, copy_of, evidence, memory_at, page, pages, ref, start
from power_cut import Disk, Row, build


def recorded(name: str, root: Path) -> list[Row]:
    log = root.with_name("calls")
    subprocess.run([sys.executable, str(DRIVER), "record", name, str(root), str(log)], check=True, timeout=120)
    rows: list[Row] = pickle.loads(log.read_bytes())
    return rows


def cuts(base: Path, rows: list[Row], folder: Path, *, every: int = 1) -> Iterator[tuple[Path, str, bool]]:
    """Every disk that a power cut may leave, each once; what happened last; and whether the write was acknowledged."""
    disk, seen, is_answered = Disk(base), set(), False
    for number, row in enumerate(rows):
        disk.play(row)
        is_answered = is_answered or row.call == "answered"
        if number % every and not is_answered:
            continue
        for is_strict in (True, False):
            state = disk.state(is_strict=is_strict)
            told = tuple(sorted((name, None if file is None else file.synced) for name, file in state.items()))
            if (told, is_answered) not in seen:
                seen.add((told, is_answered))
                root = folder / f"cut-{number}-{'strict' if is_strict else 'lazy'}"
                build(root, state)
                yield root, f"{root.name} after {row.call} {row.path} {row.to}", is_answered


@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("write_one", 3),
        pytest.param("write_one", 1, marks=pytest.mark.slow),
        pytest.param("write_five", 1, marks=pytest.mark.slow),
    ],
)
def test_a_write_survives_a_power_cut_at_any_call(tmp_path: Path, name: str, every: int) -> None:
    base = tmp_path / "base"
    start(base)
    clean = copy_of(base, "clean")
    rows = recorded(name, clean)
    before, after = pages(base), pages(clean)
    quotes = evidence(clean)
    more = {ref("more/z.md").git_path: page("z")}
    count = 0
    for root, told, is_answered in cuts(base, rows, tmp_path, every=every):
        with memory_at(root).writing("Write on") as change:
            change.put(ref("more/z.md"), page("z"))
        found = pages(root)
        assert found in (before | more, after | more), told
        is_there = found == after | more
        assert is_there or not is_answered, told
        assert evidence(root) == (quotes if is_there else []), told
        assert len(applied_changes(root)) == len(applied_changes(base)) + is_there, told
        assert_in_step(root)
        count += 1
    assert count > 30 / every


@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.slow)])
def test_a_first_write_survives_a_power_cut_at_any_call(tmp_path: Path, every: int) -> None:
    clean = tmp_path / "clean"
    rows = recorded("first_write", clean)
    after = pages(clean)
    for root, told, is_answered in cuts(tmp_path / "nothing", rows, tmp_path, every=every):
        with memory_at(root).writing("Write on") as change:
            change.put(ref("more/z.md"), page("z"))
        found = pages(root)
        more = {ref("more/z.md").git_path: page("z")}
        assert found == after | more or (found == more and not is_answered), told
        assert_in_step(root)
