"""Who changed what: rows of the audit table, and what commits tell beyond them."""

import ast
import re
import subprocess
from contextlib import closing
from pathlib import Path

import crash_driver
import pytest
from crash_driver import git, memory_at, page, ref
from hypothesis import given
from hypothesis import strategies as st

import ai_memory
from ai_memory.errors import StoreFault
from ai_memory.model import Caller, Sanitized
from ai_memory.paths import DataDir
from ai_memory.store import audit, commits, driver, journal, state, state_schema, state_sessions
from ai_memory.store.audit import Mutation
from ai_memory.store.change_ids import exact_us, new_change_id
from ai_memory.store.driver import Connection
from ai_memory.store.memory import Memory
from ai_memory.store.span import Span
from ai_memory.store.state_sessions import Observation, Session
from ai_memory.store.wiki import Wiki

PACKAGE = Path(ai_memory.__file__).parent
LAST = (10**18, "")
NOW_US = 1_796_029_200_123_456


def rows(root: Path, **more: object) -> list[Mutation]:
    with memory_at(root).state_reading() as connection:
        return audit.newest(connection, Span(LAST, 100, **more)) if connection is not None else []  # type: ignore[arg-type]


def told(root: Path, **more: object) -> list[Mutation]:
    with closing(Wiki(DataDir(root).git)) as wiki:
        return commits.newest(wiki, Span(LAST, 100, **more)).mutations  # type: ignore[arg-type]


def write(memory: Memory, path: str = "a.md", *, project: str = "crash", message: str = "write a.md") -> None:
    with memory.writing(message) as change:
        change.ensure_project_named("default", project)
        change.put(ref(path, project), page(path))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_a_page_written_on_purpose_opens_no_state_db(root: Path) -> None:
    write(memory_at(root))
    assert not DataDir(root).state.exists()
    [only] = told(root)
    assert (only.verb, only.face, only.workspace, only.project, only.subject) == (
        "write",
        "bridge",
        "default",
        "crash",
        "a.md",
    )


def test_a_pass_has_its_row_in_the_transaction_of_its_change(root: Path) -> None:
    with memory_at(root).writing("Tidy up", trailers={"Pass": "tidy", "Session": "s-1", "Agent": "codex"}) as change:
        change.put(ref("a.md"), page("a"))
        change.put(ref("b.md"), page("b"))
    [row] = rows(root)
    assert (row.id, row.verb, row.agent, row.session, row.subject, row.count) == (
        change.change_id,
        "tidy",
        "codex",
        "s-1",
        "a.md",
        2,
    )
    assert [one.id for one in told(root)] == [row.id]


def test_a_change_that_makes_no_commit_has_a_row(root: Path) -> None:
    place = {"workspace": "default", "project": "crash", "path": "a.md"}
    with memory_at(root).writing("purge a.md") as change:
        change.state("page-forgotten", **place)
    [row] = rows(root)
    assert (row.verb, row.workspace, row.project, row.subject) == ("purge", "default", "crash", "a.md")


def test_a_killed_write_is_told_once_if_it_is_there_and_else_not_at_all(tmp_path: Path) -> None:
    with crash_driver.forge() as forge:
        begun = tmp_path / "begun"
        crash_driver.start(begun)
        before = len(rows(begun))
        steps = forge.run("write_one", crash_driver.copy_of(begun, "clean")).steps
        for number, step in enumerate(steps):
            root = crash_driver.copy_of(begun, f"killed-{number}")
            assert forge.run("write_one", root, kill_at=number).status == crash_driver.KILLED
            write(memory_at(root), "next.md")
            is_there = "Change one page" in crash_driver.subjects(root)
            assert len(rows(root)) - before == is_there, step


def test_an_unusable_state_db_stops_no_pass_that_needs_none(root: Path) -> None:
    write(memory_at(root))
    DataDir(root).state.write_bytes(b"no database at all" * 100)
    with memory_at(root).writing("Tidy up", trailers={"Pass": "tidy"}) as change:
        change.put(ref("a.md"), page("a", "other\n"))
    assert [one.verb for one in told(root)] == ["tidy", "write"]
    with pytest.raises(StoreFault), memory_at(root).writing("Move on") as change:
        change.state("page-forgotten", workspace="default", project="crash", path="a.md")


def test_what_changed_files_alone_is_told_or_says_that_it_is_not(root: Path) -> None:
    memory = memory_at(root)
    memory.create()
    assert memory.tell("pause", subject="everywhere", count=3) == ()
    [row] = rows(root)
    assert (row.verb, row.subject, row.count, row.face) == ("pause", "everywhere", 3, "bridge")
    for path in root.glob("state.db*"):
        path.unlink()
    assert "the log does not tell of it" in memory.tell("resume")[0]


