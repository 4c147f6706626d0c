"""The check script in every shell, with a `python3` that only makes believe."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SHELLS = [name for name in ("sh", "dash", "bash", "ksh") if shutil.which(name)]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell script")

TOOL = '#!/bin/sh\necho "ran $(basename "$0") $*"\n'
PYTHON = """#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 9
mkdir -p "$3/bin"
for tool in pip ruff mypy python; do
    printf '%s' "$TOOL" >"$3/bin/$tool"
    chmod +x "$3/bin/$tool"
done
printf '#!/bin/sh\\necho "5 passed in 1.2s"\\nexit %s\\n' "$TESTS_END_WITH" >"$3/bin/pytest"
chmod +x "$3/bin/pytest"
"""


def check(shell: str, tmp_path: Path, *, tests_end_with: int, tool: str = TOOL) -> subprocess.CompletedProcess[str]:
    """The script in a checkout of its own."""
    checkout, tools, room = tmp_path / "a checkout", tmp_path / "tools", tmp_path / "a room"
    for folder in (checkout / ".ci", tools, room):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci")
    shutil.copy(ROOT / "README.md", checkout)
    (tools / "python3").write_text(PYTHON)
    (tools / "python3").chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    environ = os.environ | {"PATH": path, "TMPDIR": str(room), "TOOL": tool, "TESTS_END_WITH": str(tests_end_with)}
    command = [shell, str(checkout / ".ci" / "run")]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_check_script_runs_the_tests_and_the_gates_in_every_shell(shell: str, tmp_path: Path) -> None:
    done = check(shell, tmp_path, tests_end_with=0)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("ran ")] == [
        "ran pip install -e .[dev]",
        "ran ruff check .",
        "ran ruff format --check .",
        "ran mypy ",
        "ran python -m ai_memory.cli.docs --check",
    ]
    assert lines[-1] == "5 passed in 1.2s"
    assert list((tmp_path / "a room").iterdir()) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_the_check_script_fails_with_the_tests(shell: str, tmp_path: Path) -> None:
    done = check(shell, tmp_path, tests_end_with=1)
    assert done.returncode == 1
    assert "ran ruff" not in done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_check_script_fails_with_a_gate(shell: str, tmp_path: Path) -> None:
    done = check(shell, tmp_path, tests_end_with=0, tool=TOOL + '[ "${0##*/}" != ruff ] || exit 3\n')
    assert (done.returncode, "ran mypy" in done.stdout) == (3, False)
    assert done.stdout.splitlines()[-1] != "5 passed in 1.2s"
