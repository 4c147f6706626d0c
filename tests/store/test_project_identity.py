"""One repository is one project, also when it got its remote later."""

import os
from pathlib import Path

import pytest

from ai_memory.model import Caller, Project, ResolvedBy, Scope
from ai_memory.paths import DataDir
from ai_memory.store.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    caller = Caller(cwd=str(tmp_path), environ=dict(os.environ), home=os.environ["HOME"], face="bridge")
    return Memory.open(DataDir(tmp_path / "data"), caller=caller)


def ensure(memory: Memory, scope: Scope) -> Project:
    with memory.writing("make the project") as change:
        return change.ensure_project(scope)


FOLDER = Scope("default", "shop", ResolvedBy.GIT_ROOT, identity="/home/me/shop", identity_source="git-root")
REMOTE = Scope("default", "shop", ResolvedBy.REMOTE, identity="example.org/acme/shop", identity_source="origin")
OTHER = Scope("default", "shop", ResolvedBy.REMOTE, identity="example.org/other/shop", identity_source="origin")


def test_a_folder_that_gets_a_remote_stays_the_same_project_under_its_new_identity(memory: Memory) -> None:
    first = ensure(memory, FOLDER)
    assert ensure(memory, REMOTE).id == first.id
    with memory.reading() as snapshot:
        [found] = snapshot.projects()
    assert (found.id, found.identity) == (first.id, "example.org/acme/shop")
    assert found.identity_source == "origin"


def test_a_known_remote_is_never_replaced(memory: Memory) -> None:
    ensure(memory, REMOTE)
    assert ensure(memory, OTHER).identity == "example.org/acme/shop"
    assert ensure(memory, FOLDER).identity == "example.org/acme/shop"
