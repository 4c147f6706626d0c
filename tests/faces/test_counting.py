"""Reads and calls: left by the faces as small files, counted by the drain once, whatever happens in between."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

from ai_memory import hook_usage
from ai_memory.bridge.calls import Place
from ai_memory.bridge.resources import read_text
from ai_memory.capture.counting import add_up, later_expiry
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.store import usage_spool
from ai_memory.store.memory import Memory
from ai_memory.text.times import DAY_US, parse_time

NOW_US = parse_time("2026-11-30T12:00:00Z")
HOUR_US = 3_600_000_000


def waiting(room: Room) -> list[Path]:
    return sorted((room.data_dir / "spool" / "usage").glob("*.json"))


def leave(room: Room, *, at_us: int | None = None, number: int = 0, **record: Any) -> str:
    """One file as a face leaves it; its name."""
    folder = room.data_dir / "spool" / "usage"
    folder.mkdir(parents=True, exist_ok=True)
    at_ns = time.time_ns() if at_us is None else at_us * 1000
    name = f"{at_ns + number:019d}-7-{number:08x}.json"
    told = {"v": 1, "client": "codex", "face": "bridge", "name": "memory_read_page", "bytes": 40, **record}
    (folder / name).write_text(json.dumps(told))
    return name


def read_of(path: str = "notes/a.md") -> list[list[str]]:
    return [["default", "shop", path]]


def rows(room: Room, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(room.data_dir / "state.db")) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def access(room: Room, path: str = "notes/a.md") -> dict[str, Any]:
    found: dict[str, Any] = room.json("read-page", path)["access"]
    return found


def memory_of(room: Room) -> Memory:
    caller = Caller(cwd=str(room.checkout), environ={}, home=str(Path.home()), face="drain")
    return Memory.open(DataDir(room.data_dir), caller=caller)


def tool(room: Room, name: str, *, client: str = "", agent: str | None = "codex", **given: Any) -> str:
    caller = Caller(cwd=str(room.checkout), environ={}, home=str(Path.home()), face="bridge", agent=agent)
    return Place(DataDir(room.data_dir), caller, client=client).call(name, given).text


@pytest.fixture
def shop(room: Room) -> Room:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# Retry budget\n\nThree tries a minute.")
    usage_spool.clear(DataDir(room.data_dir))
    return room


# --- what is left by a call ---


def test_a_read_changes_no_row_and_leaves_one_small_file(shop: Room) -> None:
    before = (shop.data_dir / "state.db").read_bytes() if (shop.data_dir / "state.db").exists() else b""
    shop.ok("read-page", "notes/a.md")
    assert ((shop.data_dir / "state.db").read_bytes() if before else b"") == before
    [file] = waiting(shop)
    told = json.loads(file.read_text())
    assert (told["name"], told["face"], told["client"], told["read"]) == ("read-page", "cli", "", read_of())
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_a_person_finds_is_shown_and_what_an_agent_is_given_is_read(shop: Room) -> None:
    shop.ok("search", "retry budget")
    tool(shop, "memory_query", query="retry budget")
    tool(shop, "memory_context", query="retry budget")
    tool(shop, "memory_recent")
    told = [json.loads(file.read_text()) for file in waiting(shop)]
    assert [(one["name"], one.get("read"), one.get("shown")) for one in told] == [
        ("search", None, read_of()),
        ("memory_query", read_of(), None),
        ("memory_context", read_of(), None),
        ("memory_recent", None, None),
    ]


def test_an_agent_at_the_command_line_is_told_by_its_variables(shop: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "7d3f0a5e-1111-4222-8333-444455556666")
    shop.ok("search", "retry budget")
    [file] = waiting(shop)
    told = json.loads(file.read_text())
    assert (told["client"], told["read"]) == ("claude-code", read_of())


def test_every_call_counts_with_the_bytes_of_its_answer(shop: Room) -> None:
    shop.ok("write-page", "-p", "notes/b.md", "-b", "# B")
    answer = tool(shop, "memory_status", agent=None, client="my-client")
    refused = tool(shop, "memory_read_page", path="notes/none.md")
    shop.drain()
    calls = {(client, name): (count, size) for _, client, name, count, size in rows(shop, "calls")}
    assert calls["my-client", "memory_status"] == (1, len(answer.encode()))
    assert calls["codex", "memory_read_page"] == (1, len(refused.encode()))
    assert calls["command line", "write-page"][0] == 1


def test_a_page_that_is_read_as_a_resource_counts(shop: Room) -> None:
    caller = Caller(cwd=str(shop.checkout), environ={}, home=str(Path.home()), face="bridge", agent="zed")
    text = read_text(Place(DataDir(shop.data_dir), caller), "memory://default/shop/notes/a.md")
    shop.drain()
    assert access(shop)["harnesses"][0] == {
        "harness": "zed",
        "reads": 1,
        "shown": 0,
        "last_read_at": access(shop)["last_read_at"],
    }
    assert [row[1:] for row in rows(shop, "calls") if row[1] == "zed"] == [
        ("zed", "resources:read", 1, len(text.encode()))
    ]


def test_nothing_is_left_where_there_is_no_memory(room: Room) -> None:
    room.ok("search", "retry budget")
    assert not room.data_dir.exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_data_dir_is_read_all_the_same(shop: Room) -> None:
    (shop.data_dir / "spool").mkdir(exist_ok=True)
    (shop.data_dir / "spool").chmod(0o500)
    try:
        assert "Three tries" in shop.ok("read-page", "notes/a.md")
    finally:
        (shop.data_dir / "spool").chmod(0o700)
    assert waiting(shop) == []


def test_a_place_that_takes_no_file_fails_no_read(shop: Room) -> None:
    (shop.data_dir / "spool").mkdir(exist_ok=True)
    for file in (shop.data_dir / "spool").glob("usage*"):
        file.rmdir()
    (shop.data_dir / "spool" / "usage").write_text("no folder")
    assert "Three tries" in shop.ok("read-page", "notes/a.md")
    shop.drain()


def test_where_no_drain_ever_comes_the_files_stay_bounded(shop: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_usage, "MOST_FILES", 3)
    monkeypatch.setattr(hook_usage.hook_spool, "LOOK_EVERY", 1)
    assert [hook_usage.put(str(shop.data_dir), {"v": 1}) for _ in range(5)] == [True, True, True, False, False]
    for file in waiting(shop):
        file.unlink()
    assert hook_usage.put(str(shop.data_dir), {"v": 1})


def test_many_files_ask_for_a_drain(shop: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(hook_usage, "ASKS_DRAIN", 2)
    monkeypatch.setattr(hook_usage.hook_spool, "LOOK_EVERY", 1)
    monkeypatch.setattr(hook_usage.hook_spool, "kick", lambda _, __, waiting, **___: asked.append(waiting))
    for _ in range(4):
        hook_usage.put(str(shop.data_dir), {"v": 1})
    assert asked == [2, 3]


WRITER = """
import sys
from ai_memory import hook_usage
for number in range(200):
    record = {"v": 1, "client": sys.argv[2], "face": "hook", "name": "hook:start", "bytes": 4}
    assert hook_usage.put(sys.argv[1], record)
