"""What README.md tells people to type works, and what it tells them to paste is well formed."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ai_memory.cli.commands import GROUPS, ROWS
from ai_memory.cli.demo_checkout import make_checkout

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
KINDS = ["session-start", "user-prompt", "pre-tool-use", "post-tool-use", "pre-compact", "stop", "session-end"]


def blocks(language: str, below: str) -> list[str]:
    """Fenced blocks of one language in the section that a heading opens."""
    section = README.split(f"\n{below}\n", 1)[1]
    level = below.split(" ")[0]
    section = re.split(rf"\n#{{1,{len(level)}}} ", section)[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def shell(script: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-eu", "-c", script],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env=os.environ | more,
        timeout=120,
        check=False,
    )


@pytest.fixture
def path_with_command(tmp_path: Path) -> str:
    """A PATH on which `ai-memory` runs this source with this interpreter."""
    command = tmp_path / "bin" / "ai-memory"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m ai_memory "$@"\n')
    command.chmod(0o755)
    return f"{command.parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    make_checkout(tmp_path / "corner-shop")
    return tmp_path / "corner-shop"


def test_the_two_set_up_commands_stand_alone_in_their_blocks() -> None:
    assert blocks("sh", "## Set up") == [
        "sh install.sh && ~/.local/bin/ai-memory demo\n",
        "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/pytest\n",
    ]


def test_the_check_script_runs_the_second_set_up_command_itself() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"grep -m 1 '(.*?)' README\.md", script)
    assert [line for line in README.splitlines() if re.match(pattern, line)] == [blocks("sh", "## Set up")[1].strip()]


def test_the_five_everyday_commands_do_what_they_say(checkout: Path, path_with_command: str) -> None:
    (block,) = blocks("sh", "## Every day")
    commands = block.splitlines()
    assert len(commands) == 5
    shown = []
    for command in commands:
        done = shell(command, checkout, PATH=path_with_command)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        shown.append(done.stdout)
    assert all("decisions/queue.md" in text for text in shown[:4]), shown
    assert "tenants must not wait for each other" in shown[2]


def test_every_command_that_the_text_names_exists() -> None:
    named = set(
        re.findall(r"ai-memory ([a-z][a-z-]+)\b", "\n".join(re.findall(r"`[^`]+`|```.*?```", README, re.DOTALL)))
    )
    assert "search" in named
    assert named - set(ROWS) - set(GROUPS) == set()


def test_the_hooks_to_paste_are_json_in_claude_codes_shape() -> None:
    (block,) = blocks("json", "### Claude Code")
    hooks = json.loads(block)["hooks"]
    assert {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"} <= set(hooks)
    for name, ((entry,),) in ((name, [group["hooks"] for group in groups]) for name, groups in hooks.items()):
        assert entry["type"] == "command", name
        (event,) = re.findall(r"--event ([a-z-]+)", entry["command"])
        assert event in KINDS, name


def hook_commands() -> dict[str, str]:
    (block,) = blocks("json", "### Claude Code")
    return {name: groups[0]["hooks"][0]["command"] for name, groups in json.loads(block)["hooks"].items()}


def stand_up_program(home: Path) -> Path:
    """The installer's folders below a home, made of this interpreter and this source. Gives the package's folder."""
    app = home / ".local" / "share" / "ai-memory-app" / "current"
    site = app / "lib" / "python3.99" / "site-packages"
    (app / "bin").mkdir(parents=True)
    site.mkdir(parents=True)
    (app / "bin" / "python").symlink_to(sys.executable)
    (site / "ai_memory").symlink_to(ROOT / "ai_memory", target_is_directory=True)
    return site / "ai_memory"


@pytest.mark.parametrize("name", hook_commands())
def test_a_pasted_hook_without_the_program_does_nothing_and_succeeds(name: str, tmp_path: Path) -> None:
    done = shell(hook_commands()[name], tmp_path, HOME=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_a_pasted_hook_with_half_a_program_does_not_block_the_agent(tmp_path: Path) -> None:
    """Exit 2 would stop the agent's tool, and it is what Python gives when its file is missing."""
    stand_up_program(tmp_path).unlink()
    done = shell(hook_commands()["PreToolUse"], tmp_path, HOME=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("home_name", ["home", "my home", "it's $(touch x) *"])
def test_a_pasted_hook_records_an_event_of_an_installed_program(
    home_name: str, tmp_path: Path, path_with_command: str
) -> None:
    home = tmp_path / home_name
    stand_up_program(home)
    (first,) = blocks("sh", "## Connect your agents")[:1]
    assert shell(first, home, PATH=path_with_command, HOME=str(home)).returncode == 0
    event = {"session_id": "s", "cwd": str(home), "hook_event_name": "UserPromptSubmit", "prompt": "mend"}
    done = subprocess.run(
        ["sh", "-c", hook_commands()["UserPromptSubmit"]],
        input=json.dumps(event),
        capture_output=True,
        encoding="utf-8",
        cwd=home,
        env=os.environ | {"HOME": str(home)},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    spool = home / ".local" / "share" / "ai-memory" / "spool"
    assert [file for file in spool.iterdir() if file.suffix == ".json"]
    assert [file.name for file in home.iterdir()] == [".local"]


@pytest.mark.parametrize("name", hook_commands())
def test_no_word_of_a_pasted_hook_is_split_at_a_space(name: str) -> None:
    """Outside double quotes stands no `$`: a home folder may hold anything."""
    assert "$" not in re.sub(r'"[^"]*"', "", hook_commands()[name])


def test_the_data_dir_of_a_mac_is_written_as_json_takes_it() -> None:
    (data_dir,) = re.findall(r"write `(.*?)`\nafter `--data-dir`", README)
    assert json.loads(f'"{data_dir}"') == '"$HOME/Library/Application Support/ai-memory"'


def test_the_codex_entry_is_toml_that_starts_the_bridge() -> None:
    (block,) = blocks("toml", "### Codex")
    entry = tomllib.loads(block)["mcp_servers"]["ai-memory"]
    assert entry["args"] == ["mcp-bridge"]
    assert entry["command"].endswith("/.local/bin/ai-memory")


def test_files_that_the_text_links_to_exist() -> None:
    assert [link for link in re.findall(r"\]\(([^)#:]+)\)", README) if not (ROOT / link).exists()] == []
