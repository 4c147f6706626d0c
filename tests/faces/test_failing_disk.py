"""A disk that fills up, or fails once, at any write of a command: nothing is lost, and said again it succeeds."""

import errno
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cli_room import SESSION, Room
from failing_disk import FailingDisk

from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.store import archive
from ai_memory.store.memory import Memory

POINTS = 2
"""Writes of each command at which the disk fails, spread over all of them; `slow` takes every one."""


@dataclass(frozen=True)
class Case:
    """A command; what it needs besides; and how it may end when it is said again after it was done."""

    words: tuple[str, ...]
    scene: Callable[[Room], object] = lambda _: None
    again: tuple[int, ...] = (0,)
    faults: tuple[int, ...] = (1,)
    """How it may end on the disk that fails."""
    is_whole: bool = True
    """Whether it happens whole or not at all. If not: what it leaves lies between."""


def edit_by_hand(room: Room) -> None:
    room.file("notes/a.md").write_text("# A\n\nBy hand.\n")
    room.file("notes/mine.md").write_text("# Mine\n")


def folder_of_docs(room: Room) -> None:
    (room.checkout / "docs" / "deep").mkdir(parents=True)
    for name in ("one.md", "deep/two.md", "deep/three.md"):
        (room.checkout / "docs" / name).write_text(f"# {name}\n\n[[one]]\n")


def records(room: Room) -> None:
    """An imported page that changed, and a new one. Nothing is retired: that would tell the time."""
    (room.checkout / "map.toml").write_text('namespace = "tickets"\nas = "pages"\n')
    (room.checkout / "tickets").mkdir()
    file = room.checkout / "tickets" / "a.json"
    file.write_text('[{"id": 1, "text": "One queue"}]')
    room.ok("import", "json", "--mapping", "map.toml", "--root", "tickets")
    file.write_text('[{"id": 1, "text": "One queue per region"}, {"id": 3, "text": "Three tries"}]')


def exported(room: Room) -> None:
    room.ok("export", str(room.checkout / "kept"), "--all")
    room.ok("forget", "-p", "notes/a.md", "-p", "notes/b.md", "--confirm", "--history")
    for file in (room.checkout / "kept").rglob("a.md"):
        file.write_text("# A\n\nAnother text than the one that was purged.\n")


def folder_for_backups(room: Room) -> None:
    (room.data_dir.parent / "other").mkdir()


def backed_up(room: Room) -> None:
    room.ok("backup", "--output", str(room.data_dir.parent / "kept.zip"))
    room.ok("write-page", "notes/late.md", "-b", "# Late")


def moved_remote(room: Room) -> None:
    git = ["git", "-C", str(room.checkout)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "remote", "add", "origin", "https://example.org/acme/shop.git"], check=True)
    work(room, "9d3f0a5e-1111-4222-8333-444455556666")
    subprocess.run([*git, "remote", "set-url", "origin", "https://example.org/corp/store.git"], check=True)


CASES: dict[str, Case] = {
    "commit": Case(("commit", "-m", "By hand"), edit_by_hand),
    "restore-page": Case(("restore-page", "notes/a.md", "--from", "@first")),
    "undo": Case(("undo", "@last")),
    "backup": Case(("backup", "--output", "@disk/other"), folder_for_backups),
    "backup --verify": Case(("backup", "--verify", "--keep", "2")),
    "restore": Case(("restore", "@disk/kept.zip", "--force"), backed_up),
    "import of a folder": Case(("import", "docs"), folder_of_docs),
    "import of an export": Case(("import", "kept"), exported, faults=(1, 5)),
    "import of records": Case(
        ("import", "json", "--mapping", "map.toml", "--root", "tickets", "--authoritative"), records
    ),
    "export": Case(("export", "@disk/out", "--all"), again=(0, 2)),
    "export-okf": Case(("export-okf", "@disk/out"), again=(0, 2)),
    "forget": Case(("forget", "-p", "notes/a.md", "--confirm")),
    "forget --history": Case(("forget", "-p", "notes/a.md", "--confirm", "--history")),
    "purge-session": Case(("purge-session", SESSION, "--confirm")),
    "purge-project --history": Case(("purge-project", "shop", "--confirm", "--history"), again=(0, 3)),
    "rename-project": Case(("rename-project", "shop", "store", "--confirm"), again=(0, 2)),
    "rename-workspace": Case(("rename-workspace", "default", "work", "--confirm"), again=(0, 3)),
    "move-project": Case(("move-project", "shop", "work", "--confirm"), again=(0, 2)),
    "join projects": Case(("move-project", "shop", "default/till", "--confirm"), again=(0, 2, 3)),
    "move-session": Case(("move-session", SESSION, "till", "--confirm"), again=(0, 2)),
    "reorg": Case(("reorg", "--confirm"), moved_remote),
    "compact": Case(("compact", "--confirm")),
    "reindex": Case(("reindex",)),
    "reset": Case(("reset", "--confirm"), is_whole=False),
}


