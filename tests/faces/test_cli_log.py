"""`pause`, `resume`, `log` and `tail` as a person types them; and each operation that changes something is told."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from cli_room import SESSION, Room
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.clock import rfc3339
from ai_memory.errors import UsageFault
from ai_memory.operations.log import _parsed
from ai_memory.operations.table import OPERATIONS
from ai_memory.paths import DataDir
from ai_memory.store import driver, outbox
from ai_memory.store.blobs import blob_id
from ai_memory.store.outbox import Outbox
from ai_memory.store.spool import Spool

BLOB = blob_id(b"# A\n")
EVENT = f"{time.time_ns():019d}-1-0a0b0c0d"


def mutations(room: Room, *words: str) -> list[dict[str, object]]:
    return [one for one in room.json("log", "-n", "1000", *words)["entries"] if one["entry"] == "mutation"]


# --- each operation that changes something is told ---


def with_page(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A")


def with_two_pages(room: Room) -> None:
    with_page(room)
    room.ok("write-page", "-p", "notes/b.md", "-b", "# B")


def with_old_page(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A", "--expires-at", "2026-03-31")


def with_page_taken_away(room: Room) -> None:
    with_old_page(room)
    room.ok("forget-sweep")


def with_link(room: Room) -> None:
    with_two_pages(room)
    room.ok("link", "notes/a.md", "notes/b.md", "--as", "supports")


def with_set_aside(room: Room) -> None:
    room.ok("init")
    (room.data_dir / "spool" / f"{EVENT}.json").write_text("{}")
    Spool(DataDir(room.data_dir)).quarantine(f"{EVENT}.json", "broken", at_us=0)


def with_handoff(room: Room) -> None:
    room.ok("handoff", "begin", "-b", "Till rounds; tax is left.")


def with_taken_handoff(room: Room) -> None:
    with_handoff(room)
    room.ok("handoff", "accept")


def with_message(room: Room) -> None:
    with_page(room)
    room.ok("message", "send", "shop", "-b", "Mind the tax.")


def with_setting(room: Room) -> None:
    room.ok("config", "set", "capture.prompts", "false")


def with_pause(room: Room) -> None:
    room.ok("init")
    room.ok("pause")


def with_wired_agent(room: Room) -> None:
    room.ok("install-hooks", "--agent", "codex", "--apply")


def with_drifted_agent(room: Room) -> None:
    room.ok("install-hooks", "--agent", "claude", "--apply")
    settings = Path.home() / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace('"timeout": 10', '"timeout": 99'))


def with_kept_settings(room: Room) -> None:
    with_wired_agent(room)
    room.ok("backup-agents")
    (Path.home() / ".codex" / "hooks.json").write_text("{}")


def with_transcript(room: Room) -> None:
    """A session of an hour ago that Codex recorded by itself, in the checkout."""
    an_hour_ago = time.time() - 3600
    at = rfc3339(int(an_hour_ago * 1_000_000))
    records = [
        {"timestamp": at, "type": "session_meta", "payload": {"id": SESSION, "cwd": str(room.checkout)}},
        {"timestamp": at, "type": "event_msg", "payload": {"type": "user_message", "message": "Mend the till"}},
    ]
    folder = Path.home() / ".codex" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    record = folder / f"rollout-{SESSION}.jsonl"
    record.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    os.utime(record, (an_hour_ago, an_hour_ago))


def with_earlier_version(room: Room) -> None:
    with_page(room)
    room.ok("write-page", "notes/a.md", "-b", "# Another")


def with_damaged_full_text(room: Room) -> None:
    room.work()
    with closing(driver.connect(room.data_dir / "state.db")) as connection:
        connection.execute("UPDATE observations_fts_data SET block = x'00' WHERE id > 10")


def with_backup(room: Room) -> None:
    with_page(room)
    room.ok("backup")


def with_backups_of_its_own(room: Room) -> None:
    with_page(room)
    room.ok("config", "set", "backup.every_days", "1")


def with_folder_of_docs(room: Room) -> None:
    room.ok("init")
    (room.checkout / "docs").mkdir()
    (room.checkout / "docs" / "a.md").write_text("# A")


def with_records(room: Room) -> None:
    room.ok("init")
    (room.checkout / "tickets").mkdir()
    (room.checkout / "tickets" / "a.json").write_text('[{"id": 1, "text": "One queue per region"}]')
    (room.checkout / "tickets.toml").write_text('namespace = "tickets"\n')


def with_source(room: Room) -> None:
    with_records(room)
    room.ok("source", "add", "tickets", "--mapping", "tickets.toml", "--root", "tickets")


def with_edit_by_hand(room: Room) -> None:
    with_page(room)
    room.file("notes/a.md").write_text("# By hand")


def with_ended_session(room: Room) -> None:
    room.work()
    room.tell("session-end")
    room.drain()


def with_moved_remote(room: Room) -> None:
    git = ["git", "-C", str(room.checkout)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "remote", "add", "origin", "https://example.org/acme/shop.git"], check=True)
    with_ended_session(room)
    subprocess.run([*git, "remote", "set-url", "origin", "https://example.org/corp/store.git"], check=True)


Scene = Callable[[Room], object]
CHANGES: dict[str, tuple[Scene, tuple[str, ...], str]] = {
    "write-page": (lambda room: room.ok("init"), ("notes/a.md", "-b", "# A"), "write"),
    "edit-page": (with_page, ("notes/a.md", "--old", "A", "--new", "B"), "edit"),
    "append": (with_page, ("notes/a.md", "-b", "more"), "append"),
    "set": (with_page, ("notes/a.md", "--tag", "+x"), "set"),
    "promote": (with_page, ("notes/a.md", "--to", "procedural"), "promote"),
    "move": (with_page, ("notes/a.md", "notes/b.md"), "move"),
    "merge": (with_two_pages, ("notes/a.md", "--into", "notes/b.md", "--confirm"), "merge"),
    "delete-page": (with_page, ("notes/a.md",), "delete"),
    "restore-page": (with_earlier_version, ("notes/a.md", "--from", BLOB), "restore"),
    "commit": (with_edit_by_hand, ("-m", "By hand"), "commit"),
    "undo": (with_page, (), "undo"),
    "backup": (with_page, (), "backup"),
    "restore": (with_backup, ("--force",), "restore"),
    "import": (with_folder_of_docs, ("docs",), "import"),
    "import json": (with_records, ("--mapping", "tickets.toml", "--root", "tickets"), "import"),
    "source add": (with_records, ("bugs", "--mapping", "tickets.toml", "--root", "tickets"), "source-add"),
    "source sync": (with_source, (), "import"),
    "source remove": (with_source, ("tickets",), "source-remove"),
    "forget": (with_page, ("-p", "notes/a.md", "--confirm"), "forget"),
    "purge-session": (lambda room: room.work(), (SESSION, "--confirm"), "purge-session"),
    "rename-project": (with_page, ("shop", "store", "--confirm"), "rename-project"),
    "rename-workspace": (with_page, ("default", "work", "--confirm"), "rename-workspace"),
    "move-project": (with_page, ("shop", "work", "--confirm"), "move-project"),
    "move-session": (with_ended_session, (SESSION, "till", "--create", "--confirm"), "move-session"),
    "link": (with_two_pages, ("notes/a.md", "notes/b.md", "--as", "supports"), "link"),
    "unlink": (with_link, ("notes/a.md", "notes/b.md"), "unlink"),
    "lint": (with_page, ("--write",), "lint"),
    "record": (lambda room: room.ok("init"), ("Deploys run on Thursdays",), "record"),
    "resolve": (with_page, ("notes/a.md", "--as", "contradicted", "--because", "Measured"), "resolve"),
    "feedback": (with_page, ("notes/a.md", "--as", "helpful"), "feedback"),
    "maintain": (with_backups_of_its_own, (), "backup"),
    "compact": (with_page, ("--confirm",), "compact"),
    "forget-sweep": (with_old_page, (), "forget-sweep"),
    "archive restore": (with_page_taken_away, ("notes/a.md",), "archive-restore"),
    "archive purge": (with_page_taken_away, ("--confirm",), "archive-purge"),
    "salvage": (with_damaged_full_text, ("--confirm",), "salvage"),
    "reset": (with_page, ("--confirm",), "reset"),
    "reorg": (with_moved_remote, ("--confirm",), "reorg"),
    "purge-project": (with_page, ("shop", "--confirm"), "purge-project"),
    "finalize-session": (lambda room: room.work(), (SESSION,), "finalize-session"),
    "handoff begin": (lambda room: room.ok("init"), ("-b", "Tax is left."), "handoff-begin"),
    "handoff accept": (with_handoff, (), "handoff-accept"),
    "handoff cancel": (with_handoff, ("--all", "--older-than", "0s", "--confirm"), "handoff-cancel"),
    "handoff reopen": (with_taken_handoff, (), "handoff-reopen"),
    "message send": (with_page, ("shop", "-b", "Mind the tax."), "message-send"),
    "message pop": (with_message, (), "message-pop"),
    "message cancel": (with_message, ("--all", "--confirm"), "message-cancel"),
    "quarantine retry": (with_set_aside, ("--all",), "quarantine-retry"),
    "quarantine drop": (with_set_aside, ("--all", "--confirm"), "quarantine-drop"),
    "config set": (lambda room: room.ok("init"), ("capture.prompts", "false"), "config-set"),
    "config unset": (with_setting, ("capture.prompts",), "config-unset"),
    "pause": (lambda room: room.ok("init"), (), "pause"),
    "resume": (with_pause, (), "resume"),
    "install-hooks": (lambda room: room.ok("init"), ("--agent", "codex", "--apply"), "install-hooks"),
    "install-mcp": (lambda room: room.ok("init"), ("--agent", "codex", "--apply"), "install-mcp"),
    "install-instructions": (lambda room: room.ok("init"), ("--agent", "codex", "--apply"), "install-instructions"),
    "install-skills": (lambda room: room.ok("init"), ("--agent", "codex", "--apply"), "install-skills"),
    "doctor": (with_drifted_agent, ("--fix",), "install-hooks"),
    "uninstall": (with_wired_agent, ("--apply",), "uninstall"),
    "backup-agents": (with_wired_agent, (), "backup-agents"),
    "restore-agents": (with_kept_settings, ("--apply",), "restore-agents"),
    "backfill": (with_transcript, (), "backfill"),
}
"""Operation → what must be there before, its words, and how the log names it."""

COUNTS = {"backfill": 3, "merge": 2, "move-session": 2, "reorg": 2}
"""Where one run changes more than one thing: start, prompt and end of the session; its page and its handoff;
the page and the stub."""

TELLS_NOTHING = {"init", "reindex", "embed", "bench self", "capture-turn", "upgrade"}
"""They make what is not there; make again what can be made again; leave an event, which the log tells by itself; change
the program and not the memory."""


def test_every_operation_that_changes_something_has_its_scene() -> None:
    changing = {operation.name for operation in OPERATIONS if not operation.read_only}
    assert changing - TELLS_NOTHING == set(CHANGES)


@pytest.mark.parametrize("name", CHANGES)
def test_an_operation_that_changes_something_is_in_the_log_once(room: Room, name: str) -> None:
    scene, words, verb = CHANGES[name]
    scene(room)
    before = {one["id"] for one in mutations(room, "--all")}
    room.ok(*name.split(), *words)
    new = [one for one in mutations(room, "--all") if one["id"] not in before and one["what"] == verb]
    assert [(one["face"], one["count"]) for one in new] == [("cli", COUNTS.get(name, 1))], new
    before |= {one["id"] for one in mutations(room, "--all")}
    room.ok("log")
    assert {one["id"] for one in mutations(room, "--all")} <= before, "a look is told of"


def test_a_pass_of_the_drain_is_in_the_log(room: Room) -> None:
    room.work()
    room.tell("session-end")
    room.drain()
    [one] = mutations(room)
    assert (one["what"], one["face"], one["agent"], one["session"]) == ("session-end", "drain", "codex", SESSION)
    assert one["subject"]
    assert one["commit"] == room.git("rev-parse", "HEAD").strip()


def test_a_commit_of_several_sessions_is_in_the_log_of_each(room: Room) -> None:
    others = [f"0a0b0c0{number}-1111-4222-8333-444455556666" for number in range(3)]
    for session in others:
        room.tell("user-prompt", session=session, text="Mend the till.")
        room.tell("session-end", session=session)
    room.drain()
    for session in others:
        told = [one for one in mutations(room, "--session", session) if one["what"] == "session-end"]
        assert len(told) == 1
        assert session in str(told[0]["session"]).split()
    assert len(mutations(room)) == len({one["commit"] for one in mutations(room)})


def test_events_that_cannot_be_applied_are_told_by_their_number(room: Room) -> None:
    room.ok("init")
    for number in range(3):
        (room.data_dir / "spool" / f"{time.time_ns():019d}-1-{number:08x}.json").write_text("{")
    room.drain()
    assert [(one["what"], one["count"]) for one in mutations(room)] == [("quarantine", 3)]


def test_a_claim_that_nobody_confirmed_is_told_when_it_is_given_back(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_handoff(room)
    [handoff] = Outbox(DataDir(room.data_dir)).open_handoffs()
    assert Outbox(DataDir(room.data_dir)).claim(handoff, SESSION)
    monkeypatch.setattr(outbox, "UNCONFIRMED_S", -1.0)
    room.tell("stop")
    room.drain()
    assert ("handoff-given-back", handoff) in {(one["what"], one["subject"]) for one in mutations(room)}


# --- log ---


def test_events_and_mutations_are_merged_by_time_newest_last(room: Room) -> None:
    room.tell("user-prompt", text="Mend the retry budget. " + "word " * 60)
    room.tell("post-tool-use", tool="Bash", input={"command": "make test"}, outcome="error")
    room.drain()
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A")
    lines = room.ok("log").splitlines()
    assert [line.split(" ", 1)[1].split(" · ")[0] for line in lines] == ["user-prompt", "post-tool-use Bash", "write"]
    assert "Mend the retry budget." in lines[0]
    assert len(lines[0]) < 160
    assert " · make test · error · codex 7d3f0a5e" in lines[1]
    assert lines[2].endswith("write · notes/a.md · by the command line")


def test_pages_of_the_log_put_together_are_the_log(room: Room) -> None:
    for number in range(4):
        room.tell("user-prompt", text=f"Prompt {number}")
        room.drain()
        room.ok("write-page", "-p", f"notes/{number}.md", "-b", f"# {number}")
        room.ok("move", f"notes/{number}.md", f"other/{number}.md")
    whole = room.json("log")
    assert whole["older"] is None
    assert [one["at"] for one in whole["entries"]] == sorted(one["at"] for one in whole["entries"])
    assert len(whole["entries"]) == 12
    paged: list[object] = []
    cursor: list[str] = []
    while True:
        part = room.json("log", "-n", "5", *cursor)
        paged = [*part["entries"], *paged]
        if part["older"] is None:
            break
        cursor = ["--before", part["older"]]
    assert paged == whole["entries"]


def test_a_log_is_of_this_project_unless_all_are_asked_for(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A", "--project", "other")
    room.ok("pause", "--for", "1h")
    room.ok("resume")
    assert [one["what"] for one in room.json("log")["entries"]] == ["pause", "resume"]
    assert [one["what"] for one in room.json("log", "--all")["entries"]] == ["write", "pause", "resume"]
    assert " · default/other" in room.ok("log", "--all").splitlines()[0]


def test_a_log_of_a_session_and_since_a_time(room: Room) -> None:
    room.work()
    room.work(session="9d3f0a5e-1111-4222-8333-444455556666")
    assert {one["session"] for one in room.json("log", "--session", "9d3f0a5e")["entries"]} == {
        "9d3f0a5e-1111-4222-8333-444455556666"
    }
    assert room.json("log", "--since", "1h")["entries"]
    assert room.json("log", "--since", "2099-01-01")["entries"] == []
    assert room.run("log", "--session", "ffffffff").exit_code == 3
    assert room.run("log", "--since", "soon").exit_code == 1


def test_nothing_happened_where_nothing_is(room: Room) -> None:
    assert room.ok("log") == "nothing happened\n"
    assert room.run("log", "--session", "7d3f0a5e").exit_code == 3
    assert not room.data_dir.exists()


@given(text=st.text(max_size=40) | st.from_regex(r"[0-9]{1,20}:[0-9a-z-]{0,40}", fullmatch=True))
def test_any_text_is_a_cursor_or_a_fault_of_usage(text: str) -> None:
    try:
        at_us, name = _parsed(text)
    except UsageFault:
        return
    assert text.strip().endswith(f":{name}")
    assert 0 <= at_us < 10**18


# --- pause and resume ---


def test_a_pause_without_a_data_dir_says_what_to_do(room: Room) -> None:
    answer = room.json("pause", code=1)
    assert "no data dir" in answer["error"]["message"]
    assert "ai-memory init" in answer["error"]["hint"]
    assert not room.data_dir.exists()
    assert room.ok("resume") == "nothing is paused here\n"


def test_status_says_that_it_is_paused_and_how_to_end_it(room: Room) -> None:
    room.ok("init")
    assert "capture   on\n" in room.ok("status")
    room.ok("pause", "--for", "2h")
    assert "capture   paused everywhere until 2" in room.ok("status")
    assert "; `ai-memory resume` ends it\n" in room.ok("status")
    assert " · paused everywhere until 2" in room.ok("status", "--line")
    state = room.json("status")["capture"]
    assert state["paused"] is True
    assert [(row["folder"], row["holds_here"]) for row in state["pauses"]] == [(None, True)]


def test_a_pause_elsewhere_is_named_but_does_not_hold_here(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.ok("init")
    other = room.checkout.parent / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    room.ok("pause", "--here")
    monkeypatch.chdir(room.checkout)
    assert room.json("status")["capture"]["paused"] is False
    assert f"paused in {other} until resumed; `ai-memory resume --all` ends it" in room.ok("status")
    assert "paused" not in room.ok("status", "--line")
    assert room.json("resume")["outcome"] == "unchanged"
    assert room.json("resume", "--all")["outcome"] == "resumed"
    assert room.json("status")["capture"]["pauses"] == []


def test_a_second_pause_of_a_place_replaces_the_first(room: Room) -> None:
    room.ok("init")
    room.ok("pause", "--for", "1h")
    assert room.json("pause")["pauses"][0]["until"] is None
    room.ok("pause", "--here", "--for", "30m")
    shown = room.json("pause", "--here")["pauses"]
    assert [(bool(row["folder"]), row["until"]) for row in shown] == [(True, None), (False, None)]


@pytest.mark.parametrize(("words", "code"), [(("--for", "soon"), 1), (("--for", "0m"), 2), (("--for", "200y"), 1)])
def test_a_span_that_is_none_is_refused(room: Room, words: tuple[str, ...], code: int) -> None:
    room.ok("init")
    assert room.run("pause", *words).exit_code == code
    assert not (room.data_dir / "paused.json").exists()


def test_a_file_that_cannot_be_read_is_told_and_ended(room: Room) -> None:
    room.ok("init")
    (room.data_dir / "paused.json").write_text("{")
    assert "paused: paused.json cannot be read; `ai-memory resume` ends it" in room.ok("status")
    assert room.run("pause", "--here").exit_code == 1
    assert "could not be read" in room.ok("resume")
    assert "capture   on" in room.ok("status")


def test_a_folder_named_like_a_secret_stands_in_no_file(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.ok("init")
    token = "ghp_" + "aB3" * 12
    folder = room.checkout / token
    folder.mkdir()
    monkeypatch.chdir(folder)
    room.ok("pause", "--here")
    assert room.json("status")["capture"]["paused"] is True
    assert token.encode() not in (room.data_dir / "paused.json").read_bytes()


def test_no_tool_pauses(room: Room) -> None:
    room.ok("init")
    assert {one.tool for one in OPERATIONS if one.name in ("pause", "resume")} == {None}


# --- tail ---


class Following:
    """`tail -f` in a process of its own."""

    def __init__(self, room: Room, *words: str, stdout: int = subprocess.PIPE) -> None:
        command = [sys.executable, "-m", "ai_memory", "tail", "-f", *words]
        self.process = subprocess.Popen(
            command, cwd=room.checkout, stdout=stdout, stderr=subprocess.DEVNULL, text=True, bufsize=1
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


def test_tail_shows_the_last_events_with_their_texts(room: Room) -> None:
    for number in range(4):
        room.tell("user-prompt", text=f"Prompt {number} " + "x" * 600 * (number == 3))
    room.drain()
    shown = room.ok("tail", "-n", "2").splitlines()
    assert [line[:12].strip() for line in shown[1::2]] == ["Prompt 2", "Prompt 3"]
    assert "more characters are stored)" in shown[3]
    rows = [json.loads(line) for line in room.ok("tail", "--json").splitlines()]
    assert [row["text"].split(" x")[0].strip() for row in rows] == [f"Prompt {number}" for number in range(4)]
    assert rows[3]["text"].endswith("x" * 600)
    assert {row["session"] for row in rows} == {SESSION}


def test_tail_of_nothing_is_nothing(room: Room) -> None:
    assert room.ok("tail") == ""
    assert room.run("tail", "--session", "7d3f0a5e").exit_code == 3
    assert not room.data_dir.exists()


def test_tail_follows_what_is_stored_and_ends_well_at_an_interrupt(room: Room) -> None:
    room.tell("user-prompt", text="First")
    room.drain()
    following = Following(room, "--json")
    assert json.loads(following.line())["text"] == "First"
    for text in ("Second", "Third"):
        room.tell("user-prompt", text=text)
        room.drain()
        assert json.loads(following.line())["text"] == text
    following.process.send_signal(signal.SIGINT)
    assert following.process.wait(20) == 0


def test_tail_begins_before_there_is_anything(room: Room) -> None:
    following = Following(room, "--json", "--all")
    room.tell("user-prompt", text="First")
    room.drain()
    assert json.loads(following.line())["text"] == "First"
    following.process.kill()
    following.process.wait(20)


def test_tail_ends_as_soon_as_its_reader_left(room: Room) -> None:
    room.tell("user-prompt", text="First")
    room.drain()
    following = Following(room, "--json")
    assert following.line()
    assert following.process.stdout is not None
    following.process.stdout.close()
    assert following.process.wait(20) == 0


def test_tail_is_of_this_project_or_of_one_session(room: Room, tmp_path: Path) -> None:
    room.work()
    other = "9d3f0a5e-1111-4222-8333-444455556666"
    (tmp_path / "other").mkdir()
    room.tell("user-prompt", session=other, text="Elsewhere", cwd=str(tmp_path / "other"))
    room.drain()

    def sessions(*words: str) -> set[str]:
        return {json.loads(line)["session"] for line in room.ok("tail", "--json", *words).splitlines()}

    assert sessions() == {SESSION}
    assert sessions("--all") == {SESSION, other}
    assert sessions("--session", other[:8]) == {other}
