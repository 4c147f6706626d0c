"""Writing into others' files: whole or not at all, under kills, a full disk, and somebody else who writes."""

import json
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from wire_room import WireRoom, starts, states

from ai_memory.harnesses.claude_code import CLAUDE_CODE
from ai_memory.harnesses.codex import CODEX
from ai_memory.harnesses.edits import Json
from ai_memory.store import wired
from ai_memory.store.wired import KEPT_BACKUPS, Owner

STEPS = ("backup", "recorded", "temporary", "renamed", "remembered")
THEIRS = b'{\n  // mine\n  "theme": "dark",\n}\n'


@pytest.fixture
def room(tmp_path: Path) -> WireRoom:
    return WireRoom(tmp_path)


@pytest.fixture
def settings(room: WireRoom) -> Path:
    path = room.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(THEIRS)
    return path


def in_child(work: Callable[[], object]) -> int:
    """Exit code of a process that does it, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_at(wanted: str) -> Callable[[str], None]:
    def step(name: str) -> None:
        if name == wanted:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


@pytest.mark.parametrize("name", STEPS)
def test_an_installer_that_is_killed_leaves_a_whole_file_that_can_be_given_back(
    room: WireRoom, settings: Path, name: str
) -> None:
    assert in_child(lambda: room.install(CLAUDE_CODE, whats=("hooks",), step=kill_at(name))) == -signal.SIGKILL
    is_new = settings.read_bytes() != THEIRS
    assert is_new is (name in ("renamed", "remembered"))
    room.install(CLAUDE_CODE, whats=("hooks",))
    whole = settings.read_bytes()
    assert states(room.install(CLAUDE_CODE, whats=("hooks",))) == {"no change"}
    assert settings.read_bytes() == whole
    room.uninstall(CLAUDE_CODE, whats=("hooks",))
    assert settings.read_bytes() == THEIRS


@pytest.mark.parametrize("name", ["recorded", "temporary", "renamed", "remembered"])
def test_a_removal_that_is_killed_is_finished_by_the_next(room: WireRoom, settings: Path, name: str) -> None:
    room.install(CLAUDE_CODE, whats=("hooks", "mcp"))
    assert in_child(lambda: room.uninstall(CLAUDE_CODE, whats=("hooks", "mcp"), step=kill_at(name))) != 0
    room.uninstall(CLAUDE_CODE, whats=("hooks", "mcp"))
    assert settings.read_bytes() == THEIRS
    assert not (room.home / ".claude.json").exists()


def test_a_full_disk_leaves_what_was_there(room: WireRoom, settings: Path) -> None:
    def starve() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        assert states(room.install(CLAUDE_CODE, whats=("hooks",))) == {"failed"}

    assert in_child(starve) == 0
    assert settings.read_bytes() == THEIRS
    assert [one.name for one in settings.parent.iterdir()] == ["settings.json"]


def test_a_file_that_somebody_changes_meanwhile_is_left_to_them(room: WireRoom, settings: Path) -> None:
    def step(name: str) -> None:
        if name == "temporary":
            settings.write_bytes(b'{"theirs": 1}')

    (done,) = room.install(CLAUDE_CODE, whats=("hooks",), step=step)
    assert "changed it a moment ago" in done.fault
    assert settings.read_bytes() == b'{"theirs": 1}'
    room.install(CLAUDE_CODE, whats=("hooks",))
    room.uninstall(CLAUDE_CODE, whats=("hooks",))
    assert settings.read_bytes() == b'{"theirs": 1}'


def test_what_somebody_adds_after_us_stays_when_we_go(room: WireRoom, settings: Path) -> None:
    room.install(CLAUDE_CODE, whats=("hooks",))
    added = settings.read_text().replace('"dark"', '"light", "more": [1] /* theirs */')
    settings.write_text(added)
    room.uninstall(CLAUDE_CODE, whats=("hooks",))
    assert settings.read_text() == THEIRS.decode().replace('"dark"', '"light", "more": [1] /* theirs */')


def test_what_somebody_adds_between_two_installs_is_given_back_too(room: WireRoom, settings: Path) -> None:
    room.install(CLAUDE_CODE, whats=("hooks",))
    settings.write_text(settings.read_text().replace('"dark"', '"light"'))
    room.launch = replace(room.launch, package="/elsewhere/ai_memory")
    assert states(room.install(CLAUDE_CODE, whats=("hooks",))) == {"change"}
    assert b"/elsewhere/" in settings.read_bytes()
    room.uninstall(CLAUDE_CODE, whats=("hooks",))
    assert settings.read_bytes() == THEIRS.replace(b"dark", b"light")


def test_one_part_goes_and_the_other_stays(room: WireRoom) -> None:
    both = room.home / ".claude" / "skills"
    room.install(CLAUDE_CODE, CODEX)
    room.uninstall(CLAUDE_CODE, whats=("skills",))
    assert not both.exists()
    assert (room.home / ".agents" / "skills").is_dir()
    assert (room.home / ".claude" / "settings.json").exists()
    room.uninstall(CLAUDE_CODE, whats=("hooks",))
    room.uninstall(CODEX)
    room.uninstall(CLAUDE_CODE)
    assert list(room.home.rglob("*")) == []


def test_an_older_form_of_ours_is_replaced_and_theirs_stays_before_it(room: WireRoom, settings: Path) -> None:
    old = "A=$HOME/x; exec $A -I -S $H/ai_memory/hook.py --agent claude-code --event stop"
    groups = [
        {"hooks": [{"type": "command", "command": old}, {"type": "command", "command": "say done"}]},
        {"hooks": [{"type": "command", "command": old}]},
        {"matcher": "x", "hooks": [{"type": "command", "command": "lint"}]},
    ]
    before = {"hooks": {"Stop": groups, "FormerEvent": [{"hooks": [{"type": "command", "command": old}]}]}}
    settings.write_text(_json(before))
    room.install(CLAUDE_CODE, whats=("hooks",))
    hooks = _read(settings)["hooks"]
    assert hooks["Stop"][:2] == [{"hooks": [groups[0]["hooks"][1]]}, groups[2]]
    assert len(hooks["Stop"]) == 3
    assert hooks["FormerEvent"] == []
    room.uninstall(CLAUDE_CODE, whats=("hooks",))
    assert _read(settings) == {"hooks": {"Stop": [{"hooks": [groups[0]["hooks"][1]]}, groups[2]], "FormerEvent": []}}


def test_what_a_program_added_to_our_entry_stays(room: WireRoom) -> None:
    room.install(CODEX, whats=("mcp",))
    config = room.home / ".codex" / "config.toml"
    config.write_text(config.read_text() + 'default_tools_approval_mode = "approve"\n')
    text = config.read_text()
    assert states(room.install(CODEX, whats=("mcp",))) == {"no change"}
    assert config.read_text() == text
    room.uninstall(CODEX, whats=("mcp",))
    assert not config.exists()


def test_an_entry_under_our_name_that_is_not_ours_is_refused_unless_forced(room: WireRoom) -> None:
    path = room.home / ".claude.json"
    path.write_text('{"mcpServers": {"ai-memory": {"type": "http", "url": "http://127.0.0.1:49374/mcp"}}}')
    before = path.read_bytes()
    (done,) = room.install(CLAUDE_CODE, whats=("mcp",))
    assert (done.plan.state, done.plan.line) == ("refused", 1)
    assert "--force" in done.plan.hint
    assert path.read_bytes() == before
    room.forget()
    room.uninstall(CLAUDE_CODE, whats=("mcp",))
    assert path.read_bytes() == before
    assert states(room.install(CLAUDE_CODE, whats=("mcp",), is_forced=True)) == {"change"}
    room.uninstall(CLAUDE_CODE, whats=("mcp",))
    assert path.read_bytes() == before


def test_one_foreign_skill_of_our_name_keeps_all_from_being_written(room: WireRoom) -> None:
    path = room.home / ".claude" / "skills" / "ai-memory-pages" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("# Mine\n")
    before = room.tree()
    assert states(room.install(CLAUDE_CODE, whats=("skills",))) == {"refused", "failed"}
    assert room.tree() == before
    assert states(room.install(CLAUDE_CODE, whats=("skills",), is_forced=True)) == {"create", "change"}
    room.uninstall(CLAUDE_CODE, whats=("skills",))
    assert room.tree() == before


def test_a_file_keeps_its_mode_and_its_backup(room: WireRoom, settings: Path) -> None:
    settings.chmod(0o640)
    room.install(CLAUDE_CODE, whats=("hooks",))
    assert settings.stat().st_mode & 0o777 == 0o640
    (backup,) = (room.data_dir.backups / "agents").iterdir()
    assert (backup.read_bytes(), backup.stat().st_mode & 0o777) == (THEIRS, 0o600)
    for number in range(KEPT_BACKUPS + 3):
        wired.keep_backup(room.data_dir, settings, b"x", at_us=number)
    assert len(list((room.data_dir.backups / "agents").iterdir())) == KEPT_BACKUPS


def test_links_in_a_circle_are_refused(room: WireRoom) -> None:
    folder = room.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").symlink_to(folder / "other.json")
    (folder / "other.json").symlink_to(folder / "settings.json")
    (done,) = room.install(CLAUDE_CODE, whats=("hooks",))
    assert "links lead to each other" in done.plan.reason


def test_a_record_that_cannot_be_read_is_told_and_the_rest_still_goes(room: WireRoom, settings: Path) -> None:
    room.install(CLAUDE_CODE, whats=("hooks",))
    (file,) = room.data_dir.wiring.glob("*.json")
    file.write_text("{")
    found, gaps = wired.all_wired(room.data_dir)
    assert (found, len(gaps)) == ([], 1)
    room.uninstall(CLAUDE_CODE, whats=("hooks",))
    assert settings.read_bytes() == THEIRS


def test_owners_of_one_file_are_told_apart(room: WireRoom) -> None:
    room.install(CODEX, whats=("instructions",))
    (record,) = room.book().records
    assert record.owners == (Owner("codex", "instructions"),)
    assert starts(room.edits_of(record.owners[0])[0])["absent"] is None


def _json(value: Json) -> str:
    return json.dumps(value, indent=2)


def _read(path: Path) -> dict[str, dict[str, list[Json]]]:
    found: dict[str, dict[str, list[Json]]] = json.loads(path.read_text())
    return found