def work(room: Room, session: str) -> None:
    """A session that ended: its page, its handoff, its observations."""
    room.tell("user-prompt", session=session, text="Mend the retry budget.")
    room.tell("post-tool-use", session=session, tool="Bash", input={"command": "make test"})
    room.tell("session-end", session=session)
    room.drain()


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    """Two projects that link to each other, a page with two versions, a session; the data dir on a disk of its own."""
    checkout = tmp_path / "shop"
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("AI_MEMORY_DATA_DIR", str(tmp_path / "disk" / "data"))
    (tmp_path / "disk").mkdir()
    room = Room(checkout, tmp_path / "disk" / "data")
    room.ok("write-page", "notes/a.md", "-b", "# A\n\nThe first text of a page.")
    room.ok("write-page", "notes/a.md", "-b", "# A\n\nThe second text of a page.")
    room.ok("write-page", "notes/b.md", "-b", "# B\n\n[[notes/a]]")
    room.ok("write-page", "notes/c.md", "-b", "# C\n\n[[shop:notes/a]]", "--project", "till")
    work(room, SESSION)
    return room


@dataclass
class Trial:
    """One command on one scene, which can be set up again and again at the same place."""

    room: Room
    case: Case
    pristine: Path = field(init=False)
    words: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.case.scene(self.room)
        versions = self._history()
        named = {
            "@first": versions["versions"][-1]["version"] if versions else "",
            "@last": versions["versions"][0]["commit"] if versions else "",
        }
        self.words = tuple(
            named.get(word, word.replace("@disk", str(self.room.data_dir.parent))) for word in self.case.words
        )
        self.pristine = self.room.data_dir.parent.with_name("pristine")
        shutil.copytree(self.room.data_dir.parent, self.pristine, symlinks=True)

    def _history(self) -> Any:
        is_there = self.room.file("notes/a.md").exists()
        return self.room.json("history", "notes/a.md", "--project", "shop") if is_there else {}

    def set_up(self) -> None:
        shutil.rmtree(self.room.data_dir.parent)
        shutil.copytree(self.pristine, self.room.data_dir.parent, symlinks=True)

    def run(self, number: int, fail_at: int | None = None) -> tuple[int, str, FailingDisk]:
        """Exit code and stderr of the command on a disk that fails."""
        with FailingDisk(self.room.data_dir.parent, number, fail_at=fail_at).in_use() as disk:
            done = self.room.run(*self.words)
        assert "Traceback" not in done.output, done.output
        return done.exit_code, done.stderr, disk


Found = dict[str, object]

SESSIONS = (
    "SELECT s.id, s.project, count(o.event_id) FROM sessions s LEFT JOIN observations o ON o.session = s.id GROUP BY 1"
)


def memory(data_dir: Path) -> Memory:
    return Memory.open(DataDir(data_dir), caller=Caller(cwd=None, environ={}, home="/nonexistent", face="bridge"))


