"""A backfill that is killed at any of its steps, and run again, ends where one that was not killed ends."""

import os
import re
import signal
from pathlib import Path

import forked
import pytest
from terminals import NINE_US, SECOND_US, Room
from transcript_house import House

from ai_memory.operations.backfill import backfill

SESSIONS = 3
NAMED = ("retold", "filled", "brought-in")
STEPS = len(NAMED) * SESSIONS
"""Of bringing in; the writes of pages after it have steps and tests of their own."""


def furnish(root: Path) -> House:
    (root / "home").mkdir(parents=True)
    house = House(Room(root))
    for number in range(SESSIONS):
        house.days_old = 1 + number
        house.claude(f"22222222-aaaa-4bbb-8ccc-00000000000{number}", start_us=NINE_US - number * 3_600 * SECOND_US)
    Path(house.cwd, "CLAUDE.md").write_text("Use tabs.\n")
    return house


def outcome(house: House) -> dict[str, object]:
    """All that must not depend on a kill."""
    where = str(house.room.root)
    rows = [repr(row) for one in house.sessions() for row in house.room.observations(one.id)]
    pages = [(str(page.ref), page.text) for kind in ("session", "note", "handoff") for page in house.room.pages(kind)]
    sessions = [
        (one.id, one.work, one.handed_work, one.handoff, one.covered, one.ended_at_us) for one in house.sessions()
    ]
    return {
        "rows": [_plain(row, where) for row in rows],
        "pages": [(ref, _plain(text, where)) for ref, text in pages],
        "sessions": sessions,
        "open": house.room.outbox.open_handoffs(),
        "status": house.room.git("status", "--porcelain"),
        "pending": house.room.data_dir.pending.exists(),
    }


def _plain(text: str, where: str) -> str:
    return text.replace(where, "").replace(re.sub("[^A-Za-z0-9]", "-", where), "")


def killed_at(house: House, kill_at: int) -> bool:
    """Run it in a process of its own that kills itself at its n-th step; whether it came so far."""
    child = os.fork()
    if child == 0:
        taken = 0

        def step(name: str) -> None:
            nonlocal taken
            taken += name in NAMED
            if name in NAMED and taken == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            backfill(house.memory(step=step))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    root = tmp_path_factory.mktemp("whole") / "room"
    before = os.environ.get("HOME", "")
    os.environ["HOME"] = str(root / "home")
    try:
        house = furnish(root)
        house.backfill()
    finally:
        os.environ["HOME"] = before
    return outcome(house)


@pytest.mark.parametrize("kill_at", range(1, STEPS + 1))
def test_a_killed_backfill_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: dict[str, object], kill_at: int
) -> None:
    house = furnish(tmp_path / "room")
    monkeypatch.setenv("HOME", str(house.home))
    assert killed_at(house, kill_at)
    for session in house.sessions():
        assert session.ended_at_us is not None, "a session comes in whole"
    house.backfill()
    assert outcome(house) == whole


def test_what_a_killed_backfill_left_is_paged_by_a_drain_without_a_handoff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = furnish(tmp_path / "room")
    monkeypatch.setenv("HOME", str(house.home))
    assert killed_at(house, STEPS)
    house.room.drain()
    assert len(house.room.pages("session")) == SESSIONS
    assert house.room.pages("handoff") == []


def test_two_backfills_at_once_bring_each_session_in_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: dict[str, object]
) -> None:
    house = furnish(tmp_path / "room")
    monkeypatch.setenv("HOME", str(house.home))
    words = ["backfill", "--since", "10y", "--data-dir", str(house.room.data_dir.root)]
    running = [forked.Process(words, cwd=Path(house.cwd)) for _ in range(3)]
    told = [one.communicate(timeout_s=120) for one in running]
    assert [one.returncode for one in running] == [0, 0, 0], told
    assert outcome(house) == whole
