"""What readers see: one view, no lock, no walk, and the truth about what is missing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.errors import StoreFault
from ai_memory.store import driver

READ_ONLY = "the data dir is read-only here: edits and events that wait are not in this answer"


def run(room: WikiRoom, *words: str, prefix: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    """A command on the project `shop`, in a process of its own."""
    command = [*prefix, sys.executable, "-m", "ai_memory", "--data-dir", str(room.data_dir.root), *words]
    scope = ["--workspace", "default", "--project", "shop"]
    return subprocess.run([*command, *scope], cwd=room.root, capture_output=True, text=True, timeout=60)


def test_one_view_does_not_change_while_it_is_read(room: WikiRoom) -> None:
    with room.memory().reading() as snapshot:
        before = snapshot.pages(sort="path")
        room.put("notes/d.md")
        with room.memory().writing("Delete") as change:
            change.delete(ref("notes/a.md"))
        assert snapshot.pages(sort="path") == before
    assert room.paths() == [f"default/shop/notes/{name}.md" for name in "bcd"]


def test_a_reader_of_a_fresh_index_opens_it_once(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    real = driver.connect

    def connect(path: Path, **how: Any) -> driver.Connection:
        opened.append(path)
        return real(path, **how)

    monkeypatch.setattr(driver, "connect", connect)
    with room.memory().reading() as snapshot:
        assert snapshot.pages().total == 3
    assert opened == [room.data_dir.index]


@pytest.mark.parametrize("where", [{"workspace": "default", "project": "shop"}, {}], ids=["project", "everywhere"])
@pytest.mark.parametrize("until_us", [None, 1 << 60], ids=["first", "further"])
def test_the_newest_pages_are_chosen_from_an_index_without_reading_or_sorting_the_others(
    room: WikiRoom, where: dict[str, str], until_us: int | None
) -> None:
    asked: list[str] = []
    with room.memory().reading() as snapshot:
        snapshot.index.set_trace_callback(asked.append)
        listed = snapshot.pages(**where, until_us=until_us, sort="-updated", limit=2)
        snapshot.index.set_trace_callback(None)
        assert [page.ref.path for page in listed.pages] == ["notes/c.md", "notes/b.md"]
        for sql in asked:
            steps = [(row[0], row[1], row[3]) for row in snapshot.index.execute(f"EXPLAIN QUERY PLAN {sql}")]
            choosing = next((step for step, _, what in steps if what.startswith("LIST SUBQUERY")), 0)
            of_pages = [what for _, above, what in steps if above == choosing and " p " in f"{what} "]
            assert all("COVERING INDEX pages_" in what for what in of_pages), steps  # counting takes the smaller one
            assert not choosing or all("pages_newest" in what for what in of_pages), steps
            assert not [what for _, above, what in steps if choosing and above == choosing and "B-TREE" in what], steps
    assert len(asked) == 2


def test_reading_where_nothing_is_makes_nothing(tmp_path: Path) -> None:
    room = WikiRoom(tmp_path)
    with room.memory().reading() as snapshot:
        assert snapshot.pages().total == 0
        assert snapshot.head is None
    with room.memory().state_reading() as connection:
        assert connection is None
    room.memory().fresh(ref("notes/a.md"))
    assert room.adopt().commit is None
    assert not room.data_dir.root.exists()


def test_reading_one_page_shows_an_edit_by_hand(room: WikiRoom) -> None:
    room.by_hand("notes/a.md", "# Edited just now\n")
    done = run(room, "read-page", "notes/a.md")
    assert done.returncode == 0, done
    assert "Edited just now" in done.stdout
    assert room.committed("notes/a.md") == b"# Edited just now\n"


def test_reading_a_page_that_was_just_made_by_hand_shows_it(room: WikiRoom) -> None:
    room.by_hand("notes/new.md", "# New just now\n")
    assert "New just now" in run(room, "read-page", "notes/new.md").stdout


def test_fresh_looks_at_one_folder_and_commits_nothing_where_nothing_changed(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real = os.scandir

    def note(path: str | Path) -> Iterator["os.DirEntry[str]"]:
        seen.append(str(path))
        return real(path)

    monkeypatch.setattr("ai_memory.store.worktree.os.scandir", note)
    before = room.git("rev-parse", "HEAD")
    room.memory().fresh(ref("notes/a.md"))
    assert seen == []
    room.by_hand("notes/a.md", "edited\n")
    room.memory().fresh(ref("notes/a.md"))
    assert seen == [str(room.file("notes"))]
    assert room.git("rev-parse", "HEAD") != before


def test_a_search_walks_no_folder_of_the_wiki(room: WikiRoom) -> None:
    """Told by the interpreter itself, in a process of its own."""
    room.by_hand("notes/unseen.md", "zebra\n")
    script = (
        "import sys\n"
        "wiki = sys.argv.pop(1)\n"
        "def hook(event, words):\n"
        "    if event in ('os.scandir', 'os.listdir') and str(words[0]).startswith(wiki):\n"
        "        print('walked', words[0], file=sys.stderr)\n"
        "sys.addaudithook(hook)\n"
        "from ai_memory.__main__ import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", script, str(room.wiki), "--data-dir", str(room.data_dir.root)]
    words = ["search", "three", "--workspace", "default", "--project", "shop"]
    done = subprocess.run([*command, *words], cwd=room.root, capture_output=True, text=True, timeout=60)
    assert "notes/a.md" in done.stdout, done
    assert "walked" not in done.stderr
    assert room.committed("notes/unseen.md") is None


# --- freshness ---


def test_a_missing_index_is_built_by_the_reader(room: WikiRoom) -> None:
    room.data_dir.index.unlink()
    assert len(room.paths()) == 3
    assert room.data_dir.index.exists()


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_damaged_index_costs_at_most_one_refusal_and_no_page(room: WikiRoom, damage: bytes) -> None:
    for suffix in ("-wal", "-shm"):
        Path(f"{room.data_dir.index}{suffix}").unlink(missing_ok=True)
    room.data_dir.index.write_bytes(damage)
    try:
        paths = room.paths()
    except StoreFault as fault:
        assert "run the command again" in fault.hint
        paths = room.paths()
    assert len(paths) == 3


def test_a_change_that_waits_in_the_redo_log_is_finished_by_the_next_reader(room: WikiRoom) -> None:
    class Killed(BaseException):
        pass

    def kill(step: str) -> None:
        if step == "pending":
            raise Killed

    with pytest.raises(Killed):
        room.put("notes/d.md", step=kill)
    assert room.data_dir.pending.exists()
    assert room.text("notes/d.md") == "text\n"
    assert not room.data_dir.pending.exists()
    room.assert_in_step()


# --- where nothing may be written ---


@pytest.fixture
def read_only(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> WikiRoom:
    """The data dir as a sandbox shows it. chmod does not bind root, under which the tests may run."""
    monkeypatch.setattr("ai_memory.store.reading.is_writable", lambda _: False)
    return room


def test_a_read_only_data_dir_is_read_and_says_so(read_only: WikiRoom) -> None:
    before = {path: path.stat().st_mtime_ns for path in read_only.data_dir.root.rglob("*")}
    with read_only.memory().reading() as snapshot:
        assert snapshot.pages().total == 3
        assert snapshot.gaps == [READ_ONLY]
    read_only.memory().fresh(ref("notes/a.md"))
    assert "read-only" in read_only.adopt().skipped[0]
    assert {path: path.stat().st_mtime_ns for path in read_only.data_dir.root.rglob("*")} == before


def test_a_write_to_a_read_only_data_dir_names_the_tool_that_can(read_only: WikiRoom) -> None:
    with pytest.raises(StoreFault, match="read-only") as told:
        read_only.put("notes/d.md")
    assert "let this MCP server write there" in told.value.hint
    with pytest.raises(StoreFault, match="read-only") as told, read_only.memory("cli").writing("x"):
        pytest.fail("it was written")
    assert "memory_write_page" in told.value.hint
    with pytest.raises(StoreFault, match="read-only"), read_only.memory().state_transaction():
        pass
    with pytest.raises(StoreFault, match="read-only"):
        read_only.memory().reindex()


@pytest.mark.parametrize("name", ["maintaining_alone", "embedding_alone", "reading_records_alone"])
def test_who_would_work_alone_in_a_read_only_data_dir_is_told_so(read_only: WikiRoom, name: str) -> None:
    with pytest.raises(StoreFault, match="read-only"), getattr(read_only.memory(), name)():
        pytest.fail("it went on")


def test_a_read_only_index_that_lags_or_is_missing_is_told(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    room.by_hand("notes/d.md")
    room.git("add", "-A")
    room.git("commit", "-qm", "mine")
    monkeypatch.setattr("ai_memory.store.reading.is_writable", lambda _: False)
    with room.memory().reading() as snapshot:
        assert snapshot.gaps == [READ_ONLY, "the search index is behind the wiki"]
    room.data_dir.index.unlink()
    with room.memory().reading() as snapshot:
        told = "there is no search index, and none can be made here: the pages were read for this answer"
        assert snapshot.gaps == [READ_ONLY, told]
        assert snapshot.pages().total == 4


@pytest.fixture
def locked_down(room: WikiRoom) -> Iterator[tuple[str, ...]]:
    """Takes all write bits away; gives what a command must begin with for that to bind root too."""
    powers = "-dac_override,-dac_read_search"
    prefix = ("setpriv", "--bounding-set", powers, "--inh-caps", powers) if os.geteuid() == 0 else ()
    if prefix and shutil.which("setpriv") is None:
        pytest.skip("root needs setpriv to be bound by file modes")
    paths = [room.data_dir.root, *room.data_dir.root.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(modes[path] & ~0o222)
    yield prefix
    for path, mode in modes.items():
        path.chmod(mode)


def test_where_the_system_forbids_writing_commands_read_and_refuse_with_1(
    room: WikiRoom, locked_down: tuple[str, ...]
) -> None:
    read = run(room, "search", "three", "--json", prefix=locked_down)
    assert read.returncode == 0, read
    assert "notes/a.md" in read.stdout
    assert READ_ONLY in read.stdout
    page = run(room, "read-page", "notes/a.md", prefix=locked_down)
    assert page.returncode == 0, page
    wrote = run(room, "write-page", "--path", "notes/x.md", "--body", "text", prefix=locked_down)
    assert wrote.returncode == 1, wrote
    assert "memory_write_page" in wrote.stderr
    assert "Traceback" not in wrote.stderr
