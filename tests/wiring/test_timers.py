"""Entries of schedulers: what they start is what stands there, whatever the paths hold; a crontab keeps its bytes."""

import os
import plistlib
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.clock import now_us
from ai_memory.errors import StoreFault, UsageFault
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Machine
from ai_memory.paths import DataDir
from ai_memory.store import wired
from ai_memory.text.marked_block import IN_CRONTAB, with_block, without_block
from ai_memory.wiring import crontab, timers
from ai_memory.wiring.crontab import Crontab
from ai_memory.wiring.plan import Book, State

ODD = "odd 100%/$x \"q\" 'a' \\b;&<c>"
"""A folder's name that every scheduler would misread somewhere."""
LINE = "*/10 * * * * true"


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return path


def launch_in(folder: Path) -> Launch:
    """An interpreter that writes down what it was given, and our file."""
    python = program(folder / ODD / "python", f'for one; do printf "%s\\0" "$one"; done > "{folder}/given"')
    package = folder / ODD / "ai_memory"
    package.mkdir()
    (package / "timed.py").write_text("")
    return Launch(str(python), str(package), str(folder / ODD / "data"), "linux")


def given_in(folder: Path) -> tuple[str, ...]:
    return tuple((folder / "given").read_text().split("\0")[:-1])


# --- entries ---


def test_the_line_of_a_crontab_starts_it_whatever_the_paths_hold(tmp_path: Path) -> None:
    launch = launch_in(tmp_path)
    fields, line = timers.cron_line(launch).split(" P=", 1)
    assert fields == "*/10 * * * *"
    as_cron_hands_it_on = f"P={line}".replace("\\%", "\0").partition("%")[0].replace("\0", "%")
    subprocess.run(["/bin/sh", "-c", as_cron_hands_it_on], check=True, env={})
    assert given_in(tmp_path) == timers.argv(launch)[1:]


def test_the_line_says_and_does_nothing_once_the_program_is_gone(tmp_path: Path) -> None:
    launch = launch_in(tmp_path)
    line = timers.cron_line(launch).split(" ", 5)[5].replace("\\%", "%")
    Path(launch.package, "timed.py").unlink()
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True, env={})
    assert (done.stdout, done.stderr, (tmp_path / "given").exists()) == (b"", b"", False)


def test_a_fault_of_maintain_is_the_exit_code_that_cron_sees(tmp_path: Path) -> None:
    launch = launch_in(tmp_path)
    program(Path(launch.python), "echo said; echo why >&2; exit 3")
    line = timers.cron_line(launch).split(" ", 5)[5].replace("\\%", "%")
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=False, env={})
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"why\n")


def test_units_name_the_command_as_systemd_reads_it(tmp_path: Path) -> None:
    launch = Launch("/opt/100%/py", "/opt/a b", '/d/$x"\\', "linux")
    service, timer = timers.wishes("systemd", launch, Machine(str(tmp_path), {}, "linux"))
    assert str(service.edit.path) == str(tmp_path / ".config" / "systemd" / "user" / "ai-memory.service")
    [line] = [one for one in service.edit.text.splitlines() if one.startswith("ExecStart=")]
    assert line == 'ExecStart=/opt/100%%/py -I "/opt/a b/timed.py" --data-dir "/d/$$x\\"\\\\"'
    assert "OnCalendar=*:0/10\nPersistent=true\n" in timer.edit.text
    assert timer.edit.path.name == "ai-memory.timer"


