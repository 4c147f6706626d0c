"""Agents' settings in one archive and back; an archive from elsewhere can do nothing but restore agents' own files."""

import io
import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ai_memory.errors import UsageFault
from ai_memory.model import Caller
from ai_memory.operations.agent_backups import backup_agents, restore_agents
from ai_memory.paths import DataDir
from ai_memory.store.memory import Memory
from ai_memory.wiring import archive
from ai_memory.wiring.archive import BadArchive, Kept, packed, unpacked

KEPT = [
    Kept("claude-code", "hooks", "settings.json", b'{"a": 1}', 0o600),
    Kept("codex", "mcp", "config.toml", b"", 0o640),
]


@pytest.fixture
def memory(scratch_home: Path, tmp_path: Path) -> Memory:
    (scratch_home / ".claude").mkdir()
    (scratch_home / ".claude" / "settings.json").write_text('{"theirs": 1}\n')
    caller = Caller(cwd=str(tmp_path), environ={}, home=str(scratch_home))
    return Memory.open(DataDir(tmp_path / "data"), caller=caller)


def test_settings_are_kept_and_put_back_after_a_look(memory: Memory, scratch_home: Path) -> None:
    settings = scratch_home / ".claude" / "settings.json"
    kept = backup_agents(memory)
    assert [Path(row.path) for row in kept.files] == [settings]
    assert kept.archive is not None
    assert stat.S_IMODE(Path(kept.archive).stat().st_mode) == 0o600
    settings.write_text("{}")
    planned = restore_agents(memory)
    assert [(row.state, "theirs" in row.diff) for row in planned.files] == [("change", True)]
    assert settings.read_text() == "{}"
    restore_agents(memory, apply=True)
    assert settings.read_text() == '{"theirs": 1}\n'
    assert [row.state for row in restore_agents(memory).files] == ["no change"]
    settings.unlink()
    assert [row.state for row in restore_agents(memory, apply=True).files] == ["create"]


def test_a_copy_is_never_written_over_a_file_and_the_newest_is_put_back(memory: Memory, tmp_path: Path) -> None:
    settings = Path(memory.caller.home) / ".claude" / "settings.json"
    at_us = memory.clock()
    still = Memory.open(memory.data_dir, caller=memory.caller, clock=lambda: at_us)
    for theirs in ("1", "2", "3"):
        settings.write_text(theirs)
        backup_agents(still)
    assert len(list(memory.data_dir.backups.glob("agents-*.zip"))) == 3
    settings.write_text("4")
    restore_agents(still, apply=True)
    assert settings.read_text() == "3"
    (tmp_path / "mine.zip").write_text("theirs")
    with pytest.raises(UsageFault, match=r"mine\.zip is there already"):
        backup_agents(memory, output="mine.zip")
    assert (tmp_path / "mine.zip").read_text() == "theirs"
    kept = backup_agents(memory, output=".").archive
    assert kept is not None
    assert Path(kept).parent == tmp_path


def test_what_an_archive_brings_is_no_original_of_ours(memory: Memory, scratch_home: Path) -> None:
    from ai_memory.operations.unwiring import uninstall
    from ai_memory.operations.wiring import install_hooks

    settings = scratch_home / ".claude" / "settings.json"
    install_hooks(memory, agent=("claude-code",), apply=True)
    backup_agents(memory)
    uninstall(memory, apply=True)
    assert settings.read_text() == '{"theirs": 1}\n'
    restore_agents(memory, apply=True)
    assert "ai_memory" in settings.read_text()
    uninstall(memory, apply=True)
    assert json.loads(settings.read_text()) == {"theirs": 1}


def test_the_same_settings_give_the_same_archive() -> None:
    assert packed(KEPT, made_at="2026-11-30T09:00:00Z") == packed(KEPT, made_at="2026-11-30T09:00:00Z")
    assert unpacked(packed(KEPT, made_at="x")) == KEPT


def changed(change: Callable[[dict[str, Any], dict[str, bytes]], None], *, mode: int = stat.S_IFREG | 0o600) -> bytes:
    """An archive whose manifest and members somebody tampered with."""
    with zipfile.ZipFile(io.BytesIO(packed(KEPT, made_at="x"))) as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(manifest, members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in (*members.items(), ("manifest.json", json.dumps(manifest).encode())):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            made.writestr(entry, content)
    return out.getvalue()


@pytest.mark.parametrize("name", ["../settings.json", "/etc/passwd", "..", "a\\b", "C:x", ""])
def test_a_path_in_place_of_a_name_is_refused(name: str) -> None:
    with pytest.raises(BadArchive, match="by a path"):
        unpacked(changed(lambda manifest, _: manifest["files"][0].update(name=name)))


@pytest.mark.parametrize("name", ["../x", "/x", "files/../x", "other"])
def test_a_member_that_we_never_write_is_refused(name: str) -> None:
    with pytest.raises(BadArchive, match="a name that we never give"):
        unpacked(changed(lambda _, members: members.update({name: b"x"})))


def test_links_are_refused() -> None:
    with pytest.raises(BadArchive, match="is a link"):
        unpacked(changed(lambda *_: None, mode=stat.S_IFLNK | 0o777))


def test_a_damaged_copy_is_refused() -> None:
    with pytest.raises(BadArchive, match="checksum"):
        unpacked(changed(lambda _, members: members.update({"files/0000": b'{"a": 2}'})))


def test_what_unpacks_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST_ALL", 1_000_000)
    with pytest.raises(BadArchive, match="unpacked it has more"):
        unpacked(changed(lambda _, members: members.update({"files/0009": b"0" * 2_000_000})))
    monkeypatch.setattr(archive, "LARGEST_FILE", 4)
    with pytest.raises(BadArchive, match="more than"):
        unpacked(packed(KEPT, made_at="x"))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip", b"{}"])
def test_what_is_no_archive_is_refused(content: bytes) -> None:
    with pytest.raises(BadArchive, match="no archive of ours"):
        unpacked(content)


def test_an_agent_that_is_not_known_here_is_told_and_left_out(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(packed([Kept("no-such", "hooks", "x.json", b"{}", 0o600)], made_at="x"))
    result = restore_agents(memory, archive=str(file), apply=True)
    assert (result.files, result.gaps) == ((), ("no-such: no place is known here for x.json",))
