"""A checkout, a home folder and a spool may hold a FIFO, a device or a loop under any name that is looked at."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import forked
import pytest
from hook_runs import Desk
from odd_files import ODD, TELLING, fifo, replace
from terminals import NINE_US, Agent, Room

from ai_memory.hook_places import directory_key
from ai_memory.store.outbox import Outbox
from ai_memory.store.spool import Spool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no FIFOs there")

IN_CHECKOUT = [
    ".git",
    ".git/HEAD",
    ".git/commondir",
    ".git/config",
    ".git/config.worktree",
    ".git/packed-refs",
    ".git/refs/heads/main",
    ".git/worktrees/tree/gitdir",
    ".ai-memory.toml",
]
"""Whatever hook or scope look at below a checkout."""
LOOKED_AT = [*IN_CHECKOUT, "tree/.git", "../home/.ai-memory.toml"]

HANDOFF = "0" * 31 + "1"
IN_DATA_DIR = [
    "hook-policy.json",
    "config.toml",
    f"outbox/open/{HANDOFF}.md",
    f"outbox/provisional/{HANDOFF}.0.md",
    "outbox/starts/{key}.json",
    "locks/started/other",
    "locks/drain.kick",
    "spool/.full",
    "spool/.dropped",
    "spool/1796029200000000000-1-deadbeef.json",
]


class Place(Desk):
    """A desk whose home is its own, with a worktree's folder in the checkout."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        (root / "home").mkdir()
        self.environ["HOME"] = str(root / "home")

    def put(self, name: str, make: Callable[[Path], None]) -> Path:
        path = self.checkout / name
        if name == ".git":
            (path / "HEAD").unlink()
            path.rmdir()
        if name == ".git/config.worktree":
            (self.checkout / ".git" / "config").write_text("[extensions]\nworktreeConfig = true\n")
        for folder in ("objects", "refs") if name.startswith(".git/") else ():
            (self.checkout / ".git" / folder).mkdir(exist_ok=True)
        replace(path, make)
        return path.parent.resolve() if name == "tree/.git" else self.checkout

    def command(self, *words: str, cwd: Path) -> forked.Done:
        return forked.run(["--data-dir", str(self.data), *words], cwd=cwd, env=os.environ | self.environ)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("make", ODD)
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_hook_spools_its_event_whatever_stands_in_the_checkout(
    place: Place, name: str, make: Callable[[Path], None]
) -> None:
    cwd = place.put(name, make)
    ran = place.run("user-prompt", place.payload("UserPromptSubmit", cwd=str(cwd), prompt="Mend the till."))
    assert (ran.code, ran.answer, ran.err) == (0, {}, b"")
    assert place.event()["cwd"] == str(cwd)


@pytest.mark.parametrize("make", TELLING)
@pytest.mark.parametrize("name", IN_DATA_DIR)
def test_a_starting_session_is_answered_whatever_stands_in_the_data_dir(
    place: Place, name: str, make: Callable[[Path], None]
) -> None:
    (place.data / "locks" / "drain.beat").unlink()  # a start is waited for only where a drain is at work
    key = directory_key(str(place.checkout))
    entry = place.data / "outbox" / "by-dir" / key / HANDOFF
    entry.parent.mkdir(parents=True)
    entry.touch()
    replace(place.data / name.format(key=key), make)
    ran = place.run("session-start", place.payload("SessionStart", source="clear"))
    assert (ran.code, ran.answer, ran.err) == (0, {}, b"")


