"""A `state.db` that is damaged in one place or another gives all that can still be read of it."""

import errno
import shutil
import struct
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from crash_driver import copy_of, memory_at, start
from failing_disk import FailingDisk

from ai_memory.errors import StoreFault
from ai_memory.paths import DataDir
from ai_memory.store import driver, state
from ai_memory.store.salvaging import Salvaged

PAGE = 4096
SESSIONS, EACH = 40, 12
LONG = "the kettle boils over " * 400
"""A text that takes overflow pages."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("filled") / "memory"
    start(root)
    fill(DataDir(root))
    return root


def fill(data_dir: DataDir) -> None:
    with closing(state.open_state(data_dir, at_us=1)) as connection:
        with driver.transaction(connection):
            for number in range(SESSIONS):
                name = f"session-{number:04d}"
                connection.execute(
                    "INSERT INTO sessions (id, agent, workspace, project, scope, opened_at_us, last_at_us,"
                    " observations) VALUES (?, 'codex', 'default', 'crash', '{}', ?, ?, ?)",
                    (name, number, number + 1, EACH),
                )
                rows = [
                    (f"{name}-{one}", name, number * 100 + one, LONG if one == 3 else f"word{number}x{one} " * 20)
                    for one in range(EACH)
                ]
                connection.executemany(
                    "INSERT INTO observations (event_id, session, at_us, kind, text)"
                    " VALUES (?, ?, ?, 'user-prompt', ?)",
                    rows,
                )
                connection.execute(
                    "INSERT INTO page_sessions VALUES ('default', 'crash', ?, ?, 'source', 1)", (f"{number}.md", name)
                )
                connection.execute("INSERT INTO applied_events VALUES (?, ?)", (f"{name}-event", number))
            connection.execute("INSERT INTO purged VALUES ('gone', 'session', 5)")
            connection.execute(
                "INSERT INTO audit (change_id, at_us, verb, subject) VALUES ('c1', 1, 'write', 'notes/a.md')"
            )
            connection.execute("CREATE TABLE dropped (word TEXT)")
            connection.executemany("INSERT INTO dropped VALUES (?)", [("kept no more " * 50,)] * 100)
            connection.execute("DROP TABLE dropped")  # its pages are free
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.fixture
def data_dir(filled: Path, tmp_path: Path) -> DataDir:
    return DataDir(shutil.copytree(filled, tmp_path / "memory"))


def root_of(data_dir: DataDir, name: str) -> int:
    with closing(driver.connect(data_dir.state, mode="immutable")) as connection:
        return int(connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0])


def leaves_of(content: bytes, root: int) -> list[int]:
    """Numbers of the leaves of a table that has one interior page, or none."""
    page = content[(root - 1) * PAGE : root * PAGE]
    if page[0] == 13:
        return [root]
    assert page[0] == 5
    count = struct.unpack_from(">H", page, 3)[0]
    places = struct.unpack_from(f">{count}H", page, 12)
    return [struct.unpack_from(">I", page, at)[0] for at in places] + [struct.unpack_from(">I", page, 8)[0]]


def spoil(content: bytearray, page: int, with_: bytes = b"\xa5") -> None:
    content[(page - 1) * PAGE : page * PAGE] = (with_ * PAGE)[:PAGE]


def header(content: bytearray, _: DataDir) -> None:
    content[:100] = bytes(range(100, 200))


def first_page(content: bytearray, _: DataDir) -> None:
    spoil(content, 1)


def middle_leaf(content: bytearray, data_dir: DataDir) -> None:
    below = leaves_of(content, root_of(data_dir, "observations"))
    spoil(content, below[len(below) // 2])


def two_leaves_and_the_last(content: bytearray, data_dir: DataDir) -> None:
    below = leaves_of(content, root_of(data_dir, "observations"))
    for page in (below[1], below[3], below[-1]):
        spoil(content, page, b"\0")


def interior_page(content: bytearray, data_dir: DataDir) -> None:
    spoil(content, root_of(data_dir, "observations"))


def sessions_root(content: bytearray, data_dir: DataDir) -> None:
    for page in leaves_of(content, root_of(data_dir, "sessions")):
        spoil(content, page)


def index_page(content: bytearray, data_dir: DataDir) -> None:
    spoil(content, root_of(data_dir, "observations_in_order"))


def free_list(content: bytearray, _: DataDir) -> None:
    trunk = struct.unpack_from(">I", content, 32)[0]
    assert trunk
    spoil(content, trunk)


def full_text(content: bytearray, data_dir: DataDir) -> None:
    spoil(content, root_of(data_dir, "observations_fts_data"))


def truncated(content: bytearray, _: DataDir) -> None:
    del content[len(content) // 2 // PAGE * PAGE + 700 :]


def tombstones(content: bytearray, data_dir: DataDir) -> None:
    spoil(content, root_of(data_dir, "purged"))


WHOLE = SESSIONS * EACH
Spoil = Callable[[bytearray, DataDir], None]


@pytest.mark.parametrize(
    ("damage", "least_sessions", "observations"),
    [
        (header, SESSIONS, range(WHOLE, WHOLE + 1)),
        (first_page, SESSIONS, range(WHOLE, WHOLE + 1)),
        (middle_leaf, SESSIONS, range(WHOLE - 15, WHOLE)),
        (two_leaves_and_the_last, SESSIONS, range(WHOLE - 45, WHOLE)),
        (interior_page, SESSIONS, range(WHOLE, WHOLE + 1)),
        (sessions_root, SESSIONS, range(WHOLE, WHOLE + 1)),
        (index_page, SESSIONS, range(WHOLE, WHOLE + 1)),
        (free_list, SESSIONS, range(WHOLE, WHOLE + 1)),
        (full_text, SESSIONS, range(WHOLE, WHOLE + 1)),
        (tombstones, SESSIONS, range(WHOLE, WHOLE + 1)),
        (truncated, 1, range(WHOLE // 4, WHOLE)),
    ],
)
def test_what_can_be_read_is_saved_and_what_is_lost_is_counted(
    data_dir: DataDir, damage: Spoil, least_sessions: int, observations: range
) -> None:
    content = bytearray(data_dir.state.read_bytes())
    damage(content, data_dir)
    data_dir.state.write_bytes(content)
    memory = memory_at(data_dir.root)
    shown = memory.salvage(confirm=False)
    assert shown.is_damaged
    assert shown.kept is None
    assert data_dir.state.read_bytes() == bytes(content), "a look changes nothing"
    done = memory.salvage(confirm=True)
    assert done.remains == shown.remains
    assert done.kept is not None
    assert (done.kept / "state.db").read_bytes() == bytes(content)
    sessions, found, texts, faults = look(data_dir)
    assert sessions >= least_sessions
    assert found in observations
    assert faults == ["ok"]
    assert texts <= {LONG, *(f"word{number}x{one} " * 20 for number in range(SESSIONS) for one in range(EACH))}
    told = {one.table: one for one in done.remains.tables}
    assert told["observations"].rows == found
    if found == WHOLE:
        assert LONG in texts
    elif damage is not truncated:
        assert told["observations"].lost == WHOLE - found
    assert [path.name for path in data_dir.root.iterdir() if path.name.startswith(".restore")] == []
    assert not memory.salvage(confirm=True).is_damaged
    with memory.state_transaction() as connection:
        [(verb,)] = connection.execute("SELECT verb FROM audit ORDER BY seq DESC LIMIT 1").fetchall()
    assert verb == "salvage"


def look(data_dir: DataDir) -> tuple[int, int, set[str], list[str]]:
    with closing(driver.connect(data_dir.state)) as connection:
        texts = {row[0] for row in connection.execute("SELECT text FROM observations")}
        sessions = connection.execute("SELECT count(*) FROM sessions").fetchone()[0]
        found = connection.execute("SELECT count(*) FROM observations").fetchone()[0]
        if found == WHOLE:
            sql = "SELECT count(*) FROM observations_fts WHERE observations_fts MATCH 'word7x5'"
            assert connection.execute(sql).fetchone()[0] == 1, "full text is made anew"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        return sessions, found, texts, [row[0] for row in connection.execute("PRAGMA integrity_check")]


def test_sessions_without_a_row_keep_what_they_did_and_their_project(data_dir: DataDir) -> None:
    content = bytearray(data_dir.state.read_bytes())
    sessions_root(content, data_dir)
    data_dir.state.write_bytes(content)
    done = memory_at(data_dir.root).salvage(confirm=True)
    assert done.remains.sessions_anew == SESSIONS
    with closing(driver.connect(data_dir.state)) as connection:
        rows = connection.execute("SELECT DISTINCT workspace, project, observations, covered FROM sessions").fetchall()
    assert rows == [("default", "crash", EACH, EACH)]


def test_rows_of_tables_that_look_alike_are_told_apart(data_dir: DataDir) -> None:
    place, version = ("default", "crash", "notes/a.md"), "ab" * 20
    rows = {
        "evidence": (*place, "session", "s-1", "said", "a.py:1", "", 5),
        "feedback": (*place, version, "wrong", "it is five", "codex", "s-1", 6),
        "page_access": (*place, "codex", 3, 1, 5, 6),
        "calls": ("2026-11-30", "codex", "read-page", 2, 400),
        "tombstones": (*place, version, "evicted", "episodic", "note", 90, "c-1", 7),
    }
    with closing(state.open_state(data_dir, at_us=1)) as connection:
        columns = {}
        for table, row in rows.items():
            named = connection.execute("SELECT name FROM pragma_table_info(?) WHERE name <> 'id'", (table,)).fetchall()
            columns[table] = ", ".join(name for (name,) in named)
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} ({columns[table]}) VALUES ({marks})", row)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(data_dir.state.read_bytes())
    spoil(content, 1)
    data_dir.state.write_bytes(content)
    memory_at(data_dir.root).salvage(confirm=True)
    with closing(driver.connect(data_dir.state)) as connection:
        kept = {table: connection.execute(f"SELECT {columns[table]} FROM {table}").fetchall() for table in rows}
    assert kept == {table: [row] for table, row in rows.items()}


def test_rows_that_are_only_in_the_log_are_saved(data_dir: DataDir) -> None:
    writer = state.open_state(data_dir, at_us=1)
    writer.execute("INSERT INTO purged VALUES ('late', 'session', 6)")
    copies = {tail: Path(f"{data_dir.state}{tail}").read_bytes() for tail in ("", "-wal")}
    writer.close()
    for tail, content in copies.items():
        Path(f"{data_dir.state}{tail}").write_bytes(content)
    content = bytearray(data_dir.state.read_bytes())
    header(content, data_dir)
    data_dir.state.write_bytes(content)
    memory_at(data_dir.root).salvage(confirm=True)
    with closing(driver.connect(data_dir.state)) as connection:
        assert connection.execute("SELECT id FROM purged ORDER BY id").fetchall() == [("gone",), ("late",)]


def test_what_was_purged_does_not_come_back_from_a_leaf(data_dir: DataDir) -> None:
    with closing(driver.connect(data_dir.state)) as connection:
        connection.execute("INSERT INTO purged VALUES ('session-0007', 'session', 7)")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(data_dir.state.read_bytes())
    interior_page(content, data_dir)
    data_dir.state.write_bytes(content)
    memory_at(data_dir.root).salvage(confirm=True)
    with closing(driver.connect(data_dir.state)) as connection:
        sql = "SELECT count(*) FROM observations WHERE session = 'session-0007'"
        assert connection.execute(sql).fetchone()[0] == 0


@pytest.mark.parametrize("content", [b"", b"no database\n" * 1000, bytes(range(255, -1, -1)) * 32])
def test_garbage_gives_an_empty_state_that_says_so(data_dir: DataDir, content: bytes) -> None:
    data_dir.state.write_bytes(content)
    memory = memory_at(data_dir.root)
    done: Salvaged = memory.salvage(confirm=True)
    assert done.kept is not None
    assert (done.kept / "state.db").read_bytes() == content
    assert all(one.rows == 0 and one.lost is None for one in done.remains.tables), done.remains


def test_a_state_of_a_newer_program_and_a_missing_one_are_left_alone(data_dir: DataDir) -> None:
    with closing(driver.connect(data_dir.state)) as connection:
        connection.execute("PRAGMA user_version=999")
    memory = memory_at(data_dir.root)
    with pytest.raises(StoreFault, match="version 999"):
        memory.salvage(confirm=True)
    driver.remove(data_dir.state)
    with pytest.raises(StoreFault, match=r"state\.db is gone"):
        memory.salvage(confirm=True)


class Died(Exception):
    pass


def test_killed_at_any_step_it_is_the_old_file_or_the_new_one(data_dir: DataDir) -> None:
    content = bytearray(data_dir.state.read_bytes())
    middle_leaf(content, data_dir)
    data_dir.state.write_bytes(content)
    steps: list[str] = []
    clean = copy_of(data_dir.root, "clean")
    memory_at(clean, steps.append).salvage(confirm=True)
    after = look(DataDir(clean))
    assert {"salvage-copied", "salvage-read", "salvage-kept", "restore-log", "restore-done"} <= set(steps)
    for number in range(len(steps)):
        root = copy_of(data_dir.root, f"killed-{number}")
        left: list[str] = []

        def die(step: str, left: list[str] = left, number: int = number) -> None:
            left.append(step)
            if len(left) == number + 1:
                raise Died

        with pytest.raises(Died):
            memory_at(root, die).salvage(confirm=True)
        is_begun = (root / "restoring").exists()
        assert is_begun == ("restore-log" in left and "restore-done" not in left), left[-1]
        if "restore-log" not in left:
            assert DataDir(root).state.read_bytes() == bytes(content), left[-1]
        memory_at(root).salvage(confirm=True)
        assert look(DataDir(root)) == after, left[-1]


@pytest.mark.parametrize("points", [3, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_on_a_disk_that_fails_at_any_write_it_is_the_old_file_or_the_new_one(
    data_dir: DataDir, number: int, points: int
) -> None:
    content = bytearray(data_dir.state.read_bytes())
    middle_leaf(content, data_dir)
    data_dir.state.write_bytes(content)
    clean = copy_of(data_dir.root, "clean")
    with FailingDisk(clean, number).in_use() as disk:
        memory_at(clean).salvage(confirm=True)
    after, calls = look(DataDir(clean)), list(disk.calls)
    assert any("restoring" in call for call in calls)
    for fail_at in range(0, len(calls), max(1, len(calls) // points)):
        root = copy_of(data_dir.root, f"failed-{fail_at}")
        with FailingDisk(root, number, fail_at=fail_at).in_use() as disk, suppress(StoreFault, OSError, *driver.FAULTS):
            memory_at(root).salvage(confirm=True)
        told = f"{errno.errorcode[number]} at {disk.calls[fail_at]}"
        if not (root / "restoring").exists() and not list(DataDir(root).backups.glob("state-damaged-*")):
            assert DataDir(root).state.read_bytes() == bytes(content), told
        memory_at(root).salvage(confirm=True)
        assert look(DataDir(root)) == after, told
        kept = [path / "state.db" for path in DataDir(root).backups.glob("state-damaged-*")]
        assert {path.read_bytes() for path in kept} == {bytes(content)}, told
        shutil.rmtree(root)
