"""A clock that is set back while a session runs: nothing waits for the time to come round again."""

import json
import os
import time
from itertools import permutations
from pathlib import Path

import pytest
from hook_runs import Desk
from terminals import NINE_US, SECOND_US, Agent, Room

from ai_memory.capture.spooled import parse_event
from ai_memory.store.outbox import Provisional

UP_MS = 4_000_000
"""How long the machine has been up when the session starts."""
MONTH_S = 30 * 86_400


def tell(agent: Agent, event: str, *, after_s: int, back_s: int = 0, **more: object) -> None:
    """An event so long after the start, with the clock set back by so much since."""
    up_ms = UP_MS + after_s * 1_000
    booted_ms = NINE_US // 1_000 - UP_MS - back_s * 1_000
    machine = {"up_ms": up_ms, "booted_ms": booted_ms}
    agent.tell(event, at_us=(booted_ms + up_ms) * 1_000, extra=machine, **more)


@pytest.mark.parametrize("is_one_drain", [True, False], ids=["one drain", "many drains"])
def test_a_session_whose_clock_went_back_ends_and_keeps_its_order(room: Room, agent: Agent, is_one_drain: bool) -> None:
    told = [("user-prompt", "First."), ("user-prompt", "Second."), *[("stop", "")] * 9, ("user-prompt", "Last.")]
    for at, (kind, text) in enumerate([*told, ("session-end", "")]):
        tell(agent, kind, after_s=10 * at, back_s=0 if at == 0 else 31, text=text)
        if not is_one_drain:
            room.drain()
    room.drain()
    session = room.session(agent.session)
    assert session.ended_at_us == NINE_US + 10 * len(told) * SECOND_US
    assert [row.text for row in room.observations(agent.session) if row.text] == ["First.", "Second.", "Last."]
    assert len(room.outbox.open_for(agent.cwd)) == 1


@pytest.mark.parametrize("order", list(permutations(range(2))))
def test_a_machine_that_was_started_anew_is_no_clock_that_went_back(
    room: Room, agent: Agent, order: tuple[int, ...]
) -> None:
    hour_ms = 3_600_000
    runs = [(UP_MS, NINE_US // 1_000 - UP_MS), (60_000, NINE_US // 1_000 + hour_ms)]
    for at in order:
        up_ms, booted_ms = runs[at]
        machine = {"up_ms": up_ms, "booted_ms": booted_ms}
        agent.tell("user-prompt", at_us=(up_ms + booted_ms) * 1_000, extra=machine, text=f"Run {at}.")
    room.drain()
    times = [row.at_us for row in room.observations(agent.session)]
    assert times == [NINE_US, NINE_US + (hour_ms + 60_000) * 1_000]


def test_a_hook_tells_of_its_machine_whatever_the_clock_says(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.run("stop", desk.payload("Stop"))
    desk.run("stop", desk.payload("Stop"))
    first, second = (event["extra"] for event in desk.events())
    assert 0 < first["up_ms"] <= second["up_ms"]
    assert abs(first["booted_ms"] - second["booted_ms"]) < 1_000
    assert abs(first["up_ms"] + first["booted_ms"] - time.time() * 1_000) < 60_000
    (name, *_) = sorted(path.name for path in (desk.data / "spool").glob("*.json"))
    kept = json.loads(parse_event(name, (desk.data / "spool" / name).read_bytes()).extra)
    assert {key: kept[key] for key in ("up_ms", "booted_ms", "process")} == {
        key: first[key] for key in ("up_ms", "booted_ms", "process")
    }


def test_a_mark_of_the_last_look_that_lies_ahead_keeps_nobody_from_looking(room: Room, agent: Agent) -> None:
    agent.work()
    room.drain()
    page = room.session_page()
    (room.data_dir.wiki / "default" / "shop" / page.ref.path).write_text(f"{page.text}\nMine.\n")
    ahead = time.time() + MONTH_S
    os.utime(room.data_dir.locks / "looked-around", (ahead, ahead))
    room.drain()
    assert "Mine." in room.git("show", f"HEAD:default/shop/{page.ref.path}")


def test_what_lies_ahead_in_the_outbox_grows_old_from_now_on(room: Room, agent: Agent) -> None:
    agent.prompt("Mend the till.")
    agent.stop()
    room.drain()
    (one,) = room.outbox.provisionals()
    ahead = time.time() + MONTH_S
    os.utime(room.data_dir.outbox / one.name, (ahead, ahead))
    room.drain()
    assert room.outbox.provisionals() == [Provisional(one.handoff, 0)]
    assert -1 < room.outbox.age_s(one.name) < 60
