"""A backup holds all that cannot be made again, whatever goes on meanwhile, and comes back byte for byte."""

import json
import os
import time
import zipfile
from contextlib import closing
from pathlib import Path

import crash_driver
import pytest
from backup_house import (
    EVENT,
    HANDOFF,
    files_below,
    found,
    furnish,
    git,
    is_sound,
    make,
    no_progress,
    put_back,
    rewritten,
    rows,
)
from crash_driver import KILLED, Forge, copy_of, memory_at, page, ref

from ai_memory.errors import Conflict, LockBusy, MemoryFault, NotFound, StoreFault
from ai_memory.paths import DataDir
from ai_memory.store import archive as archives
from ai_memory.store import backup, driver, leftovers, state
from ai_memory.store.archive import BadArchive, is_kept
from ai_memory.store.drain_lock import DrainLock
from ai_memory.store.memory import Memory
from ai_memory.store.restore import restore


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("backup") / "data"
    furnish(root)
    return root


@pytest.fixture(scope="module")
def kept(furnished: Path) -> Path:
    return make(furnished)


@pytest.fixture
def data(furnished: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    copy = copy_of(furnished, f"copy-{tmp_path.name}-{os.getpid()}")
    target = tmp_path / "data"
    copy.rename(target)
    return target


# --- what is in it ---


def test_a_backup_comes_back_byte_for_byte_in_an_empty_place(furnished: Path, kept: Path, tmp_path: Path) -> None:
    root = tmp_path / "elsewhere"
    assert put_back(root, kept) == ()
    assert found(root) == found(furnished)
    assert is_sound(root)
    assert (root / "wiki" / "default" / "crash" / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert oct(root.stat().st_mode)[-3:] == "700"
    modes = {
        oct(path.stat().st_mode)[-3:]
        for path in root.rglob("*")
        if path.is_file() and not {"locks", ".git"} & {*path.parts}
    }
    assert modes == {"600"}


def test_the_manifest_counts_and_hashes_what_is_there(kept: Path) -> None:
    manifest = archives.check(kept, no_progress)
    assert (manifest.counts["pages"], manifest.counts["projects"]) == (5, 1)
    assert manifest.state_schema == state.state_schema.VERSION
    assert oct(kept.stat().st_mode)[-3:] == "600"
    names = {one.name for one in manifest.members}
    assert {"state.db", "config.toml", "born.json", f"spool/{EVENT}.json", f"outbox/open/{HANDOFF}.md"} <= names
    assert not any(name.startswith(("index", "cache", "locks", "logs", "backups")) for name in names)
    assert "wiki/default/crash/notes/b.md" not in names, "it is in the history"
    assert "wiki/default/crash/picture.png" in names


def test_an_edit_that_nobody_took_yet_is_kept(data: Path, tmp_path: Path) -> None:
    (data / "wiki" / "default" / "crash" / "notes" / "b.md").write_text("# By hand\n")
    root = tmp_path / "elsewhere"
    put_back(root, make(data))
    assert (root / "wiki" / "default" / "crash" / "notes" / "b.md").read_text() == "# By hand\n"
    assert [one.path for one in memory_at(root).adopt().changed] == ["notes/b.md"]


def test_an_edit_that_was_staged_is_kept(data: Path, tmp_path: Path) -> None:
    (data / "wiki" / "default" / "crash" / "notes" / "b.md").write_text("# Staged\n")
    git(data, "add", "default/crash/notes/b.md")
    root = tmp_path / "elsewhere"
    put_back(root, make(data))
    assert (root / "wiki" / "default" / "crash" / "notes" / "b.md").read_text() == "# Staged\n"


def test_what_writers_do_meanwhile_is_whole_in_it_or_not_at_all(data: Path, tmp_path: Path) -> None:
    """At each named instant somebody writes a page with a row, takes the handoff, packs, and adds an event."""
    passed: list[str] = []

    def meddle(step: str) -> None:
        passed.append(step)
        number = len(passed)
        if step == "backup-written":
            return
        with memory_at(data).writing(f"Meddle {number}") as change:
            change.put(ref(f"meddle/{number}.md"), page(f"meddle {number}"))
            crash_driver.add_evidence(change, f"meddle {number}")
        git(data, "repack", "-adq")

    archive = make(data, step=meddle)
    root = tmp_path / "elsewhere"
    put_back(root, archive)
    texts = [name for name in found(root)["pages"] if "/meddle/" in name]  # type: ignore[attr-defined]
    assert [f"meddle {name[-4]}" for name in texts] == crash_driver.evidence(root)
    assert passed == ["backup-spool", "backup-locked", "backup-state", "backup-written", "backup-named"]
    assert texts == ["default/crash/meddle/1.md"]
    assert is_sound(root)


def test_a_claim_in_the_middle_leaves_the_handoff_here_or_there(data: Path, tmp_path: Path) -> None:
    (data / "outbox" / "claimed" / f"{HANDOFF}.s").write_text("take over\n")  # open/ was read, then the hook claimed
    root = tmp_path / "elsewhere"
    put_back(root, make(data))
    assert not (root / "outbox" / "open" / f"{HANDOFF}.md").exists()
    assert (root / "outbox" / "claimed" / f"{HANDOFF}.s").exists()


def test_links_and_special_files_are_left_and_named(data: Path) -> None:
    wiki = data / "wiki"
    (wiki / "default" / "link").symlink_to("/etc")
    (wiki / "default" / "hosts").symlink_to("/etc/hosts")
    os.mkfifo(wiki / "default" / "pipe")
    (wiki / "default" / "sub" / ".git").mkdir(parents=True)
    (wiki / "default" / "sub" / ".git" / "config").write_text("x")
    made = backup.make(memory_at(data), data.with_name("odd.zip"), no_progress)
    assert sorted(line.partition(":")[0] for line in made.left) == [
        "default/hosts",
        "default/link",
        "default/pipe",
        "default/sub/.git",
    ]


def test_no_backup_is_made_of_nothing_or_of_what_is_half_lost(data: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing to back up"):
        make(tmp_path / "nowhere")
    (data / "state.db").unlink()
    with pytest.raises(StoreFault, match=r"state\.db is gone"):
        make(data)
    assert not data.with_name("kept.zip").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_damaged_state_is_no_backup(data: Path) -> None:
    for path in data.glob("state.db-*"):
        path.unlink()
    content = (data / "state.db").read_bytes()
    (data / "state.db").write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    with pytest.raises(StoreFault, match=r"state\.db"):
        make(data)
    assert not data.with_name("kept.zip").exists()


def test_a_full_disk_leaves_no_half_archive(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archives.Packer, "finish", full)
    with pytest.raises(StoreFault, match=r"No backup was made: the disk is full\."):
        make(data)
    assert [path.name for path in data.parent.iterdir()] == ["data"]


# --- putting it back ---


def test_a_memory_that_is_there_is_replaced_only_by_force(data: Path, kept: Path) -> None:
    with memory_at(data).writing("Later") as change:
        change.put(ref("later.md"), page("later"))
    before = found(data)
    with pytest.raises(Conflict, match=r"There is a memory in"):
        put_back(data, kept)
    assert found(data) == before
    put_back(data, kept, is_forced=True)
    assert ref("later.md").git_path not in found(data)["pages"]  # type: ignore[operator]
    assert not (data / "wiki" / "default" / "crash" / "later.md").exists()
    assert is_sound(data)


def test_events_that_came_since_stay_and_what_was_applied_is_not_applied_again(data: Path, kept: Path) -> None:
    later = "1764000000000000001-1-0a0b0c0d"
    (data / "spool" / f"{later}.json").write_text("{}")
    (data / "spool" / f"{EVENT}.json").write_text("changed since")
    put_back(data, kept, is_forced=True)
    assert files_below(data / "spool") == {f"{EVENT}.json": b"changed since", f"{later}.json": b"{}"}


def test_what_tells_of_this_machine_stays(data: Path, kept: Path) -> None:
    (data / "wiring").mkdir()
    (data / "wiring" / "codex.json").write_text("{}")
    (data / "paused.json").write_text("{}")
    (data / "cache.db").write_bytes(b"vectors")
    put_back(data, kept, is_forced=True)
    assert (data / "wiring" / "codex.json").exists()
    assert (data / "paused.json").exists()
    assert (data / "cache.db").read_bytes() == b"vectors"


def test_what_was_purged_since_stays_purged_and_is_named(data: Path, kept: Path) -> None:
    with memory_at(data).state_transaction() as connection:
        connection.execute("INSERT INTO purged (id, kind, at_us) VALUES ('s-1', 'session', 1)")
    gaps = put_back(data, kept, is_forced=True)
    assert gaps == ("purged since this backup was made, and held by it: session s-1",)
    assert rows(data / "state.db")["purged"] == [("s-1", "session", 1)]


def test_a_damaged_state_is_replaced_and_a_lost_wiki_put_back(data: Path, kept: Path, furnished: Path) -> None:
    for path in data.glob("state.db-*"):
        path.unlink()
    (data / "state.db").write_bytes(b"no database at all" * 1000)
    (data / "wiki" / ".git" / "HEAD").unlink()
    put_back(data, kept, is_forced=True)
    assert found(data) == found(furnished)
    assert is_sound(data)


def test_a_connection_that_was_open_all_the_time_sees_the_restored_rows(data: Path, kept: Path) -> None:
    with closing(driver.connect(data / "state.db")) as connection:
        connection.execute("INSERT INTO purged (id, kind, at_us) VALUES ('s-2', 'session', 2)")
        connection.execute("DELETE FROM evidence")
        put_back(data, kept, is_forced=True)
        found_rows = connection.execute("SELECT count(*) FROM page_sessions").fetchone()
        assert found_rows == (1,)


def test_a_restore_waits_for_a_drain_and_a_writer_and_says_so(data: Path, kept: Path) -> None:
    drain = DrainLock(data / "locks")
    assert drain.try_acquire()
    memory = memory_at(data)
    memory.lock_timeout_s = 0.05
    try:
        with pytest.raises(LockBusy, match="drain"):
            restore(memory, kept, memory.mutation("restore"), is_forced=True, progress=no_progress)
    finally:
        drain.release()
    assert is_sound(data)


# --- killed in the middle ---


def test_a_backup_killed_at_any_step_harms_nothing(forge: Forge, furnished: Path, tmp_path: Path) -> None:
    before = found(furnished)
    outcome = forge.run("back_up", furnished)
    assert outcome.status == 0
    for path in furnished.parent.glob("forged*.zip"):
        path.unlink()
    for number in range(len(outcome.steps)):
        assert forge.run("back_up", furnished, kill_at=number).status == KILLED
        made = list(furnished.parent.glob("forged*.zip"))
        assert bool(made) == (outcome.steps[number] == "backup-named")
        for path in made:
            archives.check(path, no_progress)
            path.unlink()
    assert found(furnished) == before
    assert tmp_path.exists()


@pytest.mark.parametrize("is_over_data", [False, True], ids=["into nothing", "over data"])
def test_a_restore_killed_at_any_step_is_ended_by_the_next_command_or_never_began(
    forge: Forge, furnished: Path, kept: Path, tmp_path: Path, is_over_data: bool
) -> None:
    target = found(furnished)
    over = copy_of(furnished, f"over-{is_over_data}")
    with memory_at(over).writing("Later") as change:
        change.put(ref("later.md"), page("later"))
        crash_driver.add_evidence(change, "later")
    (tmp_path / "archive.zip").write_bytes(kept.read_bytes())
    before = found(over) if is_over_data else None

    def begun(name: str) -> Path:
        root = tmp_path / name
        if is_over_data:
            copy_of(over, f"over-{name}").rename(root)
        return root

    clean = begun("clean")
    outcome = forge.run("put_back", clean)
    assert outcome.status == 0
    assert found(clean) == target
    assert is_sound(clean)
    committed = outcome.steps.index("restore-log")
    assert outcome.steps[-1] == "restore-done"
    for number, step in enumerate(outcome.steps):
        if not is_over_data and number % 3:
            continue  # the same code with less to do
        root = begun(f"killed-{number}")
        assert forge.run("put_back", root, kill_at=number).status == KILLED
        if number >= committed:
            assert found(root) == target, step
        elif before is not None:
            assert found(root) == before, step
        else:
            assert not memory_at(root).exists, step
            assert forge.run("put_back", root).status == 0
        assert (root / "restoring").exists() is False, step
        for left in root.glob(".restore-*"):
            os.utime(left, (0, time.time() - 90_000))
        leftovers.sweep(DataDir(root))
        assert is_sound(root), step


def test_a_command_meets_a_restore_that_cannot_be_followed(data: Path) -> None:
    (data / "restoring").write_text(json.dumps({"format": 1, "folder": "../elsewhere", "replaced": []}))
    with pytest.raises(StoreFault, match="cannot be followed"), memory_at(data).reading():
        pass
    assert (data / "restoring").exists()


# --- archives that are not what they seem ---

GIT_HOOK = "wiki/.git/hooks/post-checkout"


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/etc/passwd",
        "wiki/../../outside",
        "wiki//a.md",
        "wiki\\..\\a.md",
        "wiki/default/.git/hooks/x",
        "wiki/.GIT/config",
        "wiki/.git./config",
        GIT_HOOK,
        "wiki/.git/objects/info/alternates",
        "wiki/.git/rebase-merge/git-rebase-todo",
        "wiki/.git/modules/x/config",
        "wiki/.git/index.lock",
        "spool/evil.json",
        "spool/quarantine/../../x.json",
        "outbox/starts/made.json",
        "outbox/open/../../../x",
        "locks/write.lock",
        "index-5.db",
        "state.db-wal",
        "restoring",
        "wiki",
        "config.toml/x",
        "a\0b",
    ],
)
def test_a_file_that_no_backup_of_ours_holds_is_refused(name: str, kept: Path, tmp_path: Path) -> None:
    assert not is_kept(name)
    evil = rewritten(kept, change={name: b"x"})
    if "\0" not in name and "\\" not in name:  # the zip library cuts and turns these names itself
        with pytest.raises(
            BadArchive, match=r"^\S+\.zip is no whole backup: it holds .* no backup of ours holds"
        ) as refused:
            put_back(tmp_path / "data", evil)
        assert refused.value.hint == "Name one that `ai-memory backup` made; nothing was touched."
    assert not (tmp_path / "data" / "wiki").exists()


def _size(record: dict[str, object]) -> None:
    record["members"][0]["size_bytes"] += 1  # type: ignore[index]


def _drop(record: dict[str, object]) -> None:
    record["members"].pop()  # type: ignore[attr-defined]


def _more(record: dict[str, object]) -> None:
    record["counts"]["pages"] += 1  # type: ignore[index]


def _head(record: dict[str, object]) -> None:
    record["head"] = "0" * 40


def _newer(record: dict[str, object]) -> None:
    record["v"] = 99


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (_size, "another size"),
        (_drop, "lists other files"),
        (_more, "its manifest says 6"),
        (_head, "another commit"),
        (_newer, "its format is 99"),
    ],
)
def test_a_manifest_that_lies_is_told_and_nothing_touched(
    manifest: object, words: str, kept: Path, tmp_path: Path, data: Path
) -> None:
    before = found(data)
    with pytest.raises(BadArchive, match=words):
        put_back(data, rewritten(kept, manifest=manifest), is_forced=True)  # type: ignore[arg-type]
    assert found(data) == before
    assert is_sound(data)
    assert tmp_path.exists()


