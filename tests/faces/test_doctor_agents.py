"""What `ai-memory doctor` finds of agents: how they are wired, what switches them off, whether their sessions come."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_room import SESSION, Room

from ai_memory.diagnosis import codex_trust, wiring_state
from ai_memory.diagnosis.table import CHECKS
from ai_memory.harnesses.codex import CODEX
from ai_memory.wiring.here import launch_here

NO_PROGRAMS = "/nowhere"


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent's program is found, and what was written is not run: that costs a second, and one test does it."""
    monkeypatch.setenv("PATH", NO_PROGRAMS)
    monkeypatch.setattr(wiring_state, "check_hook", lambda *_: "")
    monkeypatch.setattr(wiring_state, "check_bridge", lambda *_: "")


@pytest.fixture
def wired(room: Room) -> Room:
    """Claude Code, wired."""
    room.ok("install-hooks", "--agent", "claude", "--apply")
    room.ok("install-mcp", "--agent", "claude", "--apply")
    return room


def settings() -> Path:
    return Path.home() / ".claude" / "settings.json"


def edit(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text()))


def codes(room: Room, *words: str, code: int) -> dict[str, dict[str, Any]]:
    return {one["code"]: one for one in room.json("doctor", *words, code=code)["findings"]}


def agent(room: Room, name: str, *, code: int) -> dict[str, Any]:
    (row,) = [one for one in room.json("doctor", code=code)["agents"] if one["agent"] == name]
    return row


def test_a_wired_agent_is_a_line_of_the_table(wired: Room) -> None:
    told = wired.ok("doctor").splitlines()
    assert told[0].split() == ["agent", "hooks", "mcp", "here,", "7", "days", "last", "event"]
    assert told[1].split() == ["claude-code", "wired", "wired", "0", "sessions", "none", "yet"]
    assert told[2].startswith(f"all is well: {len(CHECKS)} checks")


