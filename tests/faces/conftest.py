"""Fixtures of the faces."""

from pathlib import Path

import pytest
from cli_room import Room


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    """A folder `shop`, whose project is `default/shop`, and a data dir that does not exist yet."""
    checkout = tmp_path / "shop"
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("AI_MEMORY_DATA_DIR", str(tmp_path / "data"))
    return Room(checkout, tmp_path / "data")
