"""Spooled events become sessions and observations, each once, whatever else lies in the spool."""

import json
import os
import random
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from terminals import NINE_US, SECOND_US, Agent, Room

from ai_memory.capture.draining import Drainer
from ai_memory.capture.order import BATCH, batches, glance
from ai_memory.hook_places import session_uuid
from ai_memory.store import session_lookup, state, state_sessions
from ai_memory.store.spool import Spool


def test_a_session_becomes_rows_in_order_of_time_and_the_spool_is_empty(room: Room, agent: Agent) -> None:
    agent.work()

    drain = room.drain()

    session = room.session(agent.session)
    assert (session.workspace, session.project, session.agent) == ("default", "shop", "claude-code")
    assert (session.prompts, session.observations, drain.applied) == (2, 13, 13)
    assert session.ended_at_us == agent.at_us
    kinds = [row.kind for row in room.observations(agent.session)]
    assert kinds[:2] == ["session-start", "user-prompt"]
    assert kinds[-2:] == ["stop", "session-end"]
    assert room.waiting() == []


def _outcome(room: Room, session: str) -> dict[str, Any]:
    """All that a session left. The id of its handoff is that of the event by which it first had something to hand
    over, of those seen so far, and stays what it is: it stands in no place but its own."""
    row = asdict(room.session(session))
    [handoff] = room.pages("handoff")
    identifier = str(handoff.frontmatter["id"])
    assert (row.pop("handoff"), room.outbox.open_handoffs()) == (identifier, [identifier])
    assert row.pop("handoff_version") == handoff.version
    return {
        "row": row,
        "observations": room.observations(session),
        "page": room.session_page().text,
        "handoff": handoff.text.replace(identifier, "ID"),
        "provisional": room.outbox.provisionals(),
    }


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_events_in_any_order_and_any_batches_give_the_same_rows(room: Room, agent: Agent, seed: int) -> None:
    agent.process = os.getpid()
    agent.work()
    files = {name: (room.data_dir.spool / name).read_bytes() for name in room.waiting()}
    room.drain()
    other = Room(room.root / "other")
    other.root.mkdir()
    names = sorted(files)
    random.Random(seed).shuffle(names)
    other.data_dir.spool.mkdir(parents=True)

    for name in names:
        (other.data_dir.spool / name).write_bytes(files[name])
        other.drain()

    assert _outcome(other, agent.session) == _outcome(room, agent.session)


def test_an_event_that_comes_again_after_it_was_applied_changes_nothing(room: Room, agent: Agent) -> None:
    agent.work()
    files = {name: (room.data_dir.spool / name).read_bytes() for name in room.waiting()}
    room.drain()
    before = room.session(agent.session), room.git("rev-parse", "HEAD")

    for name, content in files.items():
        (room.data_dir.spool / name).write_bytes(content)
    again = room.drain()

    assert (again.applied, again.repeated) == (0, len(files))
    assert (room.session(agent.session), room.git("rev-parse", "HEAD")) == before
    assert room.waiting() == []


def test_the_same_key_of_two_producers_is_two_events(room: Room) -> None:
    for agent, extension in (("codex", ""), ("gemini-cli", ""), ("codex", "ci"), ("codex", "")):
        record = {"v": 1, "agent": agent, "event": "user-prompt", "session": f"{agent}{extension}", "prompt": "p"}
        room.spool(record | {"ingest_key": "1", "extra": {"extension": extension}}, at_us=NINE_US)
    drain = room.drain()
    assert (drain.applied, drain.repeated) == (3, 1)


def test_two_hooks_that_tell_of_the_same_thing_within_two_seconds_count_once(room: Room, agent: Agent) -> None:
    agent.start()
    agent.prompt("Mend the till.")
    at_us = agent.at_us
    agent.tell("user-prompt", text="Mend the till.", at_us=at_us + 400_000)
    agent.tell("post-tool-use", tool="Bash", input={"command": "ls"}, call_id="c1", output="a", at_us=at_us + 500_000)
    room.drain()
    agent.tell("post-tool-use", tool="Bash", input={"command": "ls"}, call_id="c1", output="", at_us=at_us + 900_000)
    agent.tell("user-prompt", text="Mend the till.", at_us=at_us + 3 * SECOND_US)

    room.drain()

    kinds = [row.kind for row in room.observations(agent.session)]
    assert kinds == ["session-start", "user-prompt", "post-tool-use", "user-prompt"]