"""


def test_writers_at_once_and_a_drain_among_them_lose_no_count(shop: Room) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(shop.data_dir), client]) for client in ("codex", "zed")
    ]
    while any(writer.poll() is None for writer in writers):
        add_up(memory_of(shop))
    add_up(memory_of(shop))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert sorted((row[1], row[3], row[4]) for row in rows(shop, "calls")) == [("codex", 200, 800), ("zed", 200, 800)]


DYING_DRAIN = """
import os, sys
from ai_memory.capture.counting import add_up
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.store.memory import Memory
from pathlib import Path
memory = Memory.open(DataDir(Path(sys.argv[1])), caller=Caller(cwd=None, environ={}, home="/", face="drain"))
add_up(memory, step=lambda name: os._exit(9) if name == sys.argv[2] else None)
"""


@pytest.mark.parametrize("step", ["usage-committed", "usage-removed"])
def test_a_process_that_is_killed_there_is_finished_by_the_next(shop: Room, step: str) -> None:
    for number in range(5):
        leave(shop, at_us=NOW_US + number * 120_000_000, number=number, read=read_of())
    done = subprocess.run([sys.executable, "-c", DYING_DRAIN, str(shop.data_dir), step], check=False)
    assert done.returncode == 9
    shop.drain()
    assert (access(shop)["reads"], [row[3] for row in rows(shop, "calls") if row[1] == "codex"]) == (5, [5])


# --- what the drain makes of it ---


def test_reads_are_told_by_page_and_by_harness(shop: Room) -> None:
    for number, (client, minutes) in enumerate((("codex", 0), ("codex", 5), ("claude-code", 6), ("", 7))):
        leave(shop, at_us=NOW_US + minutes * 60_000_000, number=number, client=client, read=read_of())
    leave(shop, at_us=NOW_US, number=9, client="codex", shown=read_of())
    shop.drain()
    found = access(shop)
    assert (found["reads"], found["shown"], found["last_read_at"]) == (4, 1, "2026-11-30T12:07:00Z")
    assert [(one["harness"], one["reads"]) for one in found["harnesses"]] == [("codex", 2), ("", 1), ("claude-code", 1)]
    [row] = shop.json("pages")["pages"]
    assert (row["reads"], row["shown"], row["last_read_at"]) == (4, 1, "2026-11-30T12:07:00Z")


def test_reads_of_one_harness_within_a_minute_count_once(shop: Room) -> None:
    for number, seconds in enumerate((0, 59, 61 + 59, 121 + 59)):
        leave(shop, at_us=NOW_US + seconds * 1_000_000, number=number, read=read_of())
    shop.drain()
    assert access(shop)["reads"] == 3


def test_a_page_that_is_not_there_gets_no_row(shop: Room) -> None:
    leave(shop, read=read_of("notes/none.md"), shown=read_of("notes/gone.md"))
    shop.drain()
    assert rows(shop, "page_access") == []
    assert len(rows(shop, "calls")) == 1


@pytest.mark.parametrize("step", ["usage-committed", "usage-removed"])
def test_a_drain_that_dies_counts_nothing_twice_and_loses_nothing(shop: Room, step: str) -> None:
    class Killed(BaseException):
        pass

    def die(name: str) -> None:
        if name == step:
            raise Killed

    for number in range(3):
        leave(shop, at_us=NOW_US + number * 120_000_000, number=number, read=read_of())
    with pytest.raises(Killed):
        add_up(memory_of(shop), step=die)
    assert add_up(memory_of(shop)) == 0
    assert (access(shop)["reads"], waiting(shop)[1:]) == (3, [])
    assert [row[3:] for row in rows(shop, "calls") if row[1] == "codex"] == [(3, 120)]


def test_a_file_that_comes_back_after_it_was_counted_is_known(shop: Room) -> None:
    name = leave(shop, read=read_of())
    content = (shop.data_dir / "spool" / "usage" / name).read_bytes()
    assert add_up(memory_of(shop)) == 1
    (shop.data_dir / "spool" / "usage" / name).write_bytes(content)
    assert add_up(memory_of(shop)) == 0
    assert waiting(shop) == []


def test_names_of_files_that_are_gone_are_not_remembered_for_ever(shop: Room) -> None:
    for number in range(3):
        leave(shop, number=number)
        add_up(memory_of(shop))
    assert len([row for row in rows(shop, "applied_events") if row[0].startswith("usage:")]) == 1


HOSTILE: dict[str, bytes] = {
    "no JSON": b"{",
    "a list": b"[]",
    "nothing": b"",
    "another version": b'{"v":2,"name":"search","bytes":1}',
    "a name with a line": b'{"v":1,"name":"search\\n\\u001b[2J","bytes":1}',
    "bytes as text": b'{"v":1,"name":"search","bytes":"1"}',
    "pages as text": b'{"v":1,"name":"search","bytes":1,"read":"notes/a.md"}',
    "pages of numbers": b'{"v":1,"name":"search","bytes":1,"read":[[1,2,3],["a"],{},null]}',
    "half a character in a page": b'{"v":1,"name":"search","bytes":1,"read":[["default","shop","\\ud800.md"]]}',
    "half a character in a client": b'{"v":1,"name":"search","bytes":1,"client":"\\udc00"}',
    "deep": b"[" * 50_000,
    "large": b'{"v":1,"name":"search","bytes":1,"client":"' + b"x" * 70_000 + b'"}',
    "no UTF-8": b'{"v":1,"name":"search","bytes":1,"client":"\xff"}',
    "huge number": b'{"v":1,"name":"search","bytes":' + b"9" * 3000 + b"}",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_is_no_record_stops_nothing_and_goes(shop: Room, what: str) -> None:
    name = f"{time.time_ns():019d}-7-0a0b0c0d.json"
    folder = shop.data_dir / "spool" / "usage"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(HOSTILE[what])
    leave(shop, number=1, read=read_of())
    shop.drain()
    assert waiting(shop) == []
    assert access(shop)["reads"] == 1
    assert {row[2] for row in rows(shop, "calls")} <= {"search", "memory_read_page"}


def test_what_is_no_file_is_left_alone(shop: Room) -> None:
    folder = shop.data_dir / "spool" / "usage"
    (folder / f"{time.time_ns():019d}-7-0a0b0c0d.json").mkdir(parents=True)
    (folder / f"{time.time_ns():019d}-7-0a0b0c0e.json").symlink_to(shop.data_dir / "config.toml")
    leave(shop, number=1, read=read_of())
    shop.drain()
    shop.drain()
    assert access(shop)["reads"] == 1


def test_a_client_is_one_short_line_without_controls(shop: Room) -> None:
    leave(shop, client="Mal\u202eicious\n\x1b[2J" + "x" * 200)
    shop.drain()
    [(_, client, *_)] = rows(shop, "calls")
    assert client.isprintable()
    assert len(client) <= 64


def test_clients_beyond_128_a_day_are_one(shop: Room) -> None:
    for number in range(140):
        leave(shop, number=number, at_us=NOW_US, client=f"client-{number:03}")
    shop.drain()
    names = {row[1] for row in rows(shop, "calls")}
    assert len(names) == 129
    assert sum(row[3] for row in rows(shop, "calls")) == 140


def test_waiting_files_are_no_events_of_the_spool(shop: Room) -> None:
    leave(shop)
    status = shop.json("status")
    assert status["spool"]["pending"] == 0


def test_a_purge_takes_names_of_pages_along(shop: Room) -> None:
    shop.ok("read-page", "notes/a.md")
    shop.ok("forget", "-p", "notes/a.md", "--confirm")
    assert not any(b"notes/a.md" in file.read_bytes() for file in waiting(shop))


# --- a page that is used lives longer ---


@pytest.mark.parametrize(
    ("ttl", "left_us", "gain_us"),
    [
        ("7d", 7 * DAY_US, None),
        ("7d", 6 * DAY_US, 7 * DAY_US),
        ("7d", 6 * DAY_US + HOUR_US, None),
        ("7d", 30 * DAY_US, None),
        ("7d", 1, 7 * DAY_US),
        ("7d", 0, None),
        ("7d", -1, None),
        ("1h", HOUR_US * 3 // 4, HOUR_US),
        ("1h", HOUR_US - 1, None),
        ("soon", 1, None),
        (7, 1, None),
        (None, 1, None),
    ],
)
def test_expiry_moves_forward_and_not_by_every_read(ttl: object, left_us: int, gain_us: int | None) -> None:
    later = later_expiry(ttl, NOW_US + left_us, NOW_US)
    assert later == (None if gain_us is None else NOW_US + gain_us)


def test_a_page_without_an_expiry_gets_none() -> None:
    assert later_expiry("7d", None, NOW_US) is None


def written(room: Room, ttl: str, expires_at: str, more: str = "") -> None:
    text = f"---\nttl: {ttl}\nexpires_at: {expires_at}\n{more}---\n# T\n\nwords\n"
    room.ok("write-page", "-p", "notes/t.md", "-b", text)


def test_a_read_page_with_a_ttl_lives_longer_by_one_commit(shop: Room) -> None:
    written(shop, "30d", "2990-01-01")
    shop.ok("read-page", "notes/t.md")
    shop.drain()
    assert shop.json("read-page", "notes/t.md")["pages"][0]["expires_at"].startswith("2990")
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86_400))
    written(shop, "30d", soon)
    shop.ok("feedback", "notes/t.md", "--as", "wrong")
    head = shop.git("rev-list", "--count", "HEAD")
    shop.ok("read-page", "notes/t.md")
    tool(shop, "memory_query", query="words")
    shop.drain()
    page = shop.json("read-page", "notes/t.md")
    assert page["pages"][0]["expires_at"][:10] > soon[:10]
    assert page["pages"][0]["frontmatter"]["ttl"] == "30d"
    assert "said to be wrong" in page["gaps"][0], "only its expiry moved: it says the same"
    shop.drain()
    assert int(shop.git("rev-list", "--count", "HEAD")) == int(head) + 1
    assert shop.json("log")["entries"][-1]["what"] == "keep"


def test_a_pinned_page_is_not_written_to(shop: Room) -> None:
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86_400))
    written(shop, "30d", soon, "pinned: true\n")
    version = shop.json("read-page", "notes/t.md")["pages"][0]["version"]
    shop.drain()
    assert shop.json("read-page", "notes/t.md")["pages"][0]["version"] == version
