"""Several writers, killed from outside at any instant: what one acknowledged is there, and the next one goes on."""

import random
import re
import select
import time
from pathlib import Path

import forked
import pytest
from crash_driver import applied_changes, assert_in_step, git, memory_at, page, pages, ref, start, write_for_ever

SEED = 20_261_130
WRITERS = 3


def write_on(words: list[str]) -> int:
    """What a writer does until it is killed."""
    root, said, name = words
    write_for_ever(Path(root), Path(said), name)
    return 0


def writer(root: Path, said: Path, name: str) -> forked.Process:
    return forked.Process([str(root), str(said), name], cwd=root.parent, main=write_on)


def said_by(said: Path) -> dict[str, str]:
    """Version of every acknowledged page by its path; a line that the kill cut off was not said."""
    rows = re.findall(r"(\S+) ([0-9a-f]{40})\n", said.read_text(encoding="utf-8")) if said.exists() else []
    return dict(rows)


def kill_writers(root: Path, kills: int, *, seed: int) -> dict[str, str]:
    """Let three writers work while one after the other is killed; gives what they acknowledged."""
    chance = random.Random(seed)
    said = root.with_name("said")
    alive = [writer(root, said, f"w{number}") for number in range(WRITERS)]
    try:
        for number in range(kills):
            victim = chance.randrange(WRITERS)
            ready, _, _ = select.select([alive[victim].stdout], [], [], 60)
            assert ready, "the writer never came to its first write"
            deadline = time.monotonic() + chance.uniform(0, 0.25)
            while time.monotonic() < deadline:  # the very instant is what is drawn by lot
                pass
            _kill(alive[victim])
            alive[victim] = writer(root, said, f"k{number}")
    finally:
        for process in alive:
            _kill(process)
    return said_by(said)


def _kill(process: forked.Process) -> None:
    process.kill()
    process.communicate()


def assert_nothing_is_lost(root: Path, acknowledged: dict[str, str]) -> None:
    with memory_at(root).writing("Write on") as change:
        change.put(ref("more/z.md"), page("z"))
    assert_in_step(root)
    with memory_at(root).reading() as snapshot:
        versions = {found.ref.path: found.version for found in snapshot.pages(limit=100_000).pages}
    assert {path: versions.get(path) for path in acknowledged} == acknowledged
    changes = re.findall(r"^Change-Id: (\w+)", git(root, "log", "--format=%B"), re.MULTILINE)
    assert len(changes) == len(set(changes))
    assert set(applied_changes(root)) <= set(changes)


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_writers_killed_at_random_lose_nothing_that_they_acknowledged(tmp_path: Path, kills: int) -> None:
    root = tmp_path / "data"
    start(root)
    acknowledged = kill_writers(root, kills, seed=SEED + kills)
    assert acknowledged
    assert_nothing_is_lost(root, acknowledged)
    assert len(pages(root)) >= len(acknowledged)
