"""Docs and completions say what the code does."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ai_memory.cli.commands import ROWS, Command, names_below
from ai_memory.cli.completions import FILE_NAMES, script
from ai_memory.cli.docs import PAGES, ROOT, behind


def test_every_made_page_is_in_step_with_the_code() -> None:
    """Run `python -m ai_memory.cli.docs` after a change of an operation, a setting or a limit."""
    assert behind(ROOT) == []


def test_a_page_that_lags_is_named(tmp_path: Path) -> None:
    for name, make in PAGES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(make(), encoding="utf-8")
    assert behind(tmp_path) == []
    (tmp_path / "docs/cli.md").write_text("old", encoding="utf-8")
    (tmp_path / "docs/limits.md").unlink()
    assert behind(tmp_path) == ["docs/cli.md", "docs/limits.md"]


def test_every_command_is_documented_with_an_example() -> None:
    page = PAGES["docs/cli.md"]()
    for name, row in ROWS.items():
        assert f"## `{name}`" in page
        assert f"ai-memory {row.examples[0]}" in page


@pytest.mark.parametrize("shell", FILE_NAMES)
def test_a_completion_script_knows_every_command(shell: str) -> None:
    text = script(shell)  # type: ignore[arg-type]
    for name in (*names_below(""), *names_below("config"), "--tag" if shell != "fish" else "-l tag"):
        assert name in text


def bash_words(*words: str) -> list[str]:
    """What bash offers when the last word is being typed."""
    line = " ".join(f"'{word}'" for word in words)
    code = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _ai_memory; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", script("bash") + code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ai-memory", "wr"), ["write-page"]),
        (("ai-memory", "config", "s"), ["show", "set"]),
        (("ai-memory", "--data-dir", "x", "rece"), ["recent"]),
        (("ai-memory", "write-page", "--exp"), ["--expires-at", "--expected-version"]),
        (("ai-memory", "write-page", "--tier", "se"), ["semantic"]),
        (("ai-memory", "completions", "f"), ["fish"]),
        (("ai-memory", "config", "show", "--or"), ["--origin"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_bash_offers_what_fits(words: tuple[str, ...], expected: list[str]) -> None:
    assert sorted(bash_words(*words)) == sorted(expected)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_valid_for_its_shell(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    file = tmp_path / "script"
    file.write_text(script(shell))  # type: ignore[arg-type]
    subprocess.run([shell, "-n", str(file)], check=True)


def test_every_command_takes_json_or_the_reference_says_why_not() -> None:
    page = PAGES["docs/cli.md"]()
    for name, row in ROWS.items():
        if isinstance(row, Command) and row.is_raw:
            section = page.partition(f"## `{name}`\n")[2].partition("\n## ")[0]
            assert "It takes no `--json`: stdout belongs to" in section or "| `--json` |" in section


@pytest.mark.parametrize("words", [("mcp-bridge", "--json"), ("--json", "mcp-bridge")], ids=" ".join)
def test_the_bridge_refuses_json_and_says_why(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "ai_memory", *words]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "its stdout holds JSON-RPC" in done.stderr
