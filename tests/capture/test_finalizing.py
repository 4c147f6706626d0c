"""Sessions that no harness ended: a person ends them, silence does, and a person opens them again."""

import pytest
from terminals import SECOND_US, Agent, Room

from ai_memory.capture.finalizing import end_sessions, reopen_session
from ai_memory.errors import LockBusy
from ai_memory.store import state, state_sessions
from ai_memory.store.drain_lock import DrainLock
from ai_memory.store.driver import Connection
from ai_memory.store.state_sessions import Session

HOUR_US = 3_600 * SECOND_US


def unfinished(agent: Agent) -> None:
    """Work whose terminal was closed before it ended."""
    agent.start()
    agent.prompt("Order 4711 prints 10.00, it should print 9.99. Find the rounding fault.")
    agent.edit("till.py")
    agent.stop()


def end(room: Room, agent: Agent) -> None:
    end_sessions(room.memory(), lambda connection: named(connection, agent))


def reopen(room: Room, agent: Agent) -> None:
    reopen_session(room.memory(), lambda connection: named(connection, agent))


def named(connection: Connection, agent: Agent) -> list[Session]:
    found = state_sessions.session(connection, agent.session)
    return [found] if found is not None else []


def test_a_session_that_is_ended_gets_the_page_and_handoff_of_a_session_end(room: Room, agent: Agent) -> None:
    unfinished(agent)
    room.drain()
    end(room, agent)
    other = Room(room.root / "other")
    other.root.mkdir()
    told = Agent(other, agent.cwd, session=agent.session)
    unfinished(told)
    told.tell("session-end", at_us=told.at_us + 1)
    other.drain()

    assert room.session(agent.session).ended_at_us == agent.at_us + 1
    assert room.session_page().text == other.session_page().text
    assert room.pages("handoff")[0].text == other.pages("handoff")[0].text
    assert len(room.outbox.open_for(agent.cwd)) == 1


def test_events_that_wait_belong_to_the_session_that_is_ended(room: Room, agent: Agent) -> None:
    unfinished(agent)
    end(room, agent)
    assert room.waiting() == []
    assert (room.session(agent.session).is_open, room.session(agent.session).observations) == (False, 6)


def test_ending_twice_is_ending_once(room: Room, agent: Agent) -> None:
    unfinished(agent)
    end(room, agent)
    before = room.git("rev-parse", "HEAD"), room.observations(agent.session)
    end(room, agent)
    assert (room.git("rev-parse", "HEAD"), room.observations(agent.session)) == before


def test_a_session_that_works_on_after_it_was_ended_is_open_again(room: Room, agent: Agent) -> None:
    unfinished(agent)
    end(room, agent)
    agent.at_us += 60 * SECOND_US
    agent.prompt("Now the refunds.")
    room.drain()
    assert room.session(agent.session).is_open


@pytest.mark.parametrize("pause_us", [1, HOUR_US, 100 * HOUR_US])
def test_a_session_that_is_opened_again_stays_open_and_ends_with_a_handoff_of_what_it_did_since(
    room: Room, agent: Agent, pause_us: int
) -> None:
    agent.work()
    room.drain()
    Agent(room, agent.cwd, agent="codex", at_us=agent.at_us).claim(room.outbox.open_handoffs()[0])
    room.now_us = agent.at_us + pause_us
    reopen(room, agent)
    reopen(room, agent)
    room.drain()
    assert room.session(agent.session).is_open

    agent.at_us = room.now_us
    agent.prompt("Now the refunds.")
    end(room, agent)

    session = room.session(agent.session)
    assert (session.is_open, session.prompts) == (False, 3)
    [handoff] = room.outbox.open_for(agent.cwd)
    assert "Now the refunds." in (room.outbox.read(f"open/{handoff}.md") or "")


def test_opening_and_ending_at_once_changes_no_handoff(room: Room, agent: Agent) -> None:
    agent.work()
    room.drain()
    before = [(page.ref, page.version) for page in room.pages("handoff")]
    reopen(room, agent)
    end(room, agent)
    assert not room.session(agent.session).is_open
    assert room.session(agent.session).ended_at_us == room.now_us + 1  # right after the start that resumed it
    assert [(page.ref, page.version) for page in room.pages("handoff")] == before


def test_the_drain_ends_a_session_that_was_silent_for_too_long_and_no_other(room: Room, agent: Agent) -> None:
    unfinished(agent)
    fresh = Agent(room, agent.cwd, agent="codex", at_us=agent.at_us + HOUR_US)
    unfinished(fresh)
    room.now_us = agent.at_us + 24 * HOUR_US
    room.drain()
    assert room.session(agent.session).is_open

    room.now_us += 1
    room.drain()

    assert room.session(agent.session).ended_at_us == agent.at_us
    assert room.session(fresh.session).is_open
    assert [page.frontmatter["session_id"] for page in room.pages("session")] == [agent.session]
    assert len(room.pages("handoff")) == 1


def test_a_setting_of_zero_hours_lets_silence_end_nothing(room: Room, agent: Agent) -> None:
    unfinished(agent)
    room.drain()
    room.data_dir.config.write_text("[sessions]\nidle_end_after_hours = 0\n", encoding="utf-8")
    room.now_us = agent.at_us + 10_000 * HOUR_US
    room.drain()
    assert room.session(agent.session).is_open


def test_a_purged_session_is_neither_ended_nor_opened_nor_brought_back_by_late_events(room: Room, agent: Agent) -> None:
    unfinished(agent)
    room.drain()
    gone = Session(**{name: getattr(room.session(agent.session), name) for name in Session.__dataclass_fields__})
    with room.memory().state_transaction() as connection:
        connection.execute(state.STATEMENTS["session-purged"], {"session": agent.session, "at_us": 1})
        connection.execute(state.STATEMENTS["session-dropped"], {"session": agent.session})

    agent.prompt("Now the refunds.")
    end_sessions(room.memory(), lambda _: [gone])  # chosen by somebody who saw it before it went
    agent.end()
    room.drain()

    with room.memory().state_reading() as connection:
        assert connection is not None
        assert state_sessions.session(connection, agent.session) is None
    assert room.observations(agent.session) == []
    assert room.pages("session") == room.pages("handoff") == []


def test_ending_waits_for_another_drain_no_longer_than_for_a_lock(room: Room, agent: Agent) -> None:
    unfinished(agent)
    room.drain()
    lock = DrainLock(room.data_dir.locks)
    assert lock.try_acquire()
    try:
        with pytest.raises(LockBusy):
            end_sessions(room.memory(lock_timeout_s=0.1), lambda connection: named(connection, agent))
    finally:
        lock.release()
    assert room.session(agent.session).is_open


def test_nothing_is_made_where_nothing_was_captured(room: Room, agent: Agent) -> None:
    end(room, agent)
    reopen(room, agent)
    assert not room.data_dir.root.exists()


def test_what_a_kill_leaves_the_next_drain_finishes(room: Room, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    unfinished(agent)
    room.drain()
    calls = iter([True, False])

    def killed(_: object) -> None:
        if not next(calls):
            raise KeyboardInterrupt

    monkeypatch.setattr("ai_memory.capture.finalizing.apply_spool", killed)
    with pytest.raises(KeyboardInterrupt):
        end(room, agent)
    assert room.pages("session") == []

    room.drain()

    assert len(room.pages("session")) == len(room.pages("handoff")) == 1
