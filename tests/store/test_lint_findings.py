"""Findings that were told are kept by fingerprint, and forgotten when they were long gone."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ai_memory.paths import DataDir
from ai_memory.store import driver, remains, state, state_schema
from ai_memory.store.driver import Connection
from ai_memory.store.lint_findings import KEPT_US, note_findings, told_findings

NOW_US = 1_764_000_000_000_000


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with closing(state.open_state(DataDir(tmp_path), at_us=NOW_US)) as opened:
        yield opened


def note(connection: Connection, *fingerprints: str, at_us: int) -> None:
    with driver.transaction(connection):
        note_findings(connection, fingerprints, at_us=at_us)


def test_what_was_told_is_known_with_its_first_time(connection: Connection) -> None:
    note(connection, "b", "a", at_us=NOW_US)
    note(connection, "a", "c", at_us=NOW_US + 5)
    assert told_findings(connection) == {"a": NOW_US, "b": NOW_US, "c": NOW_US + 5}


def test_what_is_found_again_and_again_is_never_forgotten_and_what_is_not_is(connection: Connection) -> None:
    note(connection, "a", "b", at_us=NOW_US)
    note(connection, "a", at_us=NOW_US + KEPT_US)
    assert set(told_findings(connection)) == {"a", "b"}
    note(connection, "a", at_us=NOW_US + KEPT_US + 1)
    assert told_findings(connection) == {"a": NOW_US}


def test_a_clock_set_back_takes_no_time_away(connection: Connection) -> None:
    note(connection, "a", at_us=NOW_US)
    note(connection, "a", at_us=NOW_US - KEPT_US)
    assert connection.execute("SELECT first_at_us, last_at_us FROM lint_findings").fetchall() == [(NOW_US, NOW_US)]


def test_a_file_of_an_older_program_tells_nothing_and_no_file_neither(tmp_path: Path) -> None:
    assert told_findings(None) == {}
    with closing(driver.connect(tmp_path / "state.db")) as old:
        old.execute(f"PRAGMA user_version={state_schema.LINT_SINCE - 1}")
        assert told_findings(old) == {}


def test_they_are_saved_from_a_damaged_file(tmp_path: Path, connection: Connection) -> None:
    note(connection, "a", "b", at_us=NOW_US)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = Path(shutil.copy(tmp_path / "state.db", tmp_path / "copy.db"))
    saved = {one.table: (one.rows, one.lost) for one in remains.read_into(tmp_path / "new.db", copy).tables}
    assert saved["lint_findings"] == (2, 0)
    with closing(driver.connect(tmp_path / "new.db")) as new:
        assert told_findings(new) == {"a": NOW_US, "b": NOW_US}
