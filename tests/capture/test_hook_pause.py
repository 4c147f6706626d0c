"""Off the record: real hooks beside a pause, wherever they run and whatever the file says."""

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import forked
import pytest
from hook_runs import DEAD_MOUNT, Desk
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory import hook_front
from ai_memory.errors import StoreFault
from ai_memory.hook_pause import MAX_PAUSES, NAME, Pause, encode, keys_here, read_pauses
from ai_memory.model import Caller
from ai_memory.operations.pause import pause, resume
from ai_memory.paths import DataDir
from ai_memory.store import filesystem
from ai_memory.store.memory import Memory

KINDS = ("session-start", "user-prompt", "pre-tool-use", "post-tool-use", "stop", "session-end")


class Room(Desk):
    """A desk with a whole memory in its data dir."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.home = Path(self.environ["HOME"])
        (self.data / "wiki").rmdir()
        self.memory().create()

    def memory(self, cwd: Path | None = None) -> Memory:
        return Memory.open(DataDir(self.data), caller=Caller(str(cwd or self.checkout), {}, str(self.home)))

    def tell(self, event: str = "user-prompt", *, cwd: Path | None = None, **more: object) -> int:
        """One hook; how many events there are after it."""
        payload = {"session_id": "s-1", "prompt": "mend it", "tool_name": "Bash", "cwd": str(cwd or self.checkout)}
        ran = self.run(event, payload | more, cwd=cwd)
        assert ran.code == 0
        return len(self.events())

    def everything(self) -> dict[str, bytes]:
        """Every file of the data dir."""
        return {str(path): path.read_bytes() for path in sorted(self.data.rglob("*")) if path.is_file()}

    def reason(self, cwd: Path | None = None) -> str:
        """What `--check-capture` says."""
        payload = {"session_id": "s-1", "prompt": "mend it", "cwd": str(cwd or self.checkout)}
        answer = self.run("user-prompt", payload, "--check-capture", cwd=cwd).answer
        return str(answer["reason"]) if answer["decision"] == "drop" else ""


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def checkout(path: Path) -> Path:
    folder(path / ".git")
    (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return path


def test_nothing_at_all_is_kept_while_a_pause_holds(room: Room) -> None:
    pause(room.memory())
    before = room.everything()
    for kind in KINDS:
        room.tell(kind)
    assert room.everything() == before
    resume(room.memory())
    assert room.tell() == 1


def test_events_of_other_programs_are_dropped_too_and_told_so(room: Room) -> None:
    pause(room.memory())
    line = {"session_id": "s-1", "prompt": "mend it", "cwd": str(room.checkout), "hook_event_name": "UserPromptSubmit"}
    words = ["hook", "--batch", "--data-dir", str(room.data)]
    done = forked.run(words, content=json.dumps(line).encode(), cwd=room.checkout)
    answer = json.loads(done.stdout)
    assert (answer["accepted"], answer["dropped"], answer["refused"]) == (0, 1, 0)
    assert room.events() == []


@pytest.mark.parametrize(
    ("number", "remedy"), [(errno.ENOSPC, "Free some space."), (errno.EROFS, "Mend that in")], ids=["full", "read-only"]
)
def test_a_pause_that_cannot_be_written_names_what_keeps_it(
    room: Room, monkeypatch: pytest.MonkeyPatch, number: int, remedy: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(filesystem, "write_whole", refuse)
    with pytest.raises(StoreFault) as caught:
        pause(room.memory())
    assert remedy in caught.value.hint


def test_a_handoff_that_waits_is_left_to_the_session_after_the_pause(room: Room) -> None:
    handoff = "0" * 31 + "1"
    place = room.data / "outbox" / "by-dir" / keys_here(str(room.checkout), str(room.home))[0][0]
    place.mkdir(parents=True)
    (place / handoff).touch()
    waiting = room.data / "outbox" / "open" / f"{handoff}.md"
    waiting.write_text("take over")
    pause(room.memory())
    answer = room.run("session-start", {"session_id": "s-1", "source": "startup", "cwd": str(room.checkout)}).answer
    line = "off the record: memory is paused everywhere until resumed; `ai-memory resume` ends it"
    assert answer == {"systemMessage": line}
    assert waiting.exists()
    resume(room.memory())
    assert "take over" in room.run("session-start", {"session_id": "s-2", "cwd": str(room.checkout)}).context


def test_a_harness_that_shows_no_line_gets_its_empty_form(room: Room) -> None:
    pause(room.memory())
    for agent, empty in (("hermes", b"{}"), ("kiro-cli", b""), ("cline", b'{"cancel":false}')):
        assert room.run("session-start", {"session_id": "s-1"}, agent=agent).out == empty


def test_a_pause_here_holds_in_the_whole_checkout_and_nowhere_else(room: Room) -> None:
    inside, vendored = folder(room.checkout / "src" / "deep"), checkout(room.checkout / "vendor" / "lib")
    elsewhere = folder(room.checkout.parent / "shop-two")
    pause(room.memory(inside), here=True)
    for paused in (room.checkout, inside, vendored):
        assert room.tell(cwd=paused) == 0
        assert room.reason(paused) == f"paused in {room.checkout} until resumed; `ai-memory resume` ends it"
    assert room.tell(cwd=elsewhere) == 1
    assert room.reason(elsewhere) == ""


def test_a_pause_here_holds_in_linked_worktrees(room: Room, tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run([*git, "init", "-q", str(main)], check=True)
    subprocess.run([*git, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "-C", str(main), "worktree", "add", "-q", str(linked)], check=True)
    for at, other in ((main, linked), (linked, main)):
        pause(room.memory(at), here=True)
        assert room.tell(cwd=other) == 0
        resume(room.memory(at))


def test_a_pause_outside_a_checkout_holds_in_that_folder_and_below(room: Room, tmp_path: Path) -> None:
    clients = folder(tmp_path / "clients")
    below = checkout(clients / "one")
    pause(room.memory(clients), here=True)
    assert room.tell(cwd=below) == room.tell(cwd=clients) == 0
    assert room.tell() == 1


def test_a_session_that_began_in_a_paused_folder_is_off_the_record_wherever_it_goes(room: Room) -> None:
    elsewhere = folder(room.checkout.parent / "elsewhere")
    pause(room.memory(), here=True)
    payload = {"session_id": "s-1", "prompt": "x", "cwd": str(elsewhere)}
    room.run("user-prompt", payload, cwd=room.checkout)
    room.run("user-prompt", payload, cwd=elsewhere, environ={"CLAUDE_PROJECT_DIR": str(room.checkout)})
    assert room.events() == []
    room.run("user-prompt", payload, cwd=elsewhere)
    assert len(room.events()) == 1


@pytest.mark.parametrize("cwd", ["\0", "\ud800", "/" + "a/" * 400])
def test_a_folder_that_cannot_be_told_is_taken_for_a_paused_one(room: Room, cwd: str) -> None:
    pause(room.memory(folder(room.checkout.parent / "other")), here=True)
    room.run("user-prompt", {"session_id": "s-1", "prompt": "x", "cwd": cwd})
    assert room.events() == []


def test_a_pause_is_over_by_the_clock_alone(room: Room) -> None:
    pause(room.memory(), duration="2s")
    began = time.monotonic()
    while not room.tell():
        assert time.monotonic() - began < 20
    assert time.monotonic() - began > 0.5
    assert (room.data / NAME).exists()


def test_a_call_whose_files_lie_in_a_paused_checkout_is_off_the_record(room: Room, tmp_path: Path) -> None:
    other = checkout(tmp_path / "bakery")
    pause(room.memory(other), here=True)
    call = {"session_id": "s-1", "tool_name": "Read", "cwd": str(room.checkout)}
    room.run("post-tool-use", call | {"tool_input": {"file_path": str(other / "till.py")}})
    assert room.events() == []
    room.run("post-tool-use", call | {"tool_input": {"file_path": str(room.checkout / "till.py")}})
    assert len(room.events()) == 1


def test_a_folder_that_never_answers_is_taken_for_a_paused_one_within_seconds(room: Room) -> None:
    pause(room.memory(folder(room.checkout.parent / "other")), here=True)
    root = Path(hook_front.__file__).parents[1]
    payload = {"session_id": "s-1", "prompt": "x", "cwd": "/dead/shop"}
    words = [sys.executable, "-I", "-S", "-c", DEAD_MOUNT, str(root), "--data-dir", str(room.data)]
    begun = time.monotonic()
    done = subprocess.run(
        [*words, "--event", "user-prompt"], input=json.dumps(payload).encode(), capture_output=True, env=room.environ
    )
    assert time.monotonic() - begun < 20
    assert (done.stdout, room.events()) == (b"{}", [])


@pytest.mark.parametrize(
    "content",
    [
        *(
            b"",
            b"{",
            b"[]",
            b"null",
            b'{"v":2,"pauses":[]}',
            b'{"v":1}',
            b'{"v":1,"pauses":{}}',
            b'{"v":1,"pauses":[1]}',
        ),
        *(b"\xff\xfe", b"[" * 100_000, b" " * 70_000 + b'{"v":1,"pauses":[]}'),
        b'{"v":1,"pauses":[{"keys":[],"label":"","since_us":1,"until_us":"soon"}]}',
        b'{"v":1,"pauses":[{"keys":[],"label":"","since_us":1,"until_us":true}]}',
        b'{"v":1,"pauses":[{"keys":[1],"label":"","since_us":1,"until_us":2}]}',
        encode([Pause(["0" * 32], "x", 1, None)] * (MAX_PAUSES + 1)),
    ],
)
def test_a_file_that_cannot_be_read_pauses_everything_until_resumed(room: Room, content: bytes) -> None:
    (room.data / NAME).write_bytes(content)
    assert room.tell() == 0
    assert room.reason() == f"paused: {NAME} cannot be read; `ai-memory resume` ends it"
    assert resume(room.memory()).outcome == "resumed"
    assert room.tell() == 1


@pytest.mark.parametrize("kind", ["folder", "fifo", "dangling link"])
def test_what_is_no_file_pauses_everything_and_holds_no_hook_up(room: Room, kind: str) -> None:
    path = room.data / NAME
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(room.data / "nothing")
    assert room.tell() == 0
    assert "cannot be read" in room.reason()


def test_a_hook_that_runs_while_pauses_come_and_go_sees_a_whole_file(room: Room) -> None:
    """A reader never meets half a file, which would pause everything."""
    pause(room.memory(folder(room.checkout.parent / "other")), here=True)
    seen = []
    for number in range(50):
        pause(room.memory(folder(room.checkout.parent / f"f{number}")), here=True)
        seen.append(read_pauses(str(room.data), time.time_ns() // 1000).fault)
    assert seen == [""] * 50


texts = st.text(max_size=30)
pauses = st.builds(
    Pause,
    st.lists(st.text("0123456789abcdef", min_size=32, max_size=32), max_size=2),
    texts,
    st.integers(0, 10**17),
    st.none() | st.integers(-(10**20), 10**20),
)


@settings(max_examples=60)
@given(found=st.lists(pauses, max_size=5), now_us=st.integers(0, 10**17))
def test_what_is_written_is_read_again_less_what_is_over(
    tmp_path_factory: pytest.TempPathFactory, found: list[Pause], now_us: int
) -> None:
    data = tmp_path_factory.mktemp("data")
    (data / NAME).write_bytes(encode(found))
    read = read_pauses(str(data), now_us)
    expected = [one for one in found if one.until_us is None or one.until_us > now_us]
    assert read.fault == ""
    assert encode(read.found) == encode(expected)
    assert all(isinstance(one.span, str) for one in read.found)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["v", "pauses"]) | texts, inner),
    max_leaves=12,
)


@settings(max_examples=150)
@given(value=json_values | st.fixed_dictionaries({"v": st.just(1), "pauses": json_values}))
def test_any_json_is_a_list_of_pauses_or_pauses_everything(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    data = tmp_path_factory.mktemp("data")
    (data / NAME).write_text(json.dumps(value))
    read = read_pauses(str(data), 0)
    is_empty = isinstance(value, dict) and value.get("v") == 1 and value.get("pauses") == []
    assert bool(read.fault) != (is_empty or bool(read.found) or _all_over(value))
    assert bool(read.holding(["/x"], "/home/x")) == (bool(read.fault) or any(one.is_everywhere for one in read.found))


def _all_over(value: object) -> bool:
    rows = value.get("pauses") if isinstance(value, dict) else None
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) and "until_us" in row for row in rows)
