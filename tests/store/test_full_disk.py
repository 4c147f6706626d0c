"""A disk that is full before the index exists: readers answer from the wiki, everything else says what is wrong."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forked
import pytest
from in_process import run
from wiki_room import WikiRoom, ref

from ai_memory.__main__ import main
from ai_memory.store import driver

COMMANDS = (
    ("search", "three"),
    ("status",),
    ("read-page", "notes/a.md"),
    ("pages",),
    ("recent",),
    ("write-page", "notes/new.md", "--body", "# New"),
    ("reindex",),
    ("drain",),
    ("drain", "--json"),
)
OF_ALL = (("compact", "--confirm"), ("rename-workspace", "default", "work", "--confirm"), ("reset",))
"""Commands over everything; the second moves what the others look at."""


def drop_index(room: WikiRoom) -> None:
    for path in room.data_dir.root.glob("index-*"):
        path.unlink()


@pytest.fixture
def small(tmp_path: Path, person: str) -> Iterator[WikiRoom]:
    """A wiki on a disk of 1 MB that is filled to the last byte, without an index."""
    assert person
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk needs the right to mount one")
    room = WikiRoom(folder)
    room.put("notes/a.md", "# a\n\none\ntwo\nthree\n")
    drop_index(room)
    with (folder / "filler").open("wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 512):
                pass
        except OSError:
            pass
    yield room
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_no_command_calls_a_full_disk_a_bug(small: WikiRoom, capsys: pytest.CaptureFixture[str]) -> None:
    assert shutil.disk_usage(small.root).free == 0
    spool = small.data_dir.spool
    for words in (*COMMANDS, *OF_ALL):
        code, out, err = run(small, capsys, words)
        told = (words, code, out, err)
        assert code in (0, 1), told
        assert "Traceback" not in out + err, told
        if words[0] in ("search", "read-page", "pages", "recent"):
            assert code == 0, told
            assert "a.md" in out or "three" in out, told
        if words[0] == "write-page":
            assert code == 1, told
    (small.root / "filler").unlink()
    spool.mkdir(exist_ok=True)
    for words in COMMANDS:
        assert run(small, capsys, words)[0] == 0, words
    small.assert_in_step()
    for words in OF_ALL:
        assert run(small, capsys, words)[0] == 0, words
    assert small.git("status", "--porcelain") == ""
    assert {path.split("/")[0] for path in small.files_at_head() if "/" in path} == {"work"}


@pytest.fixture
def refused(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> WikiRoom:
    """A wiki without an index and a SQLite that can make none."""
    drop_index(room)
    real = driver.connect

    def connect(path: Path, **how: Any) -> driver.Connection:
        if path.name.startswith("index-") and how.get("mode", "rw") == "rw":
            raise driver.OperationalError("database or disk is full")
        return real(path, **how)

    monkeypatch.setattr(driver, "connect", connect)
    return room


def test_a_reader_who_can_make_no_index_reads_the_pages_and_says_why(refused: WikiRoom) -> None:
    with refused.memory().reading() as snapshot:
        assert snapshot.page(ref("notes/a.md")) is not None
        assert [gap for gap in snapshot.gaps if "the disk is full" in gap]


def test_a_write_needs_no_index(refused: WikiRoom) -> None:
    refused.put("notes/a.md", "done\n")
    assert refused.committed("notes/a.md") == b"done\n"
    assert not refused.data_dir.pending.exists()


@pytest.mark.parametrize(
    ("fault", "code"), [(driver.OperationalError("database or disk is full"), 1), (RuntimeError("no such luck"), 70)]
)
def test_a_drain_tells_what_nobody_foresaw_in_one_line_and_as_json(
    room: WikiRoom, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, fault: Exception, code: int
) -> None:
    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr("ai_memory.capture.draining.Drainer", fail)
    room.data_dir.spool.mkdir(exist_ok=True)
    found, out, err = run(room, capsys, ("drain",))
    assert (found, out) == (code, "")
    assert str(fault) in err
    found, out, _ = run(room, capsys, ("drain", "--json"))
    assert found == code
    error = json.loads(out)["error"]
    assert error["code"] == "internal"
    assert str(fault) in error["message"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
@pytest.mark.parametrize("size_kib", [20, 50, 100, 150, 400])
def test_a_limit_of_the_shell_on_the_size_of_files_is_named(room: WikiRoom, size_kib: int) -> None:
    """Under one limit the redo log cannot be written, under another objects, `state.db` or the index."""
    body = room.root / "body.md"
    body.write_text("# Long\n\n" + "".join(f"{number:x} " for number in range(45_000)) + "\n")
    words = ["write-page", "notes/long.md", "--file", str(body), "--workspace", "default", "--project", "shop"]
    command = ["--data-dir", str(room.data_dir.root), *words]

    def limited(words: list[str]) -> int:
        """As `ulimit -f` leaves it to what the shell starts."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (size_kib << 10, size_kib << 10))
        return main(words)

    done = forked.run(command, cwd=room.root, main=limited)
    assert done.returncode in (0, 1), done
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert "ulimit -f" in done.stderr, done
        assert "Nothing was written" in done.stderr
    elif "note:" in done.stderr:
        assert "ulimit -f" in done.stderr, done
    assert forked.run(command, cwd=room.root).returncode == 0
    assert room.text("notes/long.md") == body.read_text()
    room.assert_in_step()
