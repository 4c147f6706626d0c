"""What README.md tells people to type works, and what it tells them to paste is well formed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ai_memory.cli.commands import GROUPS, ROWS
from ai_memory.cli.demo_checkout import make_checkout

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


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


def test_the_one_command_that_wires_agents_stands_alone() -> None:
    assert blocks("sh", "## Wiring your agents") == ["ai-memory setup\n"]


def test_files_that_the_text_links_to_exist() -> None:
    assert [link for link in re.findall(r"\]\(([^)#:]+)\)", README) if not (ROOT / link).exists()] == []
