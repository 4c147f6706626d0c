"""`state.db`, the outbox, the log: real files, the rows that must survive being written twice."""

import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ai_memory.errors import Conflict, NotFound, StoreFault
from ai_memory.paths import DataDir
from ai_memory.store import driver, log, session_evidence, session_lookup, state, state_schema, state_sessions
from ai_memory.store.driver import Connection, transaction
from ai_memory.store.outbox import Outbox, directory_key, directory_names
from ai_memory.store.spool import Spool
from ai_memory.store.state import Drain
from ai_memory.store.state_sessions import Observation, Session

NOW_US = 1_796_029_200_000_000


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    return state.open_state(DataDir(tmp_path), at_us=NOW_US)


def a_session(**changes: object) -> Session:
    return replace(Session("s-1", "n", "codex", "default", "shop", "{}", "/w", 1, 2), **changes)  # type: ignore[arg-type]


def everything(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in names}


def test_a_new_file_has_the_present_version_and_is_private(tmp_path: Path) -> None:
    connection = state.open_state(DataDir(tmp_path), at_us=NOW_US)

    assert state_schema.version(connection) == state_schema.VERSION
    assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert (tmp_path / "state.db").stat().st_mode & 0o777 == 0o600


def test_an_up_to_date_file_is_opened_without_the_migration_library(tmp_path: Path) -> None:
    state.open_state(DataDir(tmp_path), at_us=NOW_US).close()
    program = (
        "import sys; from pathlib import Path; from ai_memory.paths import DataDir; from ai_memory.store import state;"
        "state.open_state(DataDir(Path(sys.argv[1])), at_us=1); print('sqlite_utils' in sys.modules)"
    )

    told = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)

    assert told.stdout.strip() == "False", told.stderr


def test_a_file_of_a_newer_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    connection = state.open_state(DataDir(tmp_path), at_us=NOW_US)
    connection.execute("PRAGMA user_version=99")
    connection.close()

    with pytest.raises(StoreFault, match="version 99"):
        state.open_state(DataDir(tmp_path), at_us=NOW_US)

    assert state_schema.version(driver.connect(path)) == 99


def test_a_damaged_file_is_named_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"no database at all" * 100)

    with pytest.raises(StoreFault, match=r"state\.db cannot be read"):
        state.open_state(DataDir(tmp_path), at_us=NOW_US)

    assert path.read_bytes().startswith(b"no database")


def test_processes_that_open_a_new_file_at_once_migrate_it_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from ai_memory.paths import DataDir;"
        "from ai_memory.store import state, state_schema;"
        "print(state_schema.version(state.open_state(DataDir(Path(sys.argv[1])), at_us=1)))"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]

    openers = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    answers = [opener.communicate(timeout=60) for opener in openers]

    assert [out.strip() for out, _ in answers] == [str(state_schema.VERSION)] * 4, answers


