"""A room with a wiki in which a person has signed in to git."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import crash_driver
import pytest
from crash_driver import Forge
from wiki_room import WikiRoom


@pytest.fixture(scope="session")
def forge() -> Iterator[Forge]:
    """Processes that can be killed at any step; one interpreter for all tests that this process runs."""
    with crash_driver.forge() as made:
        yield made


@pytest.fixture
def person() -> str:
    """The git identity of this machine's person, in the scratch home."""
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.org"), ("init.defaultBranch", "main")):
        subprocess.run(["git", "config", "--global", name, value], check=True)
    return "Ada <ada@example.org>"


@pytest.fixture
def room(tmp_path: Path, person: str) -> WikiRoom:
    """A wiki with three pages."""
    assert person
    made = WikiRoom(tmp_path)
    for name in ("a", "b", "c"):
        made.put(f"notes/{name}.md", f"# {name}\n\none\ntwo\nthree\nfour\nfive\n")
    return made
