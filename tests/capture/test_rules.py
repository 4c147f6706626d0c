"""The settings of sessions and handoffs do what they say."""

import os
from pathlib import Path

from terminals import SECOND_US, Agent, Room

from ai_memory.capture import handoffs
from ai_memory.capture.rules import Rules
from ai_memory.config_table import Config

HOUR_US = 3_600 * SECOND_US


def configure(room: Room, text: str) -> None:
    room.memory().create()
    room.data_dir.config.write_text(text, encoding="utf-8")


def test_the_defaults_are_those_of_the_settings_table() -> None:
    config = Config()
    rules = Rules()
    assert rules.idle_end_us == config.sessions.idle_end_after_hours * HOUR_US
    assert rules.makes_handoffs == config.handoff.create_on_session_end
    assert rules.handoff_lifetime_us == config.handoff.expire_after_days * 24 * HOUR_US == handoffs.LIFETIME_US


def test_no_handoff_is_made_where_the_settings_want_none(room: Room, agent: Agent) -> None:
    configure(room, "[handoff]\ncreate_on_session_end = false\n")
    agent.work()
    room.drain()
    assert len(room.pages("session")) == 1
    assert room.pages("handoff") == []
    assert room.outbox.open_handoffs() == []


def test_a_session_ends_after_the_hours_that_the_settings_name(room: Room, agent: Agent) -> None:
    configure(room, "[sessions]\nidle_end_after_hours = 2\n")
    agent.start()
    agent.prompt("Mend the till.")
    room.drain()
    room.now_us += HOUR_US
    room.drain()
    assert room.session(agent.session).is_open
    room.now_us += 2 * HOUR_US
    room.drain()
    assert not room.session(agent.session).is_open


def test_a_handoff_that_nobody_took_expires_and_leaves_the_outbox(room: Room, agent: Agent) -> None:
    configure(room, "[handoff]\nexpire_after_days = 1\n")
    agent.work()
    room.drain()
    assert len(room.outbox.open_handoffs()) == 1
    room.now_us += 30 * HOUR_US
    looked = Path(room.data_dir.locks / "looked-around")
    os.utime(looked, (0, 0))
    room.drain()
    [page] = room.pages("handoff")
    assert page.frontmatter["state"] == "expired"
    assert room.outbox.open_handoffs() == []


def test_a_broken_config_leaves_the_defaults_and_loses_nothing(room: Room, agent: Agent) -> None:
    configure(room, "[handoff\n")
    agent.work()
    room.drain()
    assert len(room.pages("session")) == 1
    assert len(room.pages("handoff")) == 1