def test_a_command_in_an_agents_shell_is_the_agents(root: Path) -> None:
    session = "7d3f0a5e-1111-4222-8333-444455556666"
    caller = Caller(None, {"CLAUDE_CODE_SESSION_ID": session}, "/nonexistent")
    write(Memory.open(DataDir(root), caller=caller))
    assert [(one.face, one.agent, one.session) for one in told(root)] == [("cli", "claude-code", session)]


def test_no_row_holds_a_secret(root: Path) -> None:
    token = "ghp_" + "aB3" * 12
    memory = memory_at(root)
    memory.tell(f"pause {token}", subject=f"in /x/{token}", session=token)
    with memory.writing(f"Tidy {token}", trailers={"Pass": f"x {token}", "Agent": token}) as change:
        change.put(ref("a.md"), page("a"))
    assert token not in str(rows(root))
    assert all(token.encode() not in path.read_bytes() for path in root.glob("state.db*"))


def test_a_move_names_both_places_and_counts_its_pages(root: Path) -> None:
    write(memory_at(root), "z/old.md")
    with memory_at(root).writing("move z/old.md", trailers={"Moved-From": ref("z/old.md").git_path}) as change:
        change.move(ref("z/old.md"), ref("new.md", "other"))
        change.state("page-forgotten", workspace="default", project="crash", path="z/old.md")
    [row] = rows(root)
    expected = ("move", "other", "new.md", "default/crash:z/old.md", 1)
    assert (row.verb, row.project, row.subject, row.origin, row.count) == expected
    assert next((one.verb, one.subject, one.origin) for one in told(root)) == (
        "move",
        "new.md",
        "default/crash:z/old.md",
    )


def test_what_a_person_commits_with_git_is_told(root: Path) -> None:
    write(memory_at(root))
    (root / "wiki" / "default" / "crash" / "b.md").write_text("# By hand\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Some thoughts")
    newest = told(root)[0]
    assert (newest.verb, newest.author, newest.subject, newest.agent) == ("commit", "Ada", "b.md", "")


def test_an_edit_by_hand_that_was_adopted_is_told(root: Path) -> None:
    write(memory_at(root))
    (root / "wiki" / "default" / "crash" / "a.md").write_text("# By hand\n")
    memory_at(root).adopt()
    assert [(one.verb, one.subject) for one in told(root)] == [("adopt", "a.md"), ("write", "a.md")]


def test_commits_of_other_projects_are_left_out(root: Path) -> None:
    for project in ("one", "two", "one"):
        write(memory_at(root), f"{len(told(root)) if root.exists() else 0}.md", project=project)
    assert [one.project for one in told(root)] == ["one", "two", "one"]
    assert [one.project for one in told(root, place=("default", "two"))] == ["two"]
    assert told(root, place=("default", "three")) == []
    assert told(root, session="s-1") == []


def test_what_was_purged_is_named_by_no_row(root: Path) -> None:
    with memory_at(root).writing("move x", trailers={"Moved-From": ref("a.md").git_path, "Pass": "move"}) as change:
        change.put(ref("b.md"), page("b"))
    where = {"workspace": "default", "project": "crash"}
    with memory_at(root).writing("purge", trailers={"Pass": "purge"}) as change:
        change.state("audit-forgotten", **where, path="a.md")
        change.state("audit-forgotten", **where, path="b.md")
    assert [(one.verb, one.subject, one.origin) for one in rows(root)] == [("purge", "a.md", ""), ("move", "", "")]


