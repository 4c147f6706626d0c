"""`compact` makes the memory smaller and forgets nothing; `reset` empties it and leaves what is not memory."""

import pytest
from cli_room import Room

from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.store import compacting
from ai_memory.store.memory import Memory


def furnish(room: Room) -> None:
    for number in range(12):
        room.ok("write-page", "notes/a.md", "-b", f"# A\n\n{'kettles boil ' * 200}{number}\n")
    room.ok("write-page", "notes/b.md", "-b", "# B\n")
    room.work()


def test_compact_shows_sizes_first_and_forgets_nothing(room: Room) -> None:
    furnish(room)
    shown = room.json("compact")
    assert shown["outcome"] == "would_compact"
    assert {row["path"] for row in shown["parts"]} >= {"state.db", "wiki/.git"}
    log = room.git("log", "--all", "--format=%H %B")
    objects = int(room.git("count-objects").split()[0])
    assert objects > 20
    done = room.json("compact", "--confirm")
    assert done["outcome"] == "compacted"
    sizes = {row["path"]: (row["before_bytes"], row["after_bytes"]) for row in done["parts"]}
    assert sizes["wiki/.git"][1] < sizes["wiki/.git"][0]
    assert room.git("count-objects").split()[0] == "0"
    assert room.git("log", "--all", "--format=%H %B") == log
    assert room.git("fsck", "--strict") == ""
    assert room.git("status", "--porcelain") == ""
    assert room.json("search", "kettles")["hits"][0]["path"] == "notes/a.md"
    assert len(room.json("history", "notes/a.md")["versions"]) == 12


def test_without_git_loose_objects_are_packed_all_the_same(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(room)
    monkeypatch.setattr(compacting.shutil, "which", lambda _: None)
    assert "no git" in room.json("compact", "--confirm")["gaps"][0]
    assert room.git("count-objects").split()[0] == "0"
    assert room.git("fsck", "--strict") == ""


def test_a_program_that_the_repository_names_is_not_started(room: Room) -> None:
    furnish(room)
    mark = room.data_dir.parent / "started"
    room.git("config", "core.fsmonitor", f"touch {mark}")
    room.ok("compact", "--confirm")
    assert not mark.exists()


def test_reset_shows_what_goes_and_keeps_what_is_no_memory(room: Room) -> None:
    furnish(room)
    room.ok("config", "set", "capture.prompts", "false")
    room.ok("backup")
    (room.data_dir / "mine.txt").write_text("mine")
    shown = room.json("reset")
    assert shown["outcome"] == "would_reset"
    assert {row["path"] for row in shown["parts"] if row["goes"]} >= {"wiki", "state.db", "born.json", "spool"}
    assert {row["path"] for row in shown["parts"] if not row["goes"]} >= {"config.toml", "backups", "mine.txt"}
    assert len(room.json("pages")["pages"]) == 2
    room.ok("reset", "--confirm")
    assert room.json("pages")["pages"] == []
    assert room.json("sessions", "--all")["sessions"] == []
    assert (room.data_dir / "mine.txt").read_text() == "mine"
    assert room.json("config", "show")["settings"]
    assert room.run("doctor").exit_code in (0, 1)
    room.ok("write-page", "notes/new.md", "-b", "# New")
    assert [row["path"] for row in room.json("pages")["pages"]] == ["notes/new.md"]
    room.ok("restore", "--force")
    assert len(room.json("pages")["pages"]) == 2


def test_reset_killed_at_any_part_is_ended_by_saying_it_again(room: Room) -> None:
    furnish(room)
    for stop in range(1, 4):
        done: list[str] = []

        def die(step: str, done: list[str] = done, stop: int = stop) -> None:
            done.append(step)
            if len(done) == stop:
                raise KeyboardInterrupt

        caller = Caller(cwd=str(room.checkout), environ={}, home="/nonexistent")
        with pytest.raises(KeyboardInterrupt):
            Memory.open(DataDir(room.data_dir), caller=caller, step=die).reset()
        room.ok("reset", "--confirm")
        assert room.json("pages")["pages"] == []
        room.ok("write-page", "notes/a.md", "-b", "# A")
        room.work()