@pytest.mark.parametrize("name", LOOKED_AT)
@pytest.mark.parametrize("words", [("where",), ("write-page", "notes/a.md", "--body", "Mend the till.")])
def test_a_command_ends_where_a_fifo_stands_in_the_checkout(place: Place, name: str, words: tuple[str, ...]) -> None:
    place.command("init", cwd=place.data.parent)
    cwd = place.put(name, fifo)
    done = place.command(*words, cwd=cwd)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize("make", TELLING)
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_drain_applies_events_whatever_stands_in_the_checkout(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    place = Place(tmp_path)
    room = Room(tmp_path)
    cwd = place.put(name, make)
    Agent(room, str(cwd)).work()

    drain = room.drain()

    assert (drain.applied, drain.quarantined, drain.fault, room.waiting()) == (13, 0, "", [])
    assert len(room.pages("session")) == 1


@pytest.mark.parametrize("make", ODD)
def test_what_is_no_file_in_the_spool_is_set_aside_and_stops_nothing(
    room: Room, agent: Agent, make: Callable[[Path], None]
) -> None:
    agent.start()
    make(room.data_dir.spool / f"{NINE_US * 1000:019d}-1-deadbeef.json")
    agent.prompt("Mend the till.")

    drain = room.drain()

    assert (drain.applied, drain.quarantined, drain.fault, room.waiting()) == (2, 1, "", [])
    assert Spool(room.data_dir).quarantined()[0].reason == "it is no regular file"


@pytest.mark.parametrize("make", ODD)
def test_a_policy_that_is_no_file_is_compiled_anew(room: Room, agent: Agent, make: Callable[[Path], None]) -> None:
    (Path(agent.cwd) / ".ai-memory.toml").write_text('[capture]\nignore_paths = ["secret/**"]\n')
    agent.start()
    make(room.data_dir.hook_policy)

    drain = room.drain()

    assert (drain.applied, drain.fault) == (1, "")
    if room.data_dir.hook_policy.is_file():
        assert json.loads(room.data_dir.hook_policy.read_bytes())["markers"]


def test_a_handoff_that_is_no_file_is_claimed_by_nobody(place: Place) -> None:
    key = directory_key(str(place.checkout))
    entry = place.data / "outbox" / "by-dir" / key / HANDOFF
    entry.parent.mkdir(parents=True)
    entry.touch()
    odd = place.data / "outbox" / "open" / f"{HANDOFF}.md"
    replace(odd, fifo)

    ran = place.run("session-start", place.payload("SessionStart", source="startup"))

    assert (ran.code, ran.answer) == (0, {})
    assert odd.is_fifo()
    assert Outbox(Room(place.data.parent).data_dir).claims() == []


NO_FOLDER = {
    "10,000 bytes": "/x" * 5_000,
    "10,000 bytes in one name": "/" + "x" * 10_000,
    "10,000 bytes of 3,333 signs": "/" + "家" * 3_333,
    "NUL": "/srv/a\0b",
    "a lone surrogate": "/srv/\ud800",
    "blank": " ",
}


@pytest.mark.parametrize("cwd", NO_FOLDER.values(), ids=NO_FOLDER)
def test_an_event_from_a_directory_that_can_be_none_is_kept_in_the_scratch_project(tmp_path: Path, cwd: str) -> None:
    place, room = Place(tmp_path), Room(tmp_path)
    for event, native in (("user-prompt", "UserPromptSubmit"), ("stop", "Stop"), ("session-end", "SessionEnd")):
        ran = place.run(event, place.payload(native, cwd=cwd, prompt="Mend the till."))
        assert (ran.code, ran.answer, ran.err) == (0, {}, b"")
    assert place.events()[0]["prompt"] == "Mend the till."
    assert place.run("session-start", place.payload("SessionStart", cwd=cwd, session_id="s-2")).code == 0

    drain = room.drain()

    assert (drain.applied, drain.quarantined, drain.fault) == (4, 0, "")
    page = room.session_page()
    assert (page.ref.workspace, page.ref.project) == ("default", "scratch")


@pytest.mark.parametrize("path", ["a\0b", "\ud800.pem", "~\0/x", "~\ud800/x", "x" * 10_000, "/" + "x/" * 5_000])
def test_a_tool_may_name_any_path(place: Place, path: str) -> None:
    (place.checkout / ".ai-memory.toml").write_text('[capture]\nignore_paths = ["secret/**"]\n')
    room = Room(place.data.parent)
    place.run("session-start", place.payload("SessionStart"))
    room.drain()
    payload = place.payload("PostToolUse", tool_name="Edit", tool_input={"file_path": path}, tool_response="done")
    ran = place.run("post-tool-use", payload)
    assert (ran.code, ran.answer, ran.err) == (0, {}, b"")
    checked = place.run("post-tool-use", payload, "--check-capture").answer
    assert (len(place.events()) == 1) == (checked["decision"] != "drop")


def test_python_itself_refuses_a_directory_as_stdin_and_the_agent_is_not_stopped(place: Place) -> None:
    with_directory = f"{' '.join(place.words('user-prompt'))} < /"
    done = subprocess.run(["sh", "-c", with_directory], capture_output=True, timeout=60, check=False)
    assert done.returncode in (0, 1)  # 2 would stop an agent; `docs/cli.md` tells of the 1
    assert done.stdout == b""
    assert b"<stdin> is a directory" in done.stderr or not done.returncode
    assert place.events() == []
