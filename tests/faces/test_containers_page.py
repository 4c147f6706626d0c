"""docs/containers.md: what can be run of its examples without a container does what the page says."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ai_memory.diagnosis.table import CHECKS
from ai_memory.store import filesystem

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "containers.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with `ai-memory`, and with a `docker` that only says what it was told, an argument a line."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (
        ("ai-memory", f'exec "{sys.executable}" -P -m ai_memory "$@"'),
        ("docker", "printf '%s\\n' \"$@\""),
    ):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}/usr/bin:/bin"


def run(script: str, cwd: Path, path: str, **more: str) -> str:
    environ = os.environ | {"PATH": path} | more
    done = subprocess.run(
        ["sh", "-eu", "-c", script],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env=environ,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (script, done.stdout, done.stderr)
    return done.stdout


def test_the_bind_mount_is_the_data_dir_and_the_checkout_lies_under_its_own_path(tmp_path: Path, path: str) -> None:
    (script,) = [one for one in blocks("sh") if "ai-memory path" in one and "docker" in one]
    told = run(script, tmp_path, path, AI_MEMORY_DATA_DIR=str(tmp_path / "data")).splitlines()
    mounts = [told[at + 1] for at, word in enumerate(told) if word == "-v"]
    assert mounts == [f"{tmp_path / 'data'}:/memory", f"{tmp_path}:{tmp_path}"]
    assert told[told.index("-e") + 1] == "AI_MEMORY_DATA_DIR=/memory"
    assert told[told.index("--user") + 1] == f"{os.getuid()}:{os.getgid()}"


def test_what_setup_writes_names_the_interpreter_and_the_data_dir_of_where_it_ran(tmp_path: Path, path: str) -> None:
    (script,) = [one for one in blocks("sh") if one == "ai-memory setup --yes\n"]
    (Path.home() / ".claude").mkdir()
    run(script, tmp_path, path, AI_MEMORY_DATA_DIR=str(tmp_path / "memory"))
    text = (Path.home() / ".claude" / "settings.json").read_text()
    assert f"--data-dir {tmp_path / 'memory'}" in text
    assert re.search(r'"P=/\S+ H=/\S+/ai_memory/hook\.py; ', text)


def test_a_home_on_a_network_disk_can_keep_its_memory_elsewhere(tmp_path: Path, path: str) -> None:
    (script,) = [one for one in blocks("sh") if one.startswith("export")]
    told = run(f"{script}ai-memory path", tmp_path, path).strip()
    assert told.startswith("/var/tmp/")
    assert told.endswith("/ai-memory")
    assert not Path(told).exists()


def test_the_settings_of_a_dev_container_are_json_and_what_it_runs_is_a_command() -> None:
    (text,) = blocks("json")
    told = json.loads(text)
    (mount,) = told["mounts"]
    assert f"target={told['containerEnv']['AI_MEMORY_DATA_DIR']}" in mount
    assert told["postCreateCommand"] == "ai-memory setup --yes"


def test_the_image_names_the_folder_that_the_volume_is_mounted_on() -> None:
    (image,) = blocks("dockerfile")
    (folder,) = re.findall(r"AI_MEMORY_DATA_DIR=(\S+)", image)
    assert f"-v ai-memory:{folder} " in PAGE
    assert "/opt/ai-memory/bin/pip install /opt/ai-memory-source" in image


def test_what_the_page_says_of_the_doctor_is_what_the_doctor_says() -> None:
    codes = {code for check in CHECKS for code in check.codes}
    said = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", PAGE)) - {"ai-memory"}
    assert said == {"data-dir-owner", "network-disk", "must-list"}
    assert said <= codes


@pytest.mark.parametrize("kind", ["9p", "nfs", "virtiofs"])
def test_the_disks_that_the_page_calls_network_disks_count_as_such(kind: str) -> None:
    mounts = f"1 0 0:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / /mnt/c rw - {kind} C: rw\n"
    assert filesystem.mount_type("/mnt/c/Users/you/ai-memory", mounts) in filesystem.NETWORK_FILESYSTEMS


@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell")
def test_every_example_for_a_shell_is_valid_for_it() -> None:
    for script in blocks("sh"):
        subprocess.run(["sh", "-n"], input=script, encoding="utf-8", check=True)