def test_what_was_written_is_run_once(wired: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    wired.ok("install-hooks", "--agent", "codex", "--apply")
    ran: list[str] = []
    monkeypatch.setattr(wiring_state, "check_hook", lambda _, agent: ran.append(agent) or "the hook answers ''")
    told = codes(wired, code=7)["no-answer"]
    assert ran == ["claude-code"]
    assert "what was written for claude-code, codex does not answer: the hook answers ''" in told["sentence"]


def test_an_agent_that_is_here_and_not_wired_is_a_note(room: Room) -> None:
    room.ok("init")
    (Path.home() / ".codex").mkdir()
    told = codes(room, code=0)["agent-unwired"]
    assert (told["agent"], told["fix"]) == ("codex", "ai-memory setup --agent codex")
    assert "not wired: codex" in room.ok("doctor")


def test_an_agent_whose_hooks_a_person_pastes_is_told_the_command_that_prints_them(room: Room) -> None:
    room.ok("init")
    (Path.home() / ".hermes").mkdir()
    told = codes(room, code=0)["agent-unwired"]
    assert (told["agent"], told["fix"]) == ("hermes", "ai-memory install-hooks --agent hermes --print")
    assert "hook.py" in room.ok(*told["fix"].split()[1:])


def test_an_entry_in_a_file_that_two_agents_read_calls_neither_of_them_here_that_is_not(room: Room) -> None:
    (Path.home() / ".kiro").mkdir()
    room.ok("install-mcp", "--agent", "kiro-cli", "--apply")
    room.ok("install-hooks", "--agent", "copilot-cli", "--apply")
    assert {one["agent"] for one in room.json("doctor")["agents"]} == {"kiro-cli", "copilot-cli"}
    (Path.home() / ".kiro" / "hooks").mkdir()
    assert "kiro-cli-v3" in {one["agent"] for one in room.json("doctor")["agents"]}


def test_an_entry_that_is_not_as_it_would_be_written_has_drifted_and_fix_writes_it_anew(wired: Room) -> None:
    before = settings().read_bytes()
    edit(settings(), lambda text: text.replace('"timeout": 10', '"timeout": 99'))
    told = codes(wired, code=1)["wiring-drifted"]
    assert told["fix"] == "ai-memory install-hooks --agent claude-code --apply"
    document = wired.json("doctor", "--fix")
    assert document["repaired"] == [f"{settings()} was written anew"]
    assert document["restart"] == ["Claude Code: Start Claude Code anew: sessions that run keep their old hooks."]
    assert settings().read_bytes() == before


def test_what_others_add_is_no_drift(wired: Room) -> None:
    edit(settings(), lambda text: '{"theme": "dark",' + text.lstrip().removeprefix("{"))
    assert agent(wired, "claude-code", code=0)["hooks"] == "wired"


def test_a_program_that_is_gone_is_broken_and_fix_writes_it_anew(wired: Room) -> None:
    edit(settings(), lambda text: text.replace(launch_here(wired.data_dir).python, "/nowhere/python"))
    told = codes(wired, code=7)["wiring-stale"]
    assert "/nowhere/python, which is not there any more" in told["sentence"]
    assert agent(wired, "claude-code", code=7)["hooks"] == "stale path"
    assert wired.json("doctor", "--fix")["findings"] == []


def test_another_installation_is_told_and_left_alone(wired: Room, tmp_path: Path) -> None:
    other = tmp_path / "other" / "ai_memory" / "hook.py"
    other.parent.mkdir(parents=True)
    other.touch()
    ours = Path(wiring_state.__file__).parent.parent / "hook.py"
    edit(settings(), lambda text: text.replace(str(ours), str(other)))
    before = settings().read_bytes()
    assert str(other) in codes(wired, code=1)["wiring-elsewhere"]["sentence"]
    wired.run("doctor", "--fix")
    assert settings().read_bytes() == before


def test_findings_are_counted_as_a_person_would_say_it(wired: Room) -> None:
    edit(Path.home() / ".claude.json", lambda text: text.replace("--data-dir", "--data"))
    assert wired.run("doctor").stdout.splitlines()[-1].startswith("1 warning in ")
    edit(settings(), lambda text: text.replace('"timeout": 10', '"timeout": 99'))
    told = wired.run("doctor").stdout
    assert "its MCP settings in" in told
    assert told.splitlines()[-1].startswith("2 warnings in ")


def test_what_we_wrote_and_somebody_took_out_is_told_and_not_put_back(wired: Room) -> None:
    settings().write_text("{}")
    told = codes(wired, "--fix", code=1)["wiring-gone"]
    assert "uninstall --agent claude-code" in told["fix"]
    assert settings().read_text() == "{}"


def test_a_broken_file_is_told_with_its_line(wired: Room) -> None:
    settings().write_text('{\n  "hooks": {,}\n}')
    assert "line 2" in codes(wired, code=1)["wiring-refused"]["sentence"]


def test_every_data_dir_that_is_named_is_listed_with_who_names_it(wired: Room, tmp_path: Path) -> None:
    other = str(tmp_path / "elsewhere")
    wired.ok("--data-dir", other, "install-mcp", "--agent", "claude", "--force", "--apply")
    told = codes(wired, code=1)["data-dirs-several"]
    assert f"{other} (claude-code)" in told["sentence"]
    assert wired.json("doctor", code=1)["data_dirs"][1] == {"path": other, "named_by": ["claude-code"]}
    assert agent(wired, "claude-code", code=1)["mcp"] == "another data dir"


def test_a_data_dir_behind_a_link_is_the_same(wired: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(wired.data_dir)
    monkeypatch.setenv("AI_MEMORY_DATA_DIR", str(tmp_path / "link"))
    assert codes(wired, code=1).keys() == {"wiring-drifted"}, "the other name would be written"


def test_instructions_and_skills_of_another_version_are_a_note(wired: Room) -> None:
    for verb in ("install-instructions", "install-skills"):
        wired.ok(verb, "--agent", "claude", "--apply")
    assert codes(wired, code=0) == {}
    (Path.home() / ".claude" / "skills" / "ai-memory-pages" / "SKILL.md").write_text("old <!-- ai-memory-managed -->")
    assert codes(wired, code=0)["texts-old"]["sentence"].startswith("its skills are not")
    edit(Path.home() / ".claude" / "CLAUDE.md", lambda text: text.replace("memory", "Memory"))
    assert codes(wired, code=0)["texts-old"]["sentence"].startswith("its instructions and skills are not")


# --- Codex's approval ---


def approve(room: Room, *, but: str = "", **more: object) -> Path:
    """As Codex writes it once its user approved: a hash for each hook."""
    room.ok("install-hooks", "--agent", "codex", "--apply")
    hooks = Path.home() / ".codex" / "hooks.json"
    lines = []
    for event, groups in json.loads(hooks.read_text())["hooks"].items():
        if event == but:
            continue
        name = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event).lstrip("_")
        digest = codex_trust.handler_hash(name, None, groups[0]["hooks"][0])
        lines += [f'[hooks.state."{hooks}:{name}:0:0"]', f'trusted_hash = "{digest}"']
        lines += [f"{key} = {json.dumps(value)}" for key, value in more.items()]
    (Path.home() / ".codex" / "config.toml").write_text("\n".join(lines))
    return hooks


def test_the_hash_of_a_hook_is_the_one_that_codex_counts() -> None:
    """`currentHash` as Codex 0.171 gave it."""
    plain = codex_trust.handler_hash("session_start", None, {"type": "command", "command": "echo a", "timeout": 10})
    assert plain == "sha256:a3a07ba5283f0a9f49ecc9701e9be679e685665ad2373af46b978ef7246a292a"
    filled = codex_trust.handler_hash("pre_tool_use", "x", {"type": "command", "command": "echo o"})
    assert filled == "sha256:3249a889e47cf7e1572931c9745a0312996a43d9826731623fe240f3f0a59378"


def test_hooks_that_nobody_approved_are_told(room: Room) -> None:
    room.ok("init")
    room.ok("install-hooks", "--agent", "codex", "--apply")
    told = codes(room, code=1)["codex-untrusted"]
    assert f"{len(CODEX.events)} of {len(CODEX.events)} hooks were never approved" in told["sentence"]
    assert "/hooks" in told["fix"]
    approve(room)
    assert codes(room, code=0) == {}
    approve(room, but="Stop")
    assert codes(room, code=1)["codex-untrusted"]["sentence"].endswith("passes over them: Stop")


def test_hooks_that_changed_since_or_were_switched_off_are_told(room: Room) -> None:
    room.ok("init")
    hooks = approve(room)
    edit(hooks, lambda text: text.replace('"timeout": 10', '"timeout": 11', 1))
    assert codes(room, code=1)["codex-changed"]["sentence"].startswith("1 of ")
    approve(room, enabled=False)
    assert "SessionStart" in codes(room, code=1)["codex-off"]["sentence"]


# --- switches, lists, doubles ---


@pytest.mark.parametrize(
    ("name", "file", "told", "switch"),
    [
        ("claude-code", ".claude/settings.json", {"disableAllHooks": True}, "disableAllHooks"),
        ("gemini-cli", ".gemini/settings.json", {"hooksConfig": {"enabled": False}}, "hooksConfig.enabled"),
        ("gemini-cli", ".gemini/settings.json", {"hooksConfig": {"disabled": ["ai-memory"]}}, "hooksConfig.disabled"),
        ("qwen-code", ".qwen/settings.json", {"disableAllHooks": True}, "disableAllHooks"),
    ],
    ids=["claude", "gemini", "gemini by name", "qwen"],
)
def test_a_switch_that_stops_every_hook_is_told(
    room: Room, name: str, file: str, told: dict[str, object], switch: str
) -> None:
    room.ok("init")
    room.ok("install-hooks", "--agent", name, "--apply")
    path = Path.home() / file
    path.write_text(json.dumps(json.loads(path.read_text()) | told))
    found = codes(room, code=1)["hooks-switched-off"]
    assert (found["agent"], f"`{switch}`" in found["sentence"]) == (name, True)


def test_hooks_that_codex_leaves_out_altogether_are_told(room: Room) -> None:
    room.ok("init")
    approve(room)
    edit(Path.home() / ".codex" / "config.toml", lambda text: f"{text}\n[features]\nhooks = false\n")
    assert "`features.hooks`" in codes(room, code=1)["hooks-switched-off"]["sentence"]


def test_zero_must_list_the_data_dir(room: Room) -> None:
    room.ok("init")
    room.ok("install-hooks", "--agent", "zero", "--apply")
    config = Path.home() / ".config" / "zero" / "config.json"
    told = codes(room, code=1)["must-list"]
    assert told["fix"] == f'add "{room.data_dir}" to `sandbox.additionalWriteRoots` in {config}'
    for listed, code in (([str(room.data_dir)], 0), ([str(room.data_dir.parent)], 0), ([f"{room.data_dir}-x"], 1)):
        config.write_text(json.dumps({"sandbox": {"additionalWriteRoots": listed}}))
        assert ("must-list" in codes(room, code=code)) is bool(code)


def test_hooks_in_two_places_and_beside_a_plugin_are_told(wired: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    (wired.checkout / ".git").mkdir()
    wired.ok("install-hooks", "--agent", "claude", "--scope", "project", "--apply")
    told = codes(wired, code=1)["hooks-twice"]
    assert str(wired.checkout) in told["sentence"]
    assert told["fix"].startswith("ai-memory uninstall --only hooks --agent claude-code --apply,")
    text = json.loads(settings().read_text()) | {"enabledPlugins": {"ai-memory@market": True, "other@market": True}}
    settings().write_text(json.dumps(text))
    assert "the plugin ai-memory@market and" in codes(wired, code=1)["plugin-and-hooks"]["sentence"]
    monkeypatch.setenv("AI_MEMORY_CAPTURE_OWNER", "ai-memory")
    assert "plugin-and-hooks" not in codes(wired, code=1)


def test_an_agent_that_runs_the_hooks_of_another_one_is_a_note(wired: Room) -> None:
    wired.ok("install-hooks", "--agent", "cursor", "--apply")
    told = codes(wired, code=0)["runs-others-hooks"]
    assert (told["agent"], told["severity"]) == ("cursor", "note")
    assert "claude-code" in told["sentence"]


def test_kiros_third_engine_runs_the_hooks_of_its_second(room: Room) -> None:
    agents = Path.home() / ".kiro" / "agents"
    agents.mkdir(parents=True)
    (agents / "till.json").write_text("{}")
    room.ok("install-hooks", "--agent", "kiro-cli,kiro-cli-v3", "--apply")
    told = codes(room, code=0)["runs-others-hooks"]
    assert (told["agent"], told["sentence"].split(";")[0]) == ("kiro-cli-v3", "it also runs the hooks of kiro-cli")


# --- sessions ---


def record(session: str, *, age_s: float = 3600.0, cwd: str = "/srv/shop") -> Path:
    """A session as Claude Code records it."""
    folder = Path.home() / ".claude" / "projects" / "-srv-shop"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    told = {"sessionId": session, "cwd": cwd, "type": "user", "uuid": "u", "timestamp": "2026-11-01T09:00:00Z"}
    path.write_text(json.dumps(told | {"message": {"role": "user", "content": "Mend it."}}) + "\n")
    os.utime(path, (time.time() - age_s,) * 2)
    return path


OTHER = "11111111-aaaa-4bbb-8ccc-000000000001"


def test_an_agent_whose_sessions_do_not_come_is_told_with_the_commands(room: Room) -> None:
    room.ok("init")
    record(OTHER)
    told = codes(room, code=1)["sessions-uncaptured"]
    assert told["sentence"] == "it worked in 1 sessions of the last 7 days, and none of them is here"
    assert told["fix"].startswith("ai-memory setup --agent claude-code --yes")
    assert "ai-memory backfill --agent claude-code --since 7d --all-projects" in told["fix"]


def test_sessions_are_compared_by_their_ids(wired: Room) -> None:
    record(SESSION)
    record(OTHER)
    record("22222222-aaaa-4bbb-8ccc-000000000002", age_s=9 * 86_400)
    wired.tell("user-prompt", text="Mend it.", agent="claude-code")
    wired.drain()
    row = agent(wired, "claude-code", code=0)
    assert (row["local_sessions"], row["captured_sessions"], row["sessions"]) == (2, 1, 1)
    assert row["last_event_at"] is not None
    assert codes(wired, code=0)["sessions-missing"]["sentence"].startswith("1 of its 2 sessions")
    assert "2 of its 3 sessions of the last 30 days" in wired.ok("doctor", "--days", "30")


def test_a_session_of_which_the_agent_keeps_no_record_is_counted_in_the_table(wired: Room) -> None:
    wired.tell("user-prompt", text="Mend it.", agent="claude-code")
    wired.drain()
    assert "  1 sessions  " in wired.ok("doctor").splitlines()[1]


def test_only_the_agents_that_are_named_are_looked_at(wired: Room) -> None:
    wired.ok("install-hooks", "--agent", "codex", "--apply")
    assert [one["agent"] for one in wired.json("doctor", "--agent", "claude")["agents"]] == ["claude-code"]
    assert "codex-untrusted" in codes(wired, code=1)
