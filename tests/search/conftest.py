"""Fixtures of the search engine."""

import pytest
from shelf import Shelf


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()
