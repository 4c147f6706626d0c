"""A spool file may hold any JSON at all: the drain ends, sets it aside or applies it, and the good ones beside it."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from terminals import NINE_US, Agent, Room

from ai_memory.store.spool import Spool

FIELDS = ("v", "agent", "caller", "event", "source_event", "at_us", "session", "cwd", "agent_id", "prompt", "tool")
MORE = ("call_id", "input", "output", "outcome", "text", "flags", "extra")
EVENTS = ("session-start", "user-prompt", "pre-tool-use", "post-tool-use", "pre-compact", "post-compaction")
ENDING = ("notification", "stop", "session-end", "handoff-claimed", "other")

TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", "\0", "a\0b", "\ud800", "\udcff", "../..", "/", ".", "~", "\u202e", "\x1b[2J", "---\n", "x" * 9_000]
    ),
    st.sampled_from(["{", '{"a":', "[[[[", "```", "[bold]", "[/]", "%s", "0" * 32]),
)
NUMBERS = st.one_of(st.integers(), st.sampled_from([0, -1, 2**63, -(2**63) - 1, 10**400]), st.floats())
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=8,
)
NAMED: dict[str, st.SearchStrategy[Any]] = {
    "v": st.sampled_from([1, 1, 1, True, 0, "1", None]),
    "event": st.sampled_from([*EVENTS, *ENDING]) | ANYTHING,
    "extra": st.fixed_dictionaries(
        {}, optional={"process": ANYTHING, "handoff": ANYTHING, "native_id": ANYTHING, "source": ANYTHING}
    )
    | ANYTHING,
}
RECORDS = st.one_of(
    st.fixed_dictionaries(
        {name: NAMED.get(name, ANYTHING) for name in ("v", "event", "session")},
        optional={
            name: NAMED.get(name, ANYTHING) for name in (*FIELDS, *MORE) if name not in ("v", "event", "session")
        },
    ),
    st.dictionaries(st.sampled_from([*FIELDS, *MORE]) | TEXTS, ANYTHING, max_size=8),
    ANYTHING,
)


def drained_beside(records: list[object]) -> tuple[Room, Agent]:
    """A room in which these lay between the events of a good session, after its drain."""
    room = Room(Path(tempfile.mkdtemp()))
    (room.root / "home").mkdir()
    (room.root / "shop").mkdir()
    agent = Agent(room, str(room.root / "shop"))
    agent.start()
    for record in records:
        room.spool(None, at_us=agent.at_us + 1 + room.written, raw=json.dumps(record).encode())
    agent.prompt("Mend the till.")
    agent.edit("till.py")
    agent.end()

    drain = room.drain()

    assert drain.fault == ""
    assert room.waiting() == []
    assert drain.applied + drain.repeated + drain.quarantined <= len(records) + 5
    return room, agent


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(RECORDS, min_size=1, max_size=12))
def test_any_json_in_the_spool_stops_nothing(records: list[object]) -> None:
    room, agent = drained_beside(records)
    assert room.session(agent.session).prompts == 1
    assert "Mend the till." in "".join(page.body for page in room.pages("session"))


def good(**more: object) -> dict[str, object]:
    return {"v": 1, "agent": "claude-code", "event": "user-prompt", "session": "odd", "prompt": "Odd.", **more}


def nested(levels: int) -> object:
    found: object = "x"
    for _ in range(levels):
        found = {"a": found}
    return found


ODD_VALUES: dict[str, object] = {
    "null": None,
    "true": True,
    "0": 0,
    "-1": -1,
    "huge": 10**30,
    "-huge": -(10**30),
    "float": 1.5,
    "nan": float("nan"),
    "nul": "a\0b",
    "surrogate": "\ud800",
    "1 MB": "x" * (1 << 20),
    "list": [],
    "object": {},
    "texts": ["a"],
    "deep": nested(60),
}


@pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES)
def test_such_a_value_in_any_field_stops_nothing(value: object) -> None:
    odd = [good(**{field: value}) for field in (*FIELDS, *MORE)]
    ends = [good(event="session-end") | {field: value} for field in (*FIELDS, *MORE) if field != "event"]
    room, agent = drained_beside([*odd, *ends])
    assert room.session(agent.session).prompts == 1


@pytest.mark.parametrize("written", [True, 0, -1, 2, 1.0, "1", [], None])
def test_another_format_is_set_aside(written: object) -> None:
    room, _ = drained_beside([good(v=written)])
    [aside] = Spool(room.data_dir).quarantined()
    assert aside.reason.startswith("format ")


def test_what_is_nested_deeper_than_anybody_can_read_again_is_set_aside() -> None:
    room, _ = drained_beside([good(input=nested(65)), good(input=nested(900)), good(output=json.dumps(nested(900)))])
    reasons = [aside.reason for aside in Spool(room.data_dir).quarantined()]
    assert reasons == ["nested deeper than 64 levels"] * 2


@pytest.mark.parametrize("at_us", [True, -1, 0, 10**30, NINE_US * 1.0, "now", None])
def test_a_time_that_is_none_gives_way_to_that_of_the_name(at_us: object) -> None:
    room, _ = drained_beside([good(at_us=at_us, session="00000000-0000-4000-8000-000000000001")])
    [seen] = room.observations("00000000-0000-4000-8000-000000000001")
    assert abs(seen.at_us - NINE_US) < 60_000_000


@pytest.mark.parametrize("cwd", ["a\0b", "/\ud800", "/" + "x" * 10_000, "shop", ".", "..", "\\\\?\\C:", 7, ["/srv"]])
def test_a_directory_that_is_none_belongs_to_the_scratch_project(cwd: object) -> None:
    session = "00000000-0000-4000-8000-000000000002"
    room, _ = drained_beside([good(cwd=cwd, session=session)])
    assert room.session(session).project == "scratch"