def found(data_dir: Path) -> Found:
    """Pages with their texts, and the rows of sessions and their observations, each with its project."""
    with memory(data_dir).reading() as snapshot:
        pages = {one.ref.git_path: one.text for one in snapshot.pages(limit=10_000).pages}
    with memory(data_dir).state_reading() as connection:
        rows = connection.execute(SESSIONS).fetchall() if connection is not None else []
    return {"pages": pages, "sessions": sorted(rows)}


def assert_in_step(room: Room) -> None:
    """HEAD, git's index, the files and the search index tell the same, and git finds nothing amiss."""
    data_dir = DataDir(room.data_dir)
    if not data_dir.git.exists():
        return  # after a reset
    assert room.git("status", "--porcelain") == ""
    fsck = subprocess.run(
        ["git", "-C", str(data_dir.wiki), "fsck", "--strict", "--no-dangling"], capture_output=True, text=True
    )
    assert (fsck.returncode, fsck.stderr) == (0, "")
    assert not data_dir.pending.exists()
    assert not data_dir.restoring.exists()
    with memory(room.data_dir).reading() as snapshot:
        assert snapshot.gaps == []
        pages = {one.ref.git_path: one.text.encode() for one in snapshot.pages(limit=10_000).pages}
    files = [
        path for path in room.git("ls-files").splitlines() if path.endswith(".md") and not path.endswith("/_meta.md")
    ]
    assert pages == {path: (data_dir.wiki / path).read_bytes() for path in files}


def assert_archives_are_whole(folder: Path) -> None:
    for path in folder.rglob("*.zip"):
        archive.check(path, lambda *_: None)


def numbers(total: int, seed: int, *, is_every: bool) -> Iterator[int]:
    """Which calls fail: all, or `POINTS` of them from the first to the last, shifted so that commands differ."""
    if is_every or total <= POINTS:
        yield from range(total)
        return
    for part in range(POINTS):
        begin, end = total * part // POINTS, total * (part + 1) // POINTS
        yield begin + seed % (end - begin)


def assert_survives(trial: Trial, number: int, fail_at: int, before: Found, after: Found) -> None:
    """The command on a disk that fails there, what is left of it, and the same command on a sound disk."""
    room, case = trial.room, trial.case
    trial.set_up()
    code, err, failed = trial.run(number, fail_at)
    call = failed.calls[fail_at] if failed.has_failed else "never came"
    told = f"{trial.words}: {errno.errorcode[number]} at call {fail_at}, {call}: exit {code}\n{err}"
    if code:
        assert code in case.faults, told
        assert [line[:7] for line in err.splitlines()].count("error: ") == 1, told
        assert len(err.strip().splitlines()) >= 2, told  # what is wrong, and what to do
    adopted = memory(room.data_dir).adopt()
    assert adopted.skipped == (), told
    now = found(room.data_dir)
    if code == 0:
        assert now == after, told
    elif case.is_whole:
        assert now["pages"] in (before["pages"], after["pages"]), told
        assert now["sessions"] in (before["sessions"], after["sessions"]), told
    assert_archives_are_whole(room.data_dir.parent)
    again = room.run(*trial.words)
    assert again.exit_code in case.again, f"{told}\nagain: {again.exit_code} {again.output}"
    assert found(room.data_dir) == after, told
    assert_in_step(room)
    assert code == 0 or not list(room.data_dir.parent.rglob(".*.tmp")), told


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of dulwich's files
@pytest.mark.parametrize("is_every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "every"])
@pytest.mark.parametrize("name", CASES)
def test_a_disk_that_fails_at_any_write_of_a_command_loses_nothing(room: Room, name: str, is_every: bool) -> None:
    trial = Trial(room, CASES[name])
    before = found(room.data_dir)
    for number in (errno.ENOSPC, errno.EIO):
        trial.set_up()
        code, err, disk = trial.run(number)
        assert code == 0, err
        after = found(room.data_dir)
        seed = sum(map(ord, name)) + number
        for fail_at in numbers(len(disk.calls), seed, is_every=is_every):
            assert_survives(trial, number, fail_at, before, after)
