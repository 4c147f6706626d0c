"""The settings of sessions and handoffs do what they say."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from terminals import SECOND_US, Agent, Room

from ai_memory.capture import handoffs
from ai_memory.capture.rules import Rules, read_rules
from ai_memory.config_table import Config
from ai_memory.store.log import Level
from ai_memory.store.memory import Memory

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
    assert rules.fills_empty == config.capture.backfill_on_start
    assert rules.log_least.name.lower() == config.log_level
    assert (rules.own.extra, rules.own.allow) == (config.sanitize.extra_patterns, config.sanitize.allowlist)


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


def logged(room: Room) -> str:
    return "".join(path.read_text() for path in room.data_dir.logs.glob("*.log"))


def leave_work_poison_and_a_fault(room: Room, agent: Agent) -> None:
    """A session that works, an event that is none, and a wiki that takes no page."""
    agent.start()
    agent.prompt("Mend the till.")
    room.spool({}, at_us=agent.at_us, raw=b"no event")
    (room.data_dir.git / "MERGE_HEAD").write_text(room.git("rev-parse", "HEAD"))


@pytest.mark.parametrize(
    ("level", "kept"),
    [
        ("info", {"compiled the capture policy anew", "drain: quarantined", "a merge is not finished"}),
        ("warning", {"drain: quarantined", "a merge is not finished"}),
        ("error", {"a merge is not finished"}),
    ],
)
def test_the_log_holds_what_the_level_asks_for(room: Room, agent: Agent, level: str, kept: set[str]) -> None:
    configure(room, f'log_level = "{level}"\n')
    leave_work_poison_and_a_fault(room, agent)
    assert room.drain().fault
    told = logged(room)
    every = ("compiled the capture policy anew", "drain: quarantined", "a merge is not finished")
    assert {words for words in every if words in told} == kept, told


@pytest.mark.parametrize(("level", "is_told"), [("info", True), ("warning", False)])
def test_a_drain_without_a_fault_tells_its_counts_at_info_only(
    room: Room, agent: Agent, level: str, is_told: bool
) -> None:
    configure(room, f'log_level = "{level}"\n')
    agent.work()
    assert room.drain().pages == 1
    assert ("applied 13" in logged(room)) is is_told


def test_a_capture_policy_that_cannot_be_compiled_is_a_warning_and_a_broken_config_a_fault(
    room: Room, agent: Agent
) -> None:
    configure(room, "[handoff\n")
    agent.work()
    room.drain()
    assert "config.toml cannot be read, the defaults hold" in logged(room)
    assert "hooks keep metadata only" in logged(room)


def test_the_environment_sets_the_level_too(room: Room) -> None:
    caller = replace(room.memory().caller, environ={"AI_MEMORY_LOG_LEVEL": "error"})
    assert read_rules(Memory.open(room.data_dir, caller=caller)).log_least is Level.ERROR


OWN = "[sanitize]\nextra_patterns = ['ACME-\\d+']\nallowlist = ['^letmein']\n"


def stored(room: Room, agent: Agent) -> str:
    """Everything that a drain kept: rows, pages, handoffs, the outbox."""
    opened = [path.read_text() for path in (room.data_dir.outbox / "open").iterdir()]
    pages = [page.text for kind in ("session", "handoff") for page in room.pages(kind)]
    return "\n".join([*map(repr, room.observations(agent.session)), *pages, *opened])


def test_what_a_person_counts_as_a_secret_does_not_pass_the_drain(room: Room, agent: Agent) -> None:
    configure(room, OWN)
    agent.start()
    agent.prompt("Mend the till of ACME-4711, password=letmein99 and password=hunter22")
    agent.bash("deploy ACME-4712", output="ok ACME-4713")
    agent.edit("till.py")
    agent.tell("session-end")
    room.drain()
    kept = stored(room, agent)
    assert "ACME-47" not in kept
    assert "[REDACTED:custom]" in kept
    assert "hunter22" not in kept
    assert kept.count("letmein99") >= 3, "in the row, the page and the handoff"


def test_a_pattern_that_takes_for_ever_costs_the_text_and_not_the_drain(room: Room, agent: Agent) -> None:
    configure(room, "[sanitize]\nextra_patterns = ['(a|aa)+b']\n")
    agent.start()
    agent.prompt("Mend the till.")
    agent.bash("a" * 60 + "c")
    agent.tell("session-end")
    room.drain()
    kept = stored(room, agent)
    assert "Mend the till." in kept
    assert "aaaaaaaa" not in kept
    assert "[REDACTED:unscanned]" in kept


def test_hooks_and_drain_take_their_patterns_from_the_file_alone(room: Room) -> None:
    configure(room, OWN)
    environ = {"AI_MEMORY_SANITIZE__EXTRA_PATTERNS": "x{3}", "AI_MEMORY_LOG_LEVEL": "error"}
    caller = replace(room.memory().caller, environ=environ)
    rules = read_rules(Memory.open(room.data_dir, caller=caller))
    assert rules.own.extra == (r"ACME-\d+",)
    assert rules.own.allow == ("^letmein",)
