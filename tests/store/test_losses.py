"""What is lost or cannot be used is said, named and never quietly begun anew; what is still there goes on."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.errors import StoreFault
from ai_memory.model import MACHINE, Caller, Sanitized
from ai_memory.paths import DataDir
from ai_memory.store import born, driver, indexing, pending, state
from ai_memory.store.memory import Memory


def lose_repository(data_dir: DataDir) -> None:
    shutil.rmtree(data_dir.git)


def lose_branch(data_dir: DataDir) -> None:
    (data_dir.git / "refs" / "heads" / "main").unlink()


def lose_wiki(data_dir: DataDir) -> None:
    shutil.rmtree(data_dir.wiki)


@pytest.mark.parametrize("lose", [lose_repository, lose_branch, lose_wiki])
def test_a_lost_repository_is_never_begun_anew(room: WikiRoom, lose: Callable[[DataDir], None]) -> None:
    lose(room.data_dir)
    with pytest.raises(StoreFault, match=r"is gone from .* it was there since") as told:
        room.put("notes/z.md")
    assert str(room.data_dir.born) in told.value.hint
    with room.memory().reading() as snapshot:
        assert [gap for gap in snapshot.gaps if "is gone from" in gap]
    assert room.memory().hindrance() is not None
    assert not (room.data_dir.git / "refs" / "heads" / "main").exists()


@pytest.mark.parametrize("part", ["wiki", "state"])
def test_what_another_made_between_two_looks_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: born.Part
) -> None:
    memory = Memory.open(DataDir(tmp_path / "data"), caller=Caller(cwd=None, environ={}, home=str(tmp_path)))
    real = born._read

    def after_another(data_dir: DataDir) -> dict[str, str]:
        """The note, read after another process made all: the caller had looked before."""
        monkeypatch.setattr(born, "_read", real)
        Memory.open(data_dir, caller=memory.caller).create()
        state.open_state(data_dir, at_us=1).close()
        return real(data_dir)

    monkeypatch.setattr(born, "_read", after_another)
    assert born.lost(memory.data_dir, part) is None
    assert memory.create() is False


def test_whoever_says_so_begins_a_lost_wiki_anew(room: WikiRoom) -> None:
    lose_wiki(room.data_dir)
    room.data_dir.born.unlink()
    room.put("notes/z.md", "anew\n")
    assert room.paths() == ["default/shop/notes/z.md"]


def use_state(room: WikiRoom) -> None:
    with room.memory().state_transaction() as connection:
        connection.execute("INSERT INTO purged (id, kind, at_us) VALUES ('s-1', 'session', 1)")


@pytest.mark.parametrize("empty", [False, True])
def test_a_lost_state_is_never_begun_anew(room: WikiRoom, empty: bool) -> None:
    use_state(room)
    for side in ("", "-wal", "-shm"):
        Path(f"{room.data_dir.state}{side}").unlink(missing_ok=True)
    if empty:
        room.data_dir.state.touch()
    with pytest.raises(StoreFault, match=r"state\.db is gone"):
        use_state(room)
    with pytest.raises(StoreFault, match=r"state\.db is gone"), room.memory().state_reading():
        pass


@pytest.mark.parametrize("damage", ["gone", "folder", "garbage"])
def test_what_the_state_refuses_is_known_before_the_commit_point(room: WikiRoom, damage: str) -> None:
    use_state(room)
    for side in ("", "-wal", "-shm"):
        Path(f"{room.data_dir.state}{side}").unlink(missing_ok=True)
    if damage == "folder":
        room.data_dir.state.mkdir()
    if damage == "garbage":
        room.data_dir.state.write_bytes(b"no database" * 500)
    before = room.git("rev-parse", "HEAD")
    with pytest.raises(StoreFault, match=r"state\.db"), room.memory().writing("with rows") as change:
        change.put(ref("notes/a.md"), Sanitized("new\n"))
        change.state("session-purged", session="s-2", at_us=1)
    assert not room.data_dir.pending.exists()
    assert room.git("rev-parse", "HEAD") == before
    room.put("notes/a.md", "a page needs no state\n")
    room.assert_in_step()


@pytest.mark.parametrize(
    "content", [b"garbage", b"null", b"[]", b"[" * 100_000, b"{}", b'{"format":99}', b'{"format":1,"paths":[]}', None]
)
def test_a_redo_log_that_cannot_be_read_stops_writers_by_name_and_readers_go_on(
    room: WikiRoom, content: bytes | None
) -> None:
    if content is None:
        room.data_dir.pending.mkdir()
    else:
        room.data_dir.pending.write_bytes(content)
    with pytest.raises(StoreFault, match=r"redo log .*pending cannot be read") as told:
        room.put("notes/z.md")
    assert not [word for word in ("NoneType", "subscript", "unpack", "'author'") if word in told.value.message]
    with room.memory().reading() as snapshot:
        assert snapshot.page(ref("notes/a.md")) is not None
        assert [gap for gap in snapshot.gaps if "redo log" in gap]
        assert not [gap for gap in snapshot.gaps if "another command" in gap]


A_PAGE = {"old": None, "text": "evil\n"}


@pytest.mark.parametrize(
    "part",
    [
        {"paths": {path: A_PAGE}}
        for path in (
            "../../../evil.md",
            "default/shop/../../evil.md",
            "default/../_meta.md",
            "/etc/evil.md",
            "default/shop//evil.md",
            "default/shop/./evil.md",
            "default/shop/.git/evil.md",
            ".git/hooks/evil.md",
            ".git/config",
            "default/shop/evil\0.md",
            "default/shop/\ud800.md",
            "README.txt",
        )
    ]
    + [
        {"paths": {"default/shop/notes/a.md": row}}
        for row in (
            {"old": "../../x", "text": "evil\n"},
            {"old": 7, "text": "evil\n"},
            {"old": None, "text": 7},
            {"old": None},
            {"old": None, "text": None, "base64": "%"},
            "evil",
        )
    ]
    + [
        {"state": [["statement-of-tomorrow", {"id": 1}]]},
        {"state": [["page-moved", {"workspace": "default"}]]},
        {"state": [["session-dropped", {"session": {}}]]},
        {"state": [["session-dropped"]]},
        {"outbox": [["../evil.md", "x"]]},
        {"outbox": [["open/x.md", 7]]},
        {"change_id": None},
        {"parent": "main"},
        {"at_us": "now"},
        {"message": 7},
        {"author": [1, 2]},
    ],
    ids=lambda part: json.dumps(part)[:60],
)
def test_a_redo_log_that_holds_what_this_program_does_not_write_is_not_applied(
    room: WikiRoom, part: dict[str, Any]
) -> None:
    room.by_hand("notes/a.md", "by hand\n")
    pending.save(room.data_dir.pending, whole_log(room))
    record = {**json.loads(room.data_dir.pending.read_bytes()), **part}
    content = json.dumps(record).encode()
    room.data_dir.pending.write_bytes(content)
    with pytest.raises(StoreFault, match=r"redo log .*pending cannot be read"):
        room.put("notes/z.md")
    assert room.data_dir.pending.read_bytes() == content
    with room.memory().reading() as snapshot:
        assert [gap for gap in snapshot.gaps if "redo log" in gap]
    room.data_dir.pending.unlink()
    room.put("notes/z.md")
    room.assert_in_step()


def whole_log(room: WikiRoom) -> pending.Pending:
    return pending.Pending(
        change_id="0" * 32,
        parent=room.git("rev-parse", "HEAD").strip(),
        author=MACHINE,
        at_us=room.clock(),
        message=Sanitized("m\n"),
        paths={"default/shop/notes/a.md": pending.PathChange(None, b"\xff", is_adopted=True)},
        state=(("session-dropped", {"session": "s"}),),
        outbox=(pending.OutboxChange("open/x.md", None),),
    )


def test_every_statement_and_path_that_we_write_is_read_back(room: WikiRoom) -> None:
    row = {name: 1 for statement in state.STATEMENTS for name in state.parameters(statement)}
    saved = replace(whole_log(room), state=tuple((name, row) for name in state.STATEMENTS))
    pending.save(room.data_dir.pending, saved)
    assert pending.load(room.data_dir.pending) == saved


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_place_where_no_data_dir_can_be_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    caller = Caller(cwd=str(tmp_path), environ=dict(os.environ), home=os.environ["HOME"])
    memory = Memory.open(DataDir(tmp_path / place), caller=caller)
    with pytest.raises(StoreFault, match="cannot be made"), memory.writing("x"):
        pass


# --- full disks ---


@pytest.fixture
def small_disk(tmp_path: Path) -> "Path":
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk needs the right to mount one")
    yield folder  # type: ignore[misc]
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_rebuild_on_a_full_disk_says_so_and_leaves_nothing(small_disk: Path) -> None:
    room = WikiRoom(small_disk)
    for number in range(3):
        room.put(f"notes/{number}.md", "word " * 2_000)
    data_dir = room.data_dir
    filler = small_disk / "filler"
    free = shutil.disk_usage(small_disk).free
    filler.write_bytes(b"x" * (free - 40_000))
    with pytest.raises(StoreFault, match="disk is full"):
        room.memory().reindex()
    assert not indexing.building_path(data_dir).exists()
    filler.unlink()
    assert room.memory().reindex().pages == 3
    room.assert_in_step()


def test_full_disks_are_told_from_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert driver.is_full_disk(tmp_path, OSError(28, "No space left on device"))
    assert driver.is_full_disk(tmp_path, RuntimeError("database or disk is full"))
    assert not driver.is_full_disk(tmp_path, RuntimeError("no such table: evidence"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 0))  # type: ignore[attr-defined]
    assert driver.is_full_disk(tmp_path, RuntimeError("disk I/O error"))


def test_a_write_that_is_done_is_told_as_done_when_its_answer_cannot_be_read(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ai_memory.operations.write import write_page
    from ai_memory.store import reading

    connection = reading._connection

    def broken_once_written(*arguments: Any) -> Any:
        if room.committed("notes/a.md") == b"done\n":
            raise OSError(28, "No space left on device")
        return connection(*arguments)

    monkeypatch.setattr(reading, "_connection", broken_once_written)
    done = write_page(room.memory(), path="notes/a.md", body="done\n", workspace="default", project="shop")
    assert done.outcome == "changed"
    assert [gap for gap in done.gaps if "the write is done" in gap]
    assert room.committed("notes/a.md") == b"done\n"
    with pytest.raises(OSError, match="No space"), room.memory().reading():
        pass


# --- read-only ---


def test_a_read_only_data_dir_without_an_index_is_read_from_its_wiki(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ai_memory.store import reading

    room.data_dir.index.unlink()
    monkeypatch.setattr(reading, "is_writable", lambda _: False)
    with room.memory().reading() as snapshot:
        assert snapshot.page(ref("notes/a.md")) is not None
        assert [gap for gap in snapshot.gaps if "none can be made here" in gap]
    assert not room.data_dir.index.exists()
