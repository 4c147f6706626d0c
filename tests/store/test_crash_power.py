"""After a power cut at any call of a write, the next command brings all in step, and nothing that was said is lost.

The outbox is left out: it is not synced, the drain renders it again from the pages.
"""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from crash_driver import (
    DRIVER,
    RUNS,
    add_evidence,
    applied_changes,
    assert_in_step,
    copy_of,
    evidence,
    memory_at,
    page,
    pages,
    ref,
    start,
)
from power_cut import Disk, Row, build

from ai_memory.paths import DataDir
from ai_memory.store import backup, erasing
from ai_memory.store.archive import check
from ai_memory.store.indexing import no_progress


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


@pytest.mark.parametrize("every", [24, pytest.param(1, marks=pytest.mark.slow)])
def test_an_archive_that_was_acknowledged_is_whole_after_a_power_cut(tmp_path: Path, every: int) -> None:
    base = tmp_path / "base"
    start(base)
    rows = recorded("back_up_inside", copy_of(base, "clean"))
    before, count = pages(base), 0
    for root, told, is_answered in cuts(base, rows, tmp_path, every=every):
        made = [path for path in DataDir(root).backups.glob("*.zip") if not path.name.startswith(".")]
        for path in made:
            check(path, no_progress)
        assert made or not is_answered, told
        assert pages(root) == before, told
        count += is_answered
    assert count


@pytest.mark.parametrize("every", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_a_restore_survives_a_power_cut_at_any_call(tmp_path: Path, every: int) -> None:
    base, archive = tmp_path / "base", tmp_path / "archive.zip"
    start(base)
    backup.make(memory_at(base), archive, no_progress)
    target = pages(base)
    with memory_at(base).writing("Later") as change:
        change.put(ref("later.md"), page("later"))
        add_evidence(change, "later")
    before = pages(base)
    rows = recorded("put_back", copy_of(base, "clean"))
    for root, told, is_answered in cuts(base, rows, tmp_path, every=every):
        found = pages(root)
        assert found in (before, target), told
        assert found == target or not is_answered, told
        assert evidence(root) == ([] if found == target else ["later"]), told
        assert_in_step(root)


@pytest.mark.parametrize("every", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_a_purge_survives_a_power_cut_at_any_call(tmp_path: Path, every: int) -> None:
    base, secret = tmp_path / "base", "the heron stands in the reeds at dawn"
    start(base)
    for number in range(2):
        with memory_at(base).writing("Write what shall go") as change:
            change.put(ref("a.md"), page("a", f"{secret}\n{number}\n"))
            add_evidence(change, secret)
    before = pages(base)
    clean = copy_of(base, "clean")
    rows = recorded("purge", clean)
    after = pages(clean)
    for root, told, is_answered in cuts(base, rows, tmp_path, every=every):
        found = pages(root)
        assert found in (before, after), told
        assert found == after or not is_answered, told
        if is_answered:
            assert erasing.traces(DataDir(root), [secret]) == [], told
        RUNS["purge"](memory_at(root))
        assert pages(root) == after, told
        assert erasing.traces(DataDir(root), [secret]) == [], told
        assert_in_step(root)