def test_links_and_folders_and_other_types_are_refused(kept: Path, tmp_path: Path) -> None:
    for mode in (0o120777, 0o020600, 0o010600, 0o040700):

        def odd(info: zipfile.ZipInfo, mode: int = mode) -> None:
            if info.filename == "config.toml":
                info.external_attr = mode << 16

        with pytest.raises(BadArchive, match="link or no regular file"):
            put_back(tmp_path / "data", rewritten(kept, entry=odd))


@pytest.mark.parametrize("cut", [0, 10, 1_000, -1, -30])
def test_a_cut_archive_is_no_whole_backup(cut: int, kept: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.zip"
    content = kept.read_bytes()
    short.write_bytes(content[:cut])
    with pytest.raises(BadArchive):
        put_back(tmp_path / "data", short)


def test_a_flipped_byte_anywhere_is_told(kept: Path, tmp_path: Path) -> None:
    content = kept.read_bytes()
    for part in range(1, 12):
        at = len(content) * part // 12
        flipped = tmp_path / "flipped.zip"
        flipped.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        try:
            archives.check(flipped, no_progress)
        except MemoryFault:
            continue
        assert put_back(tmp_path / f"data-{part}", flipped) == ()  # a byte of the zip that means nothing


def test_bombs_are_refused_before_they_are_unpacked(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_BOMB_BYTES", 1 << 16)
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("manifest.json", "{}")
        out.writestr("config.toml", b"\0" * (1 << 22))
    with pytest.raises(BadArchive, match="times as much as packed"):
        put_back(tmp_path / "data", bomb)
    assert kept.exists()


def test_settings_of_git_that_start_programs_do_not_come_back(data: Path, tmp_path: Path) -> None:
    git(data, "config", "core.fsmonitor", "touch /tmp/owned")
    git(data, "config", "alias.x", "!touch /tmp/owned")
    git(data, "remote", "add", "origin", "https://example.org/wiki.git")
    git(data, "branch", "draft")
    root = tmp_path / "elsewhere"
    [gap] = put_back(root, make(data))
    assert "alias.x, core.fsmonitor" in gap
    assert "fsmonitor" not in (root / "wiki" / ".git" / "config").read_text()
    assert git(root, "remote", "get-url", "origin") == "https://example.org/wiki.git\n"
    assert "draft" in git(root, "branch", "--list")


def test_a_history_with_a_missing_object_is_not_whole(data: Path, tmp_path: Path) -> None:
    for text in ("old\n", "new\n"):
        with memory_at(data).writing("Change") as change:
            change.put(ref("a.md"), page("a", text))
    old = git(data, "rev-parse", "HEAD~1:default/crash/a.md").strip()
    (data / "wiki" / ".git" / "objects" / old[:2] / old[2:]).unlink()
    with pytest.raises(BadArchive, match=f"an object of its wiki is missing: {old}"):
        put_back(tmp_path / "elsewhere", make(data))
    assert not Memory.open(DataDir(tmp_path / "elsewhere"), caller=crash_driver.caller()).exists
