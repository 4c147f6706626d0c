"""`ai-memory upgrade`: how it was installed, by what an installation tells of itself; and our installer run by it."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

from ai_memory import __version__
from ai_memory.operations import upgrade as operation
from ai_memory.wiring.installation import Facts, Way, facts_here, installation

ROOT = Path(__file__).resolve().parent.parent.parent
SITE = "lib/python3.12/site-packages"


def posix(prefix: str, **more: Any) -> Facts:
    """A program of that environment, put there by pip."""
    package = f"{prefix}/{SITE}/ai_memory"
    told = {"base_prefix": "/usr", "installer": "pip", "package": package, **more}
    return Facts(platform="linux", python=f"{prefix}/bin/python", prefix=prefix, **told)


def windows(prefix: str, **more: Any) -> Facts:
    package = rf"{prefix}\Lib\site-packages\ai_memory"
    told = {"base_prefix": r"C:\Python312", "installer": "pip", "package": package, **more}
    return Facts(platform="win32", python=rf"{prefix}\Scripts\python.exe", prefix=prefix, **told)


def folder(url: str, *, editable: bool = False) -> dict[str, object]:
    return {"url": url, "dir_info": {"editable": True} if editable else {}}


APP = "/home/ada/.local/share/ai-memory-app/env-a1B2c3"
WINDOWS_APP = r"C:\Users\Ada L\AppData\Local\ai-memory-app\env-a1b2c3"
WAYS: dict[str, tuple[Facts, Way, str]] = {
    "our installer": (posix(APP), Way.INSTALLER, f"sh {APP}/{SITE}/ai_memory/install.sh"),
    "our installer, from a checkout, with extras": (
        posix(APP, origin=folder("file:///home/ada/src/my%20memory"), extras=("embed", "llm")),
        Way.INSTALLER,
        "git -C '/home/ada/src/my memory' pull && sh '/home/ada/src/my memory/install.sh' --extras embed,llm",
    ),
    "our installer, Windows": (
        windows(WINDOWS_APP, origin=folder("file:///D:/m"), extras=("embed",)),
        Way.INSTALLER,
        r"git -C D:\m pull && powershell -ExecutionPolicy Bypass -File D:\m\install.ps1 -Extras embed",
    ),
    "our installer, macOS": (
        replace(posix("/Users/ada/.local/share/ai-memory-app/current"), platform="darwin"),
        Way.INSTALLER,
        f"sh /Users/ada/.local/share/ai-memory-app/current/{SITE}/ai_memory/install.sh",
    ),
    "pipx": (
        posix("/home/ada/.local/share/pipx/venvs/ai-memory", names=frozenset({"pipx_metadata.json", "bin"})),
        Way.PIPX,
        "pipx upgrade ai-memory",
    ),
    "pipx, Windows": (
        windows(r"C:\Users\Ada\pipx\venvs\ai-memory", names=frozenset({"pipx_metadata.json"})),
        Way.PIPX,
        "pipx upgrade ai-memory",
    ),
    "uv tool": (
        posix("/home/ada/.local/share/uv/tools/ai-memory", names=frozenset({"uv-receipt.toml"}), installer="uv"),
        Way.UV_TOOL,
        "uv tool upgrade ai-memory",
    ),
    "uvx": (posix("/home/ada/.cache/uv/archive-v0/x1", installer="uv"), Way.UVX, "uvx ai-memory@latest"),
    "an environment": (
        posix("/srv/env", extras=("llm",)),
        Way.VENV,
        "/srv/env/bin/python -m pip install --upgrade 'ai-memory[llm]'",
    ),
    "an environment of uv": (
        posix("/srv/env", installer="uv"),
        Way.VENV,
        "uv pip install --python /srv/env/bin/python --upgrade ai-memory",
    ),
    "an environment, from a repository": (
        posix("/srv/env", origin={"url": "https://example.org/m.git", "vcs_info": {"vcs": "git"}}, extras=("llm",)),
        Way.VENV,
        "/srv/env/bin/python -m pip install --upgrade 'ai-memory[llm] @ git+https://example.org/m.git'",
    ),
    "an environment, Windows": (
        windows(r"C:\My Envs\memory"),
        Way.VENV,
        r'"C:\My Envs\memory\Scripts\python.exe" -m pip install --upgrade ai-memory',
    ),
    "this user": (
        posix("/usr", package=f"/home/ada/.local/{SITE}/ai_memory", user_site=f"/home/ada/.local/{SITE}"),
        Way.USER,
        "/usr/bin/python -m pip install --upgrade --user ai-memory",
    ),
    "the whole Python": (posix("/usr"), Way.SYSTEM, "/usr/bin/python -m pip install --upgrade ai-memory"),
    "a Python that the system keeps": (posix("/usr", is_managed=True), Way.SYSTEM, "pipx install ai-memory"),
    "editable": (
        posix("/srv/env", origin=folder("file:///home/ada/memory", editable=True)),
        Way.EDITABLE,
        "git -C /home/ada/memory pull && /srv/env/bin/python -m pip install --editable /home/ada/memory",
    ),
    "a checkout": (
        posix("/srv/env", package="/home/ada/memory/ai_memory", installer=""),
        Way.CHECKOUT,
        "git -C /home/ada/memory pull",
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_each_way_has_its_command(name: str) -> None:
    facts, way, command = WAYS[name]
    found = installation(facts)
    assert (found.way, found.command) == (way, command)


def test_every_way_was_tried() -> None:
    assert {way for _, way, _ in WAYS.values()} == set(Way)


def test_the_program_that_runs_here_tells_its_own(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("nothing is run without --confirm"))
    answer = room.json("upgrade")
    assert (answer["version"], answer["outcome"]) == (__version__, "told")
    assert answer["way"] in {"editable", "checkout", "venv", "pip-system", "pip-user"}
    assert answer["command"] in room.ok("upgrade")
    assert not room.data_dir.exists()
    assert facts_here().package == str(ROOT / "ai_memory")


@pytest.mark.parametrize("name", ["pipx", "a checkout", "our installer, Windows"])
def test_what_others_installed_is_not_upgraded_and_the_command_is_the_hint(
    room: Room, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(operation, "facts_here", lambda: WAYS[name][0])
    error = room.json("upgrade", "--confirm", code=1)["error"]
    assert error["hint"] == WAYS[name][2]
    assert not room.data_dir.exists()


# --- our own installer, in whose place a small script stands ---


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout from which the environment of our installer was made."""
    made = tmp_path / "src"
    made.mkdir()
    (made / "pyproject.toml").write_text('name = "ai-memory"\n')
    app = tmp_path / "share" / "ai-memory-app"
    (app / "env-a1B2c3").mkdir(parents=True)
    facts = posix(str(app / "env-a1B2c3"), origin=folder(made.as_uri()), extras=("embed",))
    monkeypatch.setattr(operation, "facts_here", lambda: facts)
    return made


