"""Sweeps that die at any step: each commit is whole, its tombstones are with it, and the next sweep does the rest."""

from pathlib import Path

import crash_driver
import pytest
from crash_driver import KILLED, SWEEP_US, Forge, assert_in_step, copy_of, memory_at, pages, ref

from ai_memory.model import Sanitized
from ai_memory.store import state_sessions
from ai_memory.store.state_sessions import Observation, Session
from ai_memory.store.tombstones import tombstones

EVERYWHERE = {"pending", "ref", "state", "file", "search-index", "rewrite-objects", "rewrite-ref", "rewrite-packed"}
Kept = tuple[dict[str, str], set[tuple[str, str]], int]


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Pages that are over or cold, two of them of sessions whose observations are old."""
    root = tmp_path / "begun"
    crash_driver.start(root)
    memory = memory_at(root)
    memory.clock = lambda: SWEEP_US - 100 * 86_400_000_000
    with memory.writing("Begin old ones") as change:
        for number in range(3):
            change.put(ref(f"over/{number}.md"), Sanitized("---\nexpires_at: 2026-01-01\n---\n# Over\n"))
        for number in range(2):
            text = f"---\nkind: session\nsession_id: s-{number}\n---\n# Old\n\n`word_{number}` and prose.\n"
            change.put(ref(f"sessions/{number}.md"), Sanitized(text))
            place = {"workspace": "default", "project": "crash", "path": f"sessions/{number}.md"}
            change.state("page-session", **place, session=f"s-{number}", role="about", at_us=memory.clock())
    with memory.state_transaction() as connection:
        for number in range(2):
            session = Session(
                id=f"s-{number}", native_id="", cwd="", agent="codex", workspace="default", project="crash", scope="{}",
                opened_at_us=1, last_at_us=1, ended_at_us=1, observations=3, covered=3,
            )  # fmt: skip
            state_sessions.put_session(connection, session)
            seen = [Observation(f"e-{number}-{at}", f"s-{number}", at, "user-prompt") for at in range(3)]
            state_sessions.add_observations(connection, seen)
    return root


def kept(root: Path) -> Kept:
    """Pages, tombstones, and how many observations there are."""
    with memory_at(root).state_reading() as connection:
        assert connection is not None
        stones = {(one.ref.path, one.reason) for one in tombstones(connection)}
        return pages(root), stones, connection.execute("SELECT count(*) FROM observations").fetchone()[0]


def kills(steps: tuple[str, ...], *, is_every: bool) -> dict[int, str]:
    """At which steps to die: each step, or the first two of some names."""
    if is_every:
        return dict(enumerate(steps))
    found: dict[int, str] = {}
    for number, step in enumerate(steps):
        if step in EVERYWHERE and list(found.values()).count(step) < 2:
            found[number] = step
    return found


@pytest.mark.parametrize("is_every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "every"])
@pytest.mark.parametrize("name", ["sweep", "sweep_for_good"])
def test_a_sweep_that_was_killed_is_ended_by_the_next(forge: Forge, begun: Path, name: str, is_every: bool) -> None:
    if name == "sweep_for_good":
        assert forge.run("sweep", begun).status == 0
    clean = copy_of(begun, "clean")
    outcome = forge.run(name, clean)
    assert outcome.status == 0
    after = kept(clean)
    expected = {
        "sweep": "3 expired, 2 cut down, 6 observations dropped",
        "sweep_for_good": "5 erased",
    }[name]
    assert outcome.answer == expected
    for number, step in kills(outcome.steps, is_every=is_every).items():
        root = copy_of(begun, f"killed-{number}")
        assert forge.run(name, root, kill_at=number).status == KILLED, step
        memory_at(root).adopt()
        left, stones, observations = kept(root)
        gone = {path for path in kept(copy_of(begun, f"whole-{number}"))[0] if path not in left}
        if name == "sweep":
            assert {path.split("/", 2)[2] for path in gone} <= {path for path, _ in stones}, step
            assert observations in (6, 4, 2, 0), step
        assert forge.run(name, root).status == 0, step
        assert kept(root) == after, step
        assert_in_step(root)
        fsck = crash_driver.git(root, "fsck", "--strict", "--no-dangling", "--no-progress")
        assert fsck == "", step


def test_a_full_disk_in_the_middle_of_a_sweep_takes_nothing_halfway(begun: Path) -> None:
    """The commit point cannot be passed: no page goes, and no tombstone tells of one."""
    before = kept(copy_of(begun, "untouched"))
    memory = memory_at(begun, lambda step: _full() if step == "before-pending" else None)
    memory.clock = lambda: SWEEP_US
    from ai_memory.config_table import Config
    from ai_memory.operations.forget_sweep import swept

    with pytest.raises(OSError, match="No space"):
        swept(memory, None, Config())
    assert kept(begun) == before


def _full() -> None:
    raise OSError(28, "No space left on device")
