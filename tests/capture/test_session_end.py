"""When a session is over: hooks run at once, so what belongs before the end may be stamped after it."""

from itertools import permutations

import pytest
from terminals import SECOND_US, Agent, Room

MS_US = 1_000


def end_in_a_heap(agent: Agent) -> int:
    """A session whose hooks all ran within a second, stamped as in a run (µs); gives the instant of its end."""
    end_us = agent.at_us + 796_899
    agent.tell("post-tool-use", tool="Bash", input={"command": "ls"}, call_id="c1", at_us=end_us - 300 * MS_US)
    agent.tell("session-end", at_us=end_us)
    agent.tell("user-prompt", text="Mend the till.", at_us=end_us + 80_506)
    agent.tell("session-start", extra={"source": "startup"}, at_us=end_us + 86_855)
    agent.at_us = end_us
    return end_us


def test_a_prompt_and_a_start_stamped_just_after_the_end_leave_the_session_ended(room: Room, agent: Agent) -> None:
    end_us = end_in_a_heap(agent)

    drain = room.drain()

    session = room.session(agent.session)
    assert (session.ended_at_us, session.prompts, session.observations) == (end_us, 1, 4)
    assert (drain.pages, drain.handoffs) == (1, 1)
    assert "Mend the till." in room.session_page().body
    assert len(room.outbox.open_for(agent.cwd)) == 1


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_events_around_the_end_give_one_ended_session_in_whatever_batches_they_come(
    room: Room, agent: Agent, order: tuple[int, ...]
) -> None:
    end_us = end_in_a_heap(agent)
    files = [(name, (room.data_dir.spool / name).read_bytes()) for name in room.waiting()]
    for name, _ in files:
        (room.data_dir.spool / name).unlink()

    for place in order:
        name, content = files[place]
        (room.data_dir.spool / name).write_bytes(content)
        room.drain()

    session = room.session(agent.session)
    assert (session.ended_at_us, session.observations, session.covered) == (end_us, 4, 4)
    page = room.session_page().body
    assert "Ended: 2026-" in page
    assert "Mend the till." in page
    [handoff] = room.outbox.open_for(agent.cwd)
    assert "Mend the till." in (room.outbox.read(f"open/{handoff}.md") or "")


def test_a_late_prompt_within_the_span_brings_page_and_handoff_up_to_date(room: Room, agent: Agent) -> None:
    agent.work()
    room.drain()
    [handoff] = room.outbox.open_for(agent.cwd)
    agent.tell("user-prompt", text="And the drawer, too.", at_us=agent.at_us + 5 * SECOND_US)

    room.drain()

    assert room.session(agent.session).ended_at_us == agent.at_us
    assert "And the drawer, too." in room.session_page().body
    assert room.outbox.open_for(agent.cwd) == [handoff]
    assert "And the drawer, too." in (room.outbox.read(f"open/{handoff}.md") or "")


@pytest.mark.parametrize("kind", ["session-start", "user-prompt", "pre-tool-use", "post-tool-use"])
def test_what_comes_long_after_the_end_opens_the_session_again(room: Room, agent: Agent, kind: str) -> None:
    agent.work()
    room.drain()
    agent.tell(kind, text="Now the refunds.", at_us=agent.at_us + 5 * SECOND_US + 1)

    room.drain()

    assert room.session(agent.session).is_open


@pytest.mark.parametrize("kind", ["stop", "notification", "other", "post-compaction"])
def test_what_is_no_activity_opens_nothing_however_late(room: Room, agent: Agent, kind: str) -> None:
    agent.work()
    agent.tell(kind, text="idle", at_us=agent.at_us + 60 * SECOND_US)

    room.drain()

    assert not room.session(agent.session).is_open


@pytest.mark.parametrize(
    "how", [{"extra": {"source": "resume"}}, {"source_event": "TaskResume"}], ids=["source", "TaskResume"]
)
@pytest.mark.parametrize("is_one_batch", [True, False])
def test_a_start_that_resumes_opens_the_session_at_once(
    room: Room, agent: Agent, how: dict[str, object], is_one_batch: bool
) -> None:
    agent.work()
    if not is_one_batch:
        room.drain()
    agent.tell("session-start", at_us=agent.at_us + 300 * MS_US, **how)

    room.drain()

    assert room.session(agent.session).is_open
    assert room.session_page().title.startswith("Order 4711")  # it ended once: its page is not kept back


@pytest.mark.parametrize("source", ["startup", "clear", "compact", ""])
def test_a_start_that_resumes_nothing_opens_no_session_that_just_ended(room: Room, agent: Agent, source: str) -> None:
    agent.work()
    agent.tell("session-start", extra={"source": source}, at_us=agent.at_us + 300 * MS_US)

    room.drain()

    assert not room.session(agent.session).is_open


def test_a_resumed_run_of_a_few_seconds_hands_over_what_it_did(room: Room, agent: Agent) -> None:
    agent.work()
    room.drain()
    Agent(room, agent.cwd, agent="codex", at_us=agent.at_us).claim(room.outbox.open_handoffs()[0])
    end_us = agent.at_us + 2_900 * MS_US
    agent.tell("session-start", extra={"source": "resume"}, at_us=end_us - 600 * MS_US)
    agent.tell("user-prompt", text="Now the refunds.", at_us=end_us - 500 * MS_US)
    agent.tell("session-end", at_us=end_us)

    room.drain()

    assert room.session(agent.session).ended_at_us == end_us
    [handoff] = room.outbox.open_for(agent.cwd)
    assert "Now the refunds." in (room.outbox.read(f"open/{handoff}.md") or "")


def test_work_until_a_second_end_is_handed_over_although_no_start_said_that_it_resumes(
    room: Room, agent: Agent
) -> None:
    agent.work()
    room.drain()
    Agent(room, agent.cwd, agent="codex", at_us=agent.at_us).claim(room.outbox.open_handoffs()[0])
    agent.tell("user-prompt", text="Now the refunds.", at_us=agent.at_us + 2 * SECOND_US)
    agent.tell("session-end", at_us=agent.at_us + 4 * SECOND_US)

    room.drain()

    [handoff] = room.outbox.open_for(agent.cwd)
    assert "Now the refunds." in (room.outbox.read(f"open/{handoff}.md") or "")
