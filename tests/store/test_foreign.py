"""Databases of other programs are read as they lie, and not one byte of them changes."""

import hashlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from ai_memory.store.foreign import asking


def digests(folder: Path) -> dict[str, str]:
    """Of database and WAL; the shared memory beside them holds locks alone."""
    files = [path for path in folder.iterdir() if not path.name.endswith("-shm")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def live(tmp_path: Path) -> "tuple[Path, sqlite3.Connection]":
    """A database that is open elsewhere; its last row is in the WAL alone."""
    path = tmp_path / "opencode.db"
    owner = sqlite3.connect(path)
    owner.execute("PRAGMA journal_mode=WAL")
    owner.execute("PRAGMA wal_autocheckpoint=0")
    owner.execute("CREATE TABLE session (id)")
    owner.execute("INSERT INTO session VALUES ('a')")
    owner.commit()
    return path, owner


def rows(path: Path) -> tuple[list[tuple[object, ...]] | None, list[str]]:
    notes: list[str] = []
    with asking(str(path), notes.append) as ask:
        return (list(ask("SELECT id FROM session", ())) if ask is not None else None), notes


def test_a_live_database_is_read_with_its_wal_which_stays_as_it_is(live: tuple[Path, sqlite3.Connection]) -> None:
    path, owner = live
    before = digests(path.parent)
    assert (path.parent / "opencode.db-wal").stat().st_size > 0
    assert rows(path) == ([("a",)], [])
    assert digests(path.parent) == before
    owner.execute("INSERT INTO session VALUES ('b')")  # its owner writes on
    owner.commit()
    assert rows(path)[0] == [("a",), ("b",)]


def test_a_database_that_lies_still_gets_no_files_beside_it(live: tuple[Path, sqlite3.Connection]) -> None:
    path, owner = live
    owner.close()
    assert rows(path) == ([("a",)], [])
    assert [one.name for one in path.parent.iterdir()] == ["opencode.db"]


def test_a_database_that_was_not_closed_is_left_to_its_owner(
    live: tuple[Path, sqlite3.Connection], tmp_path: Path
) -> None:
    path, _ = live
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("opencode.db", "opencode.db-wal"):
        shutil.copy(path.parent / name, copy / name)
    before = digests(copy)
    found, notes = rows(copy / "opencode.db")
    assert found is None
    assert "was not closed" in notes[0]
    assert digests(copy) == before


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_what_is_no_database_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(content)
    found, notes = rows(path)
    assert not found
    assert len(notes) == 1


def test_a_link_a_folder_and_a_file_that_is_gone_are_told(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "folder.db")
    for name in ("folder.db", "link.db", "gone.db"):
        found, notes = rows(tmp_path / name)
        assert (found, len(notes)) == (None, 1)


def test_text_that_is_no_utf8_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE session (id text)")
    database.execute("INSERT INTO session VALUES (CAST(x'61ff' AS TEXT))")
    database.commit()
    database.close()
    assert rows(path) == ([("a\ufffd",)], [])