BEGIN_AT_ONCE = """
import os, sys
from pathlib import Path
from ai_memory.paths import DataDir
from ai_memory.store import state
import sqlite_utils  # what a migration takes long to import

failed = 0
for number in range(15):
    root = Path(sys.argv[1]) / str(number)
    root.mkdir()
    ready, go = os.pipe()
    children = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(ready, 1)  # until the parent closes its end: all at once
            status = 1
            try:
                state.open_state(DataDir(root), at_us=1).close()
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    os.close(go)
    failed += sum(os.waitpid(child, 0)[1] != 0 for child in children)
    os.close(ready)
print(failed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="begins by fork, to begin at once")
def test_none_of_those_that_begin_a_file_in_the_same_instant_is_refused(tmp_path: Path) -> None:
    """SQLite answers a switch of the journal with "locked" at once, whatever the timeout: one in two rounds failed."""
    words = [sys.executable, "-c", BEGIN_AT_ONCE, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize("name", sorted(state.STATEMENTS))
def test_a_statement_that_is_applied_twice_leaves_what_one_application_left(connection: Connection, name: str) -> None:
    state_sessions.put_session(connection, a_session(handoff="h", observations=5))
    parameters = {
        "session": "s-1", "observations": 5, "page_version": "v", "at_us": 7, "handoff": "h", "work": 3, "end_us": 9,
        "version": "w", "workspace": "default", "project": "shop", "path": "notes/a.md", "role": "about", "scope": "{}",
        "new_workspace": "default", "new_project": "shop", "new_path": "notes/b.md", "class": "tool", "quote": "q",
        "cite": "c", "sha256": "x", "change_id": "c-1", "verb": "move", "face": "cli", "agent": "", "author": "Ada",
        "subject": "notes/a.md", "origin": "", "count": 1, "blob": "b", "new_version": "x", "event": "e-1",
        "reason": "evicted", "tier": "episodic", "kind": "session", "size_bytes": 5, "change": "c-2",
    }  # fmt: skip
    for statement in ("page-session", "evidence"):
        connection.execute(state.STATEMENTS[statement], parameters)

    connection.execute(state.STATEMENTS[name], parameters)
    once = everything(connection)
    connection.execute(state.STATEMENTS[name], parameters)

    assert everything(connection) == once


def test_a_batch_never_turns_back_what_page_work_noted(connection: Connection) -> None:
    state_sessions.put_session(connection, a_session(observations=5))
    told = {"session": "s-1", "observations": 5, "page_version": "v"}
    connection.execute(state.STATEMENTS["session-covered"], told)

    state_sessions.put_session(connection, a_session(observations=6, project="other"))

    found = state_sessions.session(connection, "s-1")
    assert found is not None
    assert (found.covered, found.page_version, found.observations, found.project) == (5, "v", 6, "shop")


def test_observations_and_their_full_text_go_with_their_session(connection: Connection) -> None:
    state_sessions.put_session(connection, a_session())
    row = Observation("e-1", "s-1", 5, "user-prompt", text="the lighthouse")
    state_sessions.add_observations(connection, [row, row])
    assert session_lookup.search_observations(connection, ["lighthouse"]) == [row]

    connection.execute(state.STATEMENTS["session-dropped"], {"session": "s-1"})

    assert session_lookup.search_observations(connection, ["lighthouse"]) == []
    connection.execute("INSERT INTO observations_fts(observations_fts) VALUES ('integrity-check')")


def test_han_and_kana_of_observations_are_found_by_pairs(connection: Connection) -> None:
    state_sessions.put_session(connection, a_session())
    row = Observation("e-1", "s-1", 5, "user-prompt", text="再試行の予算を設定した", output="缓存失效")
    state_sessions.add_observations(connection, [row])
    for asked in ("予算", "再試行", "設定方法", "缓存"):
        assert session_lookup.search_observations(connection, [asked]) == [row], asked
    assert session_lookup.search_observations(connection, ["灯台"]) == []
    assert session_evidence.observations_that_match(
        connection, ["設定方法"], [("default", "shop")], session_evidence.Seen(), limit=5
    )[0][2:3] == ("s-1",)


def test_observations_of_an_older_file_get_their_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        Observation("e-1", "s-1", 5, "user-prompt", text="予算を設定した"),
        Observation("e-2", "s-1", 6, "user-prompt", text="the lighthouse"),
    ]
    with monkeypatch.context() as patch:
        for name in ("_PAIRS", "_PAIRS_FILLED"):
            patch.setattr(state_schema, name, ())
        patch.setattr(state_schema, "fill_pairs", lambda _: None)
        patch.setattr(state_schema, "VERSION", 2)
        with closing(state.open_state(DataDir(tmp_path), at_us=NOW_US)) as old:
            old.execute("DELETE FROM _sqlite_migrations WHERE name LIKE '0004%'")
            state_sessions.put_session(old, a_session())
            columns = state_sessions.OBSERVATION_COLUMNS
            for row in rows:
                values = [getattr(row, name.strip()) for name in columns.split(",")]
                old.execute(f"INSERT INTO observations ({columns}) VALUES ({','.join('?' * len(values))})", values)
            assert session_lookup.search_observations(old, ["設定"]) == []
    with closing(state.open_state(DataDir(tmp_path), at_us=NOW_US)) as new:
        assert session_lookup.search_observations(new, ["設定"]) == rows[:1]
        assert session_lookup.search_observations(new, ["lighthouse"]) == rows[1:]
        new.execute(state.STATEMENTS["session-dropped"], {"session": "s-1"})
        new.execute("INSERT INTO observations_fts(observations_fts) VALUES ('integrity-check')")


def test_a_session_is_found_by_id_beginning_or_the_harness_own_id(connection: Connection) -> None:
    state_sessions.put_session(connection, a_session(id="abcdef01", native_id="mine"))
    state_sessions.put_session(connection, a_session(id="abcdef02", native_id=""))

    assert state_sessions.find_session(connection, "abcdef01").id == "abcdef01"
    assert state_sessions.find_session(connection, "mine").id == "abcdef01"
    with pytest.raises(Conflict):
        state_sessions.find_session(connection, "abcdef")
    with pytest.raises(NotFound):
        state_sessions.find_session(connection, "abc")


def test_ids_of_events_are_forgotten_after_ninety_days(connection: Connection) -> None:
    state.remember_events(connection, [("old", NOW_US - state.EVENT_MEMORY_US - 1), ("new", NOW_US)])

    assert state.forget_old_events(connection, NOW_US) == 1

    assert state.known_events(connection, ["old", "new", *map(str, range(2_000))]) == {"new"}


def test_only_the_last_drains_are_kept(connection: Connection) -> None:
    for number in range(5):
        state.record_drain(connection, Drain(number, number + 1, applied=number), keep=3)

    assert state.last_drain(connection) == Drain(4, 5, applied=4)
    assert connection.execute("SELECT count(*) FROM drains").fetchone()[0] == 3


def test_links_between_pages_and_sessions_follow_a_move(connection: Connection) -> None:
    where = {"workspace": "default", "project": "shop", "path": "notes/a.md"}
    connection.execute(state.STATEMENTS["page-session"], {**where, "session": "s-1", "role": "about", "at_us": 1})
    moved = {**where, "new_workspace": "default", "new_project": "shop", "new_path": "notes/b.md"}

    with transaction(connection):
        connection.execute(state.STATEMENTS["page-moved"], moved)

    assert [row.page.path for row in state.pages_of_session(connection, "s-1")] == ["notes/b.md"]


# --- spool, outbox, log ---


def test_the_spool_is_counted_without_reading_it(tmp_path: Path) -> None:
    spool = Spool(DataDir(tmp_path))
    assert spool.counts().files == 0
    folder = tmp_path / "spool"
    folder.mkdir()
    (folder / "1796029200000000000-1-00000001.json").write_bytes(b"broken")
    (folder / "1796029300000000000-1-00000002.json").write_bytes(b"x")
    for foreign in ("._1796029200000000000-1-00000001.json", "notes.txt", ".1796029100000000000-1-00000003.tmp"):
        (folder / foreign).write_bytes(b"x")

    counts = spool.counts()

    assert (counts.files, counts.size_bytes, counts.oldest_at_us, counts.quarantined) == (2, 7, NOW_US, 0)


@pytest.mark.parametrize("name", ["../x", "open/../../x", "/etc/passwd", "open", "other/x.md", "open/a\\b", ""])
def test_a_name_that_leads_out_of_the_outbox_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreFault):
        Outbox(DataDir(tmp_path)).put(name, "x")


def test_a_directory_has_one_key_whatever_way_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "café").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "café")

    assert directory_key(str(tmp_path / "link")) == directory_key(f"{tmp_path}/café/")
    assert len(directory_names("a" * 32, [str(tmp_path / "link"), str(tmp_path / "café")])) == 1


def test_lines_of_the_log_hold_no_controls_and_old_days_go(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    log.write_line(logs, "drain", "first\nline\x1b[31m", at_us=NOW_US - 20 * 86_400 * 1_000_000)
    log.write_line(logs, "drain", "second", at_us=NOW_US)
    (logs / "notes.txt").write_text("mine")
    assert log.last_lines(logs, 10)[0].endswith("drain: first line")

    assert log.remove_old(logs, now_us=NOW_US) == 1

    assert [line.endswith("drain: second") for line in log.last_lines(logs, 10)] == [True]
    assert (logs / "notes.txt").exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_log_that_cannot_be_written_costs_only_the_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    log.write_line(tmp_path / "logs", "drain", "x", at_us=NOW_US)
    tmp_path.chmod(0o700)
    assert not (tmp_path / "logs").exists()
