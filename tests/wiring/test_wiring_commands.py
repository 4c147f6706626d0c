"""`install-*`, `uninstall` and `setup` as a person runs them, and what they wrote as an agent runs it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import forked
import pytest

from ai_memory.harnesses.launch import Launch
from ai_memory.wiring import here
from ai_memory.wiring.selfcheck import check_bridge, check_hook

THEIRS = """{
  // mine
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]},
    ],
  },
}
"""


class Person:
    """A person with Claude Code, and a data dir that is not there yet."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder
        self.data = folder / "data"
        self.settings = home / ".claude" / "settings.json"
        self.settings.parent.mkdir(parents=True)
        self.settings.write_text(THEIRS)

    @property
    def environ(self) -> dict[str, str]:
        return os.environ | {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    def run(self, *words: str, code: int = 0, cwd: Path | None = None) -> str:
        done = forked.run(
            ["--data-dir", str(self.data), *words], cwd=cwd or self.folder, env=self.environ, timeout_s=120
        )
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done.stdout

    def hooks(self) -> dict[str, str]:
        """Event → our command, as it stands in the settings."""
        lines = [line for line in self.settings.read_text().splitlines() if line.strip() != "// mine"]
        found = json.loads("\n".join(lines).replace("},\n    ]", "}\n    ]").replace("],\n  },\n}", "]\n  }\n}"))
        groups = {event: entries[-1] for event, entries in found["hooks"].items()}
        return {event: group["hooks"][0]["command"] for event, group in groups.items()}


@pytest.fixture
def person(scratch_home: Path, tmp_path: Path) -> Person:
    return Person(scratch_home, tmp_path)


def test_setup_wires_all_and_a_second_run_changes_nothing(person: Person) -> None:
    told = person.run("setup", "--yes")
    assert "claude-code: wired: hooks, mcp, instructions, skills" in told
    assert told.count("it answers") == 2
    assert "Start Claude Code anew" in told
    before = {path: path.read_bytes() for path in person.home.rglob("*") if path.is_file()}
    again = person.run("setup", "--yes")
    assert "nothing to change" in again
    assert {path: path.read_bytes() for path in person.home.rglob("*") if path.is_file()} == before
    person.run("uninstall", "--apply")
    assert [path for path in person.home.rglob("*") if path.is_file()] == [person.settings]
    assert person.settings.read_text() == THEIRS


def test_setup_tells_a_reason_once_however_many_files_it_keeps_from_being_written(person: Person) -> None:
    person.settings.write_text("{")
    told = person.run("setup", "--yes", code=1)
    assert told.count("since another file of that agent is refused") == 1
    assert "failed: 7 files: left as it is, since" in told
    assert f"refused: {person.settings}: it is no valid JSON" in told


def test_setup_without_a_terminal_and_without_yes_only_shows(person: Person) -> None:
    assert "would be wired: hooks, mcp, instructions, skills" in person.run("setup")
    assert "+++" in person.run("setup", "--dry-run")
    assert "+++" in person.run("install-hooks")
    assert person.settings.read_text() == THEIRS
    assert not person.data.exists()


@pytest.mark.parametrize(("answers", "is_written"), [(b"n\n", False), (b"\ny\n", True)])
def test_setup_asks_at_a_terminal(person: Person, answers: bytes, is_written: bool) -> None:
    mine, its = pty.openpty()
    os.write(mine, answers)
    words = ["--data-dir", str(person.data), "setup"]
    done = forked.run(words, cwd=person.folder, env=person.environ, stdin=its, timeout_s=120)
    os.close(mine)
    os.close(its)
    assert done.returncode == 0, done.stderr
    assert "Write 8 files? [Y/n]" in done.stdout
    assert (person.settings.read_text() != THEIRS) is is_written
    if is_written:
        assert "Keep an excerpt" in done.stdout
        assert person.run("config", "get", "capture.assistant") == '"excerpt"\n'


@pytest.mark.parametrize("name", ["home", "my home", "it's $(touch x) *"])
def test_a_written_hook_records_an_event(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    person = Person(tmp_path / name, tmp_path / name)
    person.run("install-hooks", "--apply")
    event = {"session_id": "s", "cwd": str(tmp_path), "hook_event_name": "UserPromptSubmit", "prompt": "mend"}
    done = subprocess.run(
        ["sh", "-c", person.hooks()["UserPromptSubmit"]],
        input=json.dumps(event),
        capture_output=True,
        encoding="utf-8",
        env=person.environ,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "{}", "")
    assert list((person.data / "spool").glob("*.json"))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("missing", ["python", "package"])
def test_a_written_hook_does_nothing_and_succeeds_once_the_program_is_gone(tmp_path: Path, missing: str) -> None:
    """Exit 2 would stop the agent's tool, and it is what Python gives when its file is missing."""
    python = "/nowhere/python" if missing == "python" else sys.executable
    launch = Launch(python, "/nowhere/ai_memory", str(tmp_path), "linux")
    line = launch.hook_line("claude-code", "pre-tool-use")
    done = subprocess.run(["sh", "-c", line], capture_output=True, encoding="utf-8", cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_self_check_says_what_does_not_answer(tmp_path: Path) -> None:
    broken = Launch("/nowhere/python", "/nowhere/ai_memory", str(tmp_path), "linux")
    assert "the hook answers ''" in check_hook(broken, "codex")
    assert "does not start" in check_bridge(broken)
    whole = here.launch_here(tmp_path)
    assert (check_hook(whole, "codex"), check_bridge(whole, "codex")) == ("", "")
    assert not list(tmp_path.iterdir()), "a self-check keeps nothing"


def test_broken_settings_are_told_with_line_and_column_and_other_agents_go_on(person: Person) -> None:
    person.settings.write_text('{\n  "hooks": {,}\n}')
    (person.home / ".codex").mkdir()
    answer = json.loads(person.run("install-hooks", "--apply", "--json", code=1))
    rows = {row["agents"][0]: row for row in answer["files"]}
    assert (rows["claude-code"]["state"], rows["claude-code"]["line"], rows["claude-code"]["column"]) == (
        "refused",
        2,
        13,
    )
    assert rows["codex"]["state"] == "create"
    assert person.settings.read_text() == '{\n  "hooks": {,}\n}'
    assert "refused" in person.run("setup", "--yes", code=1)


def test_that_prompts_are_not_captured_is_remembered(person: Person) -> None:
    person.run("install-hooks", "--apply")
    assert "UserPromptSubmit" in person.settings.read_text()
    person.run("install-hooks", "--apply", "--no-capture-prompts")
    assert "user-prompt" not in person.settings.read_text()
    assert "nothing to change" in person.run("install-hooks", "--apply")
    person.run("install-hooks", "--apply", "--capture-prompts")
    assert "user-prompt" in person.settings.read_text()
    person.run("uninstall", "--apply")
    assert person.settings.read_text() == THEIRS


def test_prompts_are_not_captured_either_where_their_event_stays_for_the_context_that_it_takes(person: Person) -> None:
    for agent, kept in (("kimi-code", False), ("codex", True)):
        person.run("install-hooks", "--agent", agent, "--apply", *(() if kept else ("--no-capture-prompts",)))
        payload = {"session_id": agent, "cwd": str(person.folder), "prompt": f"mend it, {agent}"}
        hook = [sys.executable, "-m", "ai_memory", "hook", "--data-dir", str(person.data), "--event", "user-prompt"]
        subprocess.run(
            [*hook, "--agent", agent], input=json.dumps(payload), encoding="utf-8", env=person.environ, check=True
        )
    person.run("drain", "--wait", cwd=person.folder)
    assert "UserPromptSubmit" in (person.home / ".kimi-code" / "config.toml").read_text()
    told = person.run("tail", "--all")
    assert "mend it, codex" in told
    assert "mend it, kimi-code" not in told


def test_a_checkout_gets_files_of_its_own_and_uninstall_finds_them_from_anywhere(person: Person) -> None:
    checkout = person.folder / "shop"
    subprocess.run(["git", "init", "-q", str(checkout)], check=True)
    (checkout / "AGENTS.md").write_text("# Shop\n")
    for part in ("hooks", "mcp", "instructions", "skills"):
        person.run(f"install-{part}", "--scope", "project", "--apply", cwd=checkout)
    made = {
        str(path.relative_to(checkout)) for path in checkout.rglob("*") if path.is_file() and ".git/" not in str(path)
    }
    assert {".claude/settings.local.json", ".mcp.json", "AGENTS.md"} <= made
    assert "CLAUDE.md" not in made
    assert person.settings.read_text() == THEIRS
    person.run("uninstall", "--apply")
    assert [path.name for path in checkout.iterdir() if path.name != ".git"] == ["AGENTS.md"]
    assert (checkout / "AGENTS.md").read_text() == "# Shop\n"


def test_scope_project_outside_a_checkout_is_refused(person: Person) -> None:
    person.run("install-hooks", "--scope", "project", code=2, cwd=person.home)


def test_instructions_go_where_they_are_imported_from_or_named(person: Person) -> None:
    checkout = person.folder / "shop"
    subprocess.run(["git", "init", "-q", str(checkout)], check=True)
    (checkout / "CLAUDE.md").write_text("@AGENTS.md\n")
    person.run("install-instructions", "--scope", "project", "--apply", cwd=checkout)
    assert (checkout / "CLAUDE.md").read_text() == "@AGENTS.md\n"
    assert "<!-- ai-memory:start -->" in (checkout / "AGENTS.md").read_text()
    person.run("install-instructions", "--target", "docs/NOTES.md", "--apply", cwd=checkout)
    assert "<!-- ai-memory:start -->" in (checkout / "docs" / "NOTES.md").read_text()
    person.run("uninstall", "--only", "instructions", "--apply")
    assert [path.name for path in checkout.iterdir() if path.name != ".git"] == ["CLAUDE.md"]


def test_four_installers_at_once_leave_what_one_leaves(person: Person, tmp_path: Path) -> None:
    words = ["--data-dir", str(person.data), "install-hooks", "--apply"]
    with (tmp_path / "told").open("w+b") as told, Path(os.devnull).open("rb") as nothing:
        streams = (nothing.fileno(), told.fileno(), told.fileno())
        running = [forked.start(words, cwd=person.folder, env=person.environ, streams=streams) for _ in range(4)]
        codes = [forked.wait(one) for one in running]
    assert codes == [0] * 4, (tmp_path / "told").read_text()
    assert "nothing to change" in person.run("install-hooks", "--apply")
    assert len(person.hooks()) == person.settings.read_text().count("hook.py")
    person.run("uninstall", "--apply")
    assert person.settings.read_text() == THEIRS


def test_uninstall_needs_no_data_dir_and_makes_none(person: Person) -> None:
    person.run("setup", "--yes")
    subprocess.run(["rm", "-rf", str(person.data)], check=True)
    told = person.run("uninstall", "--apply")
    assert "changed: " in told
    assert not person.data.exists()
    assert person.settings.read_text() == THEIRS
    assert [path for path in person.home.rglob("*") if path.is_file() and "ai" in path.read_text()] == []


def test_the_memory_goes_only_with_a_confirmation(person: Person) -> None:
    person.run("setup", "--yes")
    (person.data / "mine.txt").write_text("x")
    told = person.run("uninstall", "--purge-data")
    assert "your memory stays" in told
    assert "state.db" in told
    person.run("uninstall", "--purge-data", "--apply")
    assert (person.data / "wiki").is_dir()
    assert "would be removed" in person.run("uninstall", "--purge-data", "--confirm")
    person.run("uninstall", "--purge-data", "--only", "hooks", code=2)
    assert "your memory removed" in person.run("uninstall", "--purge-data", "--confirm", "--apply")
    assert [path.name for path in person.data.iterdir()] == ["mine.txt"]


def test_what_is_ours_can_be_printed_to_paste(person: Person) -> None:
    told = person.run("install-mcp", "--print", "--agent", "claude-code", "--agent", "codex")
    assert "paste into" in told
    assert "[mcp_servers.ai-memory]" in told
    assert not person.data.exists()


def test_an_agent_of_no_known_name_is_told(person: Person) -> None:
    person.run("install-hooks", "--agent", "cluade", code=3)


def test_what_lasts_is_named_rather_than_where_it_leads(tmp_path: Path) -> None:
    whole = tmp_path / "app" / "env-abc123"
    (whole / "bin").mkdir(parents=True)
    current = tmp_path / "app" / "current"
    current.symlink_to("env-abc123")
    python = str(whole / "bin" / "python")
    assert here.lasting(python, prefix=str(whole)) == str(current / "bin" / "python")
    assert here.lasting("/usr/bin/python3", prefix=str(whole)) == "/usr/bin/python3"
    brew = tmp_path / "Cellar" / "python@3.12" / "3.12.7" / "bin" / "python3"
    linked = tmp_path / "opt" / "python@3.12" / "bin" / "python3"
    linked.parent.mkdir(parents=True)
    linked.touch()
    assert here.lasting(str(brew), prefix="/x") == str(linked)


def test_the_bridge_by_path_is_the_package_beside_it(tmp_path: Path) -> None:
    """As with `pip install --user`, whose packages `-I` hides; the folder in which it runs lends it nothing."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "ai_memory").symlink_to(Path(here.__file__).parent.parent, target_is_directory=True)
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    launch = Launch(sys.executable, str(site / "ai_memory"), str(tmp_path / "data"), "linux")
    who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": who}
    done = subprocess.run(
        launch.bridge_argv("codex"),
        input=json.dumps(hello) + "\n",
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "ai-memory", done.stderr
