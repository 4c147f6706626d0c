"""A service on this machine and a memory whose encoder it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from embed_room import EmbedRoom
from stub_service import Stub, serving


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Stub()) as made:
        yield made


@pytest.fixture
def room(tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> EmbedRoom:
    """A checkout whose memory asks the stub."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    settings = {
        "AI_MEMORY_DATA_DIR": str(tmp_path / "data"),
        "AI_MEMORY_EMBED__PROVIDER": "openai-compat",
        "AI_MEMORY_EMBED__MODEL": "hash",
        "AI_MEMORY_EMBED__BASE_URL": stub.url,
        "NO_PROXY": "127.0.0.1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return EmbedRoom(checkout, tmp_path / "data", stub)