def test_units_lie_where_a_person_keeps_settings(tmp_path: Path) -> None:
    machine = Machine("/home/you", {"XDG_CONFIG_HOME": str(tmp_path)}, "linux")
    service, _ = timers.wishes("systemd", Launch("/p", "/a", "/d", "linux"), machine)
    assert str(service.edit.path) == str(tmp_path / "systemd" / "user" / "ai-memory.service")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_itself_finds_nothing_amiss_with_the_units(tmp_path: Path) -> None:
    launch = launch_in(tmp_path)
    for wish in timers.wishes("systemd", launch, Machine(str(tmp_path), {}, "linux")):
        (tmp_path / wish.edit.path.name).write_text(wish.edit.text)
    names = [str(tmp_path / name) for name in ("ai-memory.timer", "ai-memory.service")]
    environ = os.environ | {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", *names], capture_output=True, check=False, env=environ
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_property_list_holds_the_command_word_by_word() -> None:
    launch = Launch(f"/opt/{ODD}/python", f"/opt/{ODD}/ai_memory", f"/Users/you/{ODD}", "darwin")
    machine = Machine("/Users/you", {}, "darwin")
    [wish] = timers.wishes("launchd", launch, machine)
    assert str(wish.edit.path) == "/Users/you/Library/LaunchAgents/ai-memory.maintain.plist"
    told = plistlib.loads(wish.edit.text.encode())
    assert tuple(told["ProgramArguments"]) == timers.argv(launch)
    assert (told["Label"], told["StartInterval"]) == ("ai-memory.maintain", 600)
    start = timers.commands("launchd", machine, uid=501).after_writing[-1]
    assert start == ("launchctl", "bootstrap", "gui/501", str(wish.edit.path))


@pytest.mark.parametrize(
    ("kind", "platform"), [("systemd", "darwin"), ("launchd", "linux"), ("cron", "win32"), ("systemd", "win32")]
)
def test_a_scheduler_of_another_platform_is_refused_with_what_there_is(kind: str, platform: str) -> None:
    with pytest.raises(UsageFault) as refused:
        timers.refuse_elsewhere(kind, Machine("/h", {}, platform))
    assert "Task Scheduler" in refused.value.hint


@pytest.mark.parametrize(
    ("kind", "platform"), [("cron", "linux"), ("cron", "darwin"), ("systemd", "linux"), ("launchd", "darwin")]
)
def test_a_scheduler_of_this_platform_is_taken(kind: str, platform: str) -> None:
    timers.refuse_elsewhere(kind, Machine("/h", {}, platform))


def test_a_path_of_several_lines_is_refused() -> None:
    with pytest.raises(UsageFault):
        timers.cron_line(Launch("/p", "/a", "/d\n* * * * * evil", "linux"))


# --- the crontab ---


@given(st.text(alphabet="ab #*%\t\n", max_size=60))
def test_lines_of_others_keep_every_byte(text: str) -> None:
    there = with_block(text, LINE, IN_CRONTAB)
    assert there.startswith(text)
    assert with_block(there, LINE, IN_CRONTAB) == there
    assert without_block(there, IN_CRONTAB) in (text, f"{text}\n")


class Tab:
    """A data dir, and a program `crontab` that keeps its file beside."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "cron file"
        self.data_dir = DataDir(folder / "data")
        self.data_dir.root.mkdir()
        self.bin = folder / "bin"
        script = f"""
F='{self.file}'
case "$1" in
  -l) if [ -f "$F" ]; then cat "$F"; else echo "crontab: no crontab for you" >&2; exit 1; fi ;;
  -r) rm "$F" ;;
  -) cat > "$F.new"; if grep -q refuse "$F.new"; then echo "bad minute" >&2; exit 1; fi; mv "$F.new" "$F" ;;
