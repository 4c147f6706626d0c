"""One room a test."""

from pathlib import Path

import pytest
from terminals import Agent, Room


@pytest.fixture
def room(tmp_path: Path) -> Room:
    """An empty data dir beside a checkout."""
    (tmp_path / "home").mkdir()
    return Room(tmp_path)


@pytest.fixture
def agent(room: Room) -> Agent:
    """Claude Code in that checkout."""
    return Agent(room, room.checkout())
