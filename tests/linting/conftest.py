"""Fixtures of lint."""

from pathlib import Path

import pytest
from lint_house import House


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A memory without pages, looked at from the folder `shop`."""
    (tmp_path / "shop").mkdir()
    return House(tmp_path)