def test_it_is_shown_first_and_then_done_and_tried(room: Room, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "install.sh").write_text(f'echo "$XDG_DATA_HOME $*" >{checkout}/called\n')
    shown = room.json("upgrade")
    assert (shown["outcome"], shown["source"]) == ("would_upgrade", str(checkout))
    assert not (checkout / "called").exists()
    monkeypatch.setattr(operation, "check_hook", lambda *_: "")
    monkeypatch.setattr(operation, "check_bridge", lambda *_: "")
    done = room.json("upgrade", "--confirm")
    assert (checkout / "called").read_text() == f"{checkout.parent / 'share'} --keep env-a1B2c3 --extras embed\n"
    assert (done["outcome"], done["version_after"]) == ("upgraded", __version__)
    assert [(one["what"], one["fault"]) for one in done["checks"]] == [("hooks", ""), ("mcp", "")]
    assert not room.data_dir.exists()
    monkeypatch.setattr(operation, "check_bridge", lambda *_: "the bridge does not start")
    assert room.json("upgrade", "--confirm", code=1)["checks"][1]["fault"] == "the bridge does not start"


def test_a_failure_says_why_and_that_what_was_there_still_works(room: Room, checkout: Path) -> None:
    (checkout / "install.sh").write_text("echo no network >&2; exit 1\n")
    error = room.json("upgrade", "--confirm", code=1)["error"]
    assert "no network" in error["message"]
    assert "still works" in error["hint"]


def test_an_installer_that_is_gone_is_named(room: Room, checkout: Path) -> None:
    error = room.json("upgrade", "--confirm", code=1)["error"]
    assert str(checkout / "install.sh") in error["message"]


def test_paths_that_moved_want_a_setup(room: Room, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "install.sh").write_text("exit 0\n")
    real = operation.launch_here
    monkeypatch.setattr(operation, "launch_here", lambda path: replace(real(path), package=str(checkout / "gone")))
    done = room.json("upgrade", "--confirm")
    assert (done["checks"], done["gaps"]) == ([], ["what agents start lies elsewhere now: run `ai-memory setup` again"])


@pytest.mark.slow
def test_a_real_environment_of_our_installer_upgrades_itself(tmp_path: Path, scratch_home: Path) -> None:
    """From the package index: it needs a network, and two minutes."""
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".git", "tests", ".*_cache", "__pycache__"))
    subprocess.run(["sh", checkout / "install.sh"], check=True, capture_output=True)
    program = scratch_home / ".local" / "bin" / "ai-memory"
    app = scratch_home / ".local" / "share" / "ai-memory-app"

    def say(*words: str, code: int = 0) -> Any:
        done = subprocess.run([program, *words, "--json"], capture_output=True, encoding="utf-8", cwd=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    former = (app / "current").resolve()
    module = checkout / "ai_memory" / "__init__.py"
    module.write_text(module.read_text().replace(f'"{__version__}"', '"9.9.9"'))
    assert say("upgrade")["way"] == "installer"
    done = say("upgrade", "--confirm")
    assert (done["version"], done["version_after"]) == (__version__, "9.9.9")
    assert [one["fault"] for one in done["checks"]] == ["", ""]
    assert former.exists(), "it ran in there"
    assert (app / "current").resolve() != former
    (checkout / "pyproject.toml").write_text('[project]\nname = "ai-memory"\n')
    assert "still works" in say("upgrade", "--confirm", code=1)["error"]["hint"]
    assert say("upgrade")["version"] == "9.9.9"
    assert not (scratch_home / ".local" / "share" / "ai-memory").exists()