def test_rows_older_than_a_year_and_beyond_the_bound_go(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root.mkdir()
    connection = state.open_state(DataDir(root), at_us=NOW_US)
    for number in range(6):
        at_us = NOW_US - audit.KEPT_US - 1 if number == 0 else NOW_US + number
        audit.put(connection, Mutation(new_change_id(at_us), at_us, f"v{number}"))
    monkeypatch.setattr(audit, "KEPT_ROWS", 3)
    assert audit.forget_old(connection, NOW_US) == 3
    assert [row.verb for row in audit.newest(connection, Span(LAST, 9))] == ["v5", "v4", "v3"]


def test_a_file_of_the_version_before_is_read_and_gets_its_table_with_the_next_write(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(state_schema, "VERSION", 1)
        patch.setattr(state_schema, "_SECOND", ())
        with closing(state.open_state(DataDir(root), at_us=NOW_US)) as old:
            old.execute("DELETE FROM _sqlite_migrations WHERE name LIKE '0002%'")
    with closing(driver.connect(DataDir(root).state)) as old:
        assert state_schema.version(old) == 1
        assert audit.newest(old, Span(LAST, 9)) == []
        assert audit.known(old, ["x"]) == set()
    with closing(state.open_state(DataDir(root), at_us=NOW_US)) as new:
        audit.put(new, Mutation("c-1", NOW_US, "pause"))
        assert [row.verb for row in audit.newest(new, Span(LAST, 9))] == ["pause"]


# --- ids of changes ---


@given(at_us=st.integers(0, (1 << 48) * 1000 - 1))
def test_an_id_tells_its_millisecond_in_the_second_of_its_commit(at_us: int) -> None:
    made = new_change_id(at_us)
    assert re.fullmatch(r"[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}", made)
    assert exact_us(made, at_us // 1_000_000 * 1_000_000) == at_us // 1000 * 1000
    assert exact_us(made, at_us // 1_000_000 * 1_000_000 + 2_000_000) == at_us // 1_000_000 * 1_000_000 + 2_000_000


@pytest.mark.parametrize("other", ["", "x", "0" * 32, "d0" * 16])
def test_an_id_of_another_kind_leaves_the_commits_second(other: str) -> None:
    assert exact_us(other, 5_000_000) == 5_000_000


# --- events over all sessions ---


@pytest.fixture
def filled(root: Path) -> Connection:
    """Four sessions of two projects whose events are interleaved, the events stored session by session."""
    root.mkdir()
    connection = state.open_state(DataDir(root), at_us=NOW_US)
    for number in range(4):
        name = f"s-{number}"
        times = range(number, 40 + number * 5, 4)
        session = Session(name, Sanitized(""), "codex", "default", f"p{number % 2}", "{}", "/w", times[0], times[-1])  # type: ignore[arg-type]
        state_sessions.put_session(connection, session)
        events = [Observation(f"{name}-{at:03}", name, at, "stop") for at in times]  # type: ignore[arg-type]
        state_sessions.add_observations(connection, events)
    return connection


@pytest.mark.parametrize("place", [None, ("default", "p0"), ("default", "p1"), ("default", "p2")])
@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_pages_of_events_put_together_are_all_events_newest_first(
    filled: Connection, place: tuple[str, str] | None, limit: int
) -> None:
    everything = journal.newest(filled, Span(LAST, 1000, place))
    condition = "" if place is None else f" WHERE s.project = '{place[1]}'"
    sql = f"SELECT o.at_us, o.event_id FROM observations o JOIN sessions s ON s.id = o.session{condition}"
    assert [one.key for one in everything] == sorted(map(tuple, filled.execute(sql)), reverse=True)
    paged: list[journal.StoredEvent] = []
    while part := journal.newest(filled, Span(paged[-1].key if paged else LAST, limit, place)):
        paged += part
    assert paged == everything


def test_events_come_in_the_order_of_storing(filled: Connection) -> None:
    last = journal.last_seq(filled)
    stored = journal.stored_after(filled, 0, limit=1000)
    assert [one.seq for one in stored] == list(range(1, last + 1))
    assert journal.stored_after(filled, last - 2, session="s-3", limit=9) == stored[-2:]
    assert journal.stored_after(filled, last, limit=9) == []


def test_git_takes_the_trailers_for_trailers(root: Path) -> None:
    write(memory_at(root))
    shown = subprocess.run(
        ["git", "-C", str(root / "wiki"), "log", "-1", "--format=%(trailers:key=Face,valueonly)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == "bridge"


def test_whoever_writes_state_db_past_a_change_says_who_did_what_or_why_that_is_no_news() -> None:
    """A list to add to on purpose: `Memory.state_transaction` writes no row by itself."""
    silent = {
        ("capture/draining.py", "_transaction"): "its events are in the log themselves",
        ("capture/counting.py", "_count"): "how often pages were read and tools called",
        ("capture/draining.py", "_pause"): "how much a provisional handoff tells",
        ("capture/declaring.py", "_forget"): "prompts that say nothing new",
        ("capture/page_work.py", "_set_aside"): "how often page work failed",
        (
            "operations/archive.py",
            "erase",
        ): "the commits that took the pages away told it; `archive purge` tells itself",
        ("operations/lint.py", "_remember"): "which findings were told: the report is a page",
        ("operations/maintain.py", "_done"): "when a duty had its turn: what it changes, it tells by itself",
        ("operations/sources.py", "synced"): "when a source was read: the import of its records tells what changed",
    }
    telling = {
        ("capture/backfilling.py", "_apply"),
        ("capture/draining.py", "_end_idle"),
        ("capture/draining.py", "_record"),
        ("capture/finalizing.py", "_put_in"),
        ("operations/aftersweep.py", "_prune"),
        ("operations/feedback.py", "feedback"),
        ("operations/message_box.py", "message_cancel"),
        ("operations/message_box.py", "message_pop"),
        ("operations/message_send.py", "_put"),
        ("operations/sources.py", "source_add"),
        ("operations/sources.py", "source_remove"),
        ("store/memory.py", "tell"),
    }
    found = set()
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and _calls(node, "state_transaction"):
                place = (file.relative_to(PACKAGE).as_posix(), node.name)
                found.add(place)
                assert _calls(node, "put") == (place in telling), place
    assert found == set(silent) | telling


def _calls(function: ast.FunctionDef, name: str) -> bool:
    called = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(isinstance(one, ast.Attribute) and one.attr == name for one in called)
