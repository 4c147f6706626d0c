"""A purge takes a text from every corner where it may wait: left by a killed writer, a running session, a fault."""

import json
import shutil
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_room import SESSION, Room

from ai_memory.model import Caller, PageRef, Sanitized
from ai_memory.operations.backup import restore
from ai_memory.paths import DataDir
from ai_memory.store import erasing
from ai_memory.store.memory import Memory
from ai_memory.store.outbox import Outbox

SECRET = "the heron stands in the reeds at dawn"
PAGE = PageRef("default", "shop", "notes/a.md")


class Died(BaseException):
    pass


def die_at(name: str) -> Callable[[str], None]:
    def step(reached: str) -> None:
        if reached == name:
            raise Died

    return step


def memory_of(room: Room, step: Callable[[str], None]) -> Memory:
    caller = Caller(cwd=str(room.checkout), environ={}, home="/nonexistent")
    return Memory.open(DataDir(room.data_dir), caller=caller, step=step)


def places(room: Room) -> set[str]:
    """Files of the data dir that hold the text, git's objects as one."""
    found = erasing.traces(DataDir(room.data_dir), [SECRET])
    return {one.place.partition(":")[0].partition("-wal")[0] for one in found}


def a_running_session(room: Room) -> None:
    """It stopped once, was compacted, and an event of it cannot be applied."""
    room.tell("user-prompt", text=f"Watch how {SECRET}.")
    room.tell("post-tool-use", tool="Bash", input={"command": f"echo {SECRET}"}, output=SECRET)
    room.tell("pre-compact")
    room.tell("stop")
    room.drain()
    [name] = [one.name for one in (room.data_dir / "outbox" / "provisional").iterdir()]
    assert SECRET in (room.data_dir / "outbox" / "provisional" / name).read_text()
    assert (room.data_dir / "outbox" / "recaps" / f"{SESSION}.md").exists()
    event = {"v": 1, "agent": "codex", "event": "user-prompt", "session": SESSION, "text": SECRET}
    aside = room.data_dir / "spool" / "quarantine"
    aside.mkdir(exist_ok=True)
    (aside / f"{time.time_ns():019d}-1-0a0b0c0d.json").write_text(json.dumps(event))
    room.tell("user-prompt", text=f"Later: {SECRET}!")


def a_killed_writer(room: Room) -> None:
    """Its redo log holds the page's text, and so does what it left in git's folder."""
    with pytest.raises(Died), memory_of(room, die_at("pending")).writing("write a.md") as change:
        change.put(PAGE, Sanitized(f"# A\n\n{SECRET}\nonce more\n"))
    assert SECRET in (room.data_dir / "pending").read_text()


def torn_objects(room: Room) -> None:
    """A pack that git was killed in, and an object that is half written."""
    room.git("repack", "-adq")
    objects = room.data_dir / "wiki" / ".git" / "objects"
    [pack] = objects.glob("pack/*.pack")
    content = pack.read_bytes()
    (objects / "pack" / "tmp_pack_Ab12Cd").write_bytes(content[: len(content) - 40])
    (objects / "aa").mkdir(exist_ok=True)
    (objects / "aa" / "tmp_obj_x1").write_bytes(zlib.compress(f"blob 1\0{SECRET}\n{'x' * 500}".encode())[:-8])


def a_page(room: Room) -> None:
    room.ok("write-page", "notes/a.md", "-b", f"# A\n\n{SECRET}\n")
    room.ok("search", "heron")


def test_a_running_session_is_purged_with_what_it_left_for_others(room: Room) -> None:
    room.ok("write-page", "notes/b.md", "-b", "# B\n")
    a_running_session(room)
    assert {"state.db", "outbox/provisional", "outbox/recaps", "spool", "spool/quarantine"} <= {
        place.rpartition("/")[0] or place for place in places(room)
    }
    answer = room.json("purge-session", SESSION, "--confirm", "--history", "--verify")
    assert answer["traces"] == []
    assert places(room) == set()
    assert Outbox(DataDir(room.data_dir)).provisionals() == []
    room.drain()
    assert places(room) == set()
    assert room.json("sessions")["sessions"] == []


@pytest.mark.parametrize("words", [("forget", "-p", "notes/a.md"), ("purge-project", "shop")])
def test_a_page_is_purged_from_the_log_of_a_killed_writer_and_torn_objects(room: Room, words: tuple[str, ...]) -> None:
    a_page(room)
    torn_objects(room)
    a_killed_writer(room)
    objects = "wiki/.git/objects"
    assert {"pending", f"{objects}/pack/tmp_pack_Ab12Cd", f"{objects}/aa/tmp_obj_x1"} <= places(room)
    answer = room.json(*words, "--confirm", "--history", "--verify")
    assert (answer["verified"], answer["traces"]) == (True, [])
    assert places(room) == set()
    assert not (room.data_dir / "pending").exists()
    assert room.git("fsck", "--strict") == ""


def test_a_project_is_purged_with_its_running_session(room: Room) -> None:
    a_page(room)
    a_running_session(room)
    assert room.json("purge-project", "shop", "--confirm", "--history", "--verify")["traces"] == []
    assert places(room) == set()
    room.drain()
    assert places(room) == set()


def test_no_log_policy_or_cache_holds_a_captured_text(room: Room) -> None:
    a_page(room)
    a_running_session(room)
    torn = room.data_dir / "spool" / f"{time.time_ns():019d}-1-0a0b0c0e.json"
    torn.write_text(f'{{"v": 1, "text": "{SECRET}')
    room.drain()
    room.run("doctor")
    assert {place.partition("/")[0] for place in places(room)} <= {
        *("wiki", "state.db", "spool", "outbox", DataDir(room.data_dir).index.name)
    }


def test_a_pack_inside_a_backup_is_looked_through(room: Room) -> None:
    a_page(room)
    room.git("repack", "-adq")
    room.ok("backup")
    answer = room.json("forget", "-p", "notes/a.md", "--confirm", "--history", "--verify", code=1)
    assert {row["place"].rpartition("/")[2].rpartition(".")[2] for row in answer["traces"]} >= {"pack"}
    shutil.rmtree(room.data_dir / "backups")
    assert places(room) == set()


def test_a_restore_that_dies_at_any_step_brings_nothing_purged_back(room: Room, tmp_path: Path) -> None:
    a_page(room)
    room.ok("write-page", "notes/b.md", "-b", "# B\n")
    room.ok("backup")
    room.ok("forget", "-p", "notes/a.md", "--confirm")
    kept = shutil.copytree(room.data_dir, tmp_path / "kept")
    steps: list[str] = []
    restore(memory_of(room, steps.append), force=True)
    assert "restore-mended" in steps
    assert [row["path"] for row in room.json("pages")["pages"]] == ["notes/b.md"]
    for name in (one for one in dict.fromkeys(steps) if one.startswith(("restore", "erase", "pending", "state"))):
        shutil.rmtree(room.data_dir)
        shutil.copytree(kept, room.data_dir)
        with pytest.raises(Died):
            restore(memory_of(room, die_at(name)), force=True)
        assert [row["path"] for row in room.json("pages")["pages"]] == ["notes/b.md"], name
        assert room.json("search", "heron")["hits"] == [], name
