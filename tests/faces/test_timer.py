"""`maintain --install-timer` and `--remove-timer`: shown first, done with --apply, taken back byte for byte."""

import shutil
import subprocess
from pathlib import Path

import pytest
from cli_room import Room

from ai_memory.harnesses.machine import Machine
from ai_memory.operations import timer

THEIRS = "# mine\n0 5 * * * backup --all"


class Schedulers:
    """Programs of schedulers, each writing down what it was told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir()
        self.tab = folder / "tab"
        self.put(
            "crontab",
            f"case $1 in -l) cat {self.tab} 2>/dev/null || {{ echo no crontab for you >&2; exit 1; }};;"
            f" -r) rm {self.tab};; -) cat > {self.tab};; esac",
        )
        for name in ("systemctl", "launchctl"):
            self.put(name, f'echo "{name} $*" >> {folder}/told')

    def put(self, name: str, script: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\nPATH=/bin:/usr/bin\n{script}\n")
        path.chmod(0o700)

    @property
    def told(self) -> list[str]:
        path = self.folder / "told"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines


@pytest.fixture
def schedulers(room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Schedulers:
    """No program of the machine itself can be reached."""
    made = Schedulers(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(made.folder))
    room.ok("init")
    return made


def on(platform: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the command ran there."""
    monkeypatch.setattr(timer, "machine_here", lambda _: Machine(str(home), {}, platform))


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_cron_is_shown_first_then_written_then_taken_back(room: Room, schedulers: Schedulers) -> None:
    schedulers.tab.write_text(THEIRS)
    shown = room.json("maintain", "--install-timer", "cron")["timer"]
    assert (shown["outcome"], shown["files"][0]["state"]) == ("would_install", "change")
    assert schedulers.tab.read_text() == THEIRS
    done = room.json("maintain", "--install-timer", "cron", "--apply")["timer"]
    assert (done["outcome"], done["files"][0]["diff"]) == ("installed", shown["files"][0]["diff"])
    text = schedulers.tab.read_text()
    assert text.startswith(THEIRS)
    assert str(room.data_dir) in text
    assert room.json("maintain", "--install-timer", "cron", "--apply")["timer"]["outcome"] == "unchanged"
    assert room.json("maintain", "--remove-timer")["timer"]["outcome"] == "would_remove"
    assert schedulers.tab.read_text() == text
    assert room.json("maintain", "--remove-timer", "--apply")["timer"]["outcome"] == "removed"
    assert schedulers.tab.read_text() == THEIRS
    assert "no timer of ours is there" in room.ok("maintain", "--remove-timer", "--apply")


def test_what_was_written_into_a_crontab_runs_maintain(room: Room, schedulers: Schedulers) -> None:
    room.ok("maintain", "--install-timer", "cron", "--apply")
    line = next(one for one in schedulers.tab.read_text().splitlines() if one.startswith("*/10"))
    schedulers.put("line", line.split(" ", 5)[5].replace("\\%", "%"))

    subprocess.run([str(schedulers.folder / "line")], check=True, cwd="/", env={"HOME": str(room.checkout)})
    assert "drain" in {row["duty"] for row in room.json("maintain", "--dry-run")["duties"] if row["done_at"]}


