"""What killed processes leave is removed once it is old; what lives, or is a person's, stays."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ai_memory.paths import DataDir
from ai_memory.store.leftovers import OLD_S, UNPACKED_S, sweep


@pytest.fixture(scope="module")
def dead() -> int:
    """The id of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    return child.pid


def put(path: Path, *, age_s: float = OLD_S + 60) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"half")
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path


FORMS = [
    ".pending.{pid}.tmp",
    ".config.toml.{pid}.tmp",
    "locks/waiting/1796029200000000000-{pid}-deadbeef",
    "spool/.1796029200000000000-{pid}-deadbeef.tmp",
    "spool/quarantine/.1796029200000000000-1-deadbeef.reason.json.{pid}.tmp",
    "outbox/open/.0123456789abcdef0123456789abcdef.md.{pid}.tmp",
    "outbox/by-dir/0123456789abcdef0123456789abcdef/.x.{pid}.tmp",
    "wiki/default/shop/notes/.till.md.{pid}.tmp",
    "backups/.ai-memory-20261130T220425Z.zip.{pid}.tmp",
    "backups/.ai-memory-20261130T220425Z-2.zip.{pid}.state",
]


@pytest.mark.parametrize("form", FORMS)
def test_what_a_dead_process_left_an_hour_ago_goes(form: str, tmp_path: Path, dead: int) -> None:
    left = put(tmp_path / form.format(pid=dead))
    assert sweep(DataDir(tmp_path)) == 1
    assert not left.exists()


@pytest.mark.parametrize("form", FORMS)
def test_what_a_living_process_writes_stays_however_old(form: str, tmp_path: Path) -> None:
    mine = put(tmp_path / form.format(pid=os.getpid()))
    assert sweep(DataDir(tmp_path)) == 0
    assert mine.exists()


@pytest.mark.parametrize("form", FORMS)
def test_what_is_young_stays_since_another_host_may_write_it(form: str, tmp_path: Path, dead: int) -> None:
    young = put(tmp_path / form.format(pid=dead), age_s=60)
    assert sweep(DataDir(tmp_path)) == 0
    assert young.exists()


@pytest.mark.parametrize(
    "name",
    [
        "pending",
        "config.toml",
        "spool/1796029200000000000-{pid}-deadbeef.json",
        "wiki/default/shop/notes/.till.md.swp",
        "wiki/default/shop/notes/till.md.{pid}.tmp",
        "wiki/.git/objects/.x.{pid}.tmp",
        "locks/waiting/note",
        "outbox/open/0123456789abcdef0123456789abcdef.md",
    ],
)
def test_nothing_else_is_ever_removed(name: str, tmp_path: Path, dead: int) -> None:
    kept = put(tmp_path / name.format(pid=dead))
    assert sweep(DataDir(tmp_path)) == 0
    assert kept.exists()


def test_a_number_that_no_process_can_have_is_dead(tmp_path: Path) -> None:
    put(tmp_path / f".pending.{'9' * 40}.tmp")
    assert sweep(DataDir(tmp_path)) == 1


def test_without_a_data_dir_there_is_nothing_to_sweep(tmp_path: Path) -> None:
    assert sweep(DataDir(tmp_path / "none")) == 0


def test_a_trial_of_a_backup_that_was_killed_goes_after_a_day(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    made = put(data_dir.backups / ".ai-memory-20261130T220425Z.zip.trial" / "wiki" / "page.md")
    kept = put(data_dir.backups / "ai-memory-20261130T220425Z.zip")
    for age_s, is_there in ((OLD_S + 60, True), (UNPACKED_S + 60, False)):
        then = time.time() - age_s
        os.utime(made.parents[1], (then, then))
        sweep(data_dir)
        assert made.exists() == is_there
    assert kept.exists()