esac"""
        program(self.bin / "crontab", script)
        self.crontab = Crontab({"PATH": f"{self.bin}:/usr/bin:/bin"})

    def book(self) -> Book:
        return Book(tuple(wired.all_wired(self.data_dir)[0]))

    def install(self, line: str = LINE, *, dies_at: str = "") -> str:
        return self.write(crontab.plan_line(self.crontab, line, self.book()), dies_at)

    def remove(self, *, dies_at: str = "") -> str:
        return self.write(crontab.plan_without(self.crontab, self.book()), dies_at)

    def write(self, plan: crontab.FilePlan, dies_at: str) -> str:
        def step(name: str) -> None:
            if name == dies_at:
                raise KeyboardInterrupt

        if plan.state is State.REFUSED:
            return plan.reason
        return crontab.write(plan, self.crontab, self.data_dir, clock=now_us, step=step).fault


@pytest.fixture
def tab(tmp_path: Path) -> Tab:
    return Tab(tmp_path)


THEIRS = [None, b"", b"# mine\n0 5 * * * backup", b"MAILTO=me\r\n0 5 * * * b\\%\r\n", b"\n\n# x\n\n\n"]


@pytest.mark.parametrize("theirs", THEIRS)
def test_what_stood_there_comes_back_byte_for_byte(tab: Tab, theirs: bytes | None) -> None:
    if theirs is not None:
        tab.file.write_bytes(theirs)
    assert tab.install() == ""
    assert tab.file.read_bytes().startswith((theirs or b"").rstrip(b"\r\n"))
    assert LINE.encode() in tab.file.read_bytes()
    assert tab.remove() == ""
    assert (tab.file.read_bytes() if tab.file.exists() else None) == theirs
    assert tab.book().records == ()


def test_said_again_nothing_is_written(tab: Tab) -> None:
    tab.install()
    before = tab.file.stat()
    assert tab.install() == ""
    assert tab.file.stat().st_mtime_ns == before.st_mtime_ns


def test_another_line_takes_the_place_of_ours_and_the_first_state_still_comes_back(tab: Tab) -> None:
    tab.file.write_bytes(b"0 5 * * * backup")
    tab.install()
    tab.install("*/10 * * * * other")
    assert LINE.encode() not in tab.file.read_bytes()
    tab.remove()
    assert tab.file.read_bytes() == b"0 5 * * * backup"


def test_lines_that_came_meanwhile_stay(tab: Tab) -> None:
    tab.file.write_bytes(b"0 5 * * * backup\n")
    tab.install()
    tab.file.write_bytes(b"# new\n" + tab.file.read_bytes() + b"5 5 * * * other\n")
    tab.install("*/10 * * * * other")
    assert tab.remove() == ""
    assert tab.file.read_bytes() == b"# new\n0 5 * * * backup\n5 5 * * * other\n"


def test_what_is_replaced_is_kept_for_its_owner_alone(tab: Tab) -> None:
    tab.file.write_bytes(b"0 5 * * * backup\n")
    tab.install()
    [kept] = (tab.data_dir.backups / "agents").iterdir()
    assert kept.read_bytes() == b"0 5 * * * backup\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("dies_at", ["backup", "recorded", "written"])
def test_killed_at_any_step_it_is_finished_or_taken_back_by_the_next_run(tab: Tab, dies_at: str) -> None:
    theirs = b"0 5 * * * backup"
    tab.file.write_bytes(theirs)
    with pytest.raises(KeyboardInterrupt):
        tab.install(dies_at=dies_at)
    assert tab.install() == ""
    assert tab.file.read_bytes().count(LINE.encode()) == 1
    if dies_at != "backup":
        with pytest.raises(KeyboardInterrupt):
            tab.remove(dies_at=dies_at)
    assert tab.remove() == ""
    assert tab.file.read_bytes() == theirs


def test_a_crontab_that_cannot_be_read_as_it_is_meant_is_left_alone(tab: Tab) -> None:
    for content in (b"# Gr\xfc\xdfe\n", b"# ai-memory:start\nx\n", b"# ai-memory:end\n"):
        tab.file.write_bytes(content)
        assert tab.install() != ""
        assert tab.file.read_bytes() == content


def test_a_crontab_that_its_program_refuses_stays_and_says_why(tab: Tab) -> None:
    tab.file.write_bytes(b"0 5 * * * backup\n")
    assert "bad minute" in tab.install("refuse")
    assert tab.file.read_bytes() == b"0 5 * * * backup\n"
    assert tab.install() == ""
    tab.remove()
    assert tab.file.read_bytes() == b"0 5 * * * backup\n"


def test_a_crontab_that_changes_between_look_and_write_is_not_overwritten(tab: Tab) -> None:
    plan = crontab.plan_line(tab.crontab, LINE, tab.book())
    tab.file.write_bytes(b"0 5 * * * theirs\n")
    assert "run this again" in tab.write(plan, "")
    assert tab.file.read_bytes() == b"0 5 * * * theirs\n"


def test_a_failing_program_is_no_empty_crontab(tab: Tab) -> None:
    program(tab.bin / "crontab", "echo 'you are not allowed to use this program' >&2; exit 1")
    with pytest.raises(StoreFault) as fault:
        tab.install()
    assert "not allowed" in fault.value.message


def test_without_cron_another_scheduler_is_named(tab: Tab) -> None:
    without = replace(tab.crontab, environ={"PATH": str(tab.data_dir.root)})
    with pytest.raises(StoreFault) as fault:
        crontab.plan_line(without, LINE, tab.book())
    assert "systemd" in fault.value.hint