def test_systemd_takes_its_units_up_and_lets_them_go(
    room: Room, schedulers: Schedulers, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("linux", scratch_home, monkeypatch)
    before = files_below(scratch_home)
    shown = room.ok("maintain", "--install-timer", "systemd")
    assert "would run: systemctl --user enable --now ai-memory.timer" in shown
    assert (files_below(scratch_home), schedulers.told) == (before, [])
    room.ok("maintain", "--install-timer", "systemd", "--apply")
    assert schedulers.told == ["systemctl --user daemon-reload", "systemctl --user enable --now ai-memory.timer"]
    assert {path.rpartition("/")[2] for path in files_below(scratch_home)} >= {"ai-memory.service", "ai-memory.timer"}
    assert "a scheduler starts maintain" in room.run("uninstall").stderr
    room.ok("maintain", "--remove-timer", "--apply")
    assert schedulers.told == ["systemctl --user disable --now ai-memory.timer", "systemctl --user daemon-reload"]
    assert files_below(scratch_home) == before


def test_launchd_takes_its_property_list_up_and_lets_it_go(
    room: Room, schedulers: Schedulers, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("darwin", scratch_home, monkeypatch)
    monkeypatch.setattr(timer, "_uid", lambda: 501)
    before = files_below(scratch_home)
    room.ok("maintain", "--install-timer", "launchd", "--apply")
    path = scratch_home / "Library" / "LaunchAgents" / "ai-memory.maintain.plist"
    assert path.is_file()
    assert schedulers.told[-1] == f"launchctl bootstrap gui/501 {path}"
    room.ok("maintain", "--remove-timer", "--apply")
    assert schedulers.told == ["launchctl bootout gui/501/ai-memory.maintain"]
    assert files_below(scratch_home) == before


def test_a_unit_of_that_name_that_is_not_ours_is_refused(
    room: Room, schedulers: Schedulers, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("linux", scratch_home, monkeypatch)
    path = scratch_home / ".config" / "systemd" / "user" / "ai-memory.service"
    path.parent.mkdir(parents=True)
    path.write_text("[Service]\nExecStart=/bin/theirs\n")
    answer = room.json("maintain", "--install-timer", "systemd", "--apply", code=1)["timer"]
    assert {row["state"] for row in answer["files"]} == {"refused", "failed"}
    assert (answer["commands"], schedulers.told) == ([], [])
    assert path.read_text() == "[Service]\nExecStart=/bin/theirs\n"
    room.json("maintain", "--remove-timer", "--apply")
    assert path.exists()


def test_a_scheduler_that_refuses_is_told_of_and_the_files_stay(
    room: Room, schedulers: Schedulers, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("linux", scratch_home, monkeypatch)
    schedulers.put("systemctl", "echo Failed to connect to bus >&2; exit 1")
    answer = room.json("maintain", "--install-timer", "systemd", "--apply", code=1)["timer"]
    assert {(row["outcome"], row["said"]) for row in answer["commands"]} == {("failed", "Failed to connect to bus")}
    assert (scratch_home / ".config" / "systemd" / "user" / "ai-memory.timer").is_file()
    (schedulers.folder / "systemctl").unlink()
    text = room.ok("maintain", "--install-timer", "systemd", "--apply")
    assert "run it yourself: systemctl --user enable --now ai-memory.timer" in text


def test_a_crontab_that_may_not_be_read_keeps_no_other_timer(
    room: Room, schedulers: Schedulers, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("linux", scratch_home, monkeypatch)
    room.ok("maintain", "--install-timer", "systemd", "--apply")
    schedulers.put("crontab", "echo you are not allowed >&2; exit 1")
    answer = room.json("maintain", "--remove-timer", "--apply")
    assert answer["timer"]["outcome"] == "removed"
    assert ["not allowed" in gap for gap in answer["gaps"]] == [True]


def test_a_line_of_ours_that_cannot_be_reached_is_a_fault(room: Room, schedulers: Schedulers) -> None:
    room.ok("maintain", "--install-timer", "cron", "--apply")
    schedulers.put("crontab", "echo you are not allowed >&2; exit 1")
    assert "not allowed" in room.json("maintain", "--remove-timer", "--apply", code=1)["error"]["message"]


def test_a_timer_goes_after_its_memory_is_gone(
    room: Room, schedulers: Schedulers, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("linux", scratch_home, monkeypatch)
    schedulers.tab.write_text(f"{THEIRS}\n")
    for kind in ("cron", "systemd"):
        room.ok("maintain", "--install-timer", kind, "--apply")
    shutil.rmtree(room.data_dir)
    room.ok("maintain", "--remove-timer", "--apply")
    assert schedulers.tab.read_text() == f"{THEIRS}\n"
    assert not list(scratch_home.rglob("ai-memory.*"))
    assert not room.data_dir.exists()


def test_flags_that_exclude_each_other_are_refused(room: Room, schedulers: Schedulers) -> None:
    for words in (
        ("--apply",),
        ("--install-timer", "cron", "--remove-timer"),
        ("--install-timer", "cron", "--force"),
        ("--remove-timer", "--dry-run"),
        ("--install-timer", "cron", "--only", "tidy"),
        ("--install-timer", "at"),
    ):
        assert room.run("maintain", *words).exit_code == 2, words
    assert not schedulers.tab.exists()


@pytest.mark.usefixtures("schedulers")
def test_an_installed_timer_is_in_the_log(room: Room) -> None:
    room.ok("maintain", "--install-timer", "cron", "--apply")
    room.ok("maintain", "--remove-timer", "--apply")
    told = [row["what"] for row in room.json("log", "--all")["entries"] if row["entry"] == "mutation"]
    assert {"install-timer", "remove-timer"} <= set(told)
