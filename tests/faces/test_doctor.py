"""`ai-memory doctor`: what it finds of the memory, how it ends, and what `--fix` mends."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_room import Room

from ai_memory.capture import drain
from ai_memory.diagnosis import contents
from ai_memory.errors import LockBusy
from ai_memory.model import Caller
from ai_memory.operations.write import write_page
from ai_memory.paths import DataDir
from ai_memory.store import driver, filesystem
from ai_memory.store.leftovers import OLD_S
from ai_memory.store.memory import Memory
from ai_memory.store.spool import Spool

DAY_NS = 86_400 * 1_000_000_000


def found(room: Room, *words: str, code: int) -> dict[str, dict[str, Any]]:
    """Code → finding, for findings of the memory and of agents alike."""
    return {one["code"]: one for one in room.json("doctor", *words, code=code)["findings"]}


@pytest.fixture
def full(room: Room) -> Room:
    """A memory of one page, in which nothing is amiss."""
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A")
    return room


def test_all_is_well_in_one_line(full: Room) -> None:
    told = full.ok("doctor")
    assert told == f"all is well: 28 checks of {full.data_dir}\n"
    document = full.json("doctor")
    assert (document["findings"], document["repaired"]) == ([], [])
    assert {one["outcome"] for one in document["checks"]} == {"fine"}
    assert document["data_dirs"] == [{"path": str(full.data_dir), "named_by": ["this command"]}]


def test_without_a_data_dir_it_says_what_to_do_and_makes_none(room: Room) -> None:
    (only,) = room.json("doctor", code=1)["findings"]
    assert (only["code"], only["fix"]) == ("no-memory", "ai-memory setup")
    room.run("doctor", "--fix")
    assert not room.data_dir.exists()


def test_a_look_changes_nothing(full: Room) -> None:
    full.tell("user-prompt", text="Mend.", at_us=time.time_ns() // 1000 - 3_600_000_000)
    before = {path: path.read_bytes() for path in full.data_dir.rglob("*") if path.is_file()}
    assert full.run("doctor").exit_code == 1
    after = {path: path.read_bytes() for path in full.data_dir.rglob("*") if path.is_file()}
    assert after == before


def test_a_status_that_is_degraded_names_the_doctor(full: Room) -> None:
    assert "doctor" not in full.ok("status")
    full.tell("user-prompt", text="Mend.", at_us=time.time_ns() // 1000 - 3_600_000_000)
    assert full.ok("status").endswith("run ai-memory drain\nai-memory doctor says what mends it\n")


# --- what it finds ---


def events_of(age_ns: int, room: Room) -> None:
    room.tell("user-prompt", text="Mend.", at_us=(time.time_ns() - age_ns) // 1000)


def test_events_that_wait_too_long_are_a_warning_and_for_a_week_broken(full: Room) -> None:
    events_of(3_600 * 1_000_000_000, full)
    assert found(full, code=1)["spool-waits"]["fix"] == "ai-memory drain"
    events_of(8 * DAY_NS, full)
    assert found(full, code=7)["spool-old"]["severity"] == "broken"
    assert "Nothing is thrown away for its age; run ai-memory drain\n" in full.ok("status")


def test_a_memory_of_a_month_wants_a_backup_and_that_one_anew_after_a_month(full: Room) -> None:
    born = full.data_dir / "born.json"
    born.write_text(json.dumps(dict.fromkeys(json.loads(born.read_text()), "2026-01-02T03:04:05Z")))
    only = found(full, code=0)["backup-none"]
    assert "since 2026-01-02" in only["sentence"]
    full.ok(*only["fix"].split()[1:])
    assert found(full, code=0) == {}
    with closing(driver.connect(full.data_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE audit SET at_us = 1767323045000000 WHERE verb = 'backup-verify'")
    assert found(full, code=0)["backup-old"]["sentence"].endswith("of 2026-01-02")


def test_what_was_given_up_is_a_note_and_what_is_set_aside_a_warning(full: Room) -> None:
    (full.data_dir / "spool").mkdir(exist_ok=True)
    (full.data_dir / "spool" / ".dropped").write_bytes(b"...")
    assert found(full, code=0)["spool-dropped"]["sentence"].startswith("3 tool events were given up")
    name = f"{time.time_ns():019d}-1-0a0b0c0d.json"
    (full.data_dir / "spool" / name).write_text("{}")
    Spool(DataDir(full.data_dir)).quarantine(name, "broken", at_us=0)
    assert found(full, code=1)["quarantine"]["fix"] == "ai-memory quarantine list"


def test_a_full_spool_is_broken(full: Room) -> None:
    full.ok("config", "set", "hook_spool.max_mib", "16")
    with (full.data_dir / "spool" / f"{time.time_ns():019d}-1-00000000.json").open("wb") as file:
        file.truncate(16 << 20)
    assert "16 of 16 MiB" in found(full, code=7)["spool-full"]["sentence"]


def test_rights_and_disks_are_told_with_the_reason(full: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    full.data_dir.chmod(0o755)
    (full.data_dir / "state.db").touch()
    (full.data_dir / "state.db").chmod(0o644)
    monkeypatch.setattr(filesystem, "is_network", lambda _: True)
    monkeypatch.setattr(filesystem, "synced_folder", lambda _: "Dropbox")
    seen = found(full, code=1)
    assert seen["data-dir-open"]["fix"] == f"chmod -R go-rwx {full.data_dir}"
    assert "state.db" in seen["data-dir-open"]["sentence"]
    assert "locks may not hold" in seen["network-disk"]["sentence"]
    assert "Dropbox synchronises: it replaces files while they are open" in seen["synced-disk"]["sentence"]


def test_a_disk_without_room_is_broken_and_one_with_little_a_warning(
    full: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    for free, code, name in ((4096, 7, "disk-full"), (32 << 20, 1, "disk-low")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(total=1, used=1, free=free))
        assert name in found(full, code=code)


def test_a_data_dir_that_cannot_be_written_is_broken(full: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ai_memory.diagnosis.place.is_writable", lambda folder: folder != full.data_dir)
    monkeypatch.setattr("ai_memory.store.reading.is_writable", lambda _: False)
    assert "hooks keep nothing" in found(full, code=7)["data-dir-read-only"]["sentence"]


BARE = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
"""Takes from the superuser what lets it read everything."""


@pytest.mark.skipif(bool(BARE) and shutil.which("setpriv") is None, reason="nothing takes the superuser's rights away")
def test_a_data_dir_that_cannot_be_read_is_told_and_nothing_in_it_is_called_fine(full: Room) -> None:
    full.data_dir.chmod(0)
    try:
        done = subprocess.run(
            [*BARE, sys.executable, "-m", "ai_memory", "doctor", "--json"], capture_output=True, text=True, check=False
        )
    finally:
        full.data_dir.chmod(0o700)
    assert done.returncode == 7, done.stderr
    document = json.loads(done.stdout)
    assert document["findings"][0]["fix"] == f"chmod u+rwx {full.data_dir}"
    outcomes = {one["check"]: one["outcome"] for one in document["checks"]}
    inside = ("spool", "quarantine", "drain", "wiki", "state", "index", "lock", "sessions")
    assert {outcomes[name] for name in inside} == {"unchecked"}


def test_a_part_that_is_gone_is_broken(full: Room) -> None:
    shutil.rmtree(full.data_dir / "wiki" / ".git")
    seen = found(full, code=7)
    assert "wiki/.git" in seen["part-lost"]["sentence"]
    assert "backup" in seen["part-lost"]["fix"]


def test_settings_that_cannot_be_read_are_broken_and_name_the_line(full: Room) -> None:
    (full.data_dir / "config.toml").write_text("[capture]\npromts = true\n")
    told = found(full, code=7)["config-invalid"]
    assert "config.toml, line 2: unknown setting `capture.promts`" in told["sentence"]
    assert told["fix"] == "the nearest setting is capture.prompts"


def test_variables_that_mean_nothing_or_stop_capture_are_told(full: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AI_MEMORY_CAPTUR__PROMPTS", "on")
    monkeypatch.setenv("AI_MEMORY_CAPTURE", "off")
    monkeypatch.setenv("AI_MEMORY_CAPTURE_OWNER", "wrapper")
    seen = found(full, code=1)
    assert seen["variable-unknown"]["fix"] == "unset AI_MEMORY_CAPTUR__PROMPTS"
    assert {"capture-off", "capture-owner"} <= seen.keys()


def test_a_marker_that_cannot_be_trusted_is_told(full: Room) -> None:
    (full.checkout / ".ai-memory.toml").write_text("[capture]\nignore = ['x']\n")
    assert "unknown key `ignore`" in found(full, code=1)["marker-invalid"]["sentence"]


def test_a_pause_is_a_note(full: Room) -> None:
    full.ok("pause", "--here")
    told = found(full, code=0)["paused"]
    assert (told["sentence"], told["fix"]) == (
        f"capture is paused in {full.checkout} until resumed",
        "ai-memory resume --all",
    )


def test_a_pause_that_is_over_is_not_told_and_one_that_cannot_be_read_is_a_warning(full: Room) -> None:
    full.ok("pause", "--for", "1h")
    path = full.data_dir / "paused.json"
    told = json.loads(path.read_text())
    told["pauses"][0]["until_us"] = 1
    path.write_text(json.dumps(told))
    assert found(full, code=0) == {}
    path.write_text("{")
    assert found(full, code=1)["paused"]["severity"] == "warning"


def holder(room: Room, **more: object) -> None:
    note = {"pid": os.getppid(), "command": "ai-memory reindex", "host": socket.gethostname(), "since_us": 1} | more
    (room.data_dir / "locks" / "write.holder").write_text(json.dumps(note))


def test_who_writes_for_long_is_named_and_who_was_killed_is_not(full: Room) -> None:
    holder(full)
    assert f"pid {os.getppid()}" in found(full, code=1)["lock-held"]["sentence"]
    holder(full, since_us=time.time_ns() // 1000)
    assert found(full, code=0)["lock-held"]["severity"] == "note"
    holder(full, pid=2**22 + 1)
    assert "lock-held" not in found(full, code=0)


def test_a_branch_that_moved_away_is_broken(full: Room) -> None:
    full.git("switch", "-q", "-c", "mine")
    told = found(full, code=7)["wiki-blocked"]
    assert "its HEAD points to mine" in told["sentence"]
    assert "git -C" in told["fix"]


@pytest.mark.parametrize("damage", ["missing", "other bytes", "no object"])
def test_a_page_whose_object_is_damaged_is_named(full: Room, damage: str) -> None:
    blob = full.git("rev-parse", "HEAD:default/shop/notes/a.md").strip()
    other = full.git("rev-parse", "HEAD:.gitattributes").strip()
    objects = full.data_dir / "wiki" / ".git" / "objects"
    path = objects / blob[:2] / blob[2:]
    path.chmod(0o600)
    match damage:
        case "missing":
            path.unlink()
        case "other bytes":
            path.write_bytes((objects / other[:2] / other[2:]).read_bytes())
        case "no object":
            path.write_bytes(b"\0")
    told = found(full, code=7)["wiki-damaged"]
    assert "default/shop/notes/a.md: " in told["sentence"]
    assert "fsck" in told["fix"]


def test_no_more_files_are_read_than_the_bound(full: Room) -> None:
    seen = contents.checkup.read_objects(full.data_dir / "wiki" / ".git", most=2)
    assert (seen.files, seen.is_whole) == (2, False)
    assert contents.checkup.read_objects(full.data_dir / "wiki" / ".git", most=100).is_whole


def test_a_damaged_state_is_broken_or_said_to_be_unreadable(full: Room) -> None:
    full.work()
    path = full.data_dir / "state.db"
    for beside in ("-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 4] = b"\xff" * 4096
    path.write_bytes(content)
    document = full.json("doctor", code=7)
    state = [one for one in document["findings"] if one["check"] == "state"]
    assert state[0]["code"] == "state-damaged"
    assert "ai-memory salvage" in state[0]["fix"]
    shown = full.json("salvage")
    assert (shown["outcome"], shown["gaps"] != []) == ("would_salvage", True)
    done = full.json("salvage", "--confirm")
    assert done["outcome"] == "salvaged"
    assert (Path(done["kept"]) / "state.db").read_bytes() == content
    findings = json.loads(full.run("doctor", "--json").stdout)["findings"]
    assert "state" not in {one["check"] for one in findings}
    assert full.ok("salvage").strip() == "nothing in state.db is damaged: nothing to salvage"


def test_a_state_of_a_newer_program_is_broken(full: Room) -> None:
    full.work()
    with closing(driver.connect(full.data_dir / "state.db")) as connection:
        connection.execute("PRAGMA user_version=999")
    assert "state.db has version 999" in found(full, code=7)["state-damaged"]["sentence"]


def test_a_commit_that_cannot_be_read_is_broken(full: Room) -> None:
    head = full.git("rev-parse", "HEAD").strip()
    (full.data_dir / "wiki" / ".git" / "objects" / head[:2] / head[2:]).unlink()
    assert head in found(full, code=7)["wiki-damaged"]["sentence"]


def test_what_lies_in_the_wiki_folder_and_was_not_taken_is_named_and_left(full: Room) -> None:
    full.file("notes/a (conflicted copy 2026-01-01).md").write_text("# A, on the laptop\n")
    full.file("notes/b.md").write_text("<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n")
    full.file("notes/.c.md.icloud").write_text("")
    for number in range(7):
        full.file(f"notes/what{number}?.md").write_text("text\n")
    head = full.git("rev-parse", "HEAD")
    told = found(full, code=1)
    assert set(told) == {"conflict-copy", "conflict-markers", "file-left", "held-elsewhere"}
    assert told["conflict-copy"]["sentence"].startswith("default/shop/notes/a (conflicted copy 2026-01-01).md is what")
    assert told["conflict-copy"]["fix"].startswith("take over what its original lacks")
    assert told["conflict-markers"]["fix"] == "solve them"
    assert told["file-left"]["sentence"] == "2 more files of the wiki were not taken"
    assert full.git("rev-parse", "HEAD") == head
    assert len(full.json("pages", "--all")["pages"]) == 1


def test_pages_that_are_gone_all_at_once_are_asked_about(full: Room) -> None:
    for number in range(12):
        full.file(f"notes/{number}.md").write_text("text\n")
    full.ok("status")
    for number in range(12):
        full.file(f"notes/{number}.md").unlink()
    gone = found(full, code=1)["pages-gone"]
    assert gone["sentence"] == "12 of 14 pages are gone from the wiki folder. Nothing was deleted"
    assert "git checkout -- ." in gone["fix"]


def test_pages_that_cannot_be_read_are_named(full: Room) -> None:
    full.file("notes/b.md").write_text("---\nkind: [\n---\n\nx\n")
    full.ok("status")
    assert "default/shop:notes/b.md" in found(full, code=1)["pages-faulty"]["sentence"]


def test_an_embedder_that_cannot_be_had_is_told(full: Room) -> None:
    full.ok("config", "set", "embed.provider", "local")
    assert "no vectors can be made" in found(full, code=1)["embedder-unusable"]["sentence"]


def test_days_and_agents_are_checked(full: Room) -> None:
    assert full.run("doctor", "--days", "0").exit_code == 2
    assert full.run("doctor", "--agent", "cluade").exit_code == 3


# --- what it mends ---


def test_fix_applies_what_waits(full: Room) -> None:
    events_of(3_600 * 1_000_000_000, full)
    document = full.json("doctor", "--fix")
    assert document["repaired"] == ["1 events were applied"]
    assert document["findings"] == []
    assert full.json("sessions", "--all")["sessions"]


def test_fix_removes_what_killed_commands_left_and_nothing_younger(full: Room) -> None:
    old, young = full.data_dir / ".state.99999999.tmp", full.data_dir / ".config.99999999.tmp"
    for path in (old, young):
        path.write_text("half")
        path.chmod(0o600)
    os.utime(old, (time.time() - OLD_S - 10,) * 2)
    assert found(full, code=0)["leftovers"]["severity"] == "note"
    assert full.json("doctor", "--fix")["repaired"] == ["1 half-written files were removed"]
    assert (old.exists(), young.exists()) == (False, True)


class Killed(BaseException):
    """What no code of ours catches."""


def test_a_change_that_a_killed_command_left_is_told_where_it_cannot_be_finished(full: Room) -> None:
    def die(step: str) -> None:
        if step == "objects":
            raise Killed

    caller = Caller(cwd=str(full.checkout), environ=os.environ, home=str(Path.home()))
    memory = Memory.open(DataDir(full.data_dir), caller=caller, step=die)
    with pytest.raises(Killed):
        write_page(memory, path="notes/b.md", body="# B")
    full.git("switch", "-q", "-c", "mine")
    assert {"wiki-blocked", "change-unfinished"} <= found(full, code=7).keys()
    full.git("switch", "-q", "main")
    assert found(full, code=0) == {}
    assert full.file("notes/b.md").read_text().endswith("# B\n")


def test_fix_tells_what_it_could_not_do(full: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    events_of(3_600 * 1_000_000_000, full)

    def refuse(*_: object, **__: object) -> None:
        raise LockBusy("Another drain is at work.")

    monkeypatch.setattr(drain, "drain_all", refuse)
    document = full.json("doctor", "--fix", code=1)
    assert document["gaps"] == ["could not apply what waits: Another drain is at work."]
    assert document["repaired"] == []


def test_a_command_that_mends_can_be_pasted_whatever_the_data_dir_is_called(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = room.data_dir.parent / "it's $(touch x) here"
    monkeypatch.setenv("AI_MEMORY_DATA_DIR", str(odd))
    room.ok("init")
    odd.chmod(0o755)
    subprocess.run(["sh", "-c", found(room, code=1)["data-dir-open"]["fix"]], check=True, cwd=room.checkout)
    assert found(room, code=0) == {}
    assert not (room.checkout / "x").exists()