def test_a_session_that_both_engines_of_kiro_tell_is_one_and_told_once(room: Room) -> None:
    named = "sess_01a22a61"
    for number, harness in enumerate(("kiro-cli", "kiro-cli-v3")):
        record = {"v": 1, "agent": harness, "event": "user-prompt", "session": named, "prompt": "Mend the till."}
        room.spool(record, at_us=NINE_US + number * 300_000)
    room.drain()
    assert [row.text for row in room.observations(session_uuid("kiro-cli-v3", named))] == ["Mend the till."]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[1]", "list"),
        (b'{"v": 1}', "no event"),
        (b'{"v": 99, "event": "stop"}', "format 99"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_poison_goes_to_quarantine_with_its_reason_and_blocks_nobody(
    room: Room, agent: Agent, content: bytes, reason: str
) -> None:
    agent.start()
    name = room.spool(None, at_us=agent.at_us + 1, raw=content)
    agent.prompt("Mend the till.")

    drain = room.drain()

    assert (drain.quarantined, drain.applied) == (1, 2)
    [quarantined] = Spool(room.data_dir).quarantined()
    assert quarantined.event_id == name.removesuffix(".json")
    assert reason in quarantined.reason
    assert (room.data_dir.quarantine / name).read_bytes() == content
    assert room.waiting() == []


def test_a_folder_that_is_named_like_an_event_blocks_nobody(room: Room, agent: Agent) -> None:
    agent.start()
    (room.data_dir.spool / f"{NINE_US * 1000:019d}-1-deadbeef.json").mkdir()
    agent.prompt("Mend the till.")

    drain = room.drain()

    assert (drain.applied, drain.quarantined, drain.fault, room.waiting()) == (2, 1, "", [])


def test_the_order_is_chosen_from_heads_and_falls_back_where_they_do_not_tell() -> None:
    names = [f"{(NINE_US + number) * 1000:019d}-1-{number:08x}.json" for number in range(4)]
    heads = [
        b'{"v":1,"event":"session-end","at_us":1,"session":"old","cwd":"/w \\u00e9"',
        b'{"v": 1, "event": "user-prompt", "session": "new"',
        b'{"v":1,"event":"session-end","session":"new"',
        b"garbage",
    ]
    glances = [glance(name, head) for name, head in zip(names, heads, strict=True)]

    assert glances[0].cwd == "/w é"
    assert list(batches(glances)) == [([names[1], names[2]], True), ([names[0], names[3]], False)]


def test_lone_surrogates_and_nul_are_stored_as_replacement_characters(room: Room, agent: Agent) -> None:
    raw = {"v": 1, "agent": "codex", "event": "user-prompt", "session": agent.session, "text": "a\ud800b\0c"}
    room.spool(raw, at_us=NINE_US)

    assert room.drain().quarantined == 0

    assert room.observations(agent.session)[0].text == "a\ufffdb\ufffdc"


def test_an_event_without_session_is_acknowledged_and_only_a_start_opens_one(room: Room) -> None:
    room.spool({"v": 1, "agent": "pool", "event": "post-tool-use", "tool": "x"}, at_us=NINE_US)
    room.spool({"v": 1, "agent": "pool", "event": "session-start"}, at_us=NINE_US + 1)

    drain = room.drain()

    assert (drain.applied, drain.quarantined, room.waiting()) == (1, 0, [])


def test_an_id_that_is_no_uuid_becomes_a_stable_one_and_is_kept(room: Room) -> None:
    room.spool({"v": 1, "agent": "cursor", "event": "user-prompt", "session": "abc-7", "text": "hi"}, at_us=NINE_US)

    room.drain()

    session = room.session(str(uuid.uuid5(uuid.NAMESPACE_OID, "cursor:abc-7")))
    assert session.native_id == "abc-7"


def test_an_event_older_than_ninety_days_is_not_applied_again_after_a_restore(room: Room, agent: Agent) -> None:
    agent.tell("user-prompt", text="old", at_us=NINE_US - 91 * 86_400 * SECOND_US)

    assert room.drain().quarantined == 1

    assert "90 days" in Spool(room.data_dir).quarantined()[0].reason


def test_the_events_of_a_purged_session_never_return(room: Room, agent: Agent) -> None:
    with room.memory().state_transaction() as connection:
        connection.execute(state.STATEMENTS["session-purged"], {"session": agent.session, "at_us": 1})
    agent.work()

    room.drain()

    assert room.observations(agent.session) == []
    assert room.pages("session") == []
    assert room.waiting() == []


def test_a_secret_that_slipped_through_a_hook_is_scrubbed_and_the_input_stays_json(room: Room, agent: Agent) -> None:
    secret = "ghp_" + "a1B2" * 9
    agent.bash(f"curl -H 'Authorization: token {secret}' x", secret)

    room.drain()

    row = room.observations(agent.session)[-1]
    assert secret not in row.input + row.output
    assert "curl" in json.loads(row.input)["command"]


def test_the_full_text_of_observations_can_be_searched(room: Room, agent: Agent) -> None:
    agent.work()
    room.drain()

    with room.memory().state_reading() as connection:
        found = session_lookup.search_observations(connection, ["rounding"])
        nothing = session_lookup.search_observations(connection, ['"', "*", "(("])

    assert [row.kind for row in found] == ["user-prompt"]
    assert nothing == []


def test_ten_thousand_and_one_events_of_many_sessions_all_arrive(room: Room) -> None:
    sessions = [str(uuid.uuid5(uuid.NAMESPACE_OID, str(number))) for number in range(37)]
    for number in range(10_001):
        record = {
            "v": 1,
            "agent": "codex",
            "event": "post-tool-use",
            "session": sessions[number % 37],
            "tool": "Bash",
            "call_id": f"c{number}",
            "input": {"command": f"echo {number}"},
        }
        room.spool(record, at_us=NINE_US + number * 1000)

    drain = room.drain()

    assert (drain.applied, drain.fault, room.waiting()) == (10_001, "", [])
    with room.memory().state_reading() as connection:
        assert state_sessions.totals(connection) == (37, 37, 10_001)


def test_each_file_is_opened_once(room: Room, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.work()
    waiting = room.waiting()
    opened: list[str] = []
    real_read, real_open = Spool.read, os.open

    def note(path: str | bytes | Path, *how: Any, **more: Any) -> int:
        opened.append(Path(os.fsdecode(path)).name)
        return real_open(path, *how, **more)

    def read(spool: Spool, name: str) -> bytes | None:
        opened.append(name)
        return real_read(spool, name)

    monkeypatch.setattr("ai_memory.store.spool.os.open", note)
    monkeypatch.setattr(Spool, "read", read)
    room.drain()

    assert sorted(name for name in opened if name in waiting) == waiting
    assert room.session(agent.session).observations == len(waiting)


def test_a_file_that_is_longer_than_a_glance_is_read_whole(room: Room) -> None:
    said = "word " * 2_000
    record = {"v": 1, "agent": "codex", "event": "user-prompt", "session": str(uuid.uuid4()), "prompt": said}
    room.spool(record, at_us=NINE_US)

    room.drain()

    assert [row.text for row in room.observations(record["session"])] == [said]


def test_a_drain_writes_its_log_back_once_and_not_after_each_batch(room: Room, agent: Agent) -> None:
    agent.work()
    room.drain()
    for number in range(BATCH * 2 + 1):
        agent.tell("post-tool-use", tool="Bash", input={"command": f"echo {number}"}, call_id=f"c{number}")
    log = Path(f"{room.data_dir.state}-wal")
    seen: list[bool] = []

    def look(step: str) -> None:
        if step == "files-removed":
            seen.append(log.exists())

    Drainer(room.memory(), step=look).run()

    assert seen == [True] * 3
    assert not log.exists()


def test_the_newest_ended_session_is_finished_before_older_events_are_applied(room: Room) -> None:
    older = Agent(room, room.checkout())
    for number in range(600):
        older.tell("post-tool-use", tool="Bash", input={"command": f"echo {number}"}, call_id=f"c{number}")
    newer = Agent(room, room.checkout("other"), at_us=older.at_us)
    newer.work()
    seen: list[int] = []

    def look(step: str) -> None:
        if step == "pages-committed" and not seen:
            seen.append(len(room.waiting()))

    Drainer(room.memory(), step=look).run()

    assert len(room.outbox.open_handoffs()) == 1
    assert seen[0] >= 600


def test_a_drain_that_cannot_write_pages_keeps_what_it_needs_and_says_so(room: Room, agent: Agent) -> None:
    agent.work()
    room.memory().create()
    (room.data_dir.git / "MERGE_HEAD").write_text("0" * 40 + "\n")

    hindered = room.drain()

    assert "merge" in hindered.fault.lower()
    assert room.pages("session") == []
    (room.data_dir.git / "MERGE_HEAD").unlink()
    assert room.drain().pages == 1
    assert room.waiting() == []
    with room.memory().state_reading() as connection:
        last = state.last_drain(connection)
    assert last is not None
    assert last.fault == ""


def test_a_marker_that_a_drain_meets_is_compiled_for_the_hooks_and_again_when_it_changes(
    room: Room, agent: Agent
) -> None:
    marker = f"{agent.cwd}/.ai-memory.toml"
    agent.start()
    room.drain()
    assert not room.data_dir.hook_policy.exists()
    Path(marker).write_text('[capture]\nignore_paths = ["*.pem"]\n')
    agent.prompt("Mend the till.")
    room.drain()
    first = json.loads(room.data_dir.hook_policy.read_text())
    Path(marker).write_text("[capture]\nignore_paths = 7\n")
    agent.prompt("And the drawer.")

    room.drain()

    assert first["markers"][marker]["ignore_paths"] == ["*.pem"]
    assert json.loads(room.data_dir.hook_policy.read_text())["markers"][marker]["valid"] is False
    Path(marker).unlink()
    agent.prompt("And the scale.")
    room.drain()
    assert json.loads(room.data_dir.hook_policy.read_text())["markers"] == {}


def test_a_broken_configuration_stops_no_drain_and_is_told_in_the_log(room: Room, agent: Agent) -> None:
    agent.work()
    room.data_dir.config.write_text("[capture]\nprompts = maybe\n")

    drain = room.drain()

    assert (drain.pages, drain.fault) == (1, "")
    assert any("hooks keep metadata only" in path.read_text() for path in room.data_dir.logs.iterdir())


def test_a_drain_takes_back_the_mark_of_a_full_spool(room: Room, agent: Agent) -> None:
    agent.start()
    (room.data_dir.spool / ".full").touch()
    (room.data_dir.spool / ".dropped").write_bytes(b"...")

    room.drain()

    assert not (room.data_dir.spool / ".full").exists()
    assert Spool(room.data_dir).counts().dropped == 3


def test_the_log_tells_counts_and_never_what_was_said(room: Room, agent: Agent) -> None:
    agent.work()
    room.drain()

    text = "".join(path.read_text() for path in room.data_dir.logs.iterdir())

    assert "applied 13" in text
    assert "4711" not in text


def test_a_half_written_file_of_a_killed_hook_is_removed_when_it_is_old(room: Room, agent: Agent) -> None:
    agent.start()
    young, old = room.data_dir.spool / ".a.tmp", room.data_dir.spool / ".b.tmp"
    young.write_text("{")
    old.write_text("{")
    os.utime(old, (1, 1))

    room.drain()

    assert young.exists()
    assert not old.exists()
