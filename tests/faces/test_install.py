"""install.sh on a scratch home, with a small wheel of the same name in place of the package index."""

import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "install.sh"
POWERSHELL = ROOT / "install.ps1"
KEPT = "it is there already, and stays as it is"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell script")


def make_wheel(folder: Path, version: str, *, starts: bool = True) -> None:
    """A wheel named ai-memory whose command prints its version, the interpreter and its arguments."""
    code = f"import sys\n\n\ndef main():\n    print('ai-memory {version}', sys.executable, *sys.argv[1:])\n"
    files = {
        "ai_memory/__init__.py": "",
        "ai_memory/__main__.py": code if starts else "raise SystemExit(1)\n",
        f"ai_memory-{version}.dist-info/METADATA": (
            f"Metadata-Version: 2.1\nName: ai-memory\nVersion: {version}\nProvides-Extra: embed\nProvides-Extra: llm\n"
        ),
        f"ai_memory-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"ai_memory-{version}.dist-info/entry_points.txt": ("[console_scripts]\nai-memory = ai_memory.__main__:main\n"),
    }
    folder.mkdir(exist_ok=True)
    record = "".join(f"{name},,\n" for name in files)
    with zipfile.ZipFile(folder / f"ai_memory-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in {**files, f"ai_memory-{version}.dist-info/RECORD": record}.items():
            wheel.writestr(name, text)


@dataclass(frozen=True)
class Machine:
    """A scratch home with a space in its name, a copy of the script outside any checkout, and a folder of wheels."""

    home: Path
    script: Path
    wheels: Path

    @property
    def app(self) -> Path:
        return self.home / ".local" / "share" / "ai-memory-app"

    @property
    def command(self) -> Path:
        return self.home / ".local" / "bin" / "ai-memory"

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "TMPDIR": str(self.wheels)}
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull}
        return subprocess.run(
            ["sh", str(self.script), *words],
            capture_output=True,
            encoding="utf-8",
            env=environ | pip | more,
            cwd=self.home,
            timeout=300,
            check=False,
        )

    def say(self, *words: str) -> str:
        return subprocess.run([self.command, *words], capture_output=True, encoding="utf-8", check=True).stdout.strip()

    def files(self) -> list[str]:
        """All below `~/.local`. (pip may run a compiler to name its version, which may make folders elsewhere.)"""
        return sorted(str(path.relative_to(self.home)) for path in self.home.glob(".local/**/*"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for name in ("my home", "downloads"):
        (tmp_path / name).mkdir()
    make_wheel(tmp_path / "wheels", "1.0")
    script = shutil.copy(SCRIPT, tmp_path / "downloads" / "install.sh")
    return Machine(tmp_path / "my home", Path(script), tmp_path / "wheels")


PYTHON = """#!/bin/sh
case "$1" in
-c) exec '{real}' -c 'import sys; sys.executable = sys.argv[1]; exec(sys.argv[2])' "$0" "$2" ;;
esac
{made}
"""
"""A Python that names itself, and makes environments in a way of its own."""
COPIED = """[ -d '{folder}' ] || '{real}' -m venv '{folder}' || exit 1
exec cp -a '{folder}/.' "$3"
"""
"""One environment is made, which takes five seconds, and the others are its copies."""
PRETENDED = """case "$*" in
"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
*) echo "asked: $*"; exit 1 ;;
esac
"""


def python_first(folder: Path, made: str) -> str:
    """A search path on which that Python comes first."""
    folder.mkdir()
    program = folder / "python3.14"
    made = made.format(folder=folder / "made", real=sys.executable)
    program.write_text(PYTHON.format(real=sys.executable, made=made))
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_an_install_an_upgrade_a_failure_and_an_uninstall(machine: Machine, tmp_path: Path) -> None:
    """One long story, since each environment takes seconds to make."""
    path = python_first(tmp_path / "copied", COPIED)
    first = machine.run(PATH=path)
    assert first.returncode == 0, first.stderr
    assert machine.say("x") == f"ai-memory 1.0 {machine.app}/current/bin/python x"
    assert "Installed: ai-memory 1.0" in first.stdout
    memory = machine.home / ".local" / "share" / "ai-memory"
    assert f"memory   {memory} (made by your first write)" in first.stdout
    assert 'export PATH="$HOME/.local/bin:$PATH"' in first.stdout
    assert list((machine.app / "current").glob("lib/python3*/site-packages/ai_memory/__pycache__/__main__.*.pyc"))
    (former,) = machine.app.glob("env-*")

    make_wheel(machine.wheels, "2.0")
    memory.mkdir()
    (memory / "state.db").write_text("kept")
    second = machine.run("--extras", "embed,llm", PATH=f"{machine.command.parent}{os.pathsep}{path}")
    assert second.returncode == 0, second.stderr
    assert "ai-memory[embed,llm]" in second.stdout
    assert "export PATH" not in second.stdout
    assert f"memory   {memory} ({KEPT})" in second.stdout
    assert machine.say() == f"ai-memory 2.0 {machine.app}/current/bin/python"
    (present,) = machine.app.glob("env-*")
    assert present != former

    make_wheel(machine.wheels, "3.0", starts=False)
    third = machine.run(PATH=path)
    assert third.returncode == 1
    assert "does not start" in third.stderr
    assert machine.say() == f"ai-memory 2.0 {machine.app}/current/bin/python"
    assert list(machine.app.glob("env-*")) == [present], "the failed environment stayed"

    gone = machine.run("--uninstall")
    assert gone.returncode == 0, gone.stderr
    assert f"Your memory stays: {memory}" in gone.stdout
    assert machine.files() == [".local/share", ".local/share/ai-memory", ".local/share/ai-memory/state.db"]
    assert machine.run("--uninstall").returncode == 0, "a second uninstall finds nothing and is fine"


def test_a_command_of_somebody_else_is_never_replaced(machine: Machine) -> None:
    machine.command.parent.mkdir(parents=True)
    machine.command.write_text("theirs")
    done = machine.run()
    assert done.returncode == 1
    assert "was not made by this installer" in done.stderr
    assert "Left alone" in machine.run("--uninstall").stdout
    assert machine.files() == [".local/bin", ".local/bin/ai-memory"]
    assert machine.command.read_text() == "theirs"


@pytest.mark.slow
def test_a_package_that_cannot_be_had_leaves_nothing_behind(machine: Machine) -> None:
    done = machine.run(PIP_FIND_LINKS=str(machine.home))
    assert done.returncode == 1
    assert "installing ai-memory failed" in done.stderr
    assert machine.files() == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", [".local/bin", ".local/share"])
def test_a_folder_that_was_there_before_stays_though_it_is_empty(machine: Machine, folder: str) -> None:
    (machine.home / folder).mkdir(parents=True)
    machine.run(PIP_FIND_LINKS=str(machine.home))
    assert machine.files() == [folder]


@pytest.mark.slow
def test_an_uninstall_takes_the_folders_away_that_the_install_made(machine: Machine) -> None:
    assert machine.run().returncode == 0
    assert machine.run("--uninstall").returncode == 0
    assert not (machine.home / ".local").exists()


def test_without_python_and_uv_it_says_what_to_do(machine: Machine, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "dirname", "grep", "cat", "uname", "readlink"):
        (tools / name).symlink_to(shutil.which(name) or name)
    done = machine.run(PATH=str(tools))
    assert done.returncode == 1
    assert "no Python of 3.11 or newer" in done.stderr
    assert "uv" in done.stderr
    assert machine.files() == []


def test_a_second_install_at_once_is_refused(machine: Machine) -> None:
    (machine.app / "busy").mkdir(parents=True)
    (machine.app / "busy" / "pid").write_text(f"{os.getpid()}\n")
    done = machine.run()
    assert done.returncode == 1
    assert f"another install is running (process {os.getpid()})" in done.stderr


@pytest.mark.parametrize("words", [("--wrong",), ("--extras", "gpu"), ("--extras",), ("--extras=embed,gpu",)])
def test_a_wrong_option_is_a_usage_fault_and_changes_nothing(machine: Machine, words: tuple[str, ...]) -> None:
    done = machine.run(*words)
    assert done.returncode == 2
    assert done.stderr
    assert machine.files() == []


def test_help_names_every_option(machine: Machine) -> None:
    done = machine.run("--help")
    assert done.returncode == 0
    assert all(option in done.stdout for option in ("--extras", "--uninstall", "--help", "embed", "llm", "all"))


@pytest.mark.parametrize("shell", [name for name in ("sh", "dash", "bash", "ksh") if shutil.which(name)])
def test_every_shell_reads_the_script(shell: str) -> None:
    subprocess.run([shell, "-n", str(SCRIPT)], check=True)


def test_it_installs_the_checkout_it_stands_in(machine: Machine, tmp_path: Path) -> None:
    """Stopped at pip by a Python that only pretends: what it is asked to install is what counts."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    shutil.copy(ROOT / "pyproject.toml", checkout)
    shutil.copy(SCRIPT, checkout)
    path = python_first(tmp_path / "pretended", PRETENDED)
    done = Machine(machine.home, checkout / "install.sh", machine.wheels).run("--extras", "llm", PATH=path)
    assert f"Installing {checkout.resolve()}[llm]" in done.stdout
    assert f"asked: -m pip install --quiet {checkout.resolve()}[llm]" in done.stdout
    assert done.returncode == 1
    assert not machine.app.exists()


@pytest.mark.slow
def test_this_checkout_installs_from_the_package_index_and_starts(machine: Machine) -> None:
    done = Machine(machine.home, SCRIPT, machine.wheels).run(PIP_NO_INDEX="0", PIP_FIND_LINKS="", PIP_CONFIG_FILE="")
    assert done.returncode == 0, done.stderr
    assert machine.say("--version").startswith("ai-memory ")


def test_the_windows_script_offers_the_same() -> None:
    text = POWERSHELL.read_text(encoding="utf-8")
    assert text.isascii(), "PowerShell 5 reads other bytes in the code page of the machine"
    for word in ("$Extras", "$Uninstall", "$Help", "'embed', 'llm', 'all'", "ai-memory-app", "compileall", "--version"):
        assert word in text, word
    for says in ("Your memory stays", "exists and was not made by this installer", "another install is running", KEPT):
        assert says in text and says in SCRIPT.read_text(encoding="utf-8"), says
    assert text.count("{") == text.count("}")
    assert text.count("(") == text.count(")")


def test_the_windows_script_parses_where_powershell_is() -> None:
    powershell = shutil.which("pwsh") or shutil.which("powershell")
    if not powershell:
        pytest.skip("no PowerShell")
    script = (
        "$e = $null; [void][Management.Automation.Language.Parser]::ParseFile($args[0], [ref]$null, [ref]$e); $e.Count"
    )
    done = subprocess.run(
        [powershell, "-NoProfile", "-Command", script, str(POWERSHELL)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == "0"
